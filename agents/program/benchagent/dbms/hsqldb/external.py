"""HSQLDB in server mode, run by somebody else."""

# ruff: noqa: S608 - constants only
from __future__ import annotations

from benchagent.dbms.base import first_value
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.embedded import STORAGE
from benchagent.dbms.external.server import ExternalServer, folders_of_files
from benchagent.dbms.external.space import IN_MEMORY
from benchagent.dbms.hsqldb import PROPERTIES, VALUES, HsqldbCounters, HsqldbInstance, in_force

OBJECTS = (
    "SELECT table_name FROM information_schema.tables WHERE table_schema = UPPER('{schema}') "
    "UNION ALL SELECT 'routine ' || routine_name FROM information_schema.routines "
    "WHERE routine_schema = UPPER('{schema}') "
    "UNION ALL SELECT 'sequence ' || sequence_name FROM information_schema.sequences "
    "WHERE sequence_schema = UPPER('{schema}')"
)


# Whether it is in files or in memory, without the path.
KEPT_IN = (
    "SELECT RTRIM(CASE WHEN \"VALUE\" LIKE 'mem:%' THEN 'memory' ELSE 'file' END) "
    "FROM INFORMATION_SCHEMA.SYSTEM_SESSIONINFO WHERE \"KEY\" = 'DATABASE'"
)
FOLDERS = (
    "SELECT 'the database', CASE WHEN \"VALUE\" LIKE 'file:%' THEN SUBSTRING(\"VALUE\" FROM 6) "
    f"WHEN \"VALUE\" LIKE 'mem:%' THEN '{IN_MEMORY}' END "
    "FROM INFORMATION_SCHEMA.SYSTEM_SESSIONINFO WHERE \"KEY\" = 'DATABASE'"
)


def external_server(version: str, schema: str) -> ExternalServer:
    return ExternalServer(
        dbms="hsqldb",
        dialect=Dialect(create_table="CREATE CACHED TABLE", select_values=VALUES),
        objects=OBJECTS,
        schemas="SELECT schema_name FROM information_schema.schemata WHERE schema_name = UPPER('{schema}')",
        create="CREATE SCHEMA {schema}",
        use=("SET SCHEMA {schema}",),
        effective_queries={"properties": PROPERTIES, "kept_in": KEPT_IN},
        in_force=lambda rows: [(STORAGE, first_value(rows.get("kept_in")) or "file"), *in_force(rows)],
        engine_counters=HsqldbCounters(),
        retryable=HsqldbInstance.retryable,
        version_query="VALUES (DATABASE_VERSION())",
        folders=FOLDERS,
        read_folders=folders_of_files,
    )
