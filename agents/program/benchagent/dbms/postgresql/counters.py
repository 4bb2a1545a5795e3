"""What PostgreSQL tells about itself, from 9.2 to 18: its views were renamed and split several times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from benchagent.dbms.counters import Age, Counted, EngineCounters, QueryRows
from benchagent.dbms.postgresql import relations
from benchagent.dbms.postgresql.discovery import Version

NO_LOCK_COUNTERS = "PostgreSQL counts no waits for locks; those sampled each second are among the wait events"
NO_LOG_COUNTERS = "PostgreSQL counts writes and syncs of its log since version 14"
SYNCED_BY_WRITING = "wal_sync_method = {method}: each write of the log is synced by itself, see the log writes"
RUNNING, IDLE_IN_TRANSACTION, LOCK = "running", "idle in transaction", "Lock"
WAIT_EVENTS_SINCE, BACKEND_TYPE_SINCE, WAL_VIEW_SINCE = (9, 6), (10, 0), (14, 0)
# From here on a session can be made to report its counters at once; before it did so twice a second at most.
FLUSH_SINCE = (15, 0)
REPORT_INTERVAL_S = 0.6
EVER = (0, 0)
# By query: what it is from a version on.
COUNTED: dict[str, dict[Version, Counted]] = {
    "database": {
        EVER: Counted(
            "SELECT blks_hit, blks_read, xact_commit, xact_rollback, deadlocks, temp_bytes"
            " FROM pg_stat_database WHERE datname = current_database()",
            {
                "buffer_hits": "`pg_stat_database`, `blks_hit`",
                "buffer_reads": "`pg_stat_database`, `blks_read`: the page cache of the system may serve it",
                "commits": "`pg_stat_database`, `xact_commit`",
                "rollbacks": "`pg_stat_database`, `xact_rollback`",
                "deadlocks": "`pg_stat_database`, `deadlocks`",
                "temp_bytes": "`pg_stat_database`, `temp_bytes`",
            },
        )
    },
    # Timed and requested. Version 17 counts those too that had nothing to do; 18 tells them apart.
    "checkpoints": {
        EVER: Counted(
            "SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter",
            {"checkpoints": "`pg_stat_bgwriter`, `checkpoints_timed` + `checkpoints_req`"},
        ),
        (17, 0): Counted(
            "SELECT num_timed + num_requested FROM pg_stat_checkpointer",
            {"checkpoints": "`pg_stat_checkpointer`, `num_timed` + `num_requested`, those with nothing to do included"},
        ),
        (18, 0): Counted(
            "SELECT num_done FROM pg_stat_checkpointer", {"checkpoints": "`pg_stat_checkpointer`, `num_done`"}
        ),
    },
    # Bytes of log written since the cluster was made, headers of pages included.
    "log_position": {
        EVER: Counted(
            "SELECT pg_xlog_location_diff(pg_current_xlog_location(), '0/0')",
            {"log_bytes": "`pg_current_xlog_location()`"},
        ),
        (10, 0): Counted(
            "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')", {"log_bytes": "`pg_current_wal_lsn()`"}
        ),
    },
    # Pages, by whomever they were written.
    "data_writes": {
        EVER: Counted(
            "SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter",
            {"data_writes": "`pg_stat_bgwriter`, `buffers_checkpoint` + `buffers_clean` + `buffers_backend`"},
        ),
        # An operation is a page here.
        (16, 0): Counted(
            "SELECT sum(coalesce(writes, 0) + coalesce(extends, 0)) FROM pg_stat_io WHERE object = 'relation'",
            {"data_writes": "`pg_stat_io`, `writes` + `extends` of `relation`"},
        ),
        (18, 0): Counted(
            "SELECT sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0)) / current_setting('block_size')::bigint"
            " FROM pg_stat_io WHERE object = 'relation'",
            {"data_writes": "`pg_stat_io`, bytes ÷ page of `relation`"},
        ),
    },
    "log": {
        WAL_VIEW_SINCE: Counted(
            "SELECT wal_write, wal_sync FROM pg_stat_wal",
            {"log_writes": "`pg_stat_wal`, `wal_write`", "log_flushes": "`pg_stat_wal`, `wal_sync`"},
        ),
        (18, 0): Counted(
            "SELECT sum(writes), sum(fsyncs) FROM pg_stat_io WHERE object = 'wal'",
            {"log_writes": "`pg_stat_io`, `writes` of `wal`", "log_flushes": "`pg_stat_io`, `fsyncs` of `wal`"},
        ),
    },
}


class PostgresqlCounters(EngineCounters):
    """`wal_sync_method` as given, if it was. `superuser`: may read files of the server, which tell an index's depth."""

    same_as = {"data_reads": "buffer_reads"}
    table_columns, index_columns = relations.TABLE_COLUMNS, relations.INDEX_COLUMNS

    def __init__(self, version: Version, *, wal_sync_method: str = "", superuser: bool = True) -> None:
        self._version = version
        self._superuser = superuser
        known = {query: [sql for since, sql in asked.items() if version >= since] for query, asked in COUNTED.items()}
        self.counted = {query: asked[-1] for query, asked in known.items() if asked}
        self.none = {"lock_waits": NO_LOCK_COUNTERS, "lock_wait_ms": NO_LOCK_COUNTERS}
        if version < WAL_VIEW_SINCE:
            self.none |= {"log_flushes": NO_LOG_COUNTERS, "log_writes": NO_LOG_COUNTERS}
        elif wal_sync_method.lower().startswith("open"):
            self.none["log_flushes"] = SYNCED_BY_WRITING.format(method=wal_sync_method)
        depth = "the first page of the B-tree for its depth" if superuser else "no depth, which needs a superuser"
        waits = "wait events" if version >= WAIT_EVENTS_SINCE else "column `waiting`"
        checkpoint = ", `pg_control_checkpoint()`" if version >= relations.CHECKPOINT_TIME_SINCE else ""
        self.told = {
            "data_reads": "`pg_stat_database`, `blks_read`",
            "tables": "`pg_class`, `pg_stats`, `pg_relation_size`",
            "indexes": f"`pg_class`, `pg_stats`, `pg_relation_size`; {depth}",
            "plans": "`EXPLAIN`",
            "waits": f"`pg_stat_activity` each second: {waits}",
            "query_reads": "`pg_statio_user_tables`, `…_blks_read`: of all sessions; the queries run alone",
            "query_fetches": "`pg_statio_user_tables`, `…_blks_read` + `…_blks_hit`: likewise",
            "maintenance": f"`pg_stat_user_tables`{checkpoint}",
        }

    # Waits

    def wait_queries(self) -> Mapping[str, str]:
        """Sessions of our user that are in a transaction; the session that asks is left out."""
        of_terminals = "FROM pg_stat_activity WHERE usename = current_user AND pid <> pg_backend_pid()"
        if self._version < WAIT_EVENTS_SINCE:
            state = f"CASE WHEN waiting THEN '{LOCK}' WHEN state = 'active' THEN '{RUNNING}' ELSE state END"
            return {"waits": f"SELECT {state}, count(*) {of_terminals} AND state <> 'idle' GROUP BY 1"}
        of_clients = " AND backend_type IN ('client backend', 'parallel worker')"
        kind = of_clients if self._version >= BACKEND_TYPE_SINCE else ""
        event = f"coalesce(wait_event_type || ': ' || wait_event, '{RUNNING}')"
        return {"waits": f"SELECT {event}, count(*) {of_terminals}{kind} AND state <> 'idle' GROUP BY 1"}

    # Tables, indexes, upkeep

    def schema_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        return {**self._awaited(), **relations.schema_queries(tables, with_depth=self._superuser)}

    def maintenance_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        return {**self._awaited(), **relations.upkeep_queries(tables, self._version)}

    def maintenance(self, rows: QueryRows) -> list[Age]:
        return relations.ages(rows)

    def _awaited(self) -> dict[str, str]:
        """Before 15 what sessions report is seen by others up to half a second later."""
        return {} if self._version >= FLUSH_SINCE else {"report": f"SELECT pg_sleep({REPORT_INTERVAL_S})"}

    # Queries

    def plan_queries(self, sql: str) -> Sequence[str]:
        return (f"EXPLAIN (ANALYZE false, COSTS true, FORMAT TEXT) {sql}",)

    def plan(self, rows: Sequence[Sequence[Any]]) -> str:
        return "\n".join(str(row[0]) for row in rows)

    def effort_queries(self) -> Mapping[str, str]:
        """The first has the session report its counters, the second reads those of all tables of the user."""
        parts = [f"{kind}_blks" for kind in ("heap", "idx", "toast", "tidx")]
        reads = " + ".join(f"coalesce(sum({part}_read), 0)" for part in parts)
        hits = " + ".join(f"coalesce(sum({part}_hit), 0)" for part in parts)
        return {
            "report": "SELECT pg_stat_force_next_flush()",
            **self._awaited(),
            "effort": f"SELECT {reads}, {reads} + {hits} FROM pg_statio_user_tables WHERE pg_table_is_visible(relid)",  # noqa: S608
        }
