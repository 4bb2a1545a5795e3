"""H2 in server mode, run by somebody else."""

from __future__ import annotations

from benchagent.dbms.dialect import Dialect
from benchagent.dbms.external.side import Side
from benchagent.dbms.h2 import SETTINGS, H2Instance, in_force
from benchagent.dbms.h2.statistics import H2Statistics


def side(version: str, schema: str) -> Side:
    return Side(
        dbms="h2",
        dialect=Dialect(for_update=" FOR UPDATE", after_load_each=("ANALYZE TABLE {table}",)),
        objects="SELECT table_name FROM information_schema.tables WHERE table_schema = UPPER('{schema}')",
        schemas="SELECT schema_name FROM information_schema.schemata WHERE schema_name = UPPER('{schema}')",
        create="CREATE SCHEMA {schema}",
        use=("SET SCHEMA {schema}",),
        effective_queries={"settings": SETTINGS},
        in_force=in_force,
        statistics=H2Statistics(),
        retryable=H2Instance.retryable,
        version_query="SELECT H2VERSION()",
    )
