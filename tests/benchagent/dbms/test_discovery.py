from __future__ import annotations

import json

import pytest
from benchagent import dbms
from benchagent.catalog import DBMSS
from benchagent.dbms.base import EngineContext, JobError, checked_settings
from benchagent.java import JavaNotFoundError, JavaToolchain
from benchagent.paths import AgentDirs

pytestmark = pytest.mark.engines


@pytest.fixture
def context(dirs: AgentDirs, toolchain: JavaToolchain) -> EngineContext:
    return EngineContext(toolchain, frozenset(), dirs.jobs, dirs.engines)


def test_it_offers_every_embedded_engine_once(context: EngineContext):
    embedded = {slug: True for slug, entry in DBMSS.items() if entry.embedded}
    found = [(engine["dbms"], engine["available"]) for engine in dbms.discover(context)]
    assert [pair for pair in found if pair[0] in embedded] == list(embedded.items())


def test_it_offers_an_optional_engine_after_it_was_added(context: EngineContext):
    added = EngineContext(context.toolchain, frozenset({"derby-10.6.2.1"}), context.jobs_dir, context.engines_dir)
    versions = [engine["version"] for engine in dbms.discover(added) if engine["dbms"] == "derby"]
    assert versions == ["10.16.1.1", "10.6.2.1"]


def test_it_gives_the_reason_when_there_is_no_java(dirs: AgentDirs, monkeypatch):
    def missing() -> None:
        raise JavaNotFoundError("no Java 17 or newer")

    monkeypatch.setattr("benchagent.java.toolchain.find_java", missing)
    engines = dbms.discover(EngineContext(JavaToolchain(dirs.cache), frozenset(), dirs.jobs, dirs.engines))
    assert {(engine["available"], engine["reason"]) for engine in engines} == {
        (False, "no Java runtime: no Java 17 or newer")
    }


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


def test_it_lists_an_old_installation_with_what_to_do_and_goes_on(context: EngineContext):
    """As an agent of last year has recorded it; and one that this agent's list does not have any more."""
    for name, layout in (("firebird-3.0", {"server": "s"}), ("firebird-2.9", {}), ("mysql-5.5.34", {})):
        (context.engines_dir / name).mkdir()
        dbms_slug, version = name.split("-")
        record = {"dbms": dbms_slug, "version": version, "bin": "bin", "libraries": [], "layout": layout}
        (context.engines_dir / name / "installed.json").write_text(json.dumps(record))
    found = {
        (facts["dbms"], facts["version"]): facts["reason"].split(":")[0]
        for facts in dbms.discover(context)
        if facts["path"].startswith(str(context.engines_dir))
    }
    assert found == {
        ("firebird", "3.0"): "install it again (`benchagent engines install firebird-3.0`)",
        ("firebird", "2.9"): "remove it (`benchagent engines remove firebird-2.9`), this agent cannot install it again",
        ("mysql", "5.5.34"): "install it again (`benchagent engines install mysql-5.5.34`)",
    }


def test_it_knows_no_dbms_that_is_not_in_the_catalogue():
    with pytest.raises(JobError, match="knows no DBMS"):
        dbms.adapter("nosql")
