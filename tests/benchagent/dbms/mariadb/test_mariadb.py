"""A real server: folders, group commit, statistics, backup by all three methods, durability."""

from __future__ import annotations

import pytest
from benchagent import dbms
from benchagent.catalog import Durability
from benchagent.dbms import probes
from benchagent.dbms.counters import checkpoint_words

from tests.benchagent.dbms.crash import loaded
from tests.benchagent.dbms.mysql.family import (
    NOT_ENABLED,
    MakeServer,
    backed_up_and_restored,
    command_lines_of_the_machine,
    with_rows,
)
from tests.benchagent.dbms.trial import undeclared
from tests.benchagent.durability import check_commits_do_not_wait, check_each_commit_waits, check_none_lost

pytestmark = pytest.mark.engines
SMALL = {"innodb_buffer_pool_size": "32M", "innodb_log_file_size": "16M"}


def test_it_commits_in_groups_with_its_logs_apart_and_opens_a_copy_of_it_elsewhere(make_mariadb: MakeServer):
    grouped = {**SMALL, **dict(dbms.adapter("mariadb").knob("group_commit", "2", "10.11.19"))}
    trial = make_mariadb(grouped, log_apart=True, temp_apart=True)
    session = trial.tpcb()
    in_force = trial.effective(session)
    assert (in_force["binlog_commit_wait_count"], in_force["sync_binlog"], in_force["log_bin"]) == ("2", "1", "ON")
    assert trial.instance.ignored_settings == []
    assert undeclared(trial, session) == set()
    found = trial.statistics(session)
    assert found["counters"]["commits"] >= session.summary["transactions"]  # type: ignore[index]
    assert {table["engine"] for table in found["tables"]} == {"InnoDB"}
    assert "checkpoints" in found["counters"]
    source = trial.instance.engine_counters
    by_default = trial.events([*NOT_ENABLED, *probes.steps("", source.counter_queries())])
    assert "not known: their counter could not be read" in checkpoint_words(source, source.counters(by_default.rows))

    shown = [*trial.instance.command_lines, *trial.lines, command_lines_of_the_machine()]
    assert trial.instance.connection.properties["password"] not in "\n".join(shown)
    users = "SELECT user FROM mysql.global_priv WHERE priv NOT LIKE '%\"account_locked\":true%' GROUP BY user"
    (count, accounts) = trial.query("SELECT COUNT(*) FROM history", users)
    assert accounts == [["bench"], ["bench_guest"]]

    trial.instance.shut_down()
    assert list(trial.folders.log.glob("redo/ib_logfile0"))
    assert list(trial.folders.log.glob("binlog/binlog.0*"))
    copy = make_mariadb(grouped, log_apart=True, temp_apart=True, restored_from=trial)
    for folder in (trial.folders.data, trial.folders.log):
        folder.rename(folder.with_name(f"{folder.name}-gone"))
    copy.instance.restart()
    assert copy.query("SELECT COUNT(*) FROM history") == [count]


def test_it_backs_up_by_dump_and_by_copy(make_mariadb: MakeServer):
    trial = with_rows(make_mariadb({**SMALL, "log_bin": "", "server_id": "1"}, log_apart=True))
    methods = trial.instance.backup_methods()
    assert [method.slug for method in methods] == ["dump", "dump_tab", "mariadb_backup"]
    (rows,) = trial.query("SELECT COUNT(*), SUM(id), MAX(filler) FROM t")
    for method in methods:
        assert backed_up_and_restored(trial, method) == rows
    (copied,) = methods[2].backup(trial.folders.backup / "x", {"jobs": "2"})
    assert "--parallel=2" in copied.argv  # type: ignore[union-attr]
    methods[1].cancel()
    assert trial.query("SHOW DATABASES LIKE 'bench\\_%'") == [[]]


def test_it_waits_for_the_disk_where_it_says_so_and_loses_no_commit_when_it_is_killed(make_mariadb: MakeServer):
    trial = make_mariadb(SMALL)
    check_each_commit_waits(trial, of="/ib_logfile")
    assert trial.promised() is Durability.POWER_LOSS
    check_none_lost(trial)


@pytest.mark.whole  # tests/benchagent/dbms/mysql/test_mysql.py holds it with MySQL
def test_it_does_not_wait_where_it_need_not_and_yet_loses_no_commit_when_only_the_server_is_killed(
    make_mariadb: MakeServer,
):
    trial = loaded(make_mariadb(SMALL))
    trial.query("SET GLOBAL innodb_flush_log_at_trx_commit = 2")
    check_commits_do_not_wait(trial)
    assert trial.promised() is Durability.DBMS_CRASH
    check_none_lost(trial)
