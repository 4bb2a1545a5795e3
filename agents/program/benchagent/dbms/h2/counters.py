"""What H2 tells: reads and writes of its file store, sizes of tables and indexes, who waits for whom, plans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchagent.dbms.base import first_value
from benchagent.dbms.counters import COUNTERS, EngineCounters, IndexFacts, QueryRows, TableFacts, quoted_names

NO_COUNTER = "H2 does not count it"
STORE = "SELECT SETTING_NAME, SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS WHERE SETTING_NAME LIKE 'info.FILE_%'"
FROM_STORE = {"info.FILE_READ": "data_reads", "info.FILE_WRITE": "data_writes"}
OF_FILES = (*FROM_STORE.values(), "query_reads")
ONE_FILE = "H2 appends changed pages to its one file: there is no log beside the data"
WAITING = "SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS WHERE BLOCKER_ID IS NOT NULL"
TABLE_SIZES = (
    "SELECT TABLE_NAME, ROW_COUNT_ESTIMATE, DB_OBJECT_SIZE('TABLE', TABLE_SCHEMA, TABLE_NAME) "
    "FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = CURRENT_SCHEMA AND LOWER(TABLE_NAME) IN ({tables})"
)
INDEX_SIZES = (
    "SELECT INDEX_NAME, TABLE_NAME, DB_OBJECT_SIZE('INDEX', INDEX_SCHEMA, INDEX_NAME) "
    "FROM INFORMATION_SCHEMA.INDEXES WHERE TABLE_SCHEMA = CURRENT_SCHEMA AND LOWER(TABLE_NAME) IN ({tables})"
)


class H2Counters(EngineCounters):
    # A database in memory says 0 for every size.
    _tells_sizes = True

    sources: Mapping[str, str] = {
        **{name: f"`INFORMATION_SCHEMA.SETTINGS`, `{setting}`" for setting, name in FROM_STORE.items()},
        "tables": "`INFORMATION_SCHEMA.TABLES`, `DB_OBJECT_SIZE`",
        "indexes": "`INFORMATION_SCHEMA.INDEXES`, `DB_OBJECT_SIZE`; no depth, no keys",
        "plans": "`EXPLAIN ANALYZE`: the statement is executed",
        "waits": "`INFORMATION_SCHEMA.SESSIONS` each second: sessions that are blocked",
        "query_reads": "`INFORMATION_SCHEMA.SETTINGS`, `info.FILE_READ`: of all sessions; the queries run alone",
    }
    none: Mapping[str, str] = {
        **{name: NO_COUNTER for name in COUNTERS if name not in FROM_STORE.values()},
        "buffer_hits": "H2 tells a ratio since it was opened (info.CACHE_HIT_RATIO), no counts",
        "buffer_reads": "H2 tells a ratio since it was opened (info.CACHE_HIT_RATIO), no counts",
        **dict.fromkeys(("log_bytes", "log_flushes", "log_writes", "checkpoints"), ONE_FILE),
        "maintenance": "H2 notes no time of its last ANALYZE or of its last compaction",
        "query_fetches": "H2 does not count the pages that it finds in its cache",
    }

    def counter_queries(self) -> Mapping[str, str]:
        return {"store": STORE}

    def counters(self, rows: QueryRows) -> dict[str, float]:
        told = {str(row[0]): float(row[1]) for row in rows.get("store", []) if str(row[0]) in FROM_STORE}
        return {FROM_STORE[name]: value for name, value in told.items()}

    def wait_queries(self) -> Mapping[str, str]:
        return {"blocked": WAITING}

    def waits(self, rows: QueryRows) -> dict[str, float]:
        count = float(first_value(rows.get("blocked")) or 0)
        return {"lock": count} if count else {}

    def schema_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        listed = quoted_names(tables, str.lower)
        return {"tables": TABLE_SIZES.format(tables=listed), "indexes": INDEX_SIZES.format(tables=listed)}

    def tables(self, rows: QueryRows) -> list[TableFacts]:
        indexes: dict[str, int] = {}
        for _, table, size in rows.get("indexes", []):
            indexes[table] = indexes.get(table, 0) + int(size or 0)
        return [
            TableFacts(
                str(table).lower(),
                int(count),
                size_bytes=int(size) if self._tells_sizes else None,
                index_bytes=indexes.get(table, 0) if self._tells_sizes else None,
            )
            for table, count, size in rows.get("tables", [])
        ]

    def indexes(self, rows: QueryRows) -> list[IndexFacts]:
        return [
            IndexFacts(str(index).lower(), str(table).lower(), size_bytes=int(size or 0) if self._tells_sizes else None)
            for index, table, size in rows.get("indexes", [])
        ]

    def plan_queries(self, sql: str) -> Sequence[str]:
        """The statement is executed: ANALYZE adds how many rows were looked at and pages read."""
        return (f"EXPLAIN ANALYZE {sql}",)

    def effort_queries(self) -> Mapping[str, str]:
        return self.counter_queries()

    def effort(self, rows: QueryRows) -> dict[str, float]:
        """Reads of the file; a page found in the cache is not counted."""
        reads = self.counters(rows).get("data_reads")
        return {} if reads is None else {"reads": reads}


class H2MemoryCounters(H2Counters):
    _tells_sizes = False
    sources = {
        **{part: words for part, words in H2Counters.sources.items() if part not in OF_FILES},
        "tables": "`INFORMATION_SCHEMA.TABLES`: rows; in memory there are no sizes",
        "indexes": "`INFORMATION_SCHEMA.INDEXES`: names",
    }
    none = {
        **H2Counters.none,
        **dict.fromkeys(OF_FILES, "the database is in memory, it has no file"),
    }

    def counter_queries(self) -> Mapping[str, str]:
        return {}
