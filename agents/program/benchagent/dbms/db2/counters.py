"""What Db2 tells in its monitoring functions (10.5 and later) and in its catalogue."""

# ruff: noqa: S608 - names were checked, the rest is our own
from __future__ import annotations

from benchagent.dbms.counters import EFFORT, PAGE_REQUESTS, Counted, EngineCounters

WHERE = "WHERE tabschema = UPPER('{schema}') AND tabname IN ({tables})"
# The log is counted in pages of 4,096 bytes.
COUNTED = {
    "buffers": Counted(
        "SELECT SUM(pool_data_l_reads + pool_index_l_reads), SUM(pool_data_p_reads + pool_index_p_reads), "
        "SUM(pool_data_writes + pool_index_writes) FROM TABLE(MON_GET_BUFFERPOOL(NULL, -2)) AS b",
        {
            PAGE_REQUESTS: "",
            "buffer_reads": "`MON_GET_BUFFERPOOL`, physical reads",
            "data_writes": "`MON_GET_BUFFERPOOL`, `pool_data_writes` + `pool_index_writes`",
        },
    ),
    "log": Counted(
        "SELECT SUM(log_writes) * 4096, SUM(num_log_write_io), SUM(current_active_log) "
        "FROM TABLE(MON_GET_TRANSACTION_LOG(-2)) AS l",
        {
            "log_bytes": "`MON_GET_TRANSACTION_LOG`, `log_writes` (pages) × 4,096 bytes",
            "log_writes": "`MON_GET_TRANSACTION_LOG`, `num_log_write_io`",
            "checkpoints": "`MON_GET_TRANSACTION_LOG`, `current_active_log`: log switches, as Db2 has no checkpoints",
        },
    ),
    "work": Counted(
        "SELECT SUM(total_app_commits), SUM(total_app_rollbacks), SUM(lock_waits), SUM(lock_wait_time), "
        "SUM(deadlocks) FROM TABLE(MON_GET_DATABASE(-2)) AS d",
        {
            "commits": "`MON_GET_DATABASE`, `total_app_commits`",
            "rollbacks": "`MON_GET_DATABASE`, `total_app_rollbacks`",
            "lock_waits": "`MON_GET_DATABASE`, `lock_waits`",
            "lock_wait_ms": "`MON_GET_DATABASE`, `lock_wait_time`",
            "deadlocks": "`MON_GET_DATABASE`, `deadlocks`",
        },
    ),
}


class Db2Counters(EngineCounters):
    counted = COUNTED
    same_as = {"data_reads": "buffer_reads", "log_flushes": "log_writes"}
    waiting = {"locks": "SELECT 'lock', COUNT(*) FROM TABLE(MON_GET_APPL_LOCKWAIT(NULL, -2)) AS w"}
    told = {
        "buffer_hits": "`MON_GET_BUFFERPOOL`, logical reads less the physical ones",
        "data_reads": "`MON_GET_BUFFERPOOL`, physical reads",
        "log_flushes": "`MON_GET_TRANSACTION_LOG`, `num_log_write_io`: each is on disk when it ends",
        "tables": "`syscat.tables`: as of the last RUNSTATS",
        "indexes": "`syscat.indexes`: as of the last RUNSTATS; no bytes",
        "waits": "`MON_GET_APPL_LOCKWAIT` each second: lock waits",
        "maintenance": "`syscat.tables`, `stats_time`: the table that was left longest",
    }
    none = {
        "temp_bytes": "Db2 tells it in no monitoring function",
        **dict.fromkeys(EFFORT, "Db2 counts the pages of all sessions, which are not taken for those of a query"),
        "plans": "Db2 writes plans into tables that its DBA has to make (EXPLAIN.DDL)",
    }
    checkpoint_nouns = ("log switch", "log switches")

    spelt = staticmethod(str.upper)
    schema_sql = {
        "tables": "SELECT tabname, card, avgrowsize, fpages, fpages * (SELECT pagesize FROM syscat.tablespaces s "
        f"WHERE s.tbspace = t.tbspace) FROM syscat.tables t {WHERE}",
        "indexes": f"SELECT indname, tabname, nlevels, indcard, fullkeycard, -1 FROM syscat.indexes {WHERE}",
    }
    maintenance_sql = {
        "analyzed": "SELECT tabname, TIMESTAMPDIFF(2, CAST(CURRENT_TIMESTAMP - stats_time AS CHAR(22))) "
        f"FROM syscat.tables {WHERE}"
    }

    def __init__(self, schema: str) -> None:
        self.schema = schema
