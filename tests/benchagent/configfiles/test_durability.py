"""The durability class of settings, with the reason."""

from __future__ import annotations

import pytest
from benchagent.catalog import Durability
from benchagent.configfiles.meaning import durability, of_effective
from benchagent.configfiles.settings import Facts, Given

from tests.benchagent.configfiles.samples import printed

POWER, DBMS, BOUNDED, NONE, MEMORY = Durability


@pytest.mark.parametrize(
    ("dbms", "version", "given", "expected", "words"),
    [
        ("postgresql", "", {}, POWER, "fsync not set: default on"),
        ("postgresql", "", {"fsync": "off"}, NONE, "fsync=off"),
        ("postgresql", "", {"fsync": "'off'"}, NONE, "fsync=off"),
        ("postgresql", "", {"synchronous_commit": "off"}, BOUNDED, "3 × wal_writer_delay (200ms)"),
        ("postgresql", "", {"synchronous_commit": "local"}, POWER, "synchronous_commit=local"),
        ("postgresql", "", {"full_page_writes": "off"}, DBMS, "cannot be repaired, unless"),
        ("postgresql", "", {"synchronous_commit": "remote_write"}, POWER, "each commit is synced"),
        ("postgresql", "", {"synchronous_commit": "sometimes"}, None, "not recognised"),
        (
            "postgresql",
            "",
            {"synchronous_commit": "remote_apply", "synchronous_standby_names": "'*'"},
            POWER,
            "synced here and applied by the standby",
        ),
        (
            "postgresql",
            "",
            {"synchronous_commit": "local", "synchronous_standby_names": "b"},
            POWER,
            "synchronous_commit=local: each commit is synced",
        ),
        (
            "postgresql",
            "",
            {"wal_sync_method": "open_sync", "full_page_writes": "0"},
            DBMS,
            "wal_sync_method=open_sync",
        ),
        ("mysql", "5.5.34", {}, POWER, "innodb_flush_log_at_trx_commit not set: default 1"),
        ("mysql", "5.5.34", {"innodb_flush_log_at_trx_commit": "0"}, BOUNDED, "every 1 s"),
        ("mysql", "", {"innodb-flush-log-at-trx-commit": "2"}, DBMS, "synced about once a second"),
        ("mysql", "", {"innodb_flush_log_at_trx_commit": "7"}, None, "not known"),
        ("mysql", "5.7.22", {"log_bin": "x", "sync_binlog": "0"}, DBMS, "sync_binlog=0"),
        ("mysql", "5.5.34", {"log_bin": "x"}, POWER, "each commit is synced"),
        ("mysql", "8.0.31", {}, POWER, "each commit is synced"),
        ("mysql", "8.0.31", {"skip-innodb-doublewrite": None}, DBMS, "torn by a crash"),
        ("mysql", "", {"innodb_flush_method": "nosync"}, NONE, "nosync"),
        ("mysql", "", {"default-storage-engine": "MyISAM"}, NONE, "no transactions"),
        ("mysql", "5.1.47", {}, POWER, "of InnoDB tables (default_storage_engine not set: default MyISAM"),
        ("mariadb", "10.11", {"log_bin": None}, DBMS, "sync_binlog not set: default 0"),
        ("mariadb", "10.11", {"innodb_flush_log_at_trx_commit": "3"}, POWER, "synced"),
        ("firebird", "", {"DefaultDbCachePages": "10K"}, None, "property of the database"),
        ("firebird", "", {"ForcedWrites": "1"}, POWER, "written through"),
        ("firebird", "", {"ForcedWrites": "0", "MaxUnflushedWrites": "100"}, DBMS, "MaxUnflushedWrites=100"),
        ("cubrid", "", {}, POWER, "async_commit not set: default no"),
        ("cubrid", "", {"async_commit": "yes"}, BOUNDED, "does not wait"),
        ("cubrid", "", {"group_commit_interval_in_msecs": "10"}, POWER, "up to 10 ms"),
        ("derby", "", {}, POWER, "derby.system.durability not set"),
        ("derby", "", {"derby.system.durability": "test"}, NONE, "does not sync"),
        ("oracle", "10.2", {}, POWER, "default wait"),
        ("oracle", "10.2", {"commit_write": "'BATCH,NOWAIT'"}, BOUNDED, "commit_write=BATCH,NOWAIT"),
        ("oracle", "19", {"commit_wait": "force_wait"}, POWER, "commit_wait=force_wait"),
        ("oracle", "", {"_disable_logging": "true"}, NONE, "no redo"),
        ("db2", "9.7", {"mincommit": "2"}, POWER, "mincommit=2"),
        ("sqlite", "", {}, DBMS, "synchronous=FULL (the default)"),
        ("sqlite", "", {"journal_mode": "wal"}, POWER, "each commit is synced"),
        ("sqlite", "", {"synchronous": "1"}, DBMS, "synchronous=NORMAL"),
        ("sqlite", "", {"synchronous": "OFF"}, DBMS, "nothing is synced"),
        ("sqlite", "", {"journal_mode": "memory"}, NONE, "without a journal"),
        ("sqlite", "", {"synchronous": "nine"}, None, "not recognised"),
        ("hsqldb", "", {}, BOUNDED, "500 ms, the default"),
        ("hsqldb", "", {"FILES WRITE DELAY": "FALSE"}, POWER, "off"),
        ("hsqldb", "", {"FILES LOG": "FALSE"}, NONE, "no log"),
        ("h2", "", {"write_delay": "0"}, DBMS, "does not sync"),
        ("h2", "", {}, BOUNDED, "500 ms, the default"),
        ("h2", "", {"storage": "memory"}, MEMORY, "in memory"),
        ("hsqldb", "", {"storage": "memory", "FILES WRITE DELAY": "FALSE"}, MEMORY, "in memory"),
        ("nosql", "", {"a": "b"}, None, "not known"),
    ],
)
def test_it_derives_the_class_and_says_why(dbms, version, given, expected, words):
    found = durability(dbms, [Given(*item) for item in given.items()], Facts(version=version))
    assert (found.durability, words in found.reason) == (expected, True), found


@pytest.mark.parametrize(
    ("config", "dbms", "version", "words"),
    [
        ("cfg-cubrid-cubrid", "cubrid", "2008 R3.0", "about a second may be lost"),
        ("cfg-cubrid-mysql", "mysql", "5.1.47", "innodb_flush_log_at_trx_commit=0"),
    ],
)
def test_it_finds_that_both_systems_of_the_cubrid_article_may_lose_about_a_second(config, dbms, version, words):
    given = [Given(one.name, one.given, one.section) for one in printed(config)]
    found = durability(dbms, given, Facts(version=version, complete=False))
    assert found.durability is BOUNDED
    assert words in found.reason


@pytest.mark.parametrize(
    "dbms", ["postgresql", "mysql", "cubrid", "derby", "oracle", "db2", "hsqldb", "h2", "firebird"]
)
def test_it_derives_nothing_where_nothing_is_printed(dbms):
    assert durability(dbms, [], Facts(complete=False)).durability is None


def test_what_was_read_back_and_does_not_tell_promises_nothing():
    assert of_effective("derby", {"derby.system.durability": "default"}) == (POWER, "each commit syncs Derby's log")
    assert of_effective("sqlite", {"synchronous": "nine"})[0] is NONE


def test_of_a_dbms_whose_settings_nobody_has_described_nothing_is_stated():
    assert of_effective("mine", {"sync": "on"}) == (None, "what a commit promises is not known for this DBMS")


def test_it_takes_forced_writes_from_what_is_known_of_the_database():
    assert durability("firebird", [], Facts(forced_writes=True)).durability is POWER
    assert durability("firebird", [], Facts(forced_writes=False)).durability is DBMS
