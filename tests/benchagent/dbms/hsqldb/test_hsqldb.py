from __future__ import annotations

from pathlib import Path

import pytest
from benchagent import dbms
from benchagent.dbms.base import JobError

from tests.benchagent.dbms import crash
from tests.benchagent.dbms.conftest import MakeTrial

pytestmark = pytest.mark.engines
VERSION = "2.7.4"
SYNCED = {"FILES WRITE DELAY": "FALSE", "TRANSACTION CONTROL": "MVCC"}


def test_it_syncs_every_commit_without_write_delay_and_loses_none_to_a_kill(make_trial: MakeTrial, tmp_path: Path):
    trial = crash.loaded(make_trial("hsqldb", VERSION, SYNCED))
    acknowledged, missing = crash.missing_after_kill(trial)
    assert acknowledged >= crash.ENOUGH
    assert missing == 0
    commits, syncs = crash.syncs_of_commits(trial, tmp_path / "trace")
    assert commits == crash.COMMITS
    assert syncs >= commits


@pytest.mark.parametrize("knob", ["group_commit", "background_maintenance"])
def test_it_has_none_of_the_knobs(knob: str):
    with pytest.raises(JobError, match="HSQLDB has no"):
        dbms.adapter("hsqldb").knob(knob, "on", VERSION)
