from __future__ import annotations

from pathlib import Path

import pytest
from benchagent.dbms.base import JobError
from benchagent.dbms.firebird import ADAPTER, settings
from benchagent.dbms.firebird.discovery import homes


@pytest.fixture(scope="session")
def engine(engines_dir: Path) -> Path:
    return next(home.engine for version, home in homes(engines_dir).items() if version.startswith("3.0"))


def test_it_tells_settings_of_the_server_from_those_of_the_database(engine: Path):
    given = [("GCPolicy", "combined"), ("page_size", "16K"), ("forced_writes", "no"), ("GCPolicy", "cooperative")]
    found = settings.split(given, engine)
    assert list(found.server) == [given[0], given[3]]
    assert found.database["pagesize"] == "16384"
    assert found.database["forcedwrites"] == "off"
    assert found.last("gcpolicy") == "cooperative"
    assert found.ignored == []


def test_it_names_settings_that_this_version_does_not_know_and_those_of_the_agent(engine: Path):
    found = settings.split([("ParallelWorkers", "2"), ("RemoteServicePort", "3050"), ("Providers", "x")], engine)
    assert list(found.server) == []
    assert found.ignored == [
        "ParallelWorkers: no setting of this version, which passes over it in silence",
        "RemoteServicePort: set by the agent",
        "Providers: set by the agent",
    ]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("page_size", "big", "page_size has to be a whole number"),
        ("sweep_interval", "-1", "sweep_interval has to be a whole number"),
        ("forced_writes", "perhaps", "forced_writes has to be on or off"),
        ("character_set", "UTF8; DROP", "character_set has to be the name"),
    ],
)
def test_it_refuses_values_of_the_database_that_cannot_be(engine: Path, name: str, value: str, words: str):
    with pytest.raises(JobError, match=words):
        settings.split([(name, value)], engine)


def test_it_refuses_a_server_mode_that_does_not_exist(engine: Path):
    with pytest.raises(JobError, match="ServerMode has to be Super, SuperClassic or Classic, not 'Fast'"):
        _ = settings.split([("ServerMode", "Fast")], engine).mode


def test_it_tells_the_servers_cache_by_the_databases_where_the_server_does_not():
    rows = {"database": [(16384, 256, "on", 20_000, "on", "UTF8", "12.0", 3, "3.0.11")]}
    assert dict(settings.effective(rows, 0, [("DefaultDbCachePages", "256")]))["DefaultDbCachePages"] == "256"
    assert "DefaultDbCachePages" not in dict(settings.effective(rows, 0, [("page_size", "16384")]))
    rows["config"] = [("DefaultDbCachePages", "2048")]
    assert dict(settings.effective(rows, 0, [("DefaultDbCachePages", "2048")]))["DefaultDbCachePages"] == "2048"


def test_it_compares_by_meaning_and_says_what_went_before(engine: Path):
    given = [("TempCacheLimit", "64M"), ("DefaultDbCachePages", "8192"), ("page_buffers", "500"), ("page_size", "9000")]
    in_force = [("TempCacheLimit", "67108864"), ("page_buffers", "500"), ("page_size", "8192")]
    assert settings.differences(settings.split(given, engine), in_force) == [
        "DefaultDbCachePages: 8192 given, 500 in force (page_buffers of the database go before)",
        "page_size: 9000 given, 8192 in force",
    ]


def test_it_has_no_group_commit_and_two_kinds_of_background_maintenance():
    assert ADAPTER.knob("group_commit", "off", "3.0.11") == ()
    with pytest.raises(JobError, match="no transaction log"):
        ADAPTER.knob("group_commit", "3", "3.0.11")
    assert ("sweep_interval", "0") in ADAPTER.knob("background_maintenance", "off", "3.0.11")
    assert ("sweep_interval", "20000") in ADAPTER.knob("background_maintenance", "on", "3.0.11")
