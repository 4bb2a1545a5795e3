"""H2 in server mode, run by somebody else."""

# ruff: noqa: S608 - constants only
from __future__ import annotations

from benchagent.dbms.base import first_value
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.embedded import STORAGE
from benchagent.dbms.external.server import ExternalServer, folders_of_files
from benchagent.dbms.external.space import IN_MEMORY
from benchagent.dbms.h2 import SETTINGS, H2Counters, H2Instance, in_force

# Capitals, since a server can be set to fold names to small letters.
TABLES = "SELECT table_name FROM information_schema.tables WHERE UPPER(table_schema) = UPPER('{schema}')"
OBJECTS = (
    f"{TABLES} UNION ALL SELECT 'routine ' || routine_name FROM information_schema.routines "
    "WHERE UPPER(routine_schema) = UPPER('{schema}') "
    "UNION ALL SELECT 'sequence ' || sequence_name FROM information_schema.sequences "
    "WHERE UPPER(sequence_schema) = UPPER('{schema}') AND sequence_name NOT LIKE 'SYSTEM\\_SEQUENCE%'"
)


# A database in memory has no path. Which it is says more than where.
KEPT_IN = "SELECT CASE WHEN DATABASE_PATH() IS NULL THEN 'memory' ELSE 'file' END"


def external_server(version: str, schema: str) -> ExternalServer:
    return ExternalServer(
        dbms="h2",
        dialect=Dialect(for_update=" FOR UPDATE", after_load_each=("ANALYZE TABLE {table}",)),
        objects=OBJECTS if version.startswith("2.") else TABLES,
        schemas="SELECT schema_name FROM information_schema.schemata WHERE UPPER(schema_name) = UPPER('{schema}')",
        create="CREATE SCHEMA {schema}",
        use=("SET SCHEMA {schema}",),
        effective_queries={"settings": SETTINGS, "kept_in": KEPT_IN},
        in_force=lambda rows: [(STORAGE, first_value(rows.get("kept_in")) or "file"), *in_force(rows)],
        engine_counters=H2Counters(),
        retryable=H2Instance.retryable,
        version_query="SELECT H2VERSION()",
        folders=f"SELECT 'the database', COALESCE(DATABASE_PATH(), '{IN_MEMORY}')",
        read_folders=folders_of_files,
    )
