"""PostgreSQL servers that somebody else runs."""

from __future__ import annotations

from benchagent.dbms.external.side import Side
from benchagent.dbms.postgresql import afar, settings
from benchagent.dbms.postgresql.adapter import DRIVER_PROPERTIES, PostgresqlInstance
from benchagent.dbms.postgresql.statistics import PostgresqlStatistics
from benchagent.dbms.postgresql.version import numbers

RELATIONS = (
    "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = '{schema}' AND c.relkind IN ('r', 'v', 'm', 'f', 'p', 'S')"
)


def side(version: str, schema: str) -> Side:
    known = numbers(version)
    properties = {key: value for key, value in DRIVER_PROPERTIES.items() if key != "sslmode"}
    return Side(
        dbms="postgresql",
        dialect=PostgresqlInstance.dialect,
        objects=RELATIONS,
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
        folder="SELECT setting FROM pg_settings WHERE name = 'data_directory'",
        backups=afar.methods,
    )
