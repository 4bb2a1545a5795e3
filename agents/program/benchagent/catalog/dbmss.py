"""Every DBMS that an agent can run or connect to: one line each."""

from __future__ import annotations

from benchagent.catalog.model import DbmsEntry


def _dbms(
    slug: str,
    name: str,
    vendor: str,
    *,
    embedded: bool = False,
    settings: dict[str, str],
    help: str,
    unverified: str = "",
) -> DbmsEntry:
    module = f"benchagent.dbms.{slug}"
    return DbmsEntry(slug, name, vendor, module, embedded, tuple(settings.items()), help, unverified)


DBMSS: dict[str, DbmsEntry] = {
    entry.slug: entry
    for entry in (
        _dbms(
            "postgresql",
            "PostgreSQL",
            "PostgreSQL Global Development Group",
            settings={"shared_buffers": "128MB", "synchronous_commit": "on", "fsync": "on"},
            help="postgresql.conf parameters, one `name = value` a line",
        ),
        _dbms(
            "mysql",
            "MySQL",
            "Oracle",
            settings={"innodb_buffer_pool_size": "128M", "innodb_flush_log_at_trx_commit": "1"},
            help="my.cnf, section [mysqld], one `name = value` a line",
        ),
        _dbms(
            "mariadb",
            "MariaDB",
            "MariaDB Foundation",
            settings={"innodb_buffer_pool_size": "128M", "innodb_flush_log_at_trx_commit": "1"},
            help="my.cnf, section [mariadbd], one `name = value` a line",
        ),
        _dbms(
            "firebird",
            "Firebird",
            "Firebird Foundation",
            settings={"ServerMode": "Super", "DefaultDbCachePages": "8192", "page_size": "16384"},
            help="firebird.conf, and of the database page_size, forced_writes, sweep_interval",
        ),
        _dbms(
            "sqlite",
            "SQLite",
            "SQLite Consortium",
            embedded=True,
            settings={"journal_mode": "WAL", "synchronous": "FULL"},
            help="PRAGMAs, one `name = value` a line",
        ),
        _dbms(
            "derby",
            "Apache Derby",
            "Apache Software Foundation",
            embedded=True,
            settings={"derby.storage.pageCacheSize": "20000", "derby.system.durability": "default"},
            help="derby.properties, one `name = value` a line",
        ),
        _dbms(
            "hsqldb",
            "HSQLDB",
            "The HSQL Development Group",
            embedded=True,
            settings={"FILES WRITE DELAY": "FALSE", "TRANSACTION CONTROL": "MVCC"},
            help="SET FILES / SET DATABASE commands, one `name = value` a line",
        ),
        _dbms(
            "h2",
            "H2",
            "H2 Group",
            embedded=True,
            settings={"WRITE_DELAY": "500"},
            help="settings of the database URL, one `name = value` a line",
        ),
        _dbms(
            "oracle",
            "Oracle Database",
            "Oracle",
            settings={},
            help="of the server that is there; nothing is set by the agent",
            unverified="No Oracle server could be had: statements are tested on H2 in Oracle mode.",
        ),
        _dbms(
            "db2",
            "IBM Db2",
            "IBM",
            settings={},
            help="of the server that is there; nothing is set by the agent",
            unverified="No Db2 server could be had: statements are tested on H2 in DB2 mode.",
        ),
        _dbms(
            "cubrid",
            "CUBRID",
            "CUBRID",
            settings={},
            help="of the server that is there; nothing is set by the agent",
            unverified="No CUBRID server could be had: statements are tested on H2, differences listed.",
        ),
        _dbms(
            "interbase",
            "InterBase",
            "Embarcadero",
            settings={},
            help="of the server that is there; nothing is set by the agent",
            unverified="No InterBase server could be had: statements are tested on Firebird 3, dialect 3.",
        ),
    )
}
