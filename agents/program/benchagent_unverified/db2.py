"""Db2 servers (Linux, UNIX, Windows; 10.5 and later) that somebody else runs.

They tell what they do in monitoring functions and in the catalogue.
"""

# ruff: noqa: S608 - names were checked, the rest is our own
from __future__ import annotations

from benchagent.dbms.base import Retryable
from benchagent.dbms.counters import EFFORT, PAGE_REQUESTS, Counted, EngineCounters, QueryRows
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.external.server import ExternalServer, ToolBackup

DEADLOCK_OR_TIMEOUT, DEADLOCK_CODE, TIMEOUT_CODE = "40001", -911, -913
DUPLICATE_KEY = "23505"
# The free space of each storage path.
FREE_SPACE = "SELECT fs_total_size - fs_used_size, fs_total_size FROM TABLE(ADMIN_GET_STORAGE_PATHS('', -1)) AS p"

OBJECTS = (
    "SELECT tabname FROM syscat.tables WHERE tabschema = UPPER('{schema}') "
    "UNION ALL SELECT 'routine ' || routinename FROM syscat.routines WHERE routineschema = UPPER('{schema}') "
    "UNION ALL SELECT 'sequence ' || seqname FROM syscat.sequences WHERE seqschema = UPPER('{schema}') "
    "AND seqtype = 'S' "
    "UNION ALL SELECT 'type ' || typename FROM syscat.datatypes WHERE typeschema = UPPER('{schema}')"
)


def dialect_of(schema: str) -> Dialect:
    runstats = f"RUNSTATS ON TABLE {schema.upper()}.{{table}} WITH DISTRIBUTION AND INDEXES ALL"
    return Dialect(
        double="DOUBLE",
        # Accepted as a constant of a DEFAULT, which the function TIMESTAMP is not.
        timestamp_literal="'{text}'",
        select_values="VALUES ({expressions})",
        for_update=" WITH RS USE AND KEEP UPDATE LOCKS",
        after_load_each=(f"CALL SYSPROC.ADMIN_CMD('{runstats}')",),
    )


def external_server(version: str, schema: str) -> ExternalServer:
    return ExternalServer(
        dbms="db2",
        dialect=dialect_of(schema),
        objects=OBJECTS,
        schemas="SELECT schemaname FROM syscat.schemata WHERE schemaname = UPPER('{schema}')",
        create="CREATE SCHEMA {schema}",
        use=("SET CURRENT SCHEMA {schema}",),
        effective_queries={
            "database": "SELECT name, value FROM sysibmadm.dbcfg ORDER BY name",
            "page_size": "SELECT 'pagesize', pagesize FROM syscat.tablespaces WHERE tbspace = 'USERSPACE1'",
        },
        in_force=_in_force,
        buffer_is_set=False,  # buffer pools have sizes of their own
        engine_counters=Db2Counters(schema),
        retryable=Retryable(sqlstates=(DEADLOCK_OR_TIMEOUT,), codes=(DEADLOCK_CODE, TIMEOUT_CODE)),
        tolerable=Retryable(sqlstates=(DUPLICATE_KEY,)),
        driver="12.1.5.0",
        version_query="SELECT service_level FROM sysibmadm.env_inst_info",
        free_space=FREE_SPACE,
        # It backs up the whole database that is named like its alias, online; the target is a folder.
        shown_backups=[
            ToolBackup(
                "backup_database",
                "db2 backup database … online",
                lambda target: ["db2", "backup", "database", target.name, "online", "to", target, "include", "logs"],
                lambda source: ["db2", "restore", "database", source.name, "from", source, "into", "restored"],
            )
        ],
    )


def _in_force(rows: QueryRows) -> list[tuple[str, str]]:
    """Folders and names of archives say nothing about speed."""
    named = [
        (str(row[0]).strip().lower(), row[1]) for query in ("database", "page_size") for row in rows.get(query, [])
    ]
    shown = [(name, str(value).strip()) for name, value in named if value is not None and "path" not in name]
    return [(name, value) for name, value in shown if value and "/" not in value]


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
    origins = {
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
