"""Every DBMS that an agent can run or connect to."""

from __future__ import annotations

from benchagent.catalog.model import DbmsEntry

A_LINE = "one `name = value` a line"
# Slug, name, vendor, how settings are written, the settings of a scheduled run.
_Rows = tuple[tuple[str, str, str, str, dict[str, str]], ...]
_SERVERS: _Rows = (
    (
        "postgresql", "PostgreSQL", "PostgreSQL Global Development Group", f"postgresql.conf parameters, {A_LINE}",
        {"shared_buffers": "128MB", "synchronous_commit": "on", "fsync": "on"},
    ),
    (
        "mysql", "MySQL", "Oracle", f"my.cnf, section [mysqld], {A_LINE}",
        {"innodb_buffer_pool_size": "128M", "innodb_flush_log_at_trx_commit": "1"},
    ),
    (
        "mariadb", "MariaDB", "MariaDB Foundation", f"my.cnf, section [mariadbd], {A_LINE}",
        {"innodb_buffer_pool_size": "128M", "innodb_flush_log_at_trx_commit": "1"},
    ),
    (
        "firebird", "Firebird", "Firebird Foundation",
        "firebird.conf, and of the database page_size, forced_writes, sweep_interval",
        {"ServerMode": "Super", "DefaultDbCachePages": "8192", "page_size": "16384"},
    ),
)  # fmt: skip
# Inside the load generator.
_EMBEDDED: _Rows = (
    ("sqlite", "SQLite", "SQLite Consortium", f"PRAGMAs, {A_LINE}", {"journal_mode": "WAL", "synchronous": "FULL"}),
    (
        "derby", "Apache Derby", "Apache Software Foundation", f"derby.properties, {A_LINE}",
        {"derby.storage.pageCacheSize": "20000", "derby.system.durability": "default"},
    ),
    (
        "hsqldb", "HSQLDB", "The HSQL Development Group", f"SET FILES / SET DATABASE commands, {A_LINE}",
        {"FILES WRITE DELAY": "FALSE", "TRANSACTION CONTROL": "MVCC"},
    ),
    ("h2", "H2", "H2 Group", f"settings of the database URL, {A_LINE}", {"WRITE_DELAY": "500"}),
)  # fmt: skip
# Slug, name, vendor, how it is called for short, on what its statements are tested.
_CONNECTED_TO = (
    ("oracle", "Oracle Database", "Oracle", "Oracle", "on H2 in Oracle mode"),
    ("db2", "IBM Db2", "IBM", "Db2", "on H2 in DB2 mode"),
    ("cubrid", "CUBRID", "CUBRID", "CUBRID", "on H2, differences listed"),
    ("interbase", "InterBase", "Embarcadero", "InterBase", "on Firebird 3, dialect 3"),
)

DBMSS: dict[str, DbmsEntry] = {
    slug: DbmsEntry(slug, name, vendor, rows is _EMBEDDED, tuple(settings.items()), written)
    for rows in (_SERVERS, _EMBEDDED)
    for slug, name, vendor, written, settings in rows
} | {
    slug: DbmsEntry(
        slug, name, vendor, False, (), "of the server that is there; nothing is set by the agent",
        f"No {short} server could be had: statements are tested {tested}.",
    )
    for slug, name, vendor, short, tested in _CONNECTED_TO
}  # fmt: skip
