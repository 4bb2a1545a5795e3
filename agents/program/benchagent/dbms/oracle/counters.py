"""What Oracle tells in its v$ views and in the data dictionary."""

# ruff: noqa: S608 - names were checked, the rest is our own
from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchagent.dbms.base import first_value
from benchagent.dbms.counters import EngineCounters, QueryRows

# Standard name -> statistic of v$sysstat. What several add up to is computed in `counters`. "redo synch writes" counts
# the commits that asked for a write of the log; the log writer's "redo writes" serve several at once, and are on disk
# when they end.
FROM_SYSSTAT = {
    "buffer_reads": "physical reads cache",
    "checkpoints": "background checkpoints completed",
    "log_bytes": "redo size",
    "log_flushes": "redo writes",
    "log_writes": "redo writes",
    "data_reads": "physical reads",
    "data_writes": "physical writes",
    "commits": "user commits",
    "rollbacks": "user rollbacks",
    "deadlocks": "enqueue deadlocks",
}
LOGICAL = ("consistent gets from cache", "db block gets from cache")
TEMPORARY = "physical writes direct temporary tablespace"
# Sums since the instance was started; those of background processes are no waits of sessions that work.
EVENTS = (
    "SELECT event, total_waits_fg, time_waited_micro_fg FROM v$system_event "
    "WHERE wait_class <> 'Idle' AND total_waits_fg > 0"
)
LOCKS = ("enq: TX", "enq: TM")
EFFORT = (
    "SELECT n.name, s.value FROM v$mystat s JOIN v$statname n ON n.statistic# = s.statistic# "
    "WHERE n.name IN ('physical reads', 'session logical reads')"
)
BLOCK_SIZE = "SELECT TO_NUMBER(value) FROM v$parameter WHERE name = 'db_block_size'"
BLOCK = f"({BLOCK_SIZE})"
WHERE = "WHERE owner = UPPER('{schema}') AND table_name IN ({tables})"


class OracleCounters(EngineCounters):
    told = {
        **{name: f"`v$sysstat`, {statistic}" for name, statistic in FROM_SYSSTAT.items()},
        "log_flushes": "`v$sysstat`, redo writes: each is on disk when it ends",
        "buffer_hits": f"`v$sysstat`, {' + '.join(LOGICAL)} less the reads",
        "lock_waits": "`v$system_event`, enq: TX and TM",
        "lock_wait_ms": "`v$system_event`, enq: TX and TM",
        "temp_bytes": f"`v$sysstat`, {TEMPORARY} × `db_block_size`",
        "tables": "`all_tables`: as of the last statistics",
        "indexes": "`all_indexes`: as of the last statistics",
        "plans": "`EXPLAIN PLAN`, `DBMS_XPLAN.DISPLAY`",
        "waits": "`v$system_event` before and after: time waited in each event of a class other than Idle",
        "maintenance": "`all_tables`, `last_analyzed`: the table that was left longest",
        "query_reads": "`v$mystat`, physical reads",
        "query_fetches": "`v$mystat`, session logical reads",
    }

    spelt = staticmethod(str.upper)
    schema_sql = {
        "tables": f"SELECT table_name, num_rows, avg_row_len, blocks, blocks * {BLOCK} FROM all_tables {WHERE}",
        "indexes": "SELECT index_name, table_name, blevel + 1, num_rows, distinct_keys, "
        f"leaf_blocks * {BLOCK} FROM all_indexes {WHERE}",
    }
    maintenance_sql = {"analyzed": f"SELECT table_name, (SYSDATE - last_analyzed) * 86400 FROM all_tables {WHERE}"}

    def __init__(self, schema: str) -> None:
        self.schema = schema

    def counter_queries(self) -> Mapping[str, str]:
        listed = ", ".join(f"'{name}'" for name in dict.fromkeys((*FROM_SYSSTAT.values(), *LOGICAL, TEMPORARY)))
        return {
            "sysstat": f"SELECT name, value FROM v$sysstat WHERE name IN ({listed})",
            "events": EVENTS,
            "block": BLOCK_SIZE,
        }

    def counters(self, rows: QueryRows) -> dict[str, float]:
        values = {str(name): float(value) for name, value in rows.get("sysstat", [])}
        counted = {name: values[statistic] for name, statistic in FROM_SYSSTAT.items() if statistic in values}
        if "buffer_reads" in counted and all(name in values for name in LOGICAL):
            counted["buffer_hits"] = sum(values[name] for name in LOGICAL) - counted["buffer_reads"]
        block = first_value(rows.get("block"))
        if TEMPORARY in values and block is not None:
            counted["temp_bytes"] = values[TEMPORARY] * float(block)
        if "events" in rows:
            locks = [row for row in rows["events"] if str(row[0]).startswith(LOCKS)]
            counted["lock_waits"] = sum(float(row[1]) for row in locks)
            counted["lock_wait_ms"] = sum(float(row[2]) for row in locks) / 1000
        return counted

    def waited_s(self, rows: QueryRows) -> dict[str, float]:
        return {str(event): float(micros) / 1_000_000 for event, _, micros in rows.get("events", [])}

    def plan_queries(self, sql: str) -> Sequence[str]:
        return (f"EXPLAIN PLAN FOR {sql}", "SELECT plan_table_output FROM TABLE(DBMS_XPLAN.DISPLAY())")

    def effort_queries(self) -> Mapping[str, str]:
        return {"mystat": EFFORT}

    def effort(self, rows: QueryRows) -> dict[str, float]:
        names = {"physical reads": "reads", "session logical reads": "fetches"}
        return {names[str(name)]: float(value) for name, value in rows.get("mystat", []) if str(name) in names}
