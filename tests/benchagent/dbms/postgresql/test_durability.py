"""What a COMMIT is worth: by the syncs that it waits for, and after a kill -9."""

from __future__ import annotations

import pytest
from benchagent.catalog import Durability

from tests.benchagent.dbms.postgresql.conftest import DEBIAN, NEWEST, MakePostgresql
from tests.benchagent.durability import check_commits_do_not_wait, check_each_commit_waits, check_none_lost
from tests.whole import whole

pytestmark = pytest.mark.engines
LOG = "/pg_wal/"


@pytest.mark.parametrize("version", [*whole(DEBIAN), NEWEST])
def test_it_waits_for_the_disk_at_each_commit_and_loses_none_when_it_is_killed(
    make_postgresql: MakePostgresql, version: str
):
    trial = make_postgresql(version)
    check_each_commit_waits(trial, of=LOG)
    assert trial.promised() is Durability.POWER_LOSS
    check_none_lost(trial)


def test_it_does_not_wait_without_fsync_and_yet_loses_none_when_only_the_server_is_killed(
    make_postgresql: MakePostgresql,
):
    trial = make_postgresql(NEWEST, {"fsync": "off"})
    check_commits_do_not_wait(trial)
    assert trial.promised() is Durability.NONE
    check_none_lost(trial)


def test_it_waits_in_each_write_of_a_log_that_is_opened_for_that_and_loses_none_of_four_terminals(
    make_postgresql: MakePostgresql,
):
    trial = make_postgresql(NEWEST, {"wal_sync_method": "open_datasync"})
    check_each_commit_waits(trial, of=LOG)
    check_none_lost(trial, terminals=4)
