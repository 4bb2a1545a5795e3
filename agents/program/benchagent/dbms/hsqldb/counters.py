"""What HSQLDB tells: rows of its tables, who waits for whom, plans."""

from __future__ import annotations

from collections.abc import Sequence

from benchagent.dbms.counters import COUNTERS, EFFORT, EngineCounters

NO_COUNTER = "HSQLDB does not count it"
WAITING = "SELECT 'transaction', COUNT(*) FROM INFORMATION_SCHEMA.SYSTEM_SESSIONS WHERE THIS_WAITING_FOR <> ''"
ROWS = (
    "SELECT TABLE_NAME, TABLE_TYPE, CARDINALITY FROM INFORMATION_SCHEMA.SYSTEM_TABLESTATS "
    "WHERE TABLE_SCHEMA = CURRENT_SCHEMA AND LOWER(TABLE_NAME) IN ({tables})"
)


class HsqldbCounters(EngineCounters):
    spelt = staticmethod(str.lower)
    schema_sql = {"tables": ROWS}
    table_columns = ("table", "engine", "rows")
    waiting = {"waiting": WAITING}
    told = {
        "tables": "`INFORMATION_SCHEMA.SYSTEM_TABLESTATS`: rows; no sizes",
        "plans": "`EXPLAIN PLAN FOR`",
        "waits": "`INFORMATION_SCHEMA.SYSTEM_SESSIONS` each second: sessions that wait for another",
    }
    none = {
        **dict.fromkeys((*COUNTERS, *EFFORT), NO_COUNTER),
        "indexes": "HSQLDB tells sizes of indexes only of tables with a space of their own, which these have not",
        "maintenance": "HSQLDB has no statistics of values, and nothing to be tidied up but at a checkpoint",
    }

    def plan_queries(self, sql: str) -> Sequence[str]:
        return (f"EXPLAIN PLAN FOR {sql}",)
