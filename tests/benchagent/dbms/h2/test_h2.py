from __future__ import annotations

import pytest
from benchagent import dbms
from benchagent.dbms.base import JobError

from tests.benchagent.dbms import crash
from tests.benchagent.dbms.conftest import MakeTrial

pytestmark = pytest.mark.engines
VERSION = "2.5.252"


def test_it_syncs_no_commit_whatever_is_set(make_trial: MakeTrial):
    trial = crash.loaded(make_trial("h2", VERSION, {"WRITE_DELAY": "0"}))
    crash.check_none_lost(trial)
    crash.check_commits_do_not_wait(trial)


def test_it_counts_reads_and_writes_of_its_file(make_trial: MakeTrial):
    trial = make_trial("h2", VERSION, {"WRITE_DELAY": "0", "CACHE_SIZE": "20000"})
    session = trial.tpcb()
    assert trial.effective(session)["CACHE_SIZE"] == "20000"
    assert trial.instance.buffer_bytes() == 20_000 * 1024
    assert trial.instance.ignored_settings == []
    assert trial.statistics(session)["counters"]["data_writes"] > 0


def test_it_turns_compaction_and_statistics_off(make_trial: MakeTrial):
    settings = dict(dbms.adapter("h2").knob("background_maintenance", "off", VERSION))
    assert settings == {"AUTO_COMPACT_FILL_RATE": "0", "ANALYZE_AUTO": "0"}
    trial = make_trial("h2", VERSION, settings)
    effective = trial.effective(trial.tpcb())
    assert effective["ANALYZE_AUTO"] == "0"
    # None was given: what H2 took for itself, a share of the heap.
    assert trial.instance.buffer_bytes() == int(effective["CACHE_SIZE"]) * 1024 >= 16 << 20
    assert trial.instance.ignored_settings == []
    with pytest.raises(JobError, match="no group commit"):
        dbms.adapter("h2").knob("group_commit", "2", VERSION)
