"""Which installations are found, side by side, and why one cannot be used."""

from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path

import pytest
from benchagent import dbms
from benchagent.dbms.base import EngineContext
from benchagent.dbms.postgresql import discovery
from benchagent.dbms.postgresql.discovery import Installation
from benchagent.java import JavaToolchain
from benchagent.paths import AgentDirs
from benchagent.protocol import EngineFacts

from tests.benchagent.dbms.postgresql.conftest import LOG_VIEW, NEWEST, OLDEST, SLIM

pytestmark = pytest.mark.engines
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root changes users")


@pytest.fixture
def surroundings(dirs: AgentDirs, toolchain: JavaToolchain, engines_dir: Path) -> EngineContext:
    return EngineContext(toolchain, frozenset(), dirs.jobs, engines_dir)


def offered(surroundings: EngineContext) -> list[EngineFacts]:
    return [engine for engine in dbms.discover(surroundings) if engine["dbms"] == "postgresql"]


def test_it_offers_every_version_side_by_side_under_its_full_number(surroundings: EngineContext):
    found = {engine["version"]: engine for engine in offered(surroundings)}
    assert {OLDEST, SLIM, LOG_VIEW, NEWEST} <= found.keys()
    assert all(engine["available"] for engine in found.values()), found
    assert all((Path(engine["path"]) / "initdb").is_file() for engine in found.values())


def test_it_prefers_the_machines_own_installation_to_one_of_the_same_version(engines_dir: Path, monkeypatch):
    own = discovery.installations(engines_dir)[NEWEST].bin_dir
    monkeypatch.setenv(discovery.DIRS_VARIABLE, str(own))
    assert discovery.installations(engines_dir)[NEWEST] == Installation(NEWEST, own)


def test_it_names_what_is_wrong_with_an_installation(surroundings: EngineContext, dirs: AgentDirs, monkeypatch):
    broken, half = dirs.tmp / "postgresql-7.4" / "bin", dirs.tmp / "postgresql-8.0" / "bin"
    script = {broken: "echo postgres: no libfoo.so >&2; exit 127", half: "echo 'postgres (PostgreSQL) 8.0.1'"}
    for folder, line in script.items():
        folder.mkdir(parents=True)
        (folder / "postgres").write_text(f"#!/bin/sh\n{line}\n")
        (folder / "postgres").chmod(0o755)
    monkeypatch.setenv(discovery.DIRS_VARIABLE, f"{broken}:{half}")
    found = {engine["version"]: engine for engine in offered(surroundings)}
    assert not found["7.4"]["available"]
    assert "no libfoo.so" in found["7.4"]["reason"]
    assert not found["8.0.1"]["available"]
    assert found["8.0.1"]["reason"] == f"{half} has no initdb"


def test_it_looks_only_where_the_variable_says(engines_dir: Path, monkeypatch, tmp_path: Path):
    monkeypatch.setenv(discovery.DIRS_VARIABLE, str(tmp_path))
    assert discovery.installations() == {}
    folder = discovery.installations(engines_dir)[NEWEST].bin_dir
    monkeypatch.setenv(discovery.DIRS_VARIABLE, f"{tmp_path}:{folder.parent}")
    assert discovery.installations() == {NEWEST: Installation(NEWEST, folder)}


@as_root
def test_it_passes_over_folders_of_the_search_path_that_it_may_not_enter(tmp_path: Path):
    """As an ordinary user: root may enter everything."""
    (tmp_path / "postgres").touch(mode=0o755)
    tmp_path.chmod(0o700)
    user = pwd.getpwnam("nobody")
    pid = os.fork()
    if pid == 0:
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
        os.environ["PATH"] = f"{tmp_path}:/usr/bin"
        try:
            os._exit(3 if tmp_path in discovery.bin_dirs() else 0)
        except PermissionError:
            os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@as_root
def test_it_names_the_folder_that_postgresqls_user_may_not_enter_and_changes_no_mode(
    surroundings: EngineContext, dirs: AgentDirs
):
    dirs.root.chmod(0o700)
    (first, *_) = offered(surroundings)
    assert not first["available"]
    assert f"who may not enter {dirs.root}:" in first["reason"]
    assert stat.S_IMODE(dirs.root.stat().st_mode) == 0o700
    assert list(dirs.jobs.iterdir()) == []


@as_root
def test_it_gives_the_reason_when_there_is_no_user_to_run_postgresql(surroundings: EngineContext, monkeypatch):
    def unknown(name: str) -> None:
        raise KeyError(name)

    monkeypatch.setattr(pwd, "getpwnam", unknown)
    (first, *_) = offered(surroundings)
    assert not first["available"]
    assert "no user 'benchagent-job' or 'nobody'" in first["reason"]
