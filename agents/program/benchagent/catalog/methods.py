"""Ways to back up, by the slug that a run stores: as people read them, and which DBMS has which."""

from __future__ import annotations

BACKUP_METHODS: dict[str, str] = {
    "": "the engine's first method",
    "gbak_tcp": "gbak over TCP",
    "gbak_local": "gbak, local",
    "gbak_services": "gbak, Services API",
    "gbak_services_same": "gbak, Services API, same disk",
    "nbackup": "nbackup, level 0",
    "pg_dump_plain": "pg_dump, plain SQL",
    "pg_dump_custom": "pg_dump, custom format",
    "pg_dump_directory": "pg_dump, directory format",
    "pg_basebackup": "pg_basebackup",
    "dump": "dump in one transaction",
    "dump_tab": "dump in one transaction, --tab",
    "mariadb_backup": "mariadb-backup --backup",
    "vacuum_into": "VACUUM INTO",
    "online_backup": "online backup",
    "backup_to": "BACKUP TO",
    "backup_database": "BACKUP DATABASE",
}

# By DBMS, on servers that the agent did not start.
EXTERNAL_METHODS: dict[str, tuple[str, ...]] = {
    "postgresql": ("pg_dump_plain", "pg_dump_custom", "pg_dump_directory"),
    "mysql": ("dump",),
    "mariadb": ("dump",),
}

# By DBMS, to be asked for before a run. An installation may lack the tools of one: its adapter says so then.
ENGINE_METHODS: dict[str, tuple[str, ...]] = {
    "postgresql": ("pg_dump_plain", "pg_dump_custom", "pg_dump_directory", "pg_basebackup"),
    "mysql": ("dump", "dump_tab"),
    "mariadb": ("dump", "dump_tab", "mariadb_backup"),
    "firebird": ("gbak_services", "gbak_services_same", "gbak_tcp", "gbak_local", "nbackup"),
    "sqlite": ("vacuum_into", "online_backup"),
    "derby": ("backup_database",),
    "hsqldb": ("backup_database",),
    "h2": ("backup_to",),
}
