"""What a COMMIT is worth in version 8.0, which writes its log with threads of its own."""

from __future__ import annotations

import pytest
from benchagent.catalog import Durability

from tests.benchagent.dbms.crash import loaded
from tests.benchagent.dbms.mysql.conftest import NEW
from tests.benchagent.dbms.mysql.family import MakeServer
from tests.benchagent.durability import check_commits_do_not_wait, check_each_commit_waits, check_none_lost

pytestmark = pytest.mark.engines
# It writes pages back all the time, and without being told otherwise a binary log with a sync of its own.
MYISAM = "CREATE TABLE risky (id INTEGER) ENGINE = MyISAM"
REDO = "/#ib_redo"
SETTINGS = {"innodb_buffer_pool_size": "32M", "skip-log-bin": ""}


def test_it_waits_for_its_redo_log_where_it_says_so_and_loses_no_commit_when_it_is_killed(make_mysql: MakeServer):
    trial = make_mysql(NEW, SETTINGS)
    check_each_commit_waits(trial, of=REDO)
    assert trial.promised() is Durability.POWER_LOSS
    check_none_lost(trial)


@pytest.mark.whole  # test_mysql holds it with the oldest version
def test_it_does_not_wait_where_it_need_not_and_yet_loses_no_commit_when_only_the_server_is_killed(
    make_mysql: MakeServer,
):
    trial = loaded(make_mysql(NEW, SETTINGS))
    trial.query("SET GLOBAL innodb_flush_log_at_trx_commit = 2")
    check_commits_do_not_wait(trial, of=REDO)
    assert trial.promised() is Durability.DBMS_CRASH
    check_none_lost(trial)


def test_it_promises_less_with_pages_that_cannot_be_mended_and_nothing_with_tables_without_transactions(
    make_mysql: MakeServer,
):
    trial = make_mysql(NEW, {**SETTINGS, "innodb_doublewrite": "DETECT_ONLY"})
    durability, reason = trial.instance.durability(trial.in_force())
    assert (durability, "innodb_doublewrite=DETECT_ONLY: a page torn" in reason) == (Durability.DBMS_CRASH, True)

    trial.query(MYISAM)
    durability, reason = trial.instance.durability(trial.in_force())
    assert (durability, "1 with MyISAM" in reason) == (Durability.NONE, True)
