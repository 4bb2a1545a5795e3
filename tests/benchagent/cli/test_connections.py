"""`benchagent connections`, as a user calls it."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from benchagent.cli import connections as commands
from benchagent.cli.main import main
from benchagent.dbms.external import discover
from benchagent.dbms.external.connections import Connections, from_answers
from benchagent.errors import JobError
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


def test_a_known_name_is_refused_before_anything_is_asked(dirs: AgentDirs, monkeypatch, capsys):
    Connections(dirs.root).add(from_answers("first", "postgresql", GOOD))
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert call(dirs, "add", "first", "--dbms", "postgresql") == 1
    told = capsys.readouterr().err
    assert "already" in told and "connections password first" in told and "connections remove first" in told


def test_a_password_is_replaced_and_never_shown(dirs: AgentDirs, monkeypatch, capsys):
    connections = Connections(dirs.root)
    connections.add(from_answers("first", "postgresql", GOOD))
    connections.note_version("first", "15.18")
    connections.note_failure("first", "password authentication failed")
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps({"password": "swordfish"})))
    assert call(dirs, "password", "first", "--from", "-") == 0
    changed = connections.get("first")
    assert (changed.password, changed.user, changed.version, changed.failure) == ("swordfish", "ann", "15.18", "")
    assert "swordfish" not in capsys.readouterr().out
    assert call(dirs, "password", "second", "--from", "-") == 1
    assert "no connection 'second'" in capsys.readouterr().err


def test_a_failed_check_is_told_where_connections_are_listed_and_offered(dirs: AgentDirs, monkeypatch, capsys):
    """Was: "not checked yet", in the list and in the form."""
    Connections(dirs.root).add(from_answers("first", "postgresql", GOOD))

    def refuse(*_given: Any) -> None:
        raise JobError('connection first: password authentication failed for user "[user of first]"')

    monkeypatch.setattr(commands, "visit", refuse)
    assert call(dirs, "check", "first") == 1
    capsys.readouterr()
    assert call(dirs, "list") == 0
    why = r'check failed on \d{4}-\d\d-\d\d \d\d:\d\d UTC: password authentication failed for user "\[user of first\]"'
    assert re.fullmatch(f"first  PostgreSQL  {why}\n", capsys.readouterr().out)
    (offered,) = discover(dirs.root)
    assert not offered["available"]
    assert re.fullmatch(f"{why}: benchagent connections check first", offered["reason"])
    Connections(dirs.root).note_version("first", "15.18")
    assert discover(dirs.root)[0]["available"]


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
