from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from benchagent.dbms.base import EngineContext
from benchagent.dbms.firebird import ADAPTER, discovery
from benchagent.java import JavaToolchain
from benchagent.paths import AgentDirs

from tests.benchagent.dbms.firebird.conftest import MakeFirebird, with_rows

pytestmark = pytest.mark.engines
MIX = "5.0.4 (listener and tools 3.0.11)"


@pytest.fixture
def only_installed(monkeypatch, tmp_path: Path) -> None:
    """No Firebird of the machine's own."""
    monkeypatch.setenv(discovery.ROOT_VARIABLE, str(tmp_path))


@pytest.mark.usefixtures("only_installed")
def test_it_finds_installed_versions_side_by_side_and_says_which_is_a_mix(
    toolchain: JavaToolchain, dirs: AgentDirs, engines_dir: Path
):
    found = {
        facts["version"]: facts
        for facts in ADAPTER.discover(EngineContext(toolchain, frozenset(), dirs.jobs, engines_dir))
    }
    assert set(found) == {"3.0.11", MIX}
    assert [facts["reason"] for facts in found.values()] == ["", ""]
    assert found["3.0.11"]["path"] == str(engines_dir / "firebird-3.0/usr/sbin/firebird")


@pytest.mark.usefixtures("only_installed")
def test_it_runs_what_was_unpacked_elsewhere(make_firebird: MakeFirebird, engines_dir: Path):
    trial = with_rows(make_firebird("3.0", {"ServerMode": "SuperClassic"}), 10)
    assert trial.instance.command_lines[0].endswith(str(engines_dir / "firebird-3.0/usr/sbin/firebird"))
    trial.instance.restart()
    assert "10" in trial.instance.server.query("SELECT COUNT(*) FROM wide")
    assert Path("/var/log/firebird") not in trial.instance.server.log_path.parents


def test_it_gives_the_reason_where_tools_are_missing(
    toolchain: JavaToolchain, dirs: AgentDirs, engines_dir: Path, monkeypatch, tmp_path: Path
):
    shutil.copytree(engines_dir / "firebird-3.0", tmp_path / "root", symlinks=True)
    (tmp_path / "root/usr/bin/gbak").unlink()
    monkeypatch.setenv(discovery.ROOT_VARIABLE, str(tmp_path / "root"))
    (facts,) = ADAPTER.discover(EngineContext(toolchain, frozenset(), dirs.jobs, dirs.engines))
    assert (facts["version"], facts["available"]) == ("3.0.11", False)
    assert facts["reason"] == f"missing: {tmp_path}/root/usr/bin/gbak"


def test_it_gives_the_reason_where_the_server_lacks_a_library(
    toolchain: JavaToolchain, dirs: AgentDirs, engines_dir: Path, monkeypatch, tmp_path: Path
):
    shutil.copytree(engines_dir / "firebird-3.0", tmp_path / "root", symlinks=True)
    server = tmp_path / "root/usr/sbin/firebird"
    server.write_text("#!/bin/sh\necho 'libtommath.so.1: cannot open shared object file' >&2; exit 127\n")
    monkeypatch.setenv(discovery.ROOT_VARIABLE, str(tmp_path / "root"))
    (facts,) = ADAPTER.discover(EngineContext(toolchain, frozenset(), dirs.jobs, dirs.engines))
    assert (facts["version"], facts["available"]) == ("3.0", False)
    assert facts["reason"].startswith(f"{server} does not tell its version: libtommath.so.1: cannot open")
