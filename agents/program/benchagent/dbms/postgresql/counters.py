"""What PostgreSQL tells about itself, from 9.2 to 18: its views were renamed and split several times.

Tables, indexes and their upkeep are as the catalogue and the planner's statistics know them, without any extension.
"""

# ruff: noqa: S608 - constants only
from __future__ import annotations

from benchagent.dbms.base import GUEST
from benchagent.dbms.counters import CHECKPOINTS, Age, Counted, EngineCounters, QueryRows, oldest
from benchagent.dbms.postgresql.discovery import Version

# The first page of a B-tree says on which level its root is, 0 being the leaves: a four byte number, lowest byte first,
# after the page's header (24 bytes), a magic number, a version and the root's page number.
LEVEL_OFFSET = 36
CHECKPOINT_TIME_SINCE = (9, 6)

_VISIBLE, _OWN_TABLE, _OWN_VIEW = "pg_table_is_visible({})", "n.nspname = 'public'", "schemaname = 'public'"
# Without the header of a row (24 bytes) and its pointer (4): what the columns hold, in the mean of a sample.
_ROW_BYTES = (
    "(SELECT sum(s.avg_width * (1 - s.null_frac)) FROM pg_stats s"
    " WHERE s.schemaname = n.nspname AND s.tablename = c.relname)"
)
# Counted by the sessions themselves since the last ANALYZE; nought for a table with pages means that they were lost.
_ROWS = (
    "CASE WHEN pg_relation_size(c.oid) = 0 OR pg_stat_get_live_tuples(c.oid) > 0"
    " THEN pg_stat_get_live_tuples(c.oid) END"
)
_TABLES = f"""SELECT c.relname, {_ROWS}, {_ROW_BYTES},
 pg_relation_size(c.oid) / current_setting('block_size')::bigint, pg_table_size(c.oid), pg_indexes_size(c.oid)
 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE c.relkind = 'r' AND {{seen}} AND lower(c.relname) IN ({{tables}})
 ORDER BY c.relname"""

# The level is read from the first page of an index as it is on disk: it is true after a checkpoint.
_LEVEL = (
    "CASE WHEN m.amname = 'btree' THEN"
    f" get_byte(pg_read_binary_file(pg_relation_filepath(i.oid), {LEVEL_OFFSET}, 1), 0) + 1 END"
)
# Statistics of the table's columns; an expression has none under a name of its own.
_KEY_STATS = (
    "FROM pg_stats s JOIN pg_attribute a ON a.attname = s.attname AND a.attrelid = c.oid"
    " WHERE s.schemaname = n.nspname AND s.tablename = c.relname AND a.attnum = ANY (x.indkey::int2[])"
)
_DISTINCT = "CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * c.reltuples ELSE s.n_distinct END"
_INDEXES = f"""SELECT i.relname, c.relname, {{level}}, CASE WHEN i.relpages > 1 THEN i.reltuples END,
 (SELECT sum(s.avg_width) {_KEY_STATS}),
 CASE WHEN c.relpages = 0 THEN NULL WHEN x.indisunique THEN i.reltuples
  WHEN x.indnatts = 1 THEN (SELECT {_DISTINCT} {_KEY_STATS}) END,
 pg_relation_size(i.oid)
 FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
 JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_am m ON m.oid = i.relam
 WHERE i.relkind = 'i' AND {{seen}} AND lower(c.relname) IN ({{tables}})
 ORDER BY c.relname, i.relname"""
_UPKEEP = (
    "SELECT relname, extract(epoch FROM now() - greatest(last_analyze, last_autoanalyze)),"
    " extract(epoch FROM now() - greatest(last_vacuum, last_autovacuum)), n_dead_tup FROM pg_stat_user_tables"
    " WHERE {seen} AND lower(relname) IN ({tables}) ORDER BY relname"
)
_CHECKPOINT = "SELECT extract(epoch FROM now() - checkpoint_time) FROM pg_control_checkpoint()"
# These are summed over all tables of the user, once the session has reported its counters.
_BLOCKS = [f"{kind}_blks" for kind in ("heap", "idx", "toast", "tidx")]
_READS, _HITS = (" + ".join(f"coalesce(sum({part}_{what}), 0)" for part in _BLOCKS) for what in ("read", "hit"))
_EFFORT = f"SELECT {_READS}, {_READS} + {_HITS} FROM pg_statio_user_tables WHERE pg_table_is_visible(relid)"
NO_LOCK_COUNTERS = "PostgreSQL counts no waits for locks; those sampled each second are among the wait events"
NO_LOG_COUNTERS = "PostgreSQL counts writes and syncs of its log since version 14"
SYNCED_BY_WRITING = "wal_sync_method = {method}: each write of the log is synced by itself, see the log writes"
RUNNING, LOCK = "running", "Lock"
WAIT_EVENTS_SINCE, BACKEND_TYPE_SINCE, WAL_VIEW_SINCE = (9, 6), (10, 0), (14, 0)
# From here on a session can be made to report its counters at once; before it did so twice a second at most.
FLUSH_SINCE = (15, 0)
REPORT_INTERVAL_S = 0.6
EVER = (0, 0)
# For each query what it is from a version on.
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
    """`wal_sync_method` as given, if it was. `superuser`: of a server of the agent's own, whose tables are all in one
    schema, and where files may be read, which tell an index's depth."""

    same_as = {"data_reads": "buffer_reads"}
    spelt = staticmethod(str.lower)
    plan_sql = ("EXPLAIN (ANALYZE false, COSTS true, FORMAT TEXT) {sql}",)
    table_columns = ("table", "rows", "row_bytes", "pages", "size_bytes", "index_bytes")
    index_columns = ("index", "table", "depth", "keys", "key_bytes", "unique_keys", "size_bytes")

    def __init__(self, version: Version, *, wal_sync_method: str = "", superuser: bool = True) -> None:
        level = _LEVEL if superuser else "NULL"
        visible = _VISIBLE.format("c.oid"), _VISIBLE.format("relid")
        of_table, of_view = (_OWN_TABLE, _OWN_VIEW) if superuser else visible
        users = f"usename IN (current_user, '{GUEST}')" if superuser else "usename = current_user"
        self.waiting = {"waits": _waits_sql(version, users)}
        # Before 15 what sessions report is seen by others up to half a second later.
        awaited = {} if version >= FLUSH_SINCE else {"report": f"SELECT pg_sleep({REPORT_INTERVAL_S})"}
        self.schema_sql = {
            **awaited,
            "tables": _TABLES.format(seen=of_table, tables="{tables}"),
            "indexes": _INDEXES.format(seen=of_table, level=level, tables="{tables}"),
        }
        self.effort_sql = {"report": "SELECT pg_stat_force_next_flush()", **awaited, "effort": _EFFORT}
        self.maintenance_sql = {**awaited, "upkeep": _UPKEEP.format(seen=of_view, tables="{tables}")}
        if version >= CHECKPOINT_TIME_SINCE:
            self.maintenance_sql["checkpoint"] = _CHECKPOINT
        usable = {
            query: [sql for since, sql in variants.items() if version >= since] for query, variants in COUNTED.items()
        }
        self.counted = {query: variants[-1] for query, variants in usable.items() if variants}
        self.none = {"lock_waits": NO_LOCK_COUNTERS, "lock_wait_ms": NO_LOCK_COUNTERS}
        if version < WAL_VIEW_SINCE:
            self.none |= {"log_flushes": NO_LOG_COUNTERS, "log_writes": NO_LOG_COUNTERS}
        elif wal_sync_method.lower().startswith("open"):
            self.none["log_flushes"] = SYNCED_BY_WRITING.format(method=wal_sync_method)
        depth = "the first page of the B-tree for its depth" if superuser else "no depth, which needs a superuser"
        waits = "wait events" if version >= WAIT_EVENTS_SINCE else "column `waiting`"
        checkpoint = ", `pg_control_checkpoint()`" if version >= CHECKPOINT_TIME_SINCE else ""
        self.origins = {
            "data_reads": "`pg_stat_database`, `blks_read`",
            "tables": "`pg_class`, `pg_stats`, `pg_relation_size`",
            "indexes": f"`pg_class`, `pg_stats`, `pg_relation_size`; {depth}",
            "plans": "`EXPLAIN`",
            "waits": f"`pg_stat_activity` each second: {waits}",
            "query_reads": "`pg_statio_user_tables`, `…_blks_read`: of all sessions; the queries run alone",
            "query_fetches": "`pg_statio_user_tables`, `…_blks_read` + `…_blks_hit`: likewise",
            "maintenance": f"`pg_stat_user_tables`{checkpoint}",
        }
        # A checkpoint counts when it begins, one that is requested when it has ended.
        self.growing = {CHECKPOINTS: self.counted[CHECKPOINTS].sql}

    def maintenance(self, rows: QueryRows) -> list[Age]:
        """The age of the table that was left longest; "never" if there is one that never was."""
        tables, listed = rows.get("upkeep", []), []
        if tables:
            dead = sum(int(row[3] or 0) for row in tables)
            vacuum = oldest("vacuum", tables, 2)
            listed.append(oldest("statistics (ANALYZE)", tables, 1))
            listed.append(Age(vacuum.what, vacuum.age_s, f"{vacuum.detail}; {dead} dead rows in all tables"))
        if rows.get("checkpoint"):
            seconds = rows["checkpoint"][0][0]
            age_s = None if seconds is None else max(0.0, float(seconds))
            listed.append(Age("checkpoint", age_s, "begin of the last one that was completed"))
        return listed


def _waits_sql(version: Version, users: str) -> str:
    """Sessions of these users that are in a transaction; the session that asks is left out."""
    of_terminals = f"FROM pg_stat_activity WHERE {users} AND pid <> pg_backend_pid()"
    event = f"coalesce(wait_event_type || ': ' || wait_event, '{RUNNING}')"
    if version < WAIT_EVENTS_SINCE:
        event = f"CASE WHEN waiting THEN '{LOCK}' WHEN state = 'active' THEN '{RUNNING}' ELSE state END"
    elif version >= BACKEND_TYPE_SINCE:
        of_terminals += " AND backend_type IN ('client backend', 'parallel worker')"
    return f"SELECT {event}, count(*) {of_terminals} AND state <> 'idle' GROUP BY 1"
