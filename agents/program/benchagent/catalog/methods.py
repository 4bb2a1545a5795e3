"""Ways to back up, by the slug that a run stores: as people read them, and which DBMS has which."""

from __future__ import annotations

_METHODS: dict[tuple[str, ...], dict[str, str]] = {
    ("firebird",): {
        "gbak_tcp": "gbak over TCP",
        "gbak_local": "gbak, local",
        "gbak_services": "gbak, Services API",
        "gbak_services_same": "gbak, Services API, same disk",
        "nbackup": "nbackup, level 0",
    },
    ("postgresql",): {
        "pg_dump_plain": "pg_dump, plain SQL",
        "pg_dump_custom": "pg_dump, custom format",
        "pg_dump_directory": "pg_dump, directory format",
        "pg_basebackup": "pg_basebackup",
    },
    ("mysql", "mariadb"): {"dump": "dump in one transaction", "dump_tab": "dump in one transaction, --tab"},
    ("mariadb",): {"mariadb_backup": "mariadb-backup --backup"},
    ("sqlite",): {"vacuum_into": "VACUUM INTO", "online_backup": "online backup"},
    ("h2",): {"backup_to": "BACKUP TO"},
    ("derby", "hsqldb"): {"backup_database": "BACKUP DATABASE"},
}
BACKUP_METHODS: dict[str, str] = {"": "the engine's first method"}
# By DBMS, to be asked for before a run. An installation may lack the tools of one: its adapter says so then.
ENGINE_METHODS: dict[str, tuple[str, ...]] = {}
for _dbmss, _words in _METHODS.items():
    BACKUP_METHODS |= _words
    for _dbms in _dbmss:
        ENGINE_METHODS[_dbms] = (*ENGINE_METHODS.get(_dbms, ()), *_words)

# By DBMS, on servers that the agent did not start.
EXTERNAL_METHODS: dict[str, tuple[str, ...]] = {
    "postgresql": ("pg_dump_plain", "pg_dump_custom", "pg_dump_directory"),
    "mysql": ("dump",),
    "mariadb": ("dump",),
}
