"""`benchagent observe` as a user calls it, and the processes that it finds."""

from __future__ import annotations

import json
import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest
from benchagent.cli.main import main
from benchagent.dbms.external.connections import Connections
from benchagent.machine.observations import Observation, Observations
from benchagent.paths import AgentDirs

from tests.benchagent.cli.test_connections import GOOD

pytestmark = pytest.mark.usefixtures("own_temporary_folder")


def call(dirs: AgentDirs, *words: str) -> int:
    return main([*words, "--state", str(dirs.root)])


def test_it_names_lists_and_forgets_them(dirs: AgentDirs, tmp_path: Path, capsys):
    pid_file = tmp_path / "server.pid"
    pid_file.write_text(f"{os.getpid()}\n{tmp_path}\n")
    given = ("--pid-file", str(pid_file), "--data-dir", str(tmp_path))
    assert call(dirs, "observe", "add", "pg", *given) == 0
    assert call(dirs, "observe", "add", "my", "--process", "no-such-server") == 0
    assert "there is no such thing now: processes called no-such-server" in capsys.readouterr().out
    assert call(dirs, "observe", "list") == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("pg  the process of server.pid  data on ")
    assert second == "my  processes called no-such-server  there is no such thing now: processes called no-such-server"
    assert call(dirs, "observe", "remove", "my") == 0
    assert [one["name"] for one in Observations(dirs.root).facts()] == ["pg"]


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("a b", "--process", "x"), "is no name for an observation"),
        (("pg", "--process", "x", "--data-dir", "/no/such/folder"), "there is no folder /no/such/folder"),
        (("taken", "--process", "x"), "there is an observation 'taken' already"),
    ],
)
def test_it_refuses_what_it_cannot_use(words: tuple[str, ...], complaint: str, dirs: AgentDirs, capsys):
    Observations(dirs.root).add(Observation("taken", process="x"))
    assert call(dirs, "observe", "add", *words) == 1
    assert complaint in capsys.readouterr().err
    assert len(Observations(dirs.root).listed()) == 1


def test_a_connection_is_paired_and_apart_again(dirs: AgentDirs, tmp_path: Path, monkeypatch, capsys):
    source = tmp_path / "answers.json"
    source.write_text(json.dumps(GOOD))
    add = ("connections", "add", "shop", "--dbms", "postgresql", "--from", str(source))
    assert call(dirs, *add, "--observed-by", "no-slash") == 1
    assert "'no-slash' is not AGENT/OBSERVATION" in capsys.readouterr().err
    assert call(dirs, *add, "--observed-by", "db one/pg") == 0
    assert call(dirs, "connections", "list") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "shop  PostgreSQL  not checked yet  observed by db one/pg"
    assert call(dirs, "connections", "pair", "shop") == 0
    assert Connections(dirs.root).get("shop").observed_by == ""
    assert Connections(dirs.root).get("shop").password == GOOD["password"]


def test_it_finds_the_processes_from_which_the_others_descend():
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    try:
        name = Path(f"/proc/{child.pid}/comm").read_text().strip()
        found = Observation("all", process=name).roots()
        owned = Observation("all", user=pwd.getpwuid(os.getuid()).pw_name).roots()
    finally:
        child.kill()
        child.wait()
    assert child.pid in found
    assert os.getpid() not in found + owned
