"""H2 (MVStore) inside the load generator's JVM; settings are parameters of the database URL.

It tells reads and writes of its file store, sizes of tables and indexes, who waits for whom, plans.
"""

# ruff: noqa: S608 - constants only
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchagent.configfiles.units import KIB
from benchagent.dbms.backup import Action, BackupMethod, Options, SqlCommands
from benchagent.dbms.base import GUEST, Connection, Guest, ProvisionRequest, Retryable, Settings
from benchagent.dbms.counters import COUNTERS, Counted, EngineCounters, QueryRows, TableFacts, with_index_bytes
from benchagent.dbms.dialect import Dialect, sql_text
from benchagent.dbms.embedded import EmbeddedAdapter, EmbeddedInstance, JavaBackup, heap_mb, in_url, split_storage

NO_COUNTER = "H2 does not count it"
READ, WRITTEN = (
    f"SELECT SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME = 'info.FILE_{what}'"
    for what in ("READ", "WRITE")
)
COUNTED = {
    "store": Counted(
        f"SELECT ({READ}), ({WRITTEN})",
        {
            "data_reads": "`INFORMATION_SCHEMA.SETTINGS`, `info.FILE_READ`",
            "data_writes": "`INFORMATION_SCHEMA.SETTINGS`, `info.FILE_WRITE`",
        },
    )
}
OF_FILES = ("data_reads", "data_writes", "query_reads")
ONE_FILE = "H2 appends changed pages to its one file: there is no log beside the data"
# Sizes would be 0 in memory.
SIZE = "CASE WHEN DATABASE_PATH() IS NOT NULL THEN DB_OBJECT_SIZE('{kind}', {kind}_SCHEMA, {kind}_NAME) END"
TABLES = (
    f"SELECT TABLE_NAME, ROW_COUNT_ESTIMATE, {SIZE.format(kind='TABLE')} "
    "FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = CURRENT_SCHEMA AND LOWER(TABLE_NAME) IN ({tables})"
)
INDEXES = (
    f"SELECT INDEX_NAME, TABLE_NAME, {SIZE.format(kind='INDEX')} "
    "FROM INFORMATION_SCHEMA.INDEXES WHERE TABLE_SCHEMA = CURRENT_SCHEMA AND LOWER(TABLE_NAME) IN ({tables})"
)


class H2Counters(EngineCounters):
    spelt = staticmethod(str.lower)
    schema_sql = {"tables": TABLES, "indexes": INDEXES}
    table_columns = ("table", "rows", "size_bytes")
    index_columns = ("index", "table", "size_bytes")
    counted: Mapping[str, Counted] = COUNTED
    waiting = {"blocked": "SELECT 'lock', COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS WHERE BLOCKER_ID IS NOT NULL"}
    # Reads of the file; a page found in the cache is not counted.
    effort_sql: Mapping[str, str] = {"effort": READ}
    # The statement is executed: ANALYZE adds how many rows were looked at and pages read.
    plan_sql = ("EXPLAIN ANALYZE {sql}",)
    origins: Mapping[str, str] = {
        "tables": "`INFORMATION_SCHEMA.TABLES`, `DB_OBJECT_SIZE`",
        "indexes": "`INFORMATION_SCHEMA.INDEXES`, `DB_OBJECT_SIZE`; no depth, no keys",
        "plans": "`EXPLAIN ANALYZE`: the statement is executed",
        "waits": "`INFORMATION_SCHEMA.SESSIONS` each second: sessions that are blocked",
        "query_reads": "`INFORMATION_SCHEMA.SETTINGS`, `info.FILE_READ`: of all sessions; the queries run alone",
    }
    none: Mapping[str, str] = {
        **{name: NO_COUNTER for name in COUNTERS if name not in OF_FILES},
        "buffer_hits": "H2 tells a ratio since it was opened (info.CACHE_HIT_RATIO), no counts",
        "buffer_reads": "H2 tells a ratio since it was opened (info.CACHE_HIT_RATIO), no counts",
        **dict.fromkeys(("log_bytes", "log_flushes", "log_writes", "checkpoints"), ONE_FILE),
        "maintenance": "H2 notes no time of its last ANALYZE or of its last compaction",
        "query_fetches": "H2 does not count the pages that it finds in its cache",
    }

    def tables(self, rows: QueryRows) -> list[TableFacts]:
        return with_index_bytes(super().tables(rows), self.indexes(rows))


class H2MemoryCounters(H2Counters):
    counted: Mapping[str, Counted] = {}
    effort_sql: Mapping[str, str] = {}
    origins = {
        **H2Counters.origins,
        "tables": "`INFORMATION_SCHEMA.TABLES`: rows; in memory there are no sizes",
        "indexes": "`INFORMATION_SCHEMA.INDEXES`: names",
    }
    none = {**H2Counters.none, **dict.fromkeys(OF_FILES, "the database is in memory, it has no file")}

    def tables(self, rows: QueryRows) -> list[TableFacts]:
        return EngineCounters.tables(self, rows)


SETTINGS = "SELECT SETTING_NAME, SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS"
# The first in KiB, the second in MiB.
CACHE, CACHE_IN_USE = "CACHE_SIZE", "info.CACHE_MAX_SIZE"
LOCK_TIMEOUT = 50200
CONCURRENT_UPDATE = 90131
DEADLOCK = "40001"
UPKEEP = {
    "on": [("AUTO_COMPACT_FILL_RATE", "90"), ("ANALYZE_AUTO", "2000")],
    "off": [("AUTO_COMPACT_FILL_RATE", "0"), ("ANALYZE_AUTO", "0")],
}
# Files, Java and other databases are for administrators only.
GRANTS = (f"CREATE USER IF NOT EXISTS {GUEST} PASSWORD ''", f"GRANT ALTER ANY SCHEMA TO {GUEST}")
GUEST_LOGIN = {"user": GUEST, "password": ""}
OF_A_SESSION = ("LOCK_TIMEOUT", "QUERY_TIMEOUT", "LAZY_QUERY_EXECUTION", "VARIABLE_BINARY", "NON_KEYWORDS")
DOORS = {
    r"INIT\b": "runs SQL as the administrator",
    r"(AUTO_SERVER\w*|USER|PASSWORD\w*|AUTHENTICATOR|AUTHREALM|PROPERTIES|ACCESS_MODE_DATA)\b": "lets others in",
    r"(DATABASE_EVENT_LISTENER|JAVA_OBJECT_SERIALIZER)\b": "runs Java",
}


class H2Instance(EmbeddedInstance):
    slug = "h2"
    retryable = Retryable(sqlstates=(DEADLOCK,), codes=(LOCK_TIMEOUT, CONCURRENT_UPDATE))
    close_sql = ("SHUTDOWN",)
    effective_queries = {"settings": SETTINGS}

    def __init__(self, request: ProvisionRequest, class_path: Sequence[Path], given: Settings) -> None:
        self.in_memory, settings = split_storage(given)
        address = "mem:bench;DB_CLOSE_DELAY=-1" if self.in_memory else f"file:{in_url(request.folders.data / 'bench')}"
        parameters = [f";{name}={value}" for name, value in settings]
        connection = Connection(f"jdbc:h2:{address}{''.join(parameters)}", None, {"user": "sa", "password": ""})
        # Those of the database are in force by then, and not for everybody to give.
        own = [f";{name}={value}" for name, value in settings if name.upper() in OF_A_SESSION]
        self._guest = Connection(f"jdbc:h2:{address.partition(';')[0]}{''.join(own)}", None, GUEST_LOGIN)
        super().__init__(request, class_path, connection, settings)
        self.engine_counters = H2MemoryCounters() if self.in_memory else H2Counters()
        after_load = () if self.in_memory else ("CHECKPOINT SYNC",)
        self.dialect = Dialect(
            for_update=" FOR UPDATE", after_load_each=("ANALYZE TABLE {table}",), after_load=after_load
        )
        cache = {name.upper(): value for name, value in settings}.get(CACHE, "")
        cache_bytes = int(cache) * KIB if cache.isdecimal() else 0
        self.heap_mb = heap_mb(math.inf if self.in_memory else cache_bytes)

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        return self.noted(in_force(rows))

    def guest(self) -> Guest:
        return Guest(self._guest, self.connection, GRANTS)

    def backup_methods(self) -> Sequence[BackupMethod]:
        return () if self.in_memory else (BackupTo(self._toolchain, self.class_path),)


def in_force(rows: QueryRows) -> list[tuple[str, str]]:
    """Without info.* and property.*, which describe the store's state and the JVM, not how H2 is set; but for the size
    of its cache, of which only a given one is among the settings."""
    named = {str(row[0]): str(row[1]) for row in rows.get("settings", [])}
    cache_mib = named.get(CACHE_IN_USE, "")
    settings = {name: value for name, value in named.items() if not name.startswith(("info.", "property."))}
    if cache_mib.isdecimal():
        settings.setdefault(CACHE, str(int(cache_mib) * KIB))
    return sorted(settings.items())


class BackupTo(JavaBackup):
    slug = "backup_to"

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        return [SqlCommands([f"BACKUP TO {sql_text(target)}"])]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [self.tool("org.h2.tools.Restore", "-file", source, "-dir", scratch)]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return f"jdbc:h2:file:{in_url(scratch / 'bench')};IFEXISTS=TRUE"


ADAPTER = EmbeddedAdapter(
    "h2",
    H2Instance,
    no_log_apart=f"{ONE_FILE} that could have a storage of its own",
    doors=DOORS,
    knobs={"group_commit": "H2 has no group commit: no commit waits for the disk", "background_maintenance": UPKEEP},
)
