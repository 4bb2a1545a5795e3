"""Real servers of three versions: life, folders, settings in force, statistics, backup, durability."""

from __future__ import annotations

import stat

import psutil
import pytest
from benchagent.catalog import Durability
from benchagent.configfiles.article_2011 import PRINTED_MY_CNF, TUNED_MY_CNF, scaled
from benchagent.dbms import probes
from benchagent.dbms.base import JobError
from benchagent.dbms.counters import COUNTERS, checkpoint_words
from benchagent.machine import process

from tests.benchagent.dbms.mysql.conftest import MIDDLE, NEW, OLD
from tests.benchagent.dbms.mysql.family import (
    NOT_ENABLED,
    ROWS,
    TABLE,
    MakeServer,
    backed_up_and_restored,
    command_lines_of_the_machine,
    with_rows,
)
from tests.benchagent.dbms.trial import undeclared
from tests.benchagent.durability import check_commits_do_not_wait, check_each_commit_waits, check_none_lost
from tests.whole import whole

pytestmark = pytest.mark.engines
SMALL = {"innodb_buffer_pool_size": "32M"}


def test_it_runs_tpcb_with_its_logs_apart_and_opens_a_copy_of_it_elsewhere(make_mysql: MakeServer):
    given = {**SMALL, "port": "1", "log-bin": "mysql-bin", "server-id": "1", "sort_buffer_size": "1K"}
    trial = make_mysql(OLD, given, log_apart=True)
    instance = trial.instance
    session = trial.tpcb()
    in_force = trial.effective(session)
    assert (in_force["version"], in_force["innodb_buffer_pool_size"]) == (f"{OLD}-log", str(32 << 20))
    assert in_force["table_engines"] == "InnoDB (4)"
    assert instance.buffer_bytes() == 32 << 20
    assert instance.ignored_settings == [
        "port: set by the agent",
        f"sort_buffer_size: 1K given, {in_force['sort_buffer_size']} in force",
    ]
    assert undeclared(trial, session) == set()
    found = trial.statistics(session)["counters"]
    transactions = session.summary["transactions"]  # type: ignore[index]
    assert found["commits"] >= transactions
    assert found["log_flushes"] > 0
    assert found["log_bytes"] > transactions * 100

    password = instance.connection.properties["password"]
    shown = [*instance.command_lines, *trial.lines, command_lines_of_the_machine()]
    assert password not in "\n".join(shown)
    assert stat.S_IMODE((trial.folders.data / "password").stat().st_mode) == 0o600
    (count, accounts) = trial.query("SELECT COUNT(*) FROM history", "SELECT DISTINCT user FROM mysql.user")
    assert accounts == [["bench"], ["bench_guest"]]

    instance.shut_down()
    assert list(trial.folders.log.glob("redo/ib_logfile*"))
    assert list(trial.folders.log.glob("binlog/mysql-bin.0*"))
    assert not list(trial.folders.data.rglob("ib_logfile*"))
    copy = make_mysql(OLD, given, log_apart=True, restored_from=trial)
    for folder in (trial.folders.data, trial.folders.log):
        folder.rename(folder.with_name(f"{folder.name}-gone"))
    copy.instance.restart()
    assert copy.query("SELECT COUNT(*) FROM history") == [count]


@pytest.mark.parametrize("version", [*whole(MIDDLE), NEW])
def test_it_asks_every_version_for_its_statistics_in_its_own_words(version: str, make_mysql: MakeServer):
    trial = make_mysql(version, {"innodb_buffer_pool_size": "130M", "loose_query_cachet": "1"})
    source = trial.instance.engine_counters
    steps = [
        {"op": "execute", "phase": "create", "statements": [*TABLE, *trial.instance.dialect.after_load]},
        # At once: purging and statistics change pages again a moment later.
        *probes.steps("pages:", {"dirty": "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_dirty'"}),
        *probes.steps(probes.COUNTERS, source.counter_queries()),
        *probes.steps(probes.MAINTENANCE, source.maintenance_queries(["t"])),
        *probes.steps(probes.SCHEMA, source.schema_queries(["t"])),
        *probes.steps("waits:", source.waiting),
        *probes.steps("effort:", source.effort_sql),
        {"op": "query", "name": "plan", "sql": source.plan_queries("UPDATE t SET filler = '' WHERE id = 7")[0]},
        *NOT_ENABLED,
        *probes.steps("by default:", source.counter_queries()),
    ]
    session = trial.events(steps)
    assert session.error is None, session.error
    assert set(source.counters(probes.rows(probes.COUNTERS, session.rows))) == set(COUNTERS) - set(source.none)
    by_default = source.counters(probes.rows("by default:", session.rows))
    assert "not known: their counter could not be read" in checkpoint_words(source, by_default)
    assert int(session.rows["pages:dirty"][0][1]) < 20
    ages = {age.what: age for age in source.maintenance(probes.rows(probes.MAINTENANCE, session.rows))}
    assert 0 <= ages["statistics of t"].age_s < 60  # type: ignore[operator]
    assert ages["purge"].age_s is None and "history list length" in ages["purge"].detail
    (table,) = source.tables(probes.rows(probes.SCHEMA, session.rows))
    assert table.rows == pytest.approx(ROWS, rel=0.1)
    assert (table.engine, table.size_bytes) == ("InnoDB", table.pages * 16384)  # type: ignore[operator]
    indexes = {index.index: index for index in source.indexes(probes.rows(probes.SCHEMA, session.rows))}
    assert indexes["t_tenth"].unique_keys == 10
    assert indexes["t_tenth"].size_bytes
    assert source.effort(probes.rows("effort:", session.rows))["fetches"] > 0
    assert "t" in source.plan(session.rows["plan"])
    assert trial.tpcb().summary["transactions"] > 0  # type: ignore[index]
    assert list(trial.instance.backup_methods()) == []  # servers without tools

    trial.instance.restart()
    assert trial.in_force()["innodb_page_size"] == "16384"
    assert trial.instance.ignored_settings == [
        f"innodb_buffer_pool_size: 130M given, {256 << 20} in force",
        "loose_query_cachet: this server does not know it",
    ]


@pytest.mark.parametrize("version", [OLD, NEW])
def test_it_says_in_the_servers_words_why_a_setting_cannot_be(version: str, make_mysql: MakeServer):
    with pytest.raises(JobError, match="innodb_buffer_pool_sizes"):
        make_mysql(version, {"innodb_buffer_pool_sizes": "1M"})


def test_it_takes_the_printed_my_cnf_and_the_tuned_one(make_mysql: MakeServer):
    printed = make_mysql(OLD, dict(scaled(PRINTED_MY_CNF, 64)))
    in_force = with_rows(printed).in_force()
    assert in_force["table_open_cache"] == "1024"
    assert (in_force["query_cache_size"], in_force["innodb_thread_concurrency"]) == (str(64 << 20), "16")
    assert in_force["innodb_log_file_size"] == str(8 << 20)
    assert printed.instance.ignored_settings == []
    assert printed.instance.durability(in_force)[0] is Durability.BOUNDED_LOSS
    printed.close()
    tuned = make_mysql(OLD, dict(scaled(TUNED_MY_CNF, 64)))
    in_force = tuned.in_force()
    assert (in_force["query_cache_size"], in_force["innodb_flush_method"]) == ("0", "O_DIRECT")
    assert tuned.instance.ignored_settings == []
    assert tuned.instance.durability(in_force)[0] is Durability.BOUNDED_LOSS


def test_it_backs_up_by_dump_where_there_are_tools_for_it(make_mysql: MakeServer):
    trial = with_rows(make_mysql(OLD, SMALL))
    methods = trial.instance.backup_methods()
    assert [method.slug for method in methods] == ["dump", "dump_tab"]
    (rows,) = trial.query("SELECT COUNT(*), SUM(id), MAX(filler) FROM t")
    for method in methods:
        assert backed_up_and_restored(trial, method) == rows
    assert len(list((trial.folders.backup / "dump_tab").glob("t.*"))) == 2


def test_it_offers_no_backup_without_tools_and_leaves_nothing_running(make_mysql: MakeServer):
    trial = make_mysql(MIDDLE, SMALL)
    assert list(trial.instance.backup_methods()) == []
    (pid,) = trial.instance.server_pids()
    trial.instance.stop()
    trial.instance.stop()
    assert not psutil.pid_exists(pid)
    assert process.leftovers(trial.root / "job") == []


def test_it_waits_for_the_disk_where_it_says_so_and_loses_no_commit_when_it_is_killed(make_mysql: MakeServer):
    trial = make_mysql(OLD, SMALL)
    check_each_commit_waits(trial, of="/ib_logfile")
    assert trial.promised() is Durability.POWER_LOSS
    check_none_lost(trial)

    trial.query("SET GLOBAL innodb_flush_log_at_trx_commit = 2")
    check_commits_do_not_wait(trial)
    assert trial.promised() is Durability.DBMS_CRASH
    check_none_lost(trial)
