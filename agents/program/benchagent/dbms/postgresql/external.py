"""PostgreSQL servers that somebody else runs."""

# ruff: noqa: S608 - constants only
from __future__ import annotations

from benchagent.dbms.external.side import Side
from benchagent.dbms.postgresql import afar, settings
from benchagent.dbms.postgresql.adapter import DRIVER_PROPERTIES, PostgresqlInstance
from benchagent.dbms.postgresql.statistics import PostgresqlStatistics
from benchagent.dbms.postgresql.version import numbers

# Without sequences of SERIAL and IDENTITY columns, which go with their tables.
RELATIONS = (
    "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = '{schema}' AND (c.relkind IN ('r', 'v', 'm', 'f', 'p', 'c') OR c.relkind = 'S' AND NOT EXISTS "
    "(SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid "
    "AND d.deptype IN ('a', 'i')))"
)
OTHERS = (
    "SELECT 'function ' || p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
    "WHERE n.nspname = '{schema}'",
    "SELECT 'type ' || t.typname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace "
    "WHERE n.nspname = '{schema}' AND t.typtype IN ('d', 'e', 'r')",
)
# In a folder of others the links of the log and of the tablespaces are not to be read, so the server tells the latter.
DATA = "(SELECT setting FROM pg_settings WHERE name = 'data_directory')"
LOG = "CASE WHEN current_setting('server_version_num')::integer >= 100000 THEN '/pg_wal' ELSE '/pg_xlog' END"
FOLDERS = (
    f"SELECT 'data_directory', {DATA} UNION ALL SELECT 'the log (pg_wal)', {DATA} || {LOG} "
    "UNION ALL SELECT 'tablespace ' || spcname, pg_tablespace_location(oid) FROM pg_tablespace "
    "WHERE spcname NOT IN ('pg_default', 'pg_global')"
)


def side(version: str, schema: str) -> Side:
    known = numbers(version)
    properties = {key: value for key, value in DRIVER_PROPERTIES.items() if key != "sslmode"}
    return Side(
        dbms="postgresql",
        dialect=PostgresqlInstance.dialect,
        objects=" UNION ALL ".join((RELATIONS, *OTHERS)),
        schemas="SELECT nspname FROM pg_namespace WHERE nspname = '{schema}'",
        create="CREATE SCHEMA {schema}",
        use=("SET search_path TO {schema}",),
        effective_queries=settings.effective_queries(known, [], superuser=False),
        in_force=settings.in_force,
        statistics=PostgresqlStatistics(known, superuser=False),
        retryable=PostgresqlInstance.retryable,
        tolerable=PostgresqlInstance.tolerable,
        properties=properties,
        version_query="SHOW server_version",
        folders=FOLDERS,
        backups=afar.methods,
    )
