"""InterBase servers (7.5 and later) that somebody else runs: the database that the connection names is the agent's.

SQL is dialect 3 without what only Firebird has: no BIGINT, no FIRST, no WITH LOCK, no typed literals, no functions like
ABS. The conditions of `tpcc` have derived tables, which came with 2017.
"""

# ruff: noqa: S608 - constants only
from __future__ import annotations

from benchagent.dbms.base import Retryable
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.external.server import MARKER, ExternalServer, ToolBackup, folders_of_files
from benchagent.dbms.firebird.dialect import ISOLATION, RETRYABLE, TOLERABLE
from benchagent.dbms.interbase.counters import InterbaseCounters

# The last driver that speaks the protocols which InterBase and Firebird 1.0 to 2.5 have in common.
DRIVER, DRIVER_CLASS = "2.2.15", "org.firebirdsql.jdbc.FBDriver"
DIALECT = Dialect(
    bigint="NUMERIC(18, 0)",
    # Also as a constant of a DEFAULT, which can be no expression.
    timestamp_literal="'{text}'",
    first="SELECT {select} ROWS {n}",
    select_values="SELECT {expressions} FROM RDB$DATABASE",
    descending_columns=False,
)
USERS_OWN = "(RDB$SYSTEM_FLAG = 0 OR RDB$SYSTEM_FLAG IS NULL)"
# Roles have no such flag, domains of single columns are the server's, a trigger goes with its table.
# All names have one type, as a UNION may want it.
OBJECTS = " UNION ALL ".join(
    f"SELECT CAST({name} AS VARCHAR(100)) FROM {source} WHERE {which}"
    for name, source, which in (
        ("RDB$RELATION_NAME", "RDB$RELATIONS", USERS_OWN),
        ("'procedure ' || RDB$PROCEDURE_NAME", "RDB$PROCEDURES", USERS_OWN),
        ("'function ' || RDB$FUNCTION_NAME", "RDB$FUNCTIONS", USERS_OWN),
        ("'generator ' || RDB$GENERATOR_NAME", "RDB$GENERATORS", USERS_OWN),
        ("'exception ' || RDB$EXCEPTION_NAME", "RDB$EXCEPTIONS", USERS_OWN),
        ("'domain ' || RDB$FIELD_NAME", "RDB$FIELDS", f"{USERS_OWN} AND NOT RDB$FIELD_NAME STARTING WITH 'RDB$'"),
        ("'role ' || RDB$ROLE_NAME", "RDB$ROLES", "NOT RDB$ROLE_NAME STARTING WITH 'RDB$'"),
    )
)
FOLDERS = "SELECT 'the database', TMP$DATABASE_PATH FROM TMP$DATABASE"
SETTINGS = "SELECT TMP$CACHE_BUFFERS, TMP$SWEEP_INTERVAL FROM TMP$DATABASE"


def external_server(version: str, schema: str) -> ExternalServer:
    return ExternalServer(
        dbms="interbase",
        dialect=DIALECT,
        objects=OBJECTS,
        schemas="SELECT 1 FROM RDB$DATABASE",
        create="",
        use=(),
        effective_queries={"database": SETTINGS},
        in_force=_in_force,
        settings_complete=False,
        engine_counters=InterbaseCounters(),
        retryable=Retryable(sqlstates=(), codes=RETRYABLE.codes),
        tolerable=TOLERABLE,
        properties={"TRANSACTION_READ_COMMITTED": ISOLATION},
        driver_class=DRIVER_CLASS,
        driver=DRIVER,
        folders=FOLDERS,
        read_folders=folders_of_files,
        marker=MARKER,
        # Of the database with the target's name as its alias; gbak gets its login from ISC_USER and ISC_PASSWORD.
        shown_backups=[
            _gbak("gbak_local", "gbak, local protocol"),
            _gbak("gbak_services", "gbak, Services API", "-se", "localhost:service_mgr"),
        ],
    )


def _in_force(rows: QueryRows) -> list[tuple[str, str]]:
    names = ("page_buffers", "sweep_interval")
    return [(name, str(value)) for row in rows.get("database", []) for name, value in zip(names, row, strict=True)]


def _gbak(slug: str, label: str, *way: str) -> ToolBackup:
    return ToolBackup(
        slug,
        label,
        lambda target: ["gbak", "-b", "-g", *way, target.name, target],
        lambda source: ["gbak", "-c", *way, source, source.with_name(f"{source.name}.restored.ib")],
    )
