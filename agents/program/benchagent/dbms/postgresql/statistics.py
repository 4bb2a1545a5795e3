"""What PostgreSQL tells about itself, from 9.2 to 18: its views were renamed and split several times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from benchagent.dbms.postgresql import sources, upkeep
from benchagent.dbms.postgresql.relations import (
    INDEX_COLUMNS,
    TABLE_COLUMNS,
    index_of,
    index_query,
    table_of,
    table_query,
)
from benchagent.dbms.postgresql.version import Version
from benchagent.dbms.statistics import Age, IndexStatistics, QueryRows, Statistics, TableStatistics

NO_LOCK_COUNTERS = "PostgreSQL counts no waits for locks; those sampled each second are among the wait events"
NO_LOG_COUNTERS = "PostgreSQL counts writes and syncs of its log since version 14"
SYNCED_BY_WRITING = "wal_sync_method = {method}: each write of the log is synced by itself, see the log writes"
RUNNING, IDLE_IN_TRANSACTION, LOCK = "running", "idle in transaction", "Lock"
WAIT_EVENTS_SINCE, BACKEND_TYPE_SINCE, WAL_VIEW_SINCE, IO_VIEW_SINCE = (9, 6), (10, 0), (14, 0), (16, 0)
CHECKPOINTER_VIEW_SINCE, LOG_IN_IO_SINCE = (17, 0), (18, 0)
# From here on a session can be made to report its counters at once; before it did so twice a second at most.
FLUSH_SINCE = (15, 0)
REPORT_INTERVAL_S = 0.6


class PostgresqlStatistics(Statistics):
    """`wal_sync_method` as given, if it was. `superuser`: may read files of the server, which tell an index's depth."""

    def __init__(self, version: Version, *, wal_sync_method: str = "", superuser: bool = True) -> None:
        self._version = version
        self._superuser = superuser
        self.none = _reasons(version, wal_sync_method)
        told = sources.by_part(version, superuser=superuser)
        self.sources = {part: words for part, words in told.items() if part not in self.none}

    # Counters

    def counter_queries(self) -> Mapping[str, str]:
        version = self._version
        queries = {
            "database": "SELECT blks_hit, blks_read, xact_commit, xact_rollback, deadlocks, temp_bytes"
            " FROM pg_stat_database WHERE datname = current_database()",
            "checkpoints": _checkpoints(version),
            "log_position": _log_position(version),
            "data_writes": _data_writes(version),
        }
        if version >= WAL_VIEW_SINCE:
            queries["log"] = _log_writes(version)
        return queries

    def counters(self, rows: QueryRows) -> dict[str, float]:
        names = {
            "database": ("buffer_hits", "buffer_reads", "commits", "rollbacks", "deadlocks", "temp_bytes"),
            "checkpoints": ("checkpoints",),
            "log_position": ("log_bytes",),
            "data_writes": ("data_writes",),
            "log": ("log_writes", "log_flushes"),
        }
        found: dict[str, float] = {}
        for query, columns in names.items():
            for name, value in zip(columns, (rows.get(query) or [[]])[0], strict=False):
                if value is not None and name not in self.none:
                    found[name] = float(value)
        if "buffer_reads" in found:
            found["data_reads"] = found["buffer_reads"]
        return found

    # Waits

    def wait_queries(self) -> Mapping[str, str]:
        """Sessions of our user that are in a transaction; the session that asks is left out."""
        of_terminals = "FROM pg_stat_activity WHERE usename = current_user AND pid <> pg_backend_pid()"
        if self._version < WAIT_EVENTS_SINCE:
            state = f"CASE WHEN waiting THEN '{LOCK}' WHEN state = 'active' THEN '{RUNNING}' ELSE state END"
            return {"waits": f"SELECT {state}, count(*) {of_terminals} AND state <> 'idle' GROUP BY 1"}
        kind = " AND backend_type IN ('client backend', 'parallel worker')" if self._is(BACKEND_TYPE_SINCE) else ""
        event = f"coalesce(wait_event_type || ': ' || wait_event, '{RUNNING}')"
        return {"waits": f"SELECT {event}, count(*) {of_terminals}{kind} AND state <> 'idle' GROUP BY 1"}

    def waits(self, rows: QueryRows) -> dict[str, float]:
        found: dict[str, float] = defaultdict(float)
        for event, sessions in rows.get("waits", []):
            found[str(event)] += float(sessions)
        return dict(found)

    # Tables and indexes

    def schema_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        queries = {"tables": table_query(tables), "indexes": index_query(tables, with_depth=self._superuser)}
        return {**self._awaited(), **queries}

    def tables(self, rows: QueryRows) -> list[TableStatistics]:
        return [table_of(dict(zip(TABLE_COLUMNS, row, strict=True))) for row in rows.get("tables", [])]

    def indexes(self, rows: QueryRows) -> list[IndexStatistics]:
        return [index_of(dict(zip(INDEX_COLUMNS, row, strict=True))) for row in rows.get("indexes", [])]

    # Upkeep

    def maintenance_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        return {**self._awaited(), **upkeep.queries(tables, self._version)}

    def maintenance(self, rows: QueryRows) -> list[Age]:
        return upkeep.ages(rows)

    # Queries

    def plan_queries(self, sql: str) -> Sequence[str]:
        return (f"EXPLAIN (ANALYZE false, COSTS true, FORMAT TEXT) {sql}",)

    def plan(self, rows: Sequence[Sequence[Any]]) -> str:
        return "\n".join(str(row[0]) for row in rows)

    def effort_queries(self) -> Mapping[str, str]:
        """The first has the session report its counters, the second reads those of all tables of the user."""
        report = "pg_stat_force_next_flush()" if self._is(FLUSH_SINCE) else f"pg_sleep({REPORT_INTERVAL_S})"
        parts = [f"{place}_blks" for place in ("heap", "idx", "toast", "tidx")]
        reads = " + ".join(f"coalesce(sum({part}_read), 0)" for part in parts)
        hits = " + ".join(f"coalesce(sum({part}_hit), 0)" for part in parts)
        return {
            "report": f"SELECT {report}",
            "effort": f"SELECT {reads}, {reads} + {hits} FROM pg_statio_user_tables WHERE pg_table_is_visible(relid)",  # noqa: S608
        }

    def effort(self, rows: QueryRows) -> dict[str, float]:
        if not rows.get("effort"):
            return {}
        reads, fetches = rows["effort"][0]
        return {"reads": float(reads), "fetches": float(fetches)}

    def _awaited(self) -> dict[str, str]:
        """Before 15 what sessions report is seen by others up to half a second later."""
        return {} if self._is(FLUSH_SINCE) else {"report": f"SELECT pg_sleep({REPORT_INTERVAL_S})"}

    def _is(self, since: Version) -> bool:
        return self._version >= since


def _reasons(version: Version, wal_sync_method: str) -> dict[str, str]:
    none = {"lock_waits": NO_LOCK_COUNTERS, "lock_wait_ms": NO_LOCK_COUNTERS}
    if version < WAL_VIEW_SINCE:
        none |= {"log_flushes": NO_LOG_COUNTERS, "log_writes": NO_LOG_COUNTERS}
    elif wal_sync_method.lower().startswith("open"):
        none["log_flushes"] = SYNCED_BY_WRITING.format(method=wal_sync_method)
    return none


def _checkpoints(version: Version) -> str:
    """Timed and requested. Version 17 counts those too that had nothing to do; 18 tells them apart."""
    if version >= LOG_IN_IO_SINCE:
        return "SELECT num_done FROM pg_stat_checkpointer"
    if version >= CHECKPOINTER_VIEW_SINCE:
        return "SELECT num_timed + num_requested FROM pg_stat_checkpointer"
    return "SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter"


def _log_position(version: Version) -> str:
    """Bytes of log written since the cluster was made, headers of pages included."""
    if version >= (10, 0):
        return "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"
    return "SELECT pg_xlog_location_diff(pg_current_xlog_location(), '0/0')"


def _data_writes(version: Version) -> str:
    """Pages, by whomever they were written."""
    if version >= LOG_IN_IO_SINCE:
        return (
            "SELECT sum(coalesce(write_bytes, 0) + coalesce(extend_bytes, 0)) / current_setting('block_size')::bigint"
            " FROM pg_stat_io WHERE object = 'relation'"
        )
    if version >= IO_VIEW_SINCE:  # an operation is a page there
        return "SELECT sum(coalesce(writes, 0) + coalesce(extends, 0)) FROM pg_stat_io WHERE object = 'relation'"
    return "SELECT buffers_checkpoint + buffers_clean + buffers_backend FROM pg_stat_bgwriter"


def _log_writes(version: Version) -> str:
    if version >= LOG_IN_IO_SINCE:
        return "SELECT sum(writes), sum(fsyncs) FROM pg_stat_io WHERE object = 'wal'"
    return "SELECT wal_write, wal_sync FROM pg_stat_wal"
