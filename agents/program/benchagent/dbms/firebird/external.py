"""Firebird servers that somebody else runs. A database has no schemas: the agent works in one that is given to it."""

# ruff: noqa: S608 - constants only
from __future__ import annotations

from benchagent.dbms.counters import QueryRows
from benchagent.dbms.external.server import ExternalServer, folders_of_files
from benchagent.dbms.firebird import DIALECT, DRIVER_PROPERTIES, RETRYABLE, TOLERABLE, settings
from benchagent.dbms.firebird.counters import ForeignCounters

USERS_OWN = "COALESCE(RDB$SYSTEM_FLAG, 0) = 0"
RELATIONS = f"SELECT TRIM(RDB$RELATION_NAME) FROM RDB$RELATIONS WHERE {USERS_OWN}"
# Sequences of identity columns have a system flag of their own; domains of single columns and the administrators' role
# have the server's names. A trigger may be of no table: of connections, of DDL.
OTHERS = " ".join(
    f"UNION ALL SELECT '{kind} ' || TRIM(RDB${column}_NAME) FROM RDB${table} "
    f"WHERE {USERS_OWN} AND RDB${column}_NAME NOT STARTING WITH 'RDB$'"
    for kind, column, table in (
        ("procedure", "PROCEDURE", "PROCEDURES"),
        ("function", "FUNCTION", "FUNCTIONS"),
        ("sequence", "GENERATOR", "GENERATORS"),
        ("exception", "EXCEPTION", "EXCEPTIONS"),
        ("domain", "FIELD", "FIELDS"),
        ("trigger", "TRIGGER", "TRIGGERS"),
        ("role", "ROLE", "ROLES"),
    )
)
CONNECTED = "SELECT 1 FROM RDB$DATABASE"
# Since 2.1; an alias instead of a path leads nowhere. Files that follow the first, and shadows.
FOLDERS = (
    "SELECT 'the database', MON$DATABASE_NAME FROM MON$DATABASE "
    "UNION ALL SELECT 'another file', RDB$FILE_NAME FROM RDB$FILES"
)
VERSION = "SELECT RDB$GET_CONTEXT('SYSTEM', 'ENGINE_VERSION') FROM RDB$DATABASE"


def external_server(version: str, schema: str) -> ExternalServer:
    major = int(version.split(".", maxsplit=1)[0]) if version[:1].isdigit() else 0
    return ExternalServer(
        dbms="firebird",
        dialect=DIALECT,
        objects=f"{RELATIONS} {OTHERS}",
        schemas=CONNECTED,
        effective_queries=settings.effective_queries(major),
        in_force=_in_force,
        settings_complete=False,
        engine_counters=ForeignCounters(),
        retryable=RETRYABLE,
        tolerable=TOLERABLE,
        properties=DRIVER_PROPERTIES,
        version_query=VERSION,
        folders=FOLDERS,
        read_folders=folders_of_files,
    )


def _in_force(rows: QueryRows) -> list[tuple[str, str]]:
    """Without a look at its processes, the two Classics cannot be told apart."""
    in_force = settings.effective({name: rows[name] for name in rows if name != "process"}, 0, ())
    threads = rows.get("process", [])
    return [*in_force, ("ServerMode", settings.SUPER)] if threads and int(threads[0][0]) else in_force
