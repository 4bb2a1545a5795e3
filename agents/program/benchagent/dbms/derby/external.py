"""Derby's network server (10.6 and later), run by somebody else."""

# ruff: noqa: S608 - constants only
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchagent.configfiles.engines.derby import ENGINE
from benchagent.dbms.backup import Action, ToolCommand
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.derby import (
    LOCKED,
    PAGE_SIZE,
    BackupProcedure,
    DerbyCounters,
    DerbyInstance,
    dialect_of,
    smallest_page,
    value_in_force,
)
from benchagent.dbms.external.server import ExternalServer

DRIVER = "10.16.1.1"
IN_SCHEMA = "JOIN SYS.SYSSCHEMAS S ON S.SCHEMAID = X.SCHEMAID WHERE S.SCHEMANAME = UPPER('{schema}')"
# A synonym is among the tables, too. Sequences of identity columns are in the schema SYS.
OBJECTS = " UNION ALL ".join(
    f"SELECT {name} FROM SYS.{source} X {IN_SCHEMA}{which}"
    for name, source, which in (
        ("X.TABLENAME", "SYSTABLES", " AND X.TABLETYPE <> 'A'"),
        ("'routine ' || X.ALIAS", "SYSALIASES", " AND X.ALIASTYPE NOT IN ('A', 'S')"),
        ("'type ' || X.ALIAS", "SYSALIASES", " AND X.ALIASTYPE = 'A'"),
        ("'synonym ' || X.ALIAS", "SYSALIASES", " AND X.ALIASTYPE = 'S'"),
        ("'sequence ' || X.SEQUENCENAME", "SYSSEQUENCES", ""),
        ("'trigger ' || X.TRIGGERNAME", "SYSTRIGGERS", ""),
    )
)
# SQL sees the properties of the database only, not those of the server's process, which come first.
PROPERTIES = "VALUES " + ", ".join(
    f"('{name}', SYSCS_UTIL.SYSCS_GET_DATABASE_PROPERTY('{name}'))" for name in ENGINE.specs if name not in LOCKED
)


def external_server(version: str, schema: str) -> ExternalServer:
    counters = DerbyCounters(schema)
    return ExternalServer(
        dbms="derby",
        dialect=dialect_of(DRIVER, schema),
        objects=OBJECTS,
        schemas="SELECT SCHEMANAME FROM SYS.SYSSCHEMAS WHERE SCHEMANAME = UPPER('{schema}')",
        create="CREATE SCHEMA {schema}",
        use=("SET SCHEMA {schema}",),
        effective_queries={"properties": PROPERTIES, "space": counters.space},
        in_force=_in_force,
        buffer_is_set=False,  # only the server's process can set it
        settings_complete=False,
        engine_counters=counters,
        retryable=DerbyInstance.retryable,
        driver=DRIVER,
        shown_backups=[ProcedureOfServer()],
    )


def _in_force(rows: QueryRows) -> list[tuple[str, str]]:
    properties = {str(row[0]).strip(): str(row[1]) for row in rows.get("properties", []) if row[1] is not None}
    in_force = {name: value_in_force(name, value) for name, value in properties.items()}
    size = smallest_page(rows)
    return list({**in_force, **({PAGE_SIZE: str(size)} if size else {})}.items())


class ProcedureOfServer(BackupProcedure):
    """Copies the whole database to a folder of the server's machine, where it is brought back as a second one."""

    def __init__(self) -> None:
        self.label = "SYSCS_UTIL.SYSCS_BACKUP_DATABASE"

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        url = f"{self.restored_url(source, scratch)};createFrom={source}/…"
        return [ToolCommand(["java", f"-Dij.database={url}", "org.apache.derby.tools.ij"])]
