"""What each grammar makes of its lines."""

from __future__ import annotations

import pytest
from benchagent.configfiles import LineKind, parse, recognise

from tests.benchagent.configfiles.samples import SAMPLES


def read(sample: str) -> list[tuple[str, str, str | None, str]]:
    return [(one.section, one.name, one.value, one.comment) for one in parse(SAMPLES[sample], sample).entries]


def test_it_reads_postgresql_conf():
    parsed = parse(SAMPLES["postgresql"], "postgresql")
    assert read("postgresql") == [
        ("", "shared_buffers", "2GB", "min 128kB"),
        ("", "work_mem", "16MB", ""),
        ("", "fsync", "off", ""),
        ("", "search_path", '"$user", public', "a # inside is kept: 'x'"),
        ("", "archive_command", "cp %p '/mnt/a b/%f' # not a comment", ""),
        ("", "plpgsql.check_asserts", "on", ""),
        ("", "work_mem", "32MB", ""),
        ("", "listen_addresses", None, ""),
        ("", "primary_conninfo", "host=a user=b password=hunter2", ""),
    ]
    assert parsed.includes == ["extra.conf"]
    assert [number for number, _ in parsed.problems] == [12, 13]


def test_it_reads_my_cnf():
    parsed = parse(SAMPLES["my_cnf"], "my_cnf")
    assert read("my_cnf") == [
        ("client", "password", "hunter2", ""),
        ("client", "socket", "/tmp/mysql.sock", ""),
        ("mysqld", "skip-name-resolve", None, ""),
        ("mysqld", "innodb_buffer_pool_size", "4G", "50 ~ 70% of main memory"),
        ("mysqld", "innodb-flush-log-at-trx-commit", "2", ""),
        ("mysqld", "init_connect", "SET NAMES utf8; # not a comment", ""),
        ("mysqld", "key_buffer", "16M", ""),
        ("mysqld", "log-bin", "mysql-bin", "tail"),
        ("mysqld", "set-variable", "sort_buffer=2M", ""),
        ("mysqld", "innodb_file_per_table", None, ""),
        ("mysqld", "innodb_log_file_size", "256M", ""),
        ("mysqld", "innodb_log_files_in_group", "3", ""),
    ]
    assert parsed.includes == ["/etc/mysql/conf.d/"]
    assert not parsed.problems


def test_it_reads_firebird_conf_and_the_blocks_of_databases_conf():
    parsed = parse(SAMPLES["firebird"], "firebird")
    assert read("firebird") == [
        ("", "DefaultDbCachePages", "10K", "raised"),
        ("", "TempCacheLimit", "1G", ""),
        ("", "RemoteBindAddress", "", ""),
        ("", "employee", "/data/employee.fdb", ""),
        ("employee", "DefaultDbCachePages", "500", ""),
        ("", "ServerMode", "SuperClassic", ""),
    ]
    assert parsed.includes == ["$(dir_conf)/more.conf"]


def test_it_reads_cubrid_conf_with_both_of_a_duplicate():
    assert read("cubrid") == [
        ("service", "service", "server,broker", ""),
        ("common", "data_buffer_pages", "25000", ""),
        ("common", "isolation_level", "TRAN_REP_CLASS_UNCOMMIT_INSTANCE", "quoted"),
        ("common", "async_commit", "yes", "lost on a crash"),
        ("common", "data_buffer_pages", "262144", ""),
        ("@demodb", "data_buffer_size", "2G", ""),
    ]


def test_it_reads_derby_properties_as_java_does():
    assert read("derby") == [
        ("", "derby.storage.pageCacheSize", "20000", ""),
        ("", "derby.storage.pageSize", "8192", ""),
        ("", "derby.system.durability", "test", ""),
        ("", "derby.stream.error.file", "/var/log/derby.log", ""),
        ("", "derby.user.sa", "hunter2", ""),
        ("", "derby.infolog.append", None, ""),
        ("", "derby.database.propertiesOnly", "café = #kept", ""),
    ]
    parsed = parse("derby.system.durability=test \n", "derby")
    assert parsed.entries[0].value == "test "
    assert parsed.problems == [(1, "the blank at the end belongs to the value")]


def test_it_reads_init_ora():
    parsed = parse(SAMPLES["init_ora"], "init_ora")
    assert read("init_ora") == [
        ("*", "db_cache_size", "1G", ""),
        ("", "processes", "150", ""),
        ("", "sessions", "200", "two on a line"),
        ("", "control_files", '("/u01/control01.ctl", "/u02/control02.ctl")', ""),
        ("", "log_archive_dest_1", "LOCATION=/arch # kept", "gone"),
        ("", "db_block_size", "8192", ""),
        ("", "nls_territory", "AMERICA, FRANCE", ""),
        ("orcl", "undo_tablespace", "UNDOTBS1", ""),
    ]
    assert parsed.includes == ["/u01/more.ora"]
    assert [line.number for line in parsed.lines if line.kind is LineKind.NOT_UNDERSTOOD] == [12]


@pytest.mark.parametrize("sample", [name for name in SAMPLES if name != "plain"])
def test_it_recognises_a_format_by_its_content(sample):
    assert recognise(SAMPLES[sample]) == sample


@pytest.mark.parametrize(
    "text",
    ["", "\n\n", "Dear all,\nplease find attached\n", "name = value\n", SAMPLES["plain"], "<xml>\n</xml>", "port = 1\n",
     "tps = 1234.5 (without initial connection time)\n"],
)  # fmt: skip
def test_it_says_so_when_nothing_tells_the_format(text):
    assert recognise(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#shared_buffers = 128MB\n#work_mem = 4MB\n#fsync = on\n#wal_level = replica\n", "postgresql"),
        ("[mysqldump]\nquick\n", "my_cnf"),
        ("#TempCacheLimit = 64M\n#GCPolicy = combined\n#LockMemSize = 1M\n#DeadlockTimeout = 10\n", "firebird"),
        ("DB_BLOCK_SIZE=8192\nSGA_TARGET=4G\n", "init_ora"),
        ("[common]\ndata_buffer_size=512M\n", "cubrid"),
        ("derby.system.durability=test\n", "derby"),
    ],
)
def test_it_recognises_files_in_which_little_is_set(text, expected):
    assert recognise(text) == expected


def test_it_takes_a_byte_order_mark_for_no_part_of_the_first_line():
    parsed = parse("\ufeff[mysqld]\nport=1\n", "my_cnf")
    assert [(one.section, one.name) for one in parsed.entries] == [("mysqld", "port")]
    (first,) = parse("\ufeffwork_mem=4MB\n", "postgresql").entries
    assert first.name == "work_mem"
    assert recognise("\ufeffwork_mem=4MB\n") == "postgresql"
