"""Where PostgreSQL's statistics come from, in words, by version."""

from __future__ import annotations

from benchagent.dbms.postgresql.version import Version
from benchagent.dbms.statistics import INDEXES, MAINTENANCE, PLANS, QUERY_FETCHES, QUERY_READS, TABLES, WAITS


def by_part(version: Version, *, superuser: bool) -> dict[str, str]:
    """Of all that some version has; what this one lacks is for `none`."""
    depth = "the first page of the B-tree for its depth" if superuser else "no depth, which needs a superuser"
    return {
        "buffer_hits": "`pg_stat_database`, `blks_hit`",
        "buffer_reads": "`pg_stat_database`, `blks_read`: the page cache of the system may serve it",
        "checkpoints": _checkpoints(version),
        "log_bytes": f"`{'pg_current_wal_lsn' if version >= (10, 0) else 'pg_current_xlog_location'}()`",
        "log_flushes": "`pg_stat_io`, `fsyncs` of `wal`" if version >= (18, 0) else "`pg_stat_wal`, `wal_sync`",
        "log_writes": "`pg_stat_io`, `writes` of `wal`" if version >= (18, 0) else "`pg_stat_wal`, `wal_write`",
        "data_reads": "`pg_stat_database`, `blks_read`",
        "data_writes": _data_writes(version),
        "commits": "`pg_stat_database`, `xact_commit`",
        "rollbacks": "`pg_stat_database`, `xact_rollback`",
        "deadlocks": "`pg_stat_database`, `deadlocks`",
        "temp_bytes": "`pg_stat_database`, `temp_bytes`",
        TABLES: "`pg_class`, `pg_stats`, `pg_relation_size`",
        INDEXES: f"`pg_class`, `pg_stats`, `pg_relation_size`; {depth}",
        PLANS: "`EXPLAIN`",
        WAITS: f"`pg_stat_activity` each second: {'wait events' if version >= (9, 6) else 'column `waiting`'}",
        QUERY_READS: "`pg_statio_user_tables`, `…_blks_read`: of all sessions; the queries run alone",
        QUERY_FETCHES: "`pg_statio_user_tables`, `…_blks_read` + `…_blks_hit`: likewise",
        MAINTENANCE: "`pg_stat_user_tables`" + (", `pg_control_checkpoint()`" if version >= (9, 6) else ""),
    }


def _checkpoints(version: Version) -> str:
    if version >= (18, 0):
        return "`pg_stat_checkpointer`, `num_done`"
    if version >= (17, 0):
        return "`pg_stat_checkpointer`, `num_timed` + `num_requested`, those with nothing to do included"
    return "`pg_stat_bgwriter`, `checkpoints_timed` + `checkpoints_req`"


def _data_writes(version: Version) -> str:
    if version >= (16, 0):
        column = "bytes ÷ page" if version >= (18, 0) else "`writes` + `extends`"
        return f"`pg_stat_io`, {column} of `relation`"
    return "`pg_stat_bgwriter`, `buffers_checkpoint` + `buffers_clean` + `buffers_backend`"
