"""Settings given by whoever schedules open no door that is closed for scripts."""

from __future__ import annotations

import pytest
from benchagent.dbms import derby, h2, hsqldb, sqlite
from benchagent.dbms.base import JobError, checked_settings
from benchagent.dbms.firebird import settings as firebird
from benchagent.dbms.mysql import settings as mysql
from benchagent.dbms.postgresql import settings as postgresql

DOORS = {
    "sqlite": sqlite.ADAPTER.doors,
    "h2": h2.ADAPTER.doors,
    "hsqldb": hsqldb.ADAPTER.doors,
    "derby": derby.ADAPTER.doors,
    "postgresql": postgresql.DOORS,
    "firebird": firebird.DOORS,
}


@pytest.mark.parametrize(
    ("slug", "name", "value"),
    [
        ("sqlite", "temp_store_directory", "'/etc'"),
        ("sqlite", "main.TEMP_STORE_DIRECTORY", "'/etc'"),
        ("sqlite", "writable_schema", "1"),
        ("h2", "INIT", "RUNSCRIPT FROM 'x'"),
        ("h2", "init", "CREATE ALIAS a FOR 'x'"),
        ("h2", "AUTO_SERVER", "TRUE"),
        ("h2", "AUTO_SERVER_PORT", "9090"),
        ("h2", "DATABASE_EVENT_LISTENER", "'x'"),
        ("h2", "JAVA_OBJECT_SERIALIZER", "'x'"),
        ("h2", "PASSWORD", "x"),
        ("hsqldb", "AUTHENTICATION FUNCTION", "EXTERNAL NAME 'CLASSPATH:x'"),
        ("hsqldb", "DATABASE", "AUTHENTICATION FUNCTION EXTERNAL NAME 'CLASSPATH:x'"),
        ("hsqldb", "database  password", "CHECK FUNCTION BEGIN ATOMIC RETURN TRUE; END"),
        ("hsqldb", "TEXT TABLE DEFAULTS", "'textdb.allow_full_path=true'"),
        ("hsqldb", "DATABASE", "/**/TEXT TABLE DEFAULTS ''"),
        ("derby", "derby.database.sqlAuthorization", "false"),
        ("derby", "derby.database.fullAccessUsers", "APP"),
        ("derby", "derby.authentication.provider", "java.lang.Object"),
        ("derby", "derby.authentication.provider x", "y"),
        ("derby", "derby.user.BENCH_OWNER", "x"),
        ("derby", "derby.drda.startNetworkServer", "true"),
        ("derby", "derby.module.x", "java.lang.Object"),
        ("derby", "derby.stream.error.method", "java.lang.System.gc"),
        ("derby", "derby.stream.error.rollingFile.pattern", "/etc/x"),
        ("postgresql", "archive_command", "'cp %p /tmp'"),
        ("postgresql", "restore_command", "true; id"),
        ("postgresql", "Ssl_Passphrase_Command", "'id'"),
        ("postgresql", "archive_library", "'basic_archive'"),
        ("postgresql", "dynamic_library_path", "'/tmp'"),
        ("postgresql", "shared_preload_libraries", "'pg_stat_statements, /tmp/x'"),
        ("postgresql", "local_preload_libraries", "'$libdir/../x'"),
        ("firebird", "TracePlugin", "/tmp/x"),
        ("firebird", "WireCryptPlugin", "x"),
        ("firebird", "include", "/etc/passwd"),
        ("mysql", "plugin_load", "x=x.so"),
        ("mysql", "plugin-load-add", "x.so"),
        ("mysql", "loose_loose-plugin_load", "x.so"),
        ("mysql", "plugin_lo", "x.so"),
        ("mysql", "init_fi", "/tmp/x.sql"),
        ("mysql", "loose-init_fil", "/tmp/x.sql"),
        ("mysql", "secure_file_pri", ""),
        ("mysql", "wsrep_provider", "/tmp/x.so"),
        ("mysql", "wsrep_notify_cmd", "id"),
        ("mysql", "keyring_file_data", "/etc/x"),
    ],
)
def test_one_that_opens_a_door_is_refused_by_name(slug: str, name: str, value: str):
    with pytest.raises(JobError) as refused:
        if slug == "mysql":
            mysql.given([(name, value)])
        else:
            checked_settings([(name, value)], doors=DOORS[slug])
    assert name.strip().replace("-", "_") in str(refused.value).replace("-", "_")


@pytest.mark.parametrize(
    ("slug", "name", "value"),
    [
        ("sqlite", "temp_store", "MEMORY"),
        ("h2", "CACHE_SIZE", "65536"),
        ("hsqldb", "FILES WRITE DELAY", "FALSE"),
        ("hsqldb", "DEFAULT RESULT MEMORY ROWS", "1000"),
        ("derby", "derby.storage.pageSize", "8192"),
        ("derby", "derby.system.durability", "test"),
        ("postgresql", "archive_command", "'/bin/true'"),
        ("postgresql", "archive_command", "''"),
        ("postgresql", "shared_preload_libraries", "'pg_stat_statements'"),
        ("firebird", "GCPolicy", "combined"),
        ("mysql", "log_bin", "binlog"),
        ("mysql", "slow_query_log", "ON"),
        ("mysql", "general_log", "OFF"),
        ("mysql", "innodb_doublewrite", "OFF"),
        ("mysql", "plugin_dir", "/usr/lib/mysql/plugin"),
        ("mysql", "secure-file-priv", "/var/lib/mysql-files"),
    ],
)
def test_others_pass(slug: str, name: str, value: str):
    given = [(name, value)]
    assert len(mysql.given(given) if slug == "mysql" else checked_settings(given, doors=DOORS[slug])) == 1


def test_what_the_agent_sets_is_not_taken_from_elsewhere():
    assert {"secure_file_priv", "local_infile", "plugin_dir", "init_file"} <= mysql.LOCKED
    assert {"externalfileaccess", "udfaccess", "databaseaccess"} <= firebird.LOCKED
    assert "lo_compat_privileges" in postgresql.LOCKED
