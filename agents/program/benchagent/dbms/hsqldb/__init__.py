"""HSQLDB inside the load generator's JVM; settings are SET FILES and SET DATABASE commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchagent.catalog import Durability
from benchagent.configfiles.durability import of_effective
from benchagent.dbms.base import (
    Connection,
    Dialect,
    Instance,
    ProvisionRequest,
    QueryRows,
    Retryable,
    checked_settings,
)
from benchagent.dbms.embedded import EmbeddedAdapter, folders
from benchagent.storage import write_cache_words

SERIALIZATION_FAILURE = "40001"
TEMPORARY = "hsqldb.temp_directory"


class HsqldbInstance(Instance):
    retryable = Retryable(sqlstates=(SERIALIZATION_FAILURE,))
    # MEMORY tables, the default, would be held in the heap and written as a script.
    dialect = Dialect(create_table="CREATE CACHED TABLE", after_load=("CHECKPOINT",))
    close_sql = ("SHUTDOWN",)

    def __init__(
        self, data_path: Path, driver_dir: Path, class_path: Sequence[Path], settings: Sequence[tuple[str, str]]
    ) -> None:
        connection = Connection(f"jdbc:hsqldb:file:{data_path / 'bench'}", None, {"user": "SA", "password": ""})
        super().__init__(connection=connection, class_path=class_path, data_path=data_path, driver_dir=driver_dir)
        self.setup_sql = [_command(name, value) for name, value in settings]

    def effective_queries(self) -> Mapping[str, str]:
        return {"properties": "SELECT PROPERTY_NAME, PROPERTY_VALUE FROM INFORMATION_SCHEMA.SYSTEM_PROPERTIES"}

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        """The engine's own properties; its SQL dialect switches and its temporary folder say nothing about speed."""
        named = ((str(row[0]), str(row[1])) for row in rows.get("properties", []) if row[1] is not None)
        return sorted((name, value) for name, value in named if name.startswith("hsqldb.") and name != TEMPORARY)

    def durability(self, effective: Mapping[str, str]) -> tuple[Durability, str]:
        return of_effective("hsqldb", effective, write_cache_words(self.data_path))


def _command(name: str, value: str) -> str:
    scope = "" if name.upper().split()[0] in ("FILES", "DATABASE") else "DATABASE "
    return f"SET {scope}{name} {value}"


class HsqldbAdapter(EmbeddedAdapter):
    slug = "hsqldb"

    def provision(self, request: ProvisionRequest) -> HsqldbInstance:
        settings = checked_settings(request.settings, forbidden="\n\r\0;")
        return HsqldbInstance(*folders(request), self.class_path(request), settings)


ADAPTER = HsqldbAdapter()
