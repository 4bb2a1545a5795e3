from __future__ import annotations

import pytest
from benchagent import dbms
from benchagent.dbms.base import JobError

from tests.benchagent.dbms import crash
from tests.benchagent.dbms.conftest import MakeTrial

pytestmark = pytest.mark.engines
VERSION = "2.7.4"
SYNCED = {"FILES WRITE DELAY": "FALSE", "TRANSACTION CONTROL": "MVCC"}


def test_it_syncs_every_commit_without_write_delay_and_loses_none_to_a_kill(make_trial: MakeTrial):
    trial = crash.loaded(make_trial("hsqldb", VERSION, SYNCED))
    crash.check_none_lost(trial)
    crash.check_each_commit_waits(trial, of=".log")


@pytest.mark.parametrize("knob", ["group_commit", "background_maintenance"])
def test_it_has_none_of_the_knobs(knob: str):
    with pytest.raises(JobError, match="HSQLDB has no"):
        dbms.adapter("hsqldb").knob(knob, "on", VERSION)
