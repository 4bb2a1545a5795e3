from __future__ import annotations

from pathlib import Path

import pytest
from benchagent import dbms
from benchagent.dbms.base import JobError
from benchagent.dbms.derby import move_log, value_in_force

from tests.benchagent.dbms import crash
from tests.benchagent.dbms.conftest import MakeTrial
from tests.benchagent.dbms.trial import undeclared
from tests.whole import whole_but

pytestmark = pytest.mark.engines
OLD = ("10.3.2.1", "10.6.2.1")
CURRENT = "10.16.1.1"


@pytest.mark.parametrize("version", whole_but(OLD[:1], [*OLD, CURRENT]))
def test_it_keeps_the_log_on_a_storage_of_its_own_and_opens_a_copy_of_both(version: str, make_trial: MakeTrial):
    settings = {"derby.storage.pageSize": "8192", "derby.storage.pageCacheSize": "2000"}
    trial = make_trial("derby", version, settings, log_apart=True)
    session = trial.tpcb()
    assert list(trial.folders.log.rglob("log*.dat"))
    assert not (trial.folders.data / "bench" / "log").exists()
    assert trial.effective(session)["derby.storage.pageSize"] == "8192"
    assert undeclared(trial, session) == set()
    (index,) = [entry for entry in trial.statistics(session)["indexes"] if entry["table"] == "accounts"]
    assert index["index"] == "accounts_pk"
    assert index["size_bytes"] > 10_000
    (count,) = trial.query("SELECT COUNT(*) FROM history")

    copy = make_trial("derby", version, settings, log_apart=True, restored_from=trial)
    for folder in (trial.folders.data, trial.folders.log):
        folder.rename(folder.with_name(f"{folder.name}-gone"))
    assert copy.query("SELECT COUNT(*) FROM history") == [count]
    assert not trial.folders.log.exists()


def test_it_reports_what_derby_passes_over_in_silence(make_trial: MakeTrial):
    settings = {"derby.storage.pageSize": "5000", "derby.storage.pagesize": "8192", "derby.system.home": "/"}
    trial = make_trial("derby", CURRENT, {**settings, "derby.storage.pageCacheSize": "10"})
    assert trial.instance.buffer_bytes() is None
    effective = trial.in_force()
    assert effective["derby.storage.pageSize"] == "4096"
    assert "derby.storage.pagesize" not in effective
    assert trial.instance.buffer_bytes() == 1000 * 4096
    assert trial.instance.ignored_settings == [
        "derby.system.home: set by the agent",
        "derby.storage.pagesize: not a property that is known of Derby, which passes over what it does not know",
        "derby.storage.pageSize=5000 given, derby.storage.pageSize=4096 in force",
        "derby.storage.pageCacheSize=10 given, derby.storage.pageCacheSize=1000 in force",
    ]


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("derby.storage.pageCacheSize", "40", "40"),
        ("derby.storage.pageCacheSize", "39", "1000"),
        ("derby.storage.pageCacheSize", "many", "1000"),
        ("derby.storage.pageSize", "32768", "32768"),
        ("derby.storage.pageSize", "65536", "4096"),
        ("derby.storage.logBufferSize", "4096", "32768"),
        ("derby.storage.checkpointInterval", "1", "100000"),
        ("derby.storage.logSwitchInterval", "1000000000", "134217728"),
        ("derby.storage.logSwitchInterval", "many", "many"),
        ("derby.locks.escalationThreshold", "50", "5000"),
        ("derby.locks.waitTimeout", "-1", "-1"),
    ],
)
def test_it_knows_which_numbers_derby_takes(name: str, value: str, expected: str):
    assert value_in_force(name, value) == expected


def test_it_makes_room_in_the_heap_for_its_page_cache(make_trial: MakeTrial):
    small = make_trial("derby", CURRENT, {})
    large = make_trial("derby", CURRENT, {"derby.storage.pageCacheSize": "100000"})
    assert large.instance.heap_mb - small.instance.heap_mb == pytest.approx(99_000 * 4096 * 1.5 / (1 << 20), abs=1)


def test_it_knows_background_maintenance_from_10_8_on_and_no_group_commit():
    adapter = dbms.adapter("derby")
    assert adapter.knob("background_maintenance", "off", CURRENT) == [("derby.storage.indexStats.auto", "false")]
    with pytest.raises(JobError, match=r"10\.6\.2\.1 has no background maintenance"):
        adapter.knob("background_maintenance", "off", "10.6.2.1")
    with pytest.raises(JobError, match="no setting for group commit"):
        adapter.knob("group_commit", "2", CURRENT)


def test_it_tells_a_copy_where_its_log_is(tmp_path: Path):
    properties = tmp_path / "service.properties"
    properties.write_text("a=1\nlogDevice=/old\nb=2\n#--- last line\n")
    move_log(tmp_path, Path("/new place"))
    assert properties.read_text() == "a=1\nlogDevice=/new\\ place\nb=2\n#--- last line\n"
    with pytest.raises(JobError, match="cannot be opened"):
        move_log(tmp_path / "nowhere", Path("/new"))


@pytest.mark.parametrize("version", whole_but((CURRENT,), [*OLD, CURRENT]))
def test_it_syncs_every_commit_and_loses_none_to_a_kill(version: str, make_trial: MakeTrial):
    trial = crash.loaded(make_trial("derby", version, {}))
    crash.check_none_lost(trial)
    crash.check_each_commit_waits(trial, of="/log/")
