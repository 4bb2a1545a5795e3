"""HSQLDB in server mode, run by somebody else."""

from __future__ import annotations

from benchagent.dbms.dialect import Dialect
from benchagent.dbms.external.side import Side
from benchagent.dbms.hsqldb import PROPERTIES, VALUES, HsqldbInstance, in_force
from benchagent.dbms.hsqldb.statistics import HsqldbStatistics

OBJECTS = (
    "SELECT table_name FROM information_schema.tables WHERE table_schema = UPPER('{schema}') "
    "UNION ALL SELECT 'routine ' || routine_name FROM information_schema.routines "
    "WHERE routine_schema = UPPER('{schema}') "
    "UNION ALL SELECT 'sequence ' || sequence_name FROM information_schema.sequences "
    "WHERE sequence_schema = UPPER('{schema}')"
)


def side(version: str, schema: str) -> Side:
    return Side(
        dbms="hsqldb",
        dialect=Dialect(create_table="CREATE CACHED TABLE", select_values=VALUES),
        objects=OBJECTS,
        schemas="SELECT schema_name FROM information_schema.schemata WHERE schema_name = UPPER('{schema}')",
        create="CREATE SCHEMA {schema}",
        use=("SET SCHEMA {schema}",),
        effective_queries={"properties": PROPERTIES},
        in_force=in_force,
        statistics=HsqldbStatistics(),
        retryable=HsqldbInstance.retryable,
        version_query="VALUES (DATABASE_VERSION())",
    )
