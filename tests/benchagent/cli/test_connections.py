"""`benchagent connections`, as a user calls it."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from benchagent.cli.main import main
from benchagent.dbms.external.connections import Connections
from benchagent.paths import AgentDirs

from tests.benchagent.dbms.conftest import make_trial
from tests.benchagent.dbms.external.conftest import (
    NAME,
    SCHEMA,
    RunOn,
    connect_to,
    engines_dir,
    make_postgresql,
    registered,
    run_on,
)

__all__ = ["engines_dir", "make_postgresql", "make_trial", "registered", "run_on"]
GOOD = {"url": "jdbc:postgresql://db.example/x", "user": "ann", "password": "open-sesame", "schema": "own"}


pytestmark = pytest.mark.usefixtures("own_temporary_folder")


def call(dirs: AgentDirs, *words: str) -> int:
    return main(["connections", *words, "--state", str(dirs.root)])


def test_it_adds_from_a_file_or_standard_input_lists_and_removes(dirs: AgentDirs, tmp_path: Path, monkeypatch, capsys):
    source = tmp_path / "answers.json"
    source.write_text(json.dumps(GOOD))
    assert call(dirs, "add", "first", "--dbms", "postgresql", "--from", str(source)) == 0
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({**GOOD, "url": "jdbc:oracle:thin:@//db.example:1521/o"})))
    assert call(dirs, "add", "second", "--dbms", "oracle", "--from", "-") == 0
    capsys.readouterr()
    assert call(dirs, "list") == 0
    listed = capsys.readouterr().out
    assert listed.splitlines() == [
        "first  PostgreSQL  not checked yet",
        "second  Oracle Database  not checked yet  not verified against a live server",
    ]
    assert call(dirs, "remove", "first") == 0
    assert [one.name for one in Connections(dirs.root).listed()] == ["second"]


@pytest.mark.parametrize(
    "content", ["{", "[]", json.dumps({**GOOD, "url": "x"}), json.dumps({**GOOD, "password2": "y"})]
)
def test_it_refuses_what_it_cannot_use_without_showing_it(content: str, dirs: AgentDirs, tmp_path: Path, capsys):
    source = tmp_path / "answers.json"
    source.write_text(content)
    assert call(dirs, "add", "first", "--dbms", "postgresql", "--from", str(source)) == 1
    assert "open-sesame" not in capsys.readouterr().err
    assert Connections(dirs.root).listed() == []


def test_it_asks_at_a_terminal_only(dirs: AgentDirs, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert call(dirs, "add", "first", "--dbms", "postgresql") == 1
    assert "there is no terminal" in capsys.readouterr().err


@pytest.mark.engines
def test_it_shows_all_sql_of_a_workload_and_sends_none_of_it(
    make_postgresql: Any, registered: AgentDirs, toolchain, capsys
):
    (registered.root / "cache").rmdir()
    (registered.root / "cache").symlink_to(toolchain.folder)
    trial = make_postgresql()
    connect_to(trial, registered)
    assert call(registered, "check", NAME, "--workload", "tpcb", "--dry-run") == 0
    shown = capsys.readouterr().out
    assert "PostgreSQL 18" in shown
    assert f"CREATE SCHEMA {SCHEMA};" in shown
    assert "INSERT INTO bench_own.benchagent_owner (agent_id, made) VALUES" in shown
    assert "UPDATE accounts SET abalance = abalance + ? WHERE aid = ?;" in shown
    for secret in (trial.instance.connection.properties["password"], "127.0.0.1"):
        assert secret not in shown
    assert trial.query(f"SELECT nspname FROM pg_namespace WHERE nspname = '{SCHEMA}'") == [[]]
    assert "free space watched" in shown
    assert Connections(registered.root).get(NAME).version.startswith("18")
    assert call(registered, "clean", NAME) == 0


@pytest.mark.engines
def test_a_dry_run_refuses_what_a_run_refuses_with_the_same_words(
    make_postgresql: Any, registered: AgentDirs, toolchain, run_on: RunOn, capsys
):
    (registered.root / "cache").rmdir()
    (registered.root / "cache").symlink_to(toolchain.folder)
    connect_to(make_postgresql(), registered)
    for name, value in (
        ("group_commit", "2"),
        ("background_maintenance", "off"),
        ("data_origin", "restored"),
        ("cache_state", "cold"),
    ):
        item = run_on("postgresql", "tpcb", **{name: value})
        assert item["outcome"] == "failed" and "nothing is set" in item["message"]
        assert item["message"].endswith(f": {name}={value}")
        capsys.readouterr()
        assert call(registered, "check", NAME, "--workload", "tpcb", "--dry-run", "--factor", f"{name}={value}") == 1
        shown = capsys.readouterr()
        assert shown.err == f"benchagent: {item['message']}\n"
        assert "CREATE TABLE" not in shown.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["--workload", "tpcb", "--factor", "scale_facto=2"],
            "--factor scale_facto: .* the factors are: .*scale_factor",
        ),
        (["--workload", "tpcb", "--factor", "scale_factor"], "--factor scale_factor: has to be NAME=VALUE"),
        (["--factor", "scale_factor=2"], "none without --workload"),
        (["--script", "/nowhere"], "--script /nowhere: cannot be read"),
    ],
)
def test_it_says_which_argument_of_a_dry_run_is_wrong_before_it_connects(
    arguments: list[str], words: str, dirs: AgentDirs, capsys
):
    assert call(dirs, "check", "nowhere", *arguments) == 1
    assert re.search(words, capsys.readouterr().err)
