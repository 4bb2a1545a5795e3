"""Ways to back up, by the slug that a run stores, as people read them. Which an engine has is its adapter's to say."""

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
    "mariadb_backup": "mariadb-backup, then --prepare",
    "vacuum_into": "VACUUM INTO",
    "online_backup": "online backup",
    "backup_to": "BACKUP TO",
    "backup_database": "BACKUP DATABASE",
}
