"""What Db2 tells in its monitoring functions (10.5 and later) and in its catalogue."""

# ruff: noqa: S608 - names were checked, the rest is our own
from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchagent.dbms.base import first_value
from benchagent.dbms.counters import (
    COUNTERS,
    EFFORT,
    EngineCounters,
    QueryRows,
    quoted_names,
)

LOG_PAGE_BYTES = 4096
BUFFERS = (
    "SELECT SUM(pool_data_l_reads + pool_index_l_reads), SUM(pool_data_p_reads + pool_index_p_reads), "
    "SUM(pool_data_writes + pool_index_writes) FROM TABLE(MON_GET_BUFFERPOOL(NULL, -2)) AS b"
)
LOG = (
    "SELECT SUM(log_writes), SUM(num_log_write_io), SUM(current_active_log) "
    "FROM TABLE(MON_GET_TRANSACTION_LOG(-2)) AS l"
)
WORK = (
    "SELECT SUM(total_app_commits), SUM(total_app_rollbacks), SUM(lock_waits), SUM(lock_wait_time), SUM(deadlocks) "
    "FROM TABLE(MON_GET_DATABASE(-2)) AS d"
)
WAITING = "SELECT COUNT(*) FROM TABLE(MON_GET_APPL_LOCKWAIT(NULL, -2)) AS w"
DELIVERED = {
    "buffers": ("buffer_logical", "buffer_reads", "data_writes"),
    "log": ("log_pages", "log_writes", "checkpoints"),
    "work": ("commits", "rollbacks", "lock_waits", "lock_wait_ms", "deadlocks"),
}
COUNTED = {
    "buffer_hits", "buffer_reads", "data_reads", "data_writes", "log_bytes", "log_writes", "log_flushes", "checkpoints",
    *DELIVERED["work"],
}  # fmt: skip


class Db2Counters(EngineCounters):
    sources = {
        "buffer_hits": "`MON_GET_BUFFERPOOL`, logical reads less the physical ones",
        "buffer_reads": "`MON_GET_BUFFERPOOL`, physical reads",
        "data_reads": "`MON_GET_BUFFERPOOL`, physical reads",
        "data_writes": "`MON_GET_BUFFERPOOL`, `pool_data_writes` + `pool_index_writes`",
        "checkpoints": "`MON_GET_TRANSACTION_LOG`, `current_active_log`: log switches, as Db2 has no checkpoints",
        "log_bytes": "`MON_GET_TRANSACTION_LOG`, `log_writes` (pages) × 4,096 bytes",
        "log_writes": "`MON_GET_TRANSACTION_LOG`, `num_log_write_io`",
        "log_flushes": "`MON_GET_TRANSACTION_LOG`, `num_log_write_io`: each is on disk when it ends",
        "commits": "`MON_GET_DATABASE`, `total_app_commits`",
        "rollbacks": "`MON_GET_DATABASE`, `total_app_rollbacks`",
        "lock_waits": "`MON_GET_DATABASE`, `lock_waits`",
        "lock_wait_ms": "`MON_GET_DATABASE`, `lock_wait_time`",
        "deadlocks": "`MON_GET_DATABASE`, `deadlocks`",
        "tables": "`syscat.tables`: as of the last RUNSTATS",
        "indexes": "`syscat.indexes`: as of the last RUNSTATS; no bytes",
        "waits": "`MON_GET_APPL_LOCKWAIT` each second: lock waits",
        "maintenance": "`syscat.tables`, `stats_time`: the table that was left longest",
    }
    none = {
        **{name: "Db2 tells it in no monitoring function" for name in COUNTERS if name not in COUNTED},
        **dict.fromkeys(EFFORT, "Db2 counts the pages of all sessions, which are not taken for those of a query"),
        "plans": "Db2 writes plans into tables that its DBA has to make (EXPLAIN.DDL)",
    }

    checkpoint_nouns = ("log switch", "log switches")

    def __init__(self, schema: str) -> None:
        self._schema = schema

    def counter_queries(self) -> Mapping[str, str]:
        return {"buffers": BUFFERS, "log": LOG, "work": WORK}

    def counters(self, rows: QueryRows) -> dict[str, float]:
        raw: dict[str, float] = {}
        for query, names in DELIVERED.items():
            for row in rows.get(query, []):
                raw |= {name: float(value or 0) for name, value in zip(names, row, strict=True)}
        values = {name: value for name, value in raw.items() if name in COUNTED}
        if "buffer_logical" in raw:
            values["buffer_hits"] = raw["buffer_logical"] - raw["buffer_reads"]
            values["data_reads"] = raw["buffer_reads"]
        if "log_pages" in raw:
            values["log_bytes"] = raw["log_pages"] * LOG_PAGE_BYTES
            values["log_flushes"] = raw["log_writes"]
        return values

    def wait_queries(self) -> Mapping[str, str]:
        return {"locks": WAITING}

    def waits(self, rows: QueryRows) -> dict[str, float]:
        count = float(first_value(rows.get("locks")) or 0)
        return {"lock": count} if count else {}

    def schema_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        where = self._where(tables)
        return {
            "tables": "SELECT tabname, card, avgrowsize, fpages, fpages * (SELECT pagesize FROM syscat.tablespaces s "
            f"WHERE s.tbspace = t.tbspace) FROM syscat.tables t {where}",
            "indexes": f"SELECT indname, tabname, nlevels, indcard, fullkeycard, -1 FROM syscat.indexes {where}",
        }

    def maintenance_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        age = "TIMESTAMPDIFF(2, CAST(CURRENT_TIMESTAMP - stats_time AS CHAR(22)))"
        return {"analyzed": f"SELECT tabname, {age} FROM syscat.tables {self._where(tables)}"}

    def _where(self, tables: Sequence[str]) -> str:
        listed = quoted_names(tables, str.upper)
        return f"WHERE tabschema = UPPER('{self._schema}') AND tabname IN ({listed})"
