"""What Oracle tells in its v$ views and in the data dictionary."""

# ruff: noqa: S608 - names were checked, the rest is our own
from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchagent.dbms.external.catalog import index_rows, statistics_age, table_rows
from benchagent.dbms.statistics import (
    INDEXES,
    MAINTENANCE,
    PLANS,
    TABLES,
    WAITS,
    Age,
    IndexStatistics,
    QueryRows,
    Statistics,
    TableStatistics,
)

# v$sysstat -> standard names. What several add up to is computed in `counters`.
FROM_SYSSTAT = {
    "physical reads cache": "buffer_reads",
    "background checkpoints completed": "checkpoints",
    "redo size": "log_bytes",
    "redo synch writes": "log_flushes",
    "redo writes": "log_writes",
    "physical reads": "data_reads",
    "physical writes": "data_writes",
    "user commits": "commits",
    "user rollbacks": "rollbacks",
    "enqueue deadlocks": "deadlocks",
}
LOGICAL = ("consistent gets from cache", "db block gets from cache")
LOCKS = (
    "SELECT SUM(total_waits), SUM(time_waited_micro) / 1000 FROM v$system_event "
    "WHERE event LIKE 'enq: TX%' OR event LIKE 'enq: TM%'"
)
WAITING = (
    "SELECT event, COUNT(*) FROM v$session WHERE type = 'USER' AND state = 'WAITING' AND wait_class <> 'Idle' "
    "GROUP BY event"
)
EFFORT = (
    "SELECT n.name, s.value FROM v$mystat s JOIN v$statname n ON n.statistic# = s.statistic# "
    "WHERE n.name IN ('physical reads', 'session logical reads')"
)
BLOCK = "(SELECT TO_NUMBER(value) FROM v$parameter WHERE name = 'db_block_size')"


class OracleStatistics(Statistics):
    sources = {
        **{name: f"`v$sysstat`, {statistic}" for statistic, name in FROM_SYSSTAT.items()},
        "buffer_hits": f"`v$sysstat`, {' + '.join(LOGICAL)} less the reads",
        "lock_waits": "`v$system_event`, enq: TX and TM",
        "lock_wait_ms": "`v$system_event`, enq: TX and TM",
        TABLES: "`all_tables`: as of the last statistics",
        INDEXES: "`all_indexes`: as of the last statistics",
        PLANS: "`EXPLAIN PLAN`, `DBMS_XPLAN.DISPLAY`",
        WAITS: "`v$session` each second: wait events",
        MAINTENANCE: "`all_tables`, `last_analyzed`: the table that was left longest",
    }
    none = {"temp_bytes": "Oracle counts blocks of temporary tablespaces, whose sizes may differ"}

    def __init__(self, schema: str) -> None:
        self._schema = schema

    def counter_queries(self) -> Mapping[str, str]:
        listed = ", ".join(f"'{name}'" for name in (*FROM_SYSSTAT, *LOGICAL))
        return {"sysstat": f"SELECT name, value FROM v$sysstat WHERE name IN ({listed})", "locks": LOCKS}

    def counters(self, rows: QueryRows) -> dict[str, float]:
        values = {str(name): float(value) for name, value in rows.get("sysstat", [])}
        found = {FROM_SYSSTAT[name]: value for name, value in values.items() if name in FROM_SYSSTAT}
        if "buffer_reads" in found and all(name in values for name in LOGICAL):
            found["buffer_hits"] = sum(values[name] for name in LOGICAL) - found["buffer_reads"]
        for waits, milliseconds in rows.get("locks", []):
            found["lock_waits"], found["lock_wait_ms"] = float(waits or 0), float(milliseconds or 0)
        return found

    def wait_queries(self) -> Mapping[str, str]:
        return {"sessions": WAITING}

    def waits(self, rows: QueryRows) -> dict[str, float]:
        return {str(event): float(count) for event, count in rows.get("sessions", [])}

    def schema_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        where = self._where(tables)
        return {
            "tables": f"SELECT table_name, num_rows, avg_row_len, blocks, blocks * {BLOCK} FROM all_tables {where}",
            "indexes": "SELECT index_name, table_name, blevel + 1, num_rows, distinct_keys, "
            f"leaf_blocks * {BLOCK} FROM all_indexes {where}",
        }

    def tables(self, rows: QueryRows) -> list[TableStatistics]:
        return table_rows(rows.get("tables", []))

    def indexes(self, rows: QueryRows) -> list[IndexStatistics]:
        return index_rows(rows.get("indexes", []))

    def maintenance_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        return {
            "analyzed": f"SELECT table_name, (SYSDATE - last_analyzed) * 86400 FROM all_tables {self._where(tables)}"
        }

    def maintenance(self, rows: QueryRows) -> list[Age]:
        return statistics_age(rows.get("analyzed", []))

    def plan_queries(self, sql: str) -> Sequence[str]:
        return (f"EXPLAIN PLAN FOR {sql}", "SELECT plan_table_output FROM TABLE(DBMS_XPLAN.DISPLAY())")

    def effort_queries(self) -> Mapping[str, str]:
        return {"mystat": EFFORT}

    def effort(self, rows: QueryRows) -> dict[str, float]:
        names = {"physical reads": "reads", "session logical reads": "fetches"}
        return {names[str(name)]: float(value) for name, value in rows.get("mystat", []) if str(name) in names}

    def _where(self, tables: Sequence[str]) -> str:
        listed = ", ".join(f"'{table.upper()}'" for table in tables)
        return f"WHERE owner = UPPER('{self._schema}') AND table_name IN ({listed})"
