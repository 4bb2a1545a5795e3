"""What a COMMIT is worth in version 8.0, which writes its log with threads of its own."""

from __future__ import annotations

import pytest
from benchagent.catalog import Durability

from tests.benchagent.dbms.mysql.conftest import NEW
from tests.benchagent.dbms.mysql.family import MakeServer, effective
from tests.benchagent.dbms.trial import Trial
from tests.benchagent.durability import COMMITS, survivors, syncs_of_commits

pytestmark = pytest.mark.engines
# It writes pages back all the time, and without being told otherwise a binary log with a sync of its own.
REDO = "/#ib_redo"
SETTINGS = {"innodb_buffer_pool_size": "32M", "skip-log-bin": ""}


def test_it_waits_for_its_redo_log_where_it_says_so_and_loses_no_commit_when_it_is_killed(make_mysql: MakeServer):
    trial = make_mysql(NEW, SETTINGS)
    commits, syncs = syncs_of_commits(trial, of=REDO)
    assert commits == COMMITS
    assert syncs >= COMMITS
    assert trial.instance.durability(effective(trial))[0] is Durability.POWER_LOSS
    check_it_loses_nothing_to_a_kill(trial)

    trial.query("SET GLOBAL innodb_flush_log_at_trx_commit = 2")
    commits, syncs = syncs_of_commits(trial, of=REDO)
    assert commits == COMMITS
    assert syncs < COMMITS / 2
    assert trial.instance.durability(effective(trial))[0] is Durability.DBMS_CRASH
    check_it_loses_nothing_to_a_kill(trial)


def check_it_loses_nothing_to_a_kill(trial: Trial) -> None:
    found = survivors(trial, after_s=1)
    assert found.acknowledged > 0
    assert found.is_safe, found
