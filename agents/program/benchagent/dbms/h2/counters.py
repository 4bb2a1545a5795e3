"""What H2 tells: reads and writes of its file store, sizes of tables and indexes, who waits for whom, plans."""

# ruff: noqa: S608 - constants only
from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchagent.dbms.counters import (
    COUNTERS,
    Counted,
    EngineCounters,
    QueryRows,
    TableFacts,
    with_index_bytes,
)

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
    effort_sql = READ

    told: Mapping[str, str] = {
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

    def plan_queries(self, sql: str) -> Sequence[str]:
        """The statement is executed: ANALYZE adds how many rows were looked at and pages read."""
        return (f"EXPLAIN ANALYZE {sql}",)


class H2MemoryCounters(H2Counters):
    counted: Mapping[str, Counted] = {}
    effort_sql = ""
    told = {
        **H2Counters.told,
        "tables": "`INFORMATION_SCHEMA.TABLES`: rows; in memory there are no sizes",
        "indexes": "`INFORMATION_SCHEMA.INDEXES`: names",
    }
    none = {
        **H2Counters.none,
        **dict.fromkeys(OF_FILES, "the database is in memory, it has no file"),
    }

    def tables(self, rows: QueryRows) -> list[TableFacts]:
        return EngineCounters.tables(self, rows)
