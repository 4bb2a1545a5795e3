"""Values as bytes, seconds, yes or no, with the unit of each engine; what cannot be converted says why."""

from __future__ import annotations

import pytest
from benchagent.configfiles.engines import ENGINES
from benchagent.configfiles.meaning import settings_of
from benchagent.configfiles.settings import Facts, Given
from benchagent.configfiles.units import Kind, Quantity

MIB, GIB = 1024**2, 1024**3


def quantity(dbms: str, name: str, value: str | None, **facts: object) -> Quantity:
    settings = settings_of(dbms, [Given(name, value)], Facts(**facts))
    found = settings.quantity(ENGINES[dbms].canonical(name))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("dbms", "name", "value", "expected", "words"),
    [
        ("postgresql", "shared_buffers", "128MB", 128 * MIB, "128 MiB"),
        ("postgresql", "shared_buffers", "'128MB'", 128 * MIB, "128 MiB"),
        ("postgresql", "shared_buffers", "16384", 128 * MIB, "128 MiB"),
        ("postgresql", "work_mem", "4096", 4 * MIB, "4 MiB"),
        ("postgresql", "max_wal_size", "2048", 2 * GIB, "2 GiB"),
        ("postgresql", "wal_writer_delay", "200", 0.2, "200 ms"),
        ("postgresql", "checkpoint_timeout", "15min", 900, "15 min"),
        ("postgresql", "checkpoint_timeout", "90", 90, "90 s"),
        ("postgresql", "commit_delay", "10", 0.00001, "10 µs"),
        ("postgresql", "Shared_Buffers", "8kB", 8192, "8 KiB"),
        ("mysql", "innodb-buffer-pool-size", "4G", 4 * GIB, "4 GiB"),
        ("mysql", "innodb_buffer_pool_size", "2048M", 2 * GIB, "2 GiB"),
        ("mysql", "innodb_buffer_pool_size", "134217728", 128 * MIB, "128 MiB"),
        ("mysql", "expire_logs_days", "5", 432_000, "5 d"),
        ("firebird", "TempCacheLimit", "1G", GIB, "1 GiB"),
        ("firebird", "DeadlockTimeout", "10", 10, "10 s"),
        ("cubrid", "data_buffer_size", "4G", 4 * GIB, "4 GiB"),
        ("cubrid", "data_buffer_size", "512MB", 512 * MIB, "512 MiB"),
        ("cubrid", "checkpoint_interval_in_mins", "720", 43_200, "12 h"),
        ("cubrid", "group_commit_interval_in_msecs", "1000", 1, "1 s"),
        ("oracle", "sga_target", "1200m", 1200 * MIB, "1.172 GiB"),
        ("db2", "LOGBUFSZ", "256", MIB, "1 MiB"),
        ("hsqldb", "hsqldb.cache_size", "10000", 10_240_000, "9.766 MiB"),
        ("hsqldb", "FILES WRITE DELAY", "100 MILLIS", 0.1, "100 ms"),
        ("hsqldb", "SET FILES WRITE DELAY", "2", 2, "2 s"),
        ("h2", "cache_size", "65536", 64 * MIB, "64 MiB"),
        ("sqlite", "busy_timeout", "60000", 60, "1 min"),
        ("derby", "derby.locks.waitTimeout", "60", 60, "1 min"),
    ],
)
def test_it_knows_the_unit_of_a_parameter(dbms, name, value, expected, words):
    found = quantity(dbms, name, value)
    assert (found.value, found.words) == (pytest.approx(expected), words)


@pytest.mark.parametrize(
    ("dbms", "name", "value", "expected"),
    [
        ("postgresql", "fsync", "off", False),
        ("postgresql", "fsync", "TRUE", True),
        ("postgresql", "autovacuum", "'yes'", True),
        ("mysql", "innodb_file_per_table", None, True),
        ("mysql", "innodb_support_xa", "0", False),
        ("cubrid", "async_commit", "yes", True),
        ("derby", "derby.storage.rowLocking", "false", False),
    ],
)
def test_it_reads_yes_and_no_and_flags(dbms, name, value, expected):
    found = quantity(dbms, name, value)
    assert (found.kind, found.value) == (Kind.BOOL, expected)


@pytest.mark.parametrize(
    ("dbms", "name", "value", "words"),
    [
        ("postgresql", "shared_buffers", "128mb", "unit mb is not known"),
        ("mysql", "innodb_buffer_pool_size", "4GB", "unit GB is not known"),
        ("mysql", "innodb_buffer_pool_size", "a lot", "not a number"),
        ("mysql", "innodb_buffer_pool_size", "9" * 400, "not a number"),
        ("postgresql", "wal_buffers", "-1", "-1 means 1/32 of shared_buffers"),
        ("postgresql", "temp_buffers", "-5", "negative"),
    ],
)
def test_it_leaves_what_the_engine_would_not_read_as_it_is(dbms, name, value, words):
    found = quantity(dbms, name, value)
    assert found.kind is Kind.TEXT
    assert words in found.reason


@pytest.mark.parametrize(
    ("dbms", "name", "value", "page", "expected"),
    [
        ("cubrid", "data_buffer_pages", "262144", 16_384, 4 * GIB),
        ("cubrid", "data_buffer_pages", "262144", 4_096, GIB),
        ("firebird", "DefaultDbCachePages", "10000", 16_384, 163_840_000),
        ("firebird", "DefaultDbCachePages", "10K", 8_192, 80 * MIB),
        ("firebird", "page buffers", "10000", 16_384, 163_840_000),
        ("interbase", "cache size", "8192", 16_384, 128 * MIB),
        ("derby", "derby.storage.pageCacheSize", "20000", 8_192, 163_840_000),
    ],
)
def test_it_multiplies_pages_by_their_size(dbms, name, value, page, expected):
    found = quantity(dbms, name, value, page_size_bytes=page, page_size_source="of the database")
    assert (found.kind, found.value) == (Kind.BYTES, expected)
    assert "pages ×" in found.reason


def test_it_takes_the_page_size_of_the_file_before_any_other():
    given = [Given("derby.storage.pageSize", "32768"), Given("derby.storage.pageCacheSize", "1000")]
    settings = settings_of("derby", given, Facts(page_size_bytes=4096))
    assert settings.value("derby.storage.pageCacheSize") == 32_768_000


def test_it_leaves_pages_of_unknown_size_as_pages_and_says_why():
    """The article says 4 GB; 262144 pages are that only with pages of 16 KiB, and the size is not printed."""
    found = quantity("cubrid", "data_buffer_pages", "262144", version="2008 R3.0", complete=False)
    assert (found.kind, found.value, found.words) == (Kind.PAGES, 262_144, "262,144 pages")
    assert found.reason == "the page size is not stated: 1 GiB with pages of 4 KiB, 4 GiB with pages of 16 KiB"


def test_it_guesses_nothing_of_a_parameter_that_it_does_not_know():
    assert quantity("postgresql", "my.extension", "5").kind is Kind.NUMBER
    assert quantity("postgresql", "my.extension", "5MB").value == 5 * MIB
    assert quantity("postgresql", "my.extension", "some words").kind is Kind.TEXT
    assert quantity("postgresql", "my.extension", "off").value is False


def test_it_takes_the_last_of_several_and_says_so():
    given = [Given("data_buffer_pages", "25000", "common"), Given("data_buffer_pages", "262144", "common")]
    settings = settings_of("cubrid", given)
    found = settings.quantity("data_buffer_pages")
    assert found.value == 262_144
    assert "given 2 times (25000, 262144): which one holds is not documented" in found.reason


def test_it_takes_only_what_the_server_reads():
    given = [
        Given("port", "3307", "mysqld"),
        Given("port", "1", "client"),
        Given("sort_buffer_size", "1M", "mysqldump"),
    ]
    settings = settings_of("mysql", given, Facts(version="8.0.31"))
    assert (settings.text("port"), settings.is_set("sort_buffer_size")) == ("3307", False)


def test_it_reads_old_spellings_as_what_they_stand_for():
    given = [
        Given("set-variable", "key_buffer=16M"),
        Given("default_table_type", "InnoDB"),
        Given("skip-log-bin", None),
    ]
    settings = settings_of("mysql", given)
    assert settings.value("key_buffer_size") == 16 * MIB
    assert settings.text("default_storage_engine") == "InnoDB"
    assert settings.text("log_bin") == "OFF"


@pytest.mark.parametrize(
    ("dbms", "version", "name", "expected"),
    [
        ("postgresql", "9.2.2", "work_mem", "work_mem not set: default 1MB"),
        ("postgresql", "15.8", "work_mem", "work_mem not set: default 4MB"),
        ("postgresql", "", "work_mem", "work_mem not set: default 4MB since 9.4, 1MB before"),
        ("mysql", "5.5.34", "sync_binlog", "sync_binlog not set: default 0"),
        ("mysql", "8.0.31", "sync_binlog", "sync_binlog not set: default 1"),
        ("mariadb", "10.11.19", "sync_binlog", "sync_binlog not set: default 0"),
        ("derby", "10.6.2.1", "derby.system.durability", "derby.system.durability not set: default default"),
        ("firebird", "3.0", "gcpolicy", "GCPolicy not stated"),
        ("firebird", "3.0", "servermode", "ServerMode not set: default Super"),
    ],
)
def test_it_states_the_default_of_the_version(dbms, version, name, expected):
    settings = settings_of(dbms, [], Facts(version=version))
    assert settings.words(name) == expected


def test_it_assumes_no_default_where_an_article_prints_only_a_part():
    settings = settings_of("mysql", [], Facts(version="5.1.47", complete=False))
    assert settings.text("innodb_doublewrite") is None
    assert settings.words("innodb_doublewrite") == "innodb_doublewrite not stated"


def test_it_reads_the_version_of_a_product_name():
    assert Facts(version="2008 R3.0").version_numbers == (8, 3, 0)
    assert Facts(version="10.11.19-MariaDB-0+deb12u1").version_numbers == (10, 11, 19)
    assert Facts(version="of last week").version_numbers == ()
