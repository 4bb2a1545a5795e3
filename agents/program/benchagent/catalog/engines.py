"""The DBMSs that come with Benchsite and have met a real server or run inside the load generator."""

from __future__ import annotations

from benchagent.catalog.model import DbmsEntry

A_LINE = "one `name = value` a line"
DUMP = {"dump": "dump in one transaction", "dump_tab": "dump in one transaction, --tab"}
BACKUP_DATABASE = {"backup_database": "BACKUP DATABASE"}
INNODB = (("innodb_buffer_pool_size", "128M"), ("innodb_flush_log_at_trx_commit", "1"))

# `warehouse_bytes`: measured with two warehouses, `branch_bytes` with 20 branches in November 2026, tables and indexes;
# of Firebird (pages of 16 KB), H2 and HSQLDB the size of the files. The article of 2015 has 92.7 MB of a warehouse
# (1,813.97 GB for 21,000 of them).
POSTGRESQL = DbmsEntry(
    "postgresql", "PostgreSQL", "PostgreSQL Global Development Group",
    module="benchagent.dbms.postgresql", external="benchagent.dbms.postgresql.external",
    settings=(("shared_buffers", "128MB"), ("synchronous_commit", "on"), ("fsync", "on")),
    settings_help=f"postgresql.conf parameters, {A_LINE}",
    configuration="benchagent.configfiles.engines.postgresql:ENGINE",
    backup_methods={
        "pg_dump_plain": "pg_dump, plain SQL",
        "pg_dump_custom": "pg_dump, custom format",
        "pg_dump_directory": "pg_dump, directory format",
        "pg_basebackup": "pg_basebackup",
    },
    external_methods=("pg_dump_plain", "pg_dump_custom", "pg_dump_directory"),
    branch_bytes=15_400_000, warehouse_bytes=109_000_000, order=10,
)  # fmt: skip
MYSQL = DbmsEntry(
    "mysql", "MySQL", "Oracle",
    module="benchagent.dbms.mysql", external="benchagent.dbms.mysql.external",
    settings=INNODB, settings_help=f"my.cnf, section [mysqld], {A_LINE}",
    configuration="benchagent.configfiles.engines.mysql:MYSQL",
    backup_methods=DUMP, external_methods=("dump",),
    # The warehouse as of MariaDB, whose storage engine it shares.
    branch_bytes=18_000_000, warehouse_bytes=90_000_000, order=20,
)  # fmt: skip
MARIADB = DbmsEntry(
    "mariadb", "MariaDB", "MariaDB Foundation",
    module="benchagent.dbms.mariadb", external="benchagent.dbms.mariadb.external",
    settings=INNODB, settings_help=f"my.cnf, section [mariadbd], {A_LINE}",
    configuration="benchagent.configfiles.engines.mysql:MARIADB",
    backup_methods={**DUMP, "mariadb_backup": "mariadb-backup --backup"}, external_methods=("dump",),
    branch_bytes=15_000_000, warehouse_bytes=90_000_000, order=30,
)  # fmt: skip
FIREBIRD = DbmsEntry(
    "firebird", "Firebird", "Firebird Foundation",
    module="benchagent.dbms.firebird", external="benchagent.dbms.firebird.external",
    settings=(("ServerMode", "Super"), ("DefaultDbCachePages", "8192"), ("page_size", "16384")),
    settings_help="firebird.conf, and of the database page_size, forced_writes, sweep_interval",
    configuration="benchagent.configfiles.engines.firebird:FIREBIRD",
    backup_methods={
        "gbak_tcp": "gbak over TCP",
        "gbak_local": "gbak, local",
        "gbak_services": "gbak, Services API",
        "gbak_services_same": "gbak, Services API, same disk",
        "nbackup": "nbackup, level 0",
    },
    branch_bytes=7_800_000, warehouse_bytes=106_000_000, order=40,
)  # fmt: skip
SQLITE = DbmsEntry(
    "sqlite", "SQLite", "SQLite Consortium",
    module="benchagent.dbms.sqlite", embedded=True,
    settings=(("journal_mode", "WAL"), ("synchronous", "FULL")), settings_help=f"PRAGMAs, {A_LINE}",
    configuration="benchagent.configfiles.engines.sqlite:ENGINE",
    backup_methods={"vacuum_into": "VACUUM INTO", "online_backup": "online backup"},
    branch_bytes=9_800_000, warehouse_bytes=78_000_000, order=50,
)  # fmt: skip
DERBY = DbmsEntry(
    "derby", "Apache Derby", "Apache Software Foundation",
    module="benchagent.dbms.derby", external="benchagent.dbms.derby.external", embedded=True,
    settings=(("derby.storage.pageCacheSize", "20000"), ("derby.system.durability", "default")),
    settings_help=f"derby.properties, {A_LINE}",
    configuration="benchagent.configfiles.engines.derby:ENGINE",
    backup_methods=BACKUP_DATABASE, branch_bytes=17_000_000, warehouse_bytes=135_000_000, order=60,
)  # fmt: skip
HSQLDB = DbmsEntry(
    "hsqldb", "HSQLDB", "The HSQL Development Group",
    module="benchagent.dbms.hsqldb", external="benchagent.dbms.hsqldb.external", embedded=True,
    settings=(("FILES WRITE DELAY", "FALSE"), ("TRANSACTION CONTROL", "MVCC")),
    settings_help=f"SET FILES / SET DATABASE commands, {A_LINE}",
    configuration="benchagent.configfiles.engines.hsqldb:ENGINE",
    backup_methods=BACKUP_DATABASE, branch_bytes=26_000_000, warehouse_bytes=222_000_000, order=70,
)  # fmt: skip
H2 = DbmsEntry(
    "h2", "H2", "H2 Group",
    module="benchagent.dbms.h2", external="benchagent.dbms.h2.external", embedded=True,
    settings=(("WRITE_DELAY", "500"),), settings_help=f"settings of the database URL, {A_LINE}",
    configuration="benchagent.configfiles.engines.h2:ENGINE",
    backup_methods={"backup_to": "BACKUP TO"}, branch_bytes=16_000_000, warehouse_bytes=152_000_000, order=80,
)  # fmt: skip
