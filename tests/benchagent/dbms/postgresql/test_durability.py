"""What a COMMIT is worth: by the syncs that it waits for, and after a kill -9."""

from __future__ import annotations

import pytest
from benchagent.catalog import Durability
from benchagent.session import EFFECTIVE_PREFIX, query_steps

from tests.benchagent.dbms.postgresql.conftest import NEWEST, MakePostgresql
from tests.benchagent.dbms.trial import Trial
from tests.benchagent.durability import COMMITS, survivors, syncs_of_commits

pytestmark = pytest.mark.engines


def promised(trial: Trial) -> Durability:
    session = trial.events(query_steps(EFFECTIVE_PREFIX, trial.instance.effective_queries()))
    return trial.instance.durability(trial.effective(session))[0]


def test_it_waits_for_the_disk_at_each_commit_and_loses_none_when_it_is_killed(make_postgresql: MakePostgresql):
    trial = make_postgresql(NEWEST)
    commits, syncs = syncs_of_commits(trial)
    assert commits == COMMITS
    assert syncs >= COMMITS
    assert promised(trial) is Durability.POWER_LOSS
    found = survivors(trial, after_s=1)
    assert found.acknowledged > 0
    assert found.is_safe, found


def test_it_does_not_wait_without_fsync_and_yet_loses_none_when_only_the_server_is_killed(
    make_postgresql: MakePostgresql,
):
    trial = make_postgresql(NEWEST, {"fsync": "off"})
    commits, syncs = syncs_of_commits(trial)
    assert commits == COMMITS
    assert syncs < COMMITS / 2
    assert promised(trial) is Durability.NONE
    found = survivors(trial, after_s=1)
    assert found.acknowledged > 0
    assert found.is_safe, found


def test_it_waits_in_each_write_of_a_log_that_is_opened_for_that(make_postgresql: MakePostgresql):
    trial = make_postgresql(NEWEST, {"wal_sync_method": "open_datasync"})
    commits, syncs = syncs_of_commits(trial)
    assert commits == COMMITS
    assert syncs >= COMMITS
