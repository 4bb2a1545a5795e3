"""Db2 servers (Linux, UNIX, Windows; 10.5 and later) that somebody else runs."""

from __future__ import annotations

from benchagent.dbms.base import Retryable
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.db2.counters import Db2Counters
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.external.server import ExternalServer, ToolBackup

DEADLOCK_OR_TIMEOUT, DEADLOCK_CODE, TIMEOUT_CODE = "40001", -911, -913
DUPLICATE_KEY = "23505"
# Of each storage path.
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
        # Of the database that is named like its alias, whole and online; the target is a folder.
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
    told = [(name, str(value).strip()) for name, value in named if value is not None and "path" not in name]
    return [(name, value) for name, value in told if value and "/" not in value]
