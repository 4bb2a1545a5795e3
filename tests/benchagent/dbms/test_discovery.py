from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path

import pytest
from benchagent import dbms
from benchagent.catalog import DBMSS
from benchagent.dbms.base import EngineContext, JobError, checked_settings
from benchagent.dbms.postgresql import discovery
from benchagent.java import JavaNotFoundError, JavaToolchain
from benchagent.paths import AgentDirs

pytestmark = pytest.mark.engines
needs_postgresql = pytest.mark.skipif(not discovery.installations(), reason="no PostgreSQL on this machine")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root changes users")


@pytest.fixture
def context(dirs: AgentDirs, toolchain: JavaToolchain) -> EngineContext:
    return EngineContext(toolchain, frozenset(), dirs.jobs)


def test_it_offers_every_embedded_engine_once(context: EngineContext):
    embedded = {slug: True for slug, entry in DBMSS.items() if entry.embedded}
    found = [(engine["dbms"], engine["available"]) for engine in dbms.discover(context)]
    assert [pair for pair in found if pair[0] in embedded] == list(embedded.items())


def test_it_offers_an_optional_engine_after_it_was_added(context: EngineContext):
    added = EngineContext(context.toolchain, frozenset({"derby-10.6.2.1"}), context.jobs_dir)
    versions = [engine["version"] for engine in dbms.discover(added) if engine["dbms"] == "derby"]
    assert versions == ["10.16.1.1", "10.6.2.1"]


def test_it_gives_the_reason_when_there_is_no_java(dirs: AgentDirs, monkeypatch):
    def missing() -> None:
        raise JavaNotFoundError("no Java 17 or newer")

    monkeypatch.setattr("benchagent.java.toolchain.find_java", missing)
    engines = dbms.discover(EngineContext(JavaToolchain(dirs.cache), frozenset(), dirs.jobs))
    assert {(engine["available"], engine["reason"]) for engine in engines} == {
        (False, "no Java runtime: no Java 17 or newer")
    }


@needs_postgresql
def test_it_finds_postgresql_with_its_full_version(context: EngineContext):
    (first, *_) = [engine for engine in dbms.discover(context) if engine["dbms"] == "postgresql"]
    assert first["available"], first["reason"]
    assert first["version"][0].isdigit()
    assert (Path(first["path"]) / "initdb").is_file()


@needs_postgresql
def test_it_looks_only_where_the_variable_says(context: EngineContext, monkeypatch, tmp_path: Path):
    monkeypatch.setenv(discovery.DIRS_VARIABLE, str(tmp_path))
    assert discovery.installations() == {}
    monkeypatch.delenv(discovery.DIRS_VARIABLE)
    version, folder = next(iter(discovery.installations().items()))
    monkeypatch.setenv(discovery.DIRS_VARIABLE, f"{tmp_path}:{folder.parent}")
    assert discovery.installations() == {version: folder}


@needs_postgresql
@as_root
def test_it_passes_over_folders_of_the_search_path_that_it_may_not_enter(tmp_path: Path):
    """As an ordinary user: root may enter everything."""
    tmp_path.chmod(0o700)
    user = pwd.getpwnam("nobody")
    pid = os.fork()
    if pid == 0:
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
        os.environ["PATH"] = f"{tmp_path}:/usr/bin"
        try:
            os._exit(0 if discovery.bin_dirs() else 3)
        except PermissionError:
            os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@needs_postgresql
@as_root
def test_it_names_the_folder_that_postgresqls_user_may_not_enter_and_changes_no_mode(
    context: EngineContext, dirs: AgentDirs
):
    dirs.root.chmod(0o700)
    (first, *_) = [engine for engine in dbms.discover(context) if engine["dbms"] == "postgresql"]
    assert not first["available"]
    assert f"who may not enter {dirs.root}:" in first["reason"]
    assert stat.S_IMODE(dirs.root.stat().st_mode) == 0o700
    assert list(dirs.jobs.iterdir()) == []


@needs_postgresql
@as_root
def test_it_gives_the_reason_when_there_is_no_user_to_run_postgresql(context: EngineContext, monkeypatch):
    def unknown(name: str) -> None:
        raise KeyError(name)

    monkeypatch.setattr(pwd, "getpwnam", unknown)
    (first, *_) = [engine for engine in dbms.discover(context) if engine["dbms"] == "postgresql"]
    assert not first["available"]
    assert "no user 'postgres'" in first["reason"]


@pytest.mark.parametrize("name", ["", "a=b", "x\ny", "'; --", "1st"])
def test_it_refuses_a_setting_whose_name_is_none(name: str):
    with pytest.raises(JobError, match="not the name of a setting"):
        checked_settings([(name, "1")])


def test_it_refuses_a_value_that_would_leave_its_line():
    with pytest.raises(JobError, match="not allowed"):
        checked_settings([("shared_buffers", "1MB\nport = 1")])


def test_it_keeps_the_order_and_duplicates_of_settings():
    given = [("b", "1"), ("a", " 2 "), ("b", "3")]
    assert checked_settings(given) == [("b", "1"), ("a", "2"), ("b", "3")]


def test_it_offers_the_others_when_one_cannot_be_looked_for(context: EngineContext, monkeypatch, caplog):
    def broken(_context: EngineContext) -> None:
        raise OSError("no such luck")

    monkeypatch.setattr(dbms.adapter("derby"), "discover", broken)
    assert {"sqlite", "hsqldb", "h2"} <= {engine["dbms"] for engine in dbms.discover(context)}
    assert "looking for derby" in caplog.text


def test_it_knows_no_dbms_that_is_not_in_the_catalogue():
    with pytest.raises(JobError, match="knows no DBMS"):
        dbms.adapter("oracle")
