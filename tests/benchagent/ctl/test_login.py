from __future__ import annotations

import io
from importlib.metadata import entry_points
from pathlib import Path

import pytest
from benchagent.ctl.api import Login, load
from benchagent.ctl.cli import main

from .fake_api import TOKEN, FakeApi


def test_it_checks_the_token_and_keeps_it_for_its_owner_alone(
    api: FakeApi, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{TOKEN}\n"))
    assert main(["login", "--server", f"{api.url}/", "--token", "-"]) == 0
    assert config.stat().st_mode & 0o777 == 0o600
    assert load() == Login(api.url, TOKEN)
    assert api.tokens == [TOKEN]


def test_it_takes_the_token_from_the_environment(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", TOKEN)
    assert main(["login", "--server", api.url, "--token", "MY_TOKEN"]) == 0


def test_it_refuses_a_token_as_argument_and_does_not_show_it(api: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["login", "--server", api.url, "--token", "bs_secret"]) == 2
    assert "bs_secret" not in capsys.readouterr().err


def test_it_keeps_nothing_when_the_server_refuses(
    api: FakeApi, config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MY_TOKEN", "wrong")
    assert main(["login", "--server", api.url, "--token", "MY_TOKEN"]) == 3
    assert "refused (401): Invalid token." in capsys.readouterr().err
    assert not config.exists()


def test_it_speaks_plain_http_to_this_machine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", TOKEN)
    assert main(["login", "--server", "http://bench.example", "--token", "MY_TOKEN"]) == 2


def test_it_ends_with_4_when_nobody_answers(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", TOKEN)
    api.stop()
    assert main(["login", "--server", api.url, "--token", "MY_TOKEN"]) == 4


def test_it_is_installed_as_a_command() -> None:
    (found,) = entry_points(group="console_scripts", name="benchctl")
    assert found.load() is main


def test_it_asks_to_log_in(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["runs"]) == 2
    assert "benchctl login" in capsys.readouterr().err


def test_it_does_not_use_a_file_that_others_can_read(logged_in: FakeApi, config: Path) -> None:
    config.chmod(0o644)
    assert main(["runs"]) == 2
    assert logged_in.requests == []


def test_it_prefers_the_environment_for_a_ci(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHCTL_SERVER", api.url)
    monkeypatch.setenv("BENCHCTL_TOKEN", TOKEN)
    assert main(["runs", "--json"]) == 0
