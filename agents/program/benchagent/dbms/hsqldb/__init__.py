"""HSQLDB inside the load generator's JVM; settings are SET FILES and SET DATABASE commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchagent.catalog import Durability
from benchagent.configfiles.durability import of_effective
from benchagent.configfiles.engines.hsqldb import canonical
from benchagent.configfiles.units import KIB
from benchagent.dbms.backup import BackupMethod
from benchagent.dbms.base import (
    Connection,
    Instance,
    JobError,
    ProvisionRequest,
    Retryable,
    Settings,
    checked_settings,
)
from benchagent.dbms.buffers import buffer_in_force
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.embedded import (
    STORAGE,
    EmbeddedAdapter,
    driver_folder,
    heap_mb,
    in_url,
    memory_heap_mb,
    not_in_force,
    refuse_log_apart,
    refuse_temp_apart,
    split_storage,
)
from benchagent.dbms.hsqldb.backup import BackupDatabase
from benchagent.dbms.hsqldb.statistics import HsqldbStatistics
from benchagent.dbms.statistics import QueryRows
from benchagent.machine.devices import write_cache_words

VALUES = "SELECT {expressions} FROM (VALUES (0)) AS nothing (zero)"
PROPERTIES = "SELECT PROPERTY_NAME, PROPERTY_VALUE FROM INFORMATION_SCHEMA.SYSTEM_PROPERTIES"
SERIALIZATION_FAILURE = "40001"
TEMPORARY = "hsqldb.temp_directory"
CACHE_SIZE, ISOLATION = "hsqldb.cache_size", "hsqldb.tx_level"
DEFAULT_CACHE_KIB = 10_000
ONE_PLACE = "HSQLDB keeps its log beside its data under one name: it cannot have a storage of its own"


class HsqldbInstance(Instance):
    retryable = Retryable(sqlstates=(SERIALIZATION_FAILURE,))
    close_sql = ("SHUTDOWN",)
    statistics = HsqldbStatistics()
    log_names = ("*.log",)

    def __init__(self, request: ProvisionRequest, class_path: Sequence[Path], given: Settings) -> None:
        self.in_memory, self._settings = split_storage(given)
        self._effective: list[tuple[str, str]] = []
        data = request.placement.data
        place = "mem:bench" if self.in_memory else f"file:{in_url(data / 'bench')}"
        super().__init__(
            connection=Connection(f"jdbc:hsqldb:{place}", None, {"user": "SA", "password": ""}),
            class_path=class_path,
            data_path=data,
            driver_dir=driver_folder(request),
        )
        self.setup_sql = [_command(name, value) for name, value in self._settings]
        self._toolchain = request.toolchain
        # Without CACHED a table of a file database too is held in the heap, and written as a script.
        table = "CREATE MEMORY TABLE" if self.in_memory else "CREATE CACHED TABLE"
        after_load = () if self.in_memory else ("CHECKPOINT",)
        self.dialect = Dialect(create_table=table, select_values=VALUES, after_load=after_load)
        self.heap_mb = memory_heap_mb() if self.in_memory else heap_mb(self._cache_bytes())

    def effective_queries(self) -> Mapping[str, str]:
        return {"properties": PROPERTIES}

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        found = in_force(rows)
        spelt = [
            (name, value.replace(" ", "_") if canonical(name) == ISOLATION else value) for name, value in self._settings
        ]
        self.ignored_settings += not_in_force("hsqldb", spelt, found)
        self._effective = [(STORAGE, "memory" if self.in_memory else "file"), *found]
        return self._effective

    def durability(self, effective: Mapping[str, str]) -> tuple[Durability, str]:
        return of_effective("hsqldb", effective, write_cache_words(self.data_path))

    def buffer_bytes(self) -> int | None:
        return None if self.in_memory else buffer_in_force("hsqldb", self._effective)

    def backup_methods(self) -> Sequence[BackupMethod]:
        return () if self.in_memory else (BackupDatabase(self._toolchain, self.class_path),)

    def _cache_bytes(self) -> int:
        given = {canonical(name): value for name, value in self._settings}.get(CACHE_SIZE, "")
        return (int(given) if given.isdecimal() else DEFAULT_CACHE_KIB) * KIB


def in_force(rows: QueryRows) -> list[tuple[str, str]]:
    """The engine's own properties; its SQL dialect switches and its temporary folder say nothing about speed."""
    named = ((str(row[0]), str(row[1])) for row in rows.get("properties", []) if row[1] is not None)
    return sorted((name, value) for name, value in named if name.startswith("hsqldb.") and name != TEMPORARY)


def _command(name: str, value: str) -> str:
    scope = "" if name.upper().split()[0] in ("FILES", "DATABASE") else "DATABASE "
    return f"SET {scope}{name} {value}"


class HsqldbAdapter(EmbeddedAdapter):
    slug = "hsqldb"

    def provision(self, request: ProvisionRequest) -> HsqldbInstance:
        refuse_log_apart(request, ONE_PLACE)
        refuse_temp_apart(request, "HSQLDB keeps temporary files beside its data: they cannot have another storage")
        settings = checked_settings(request.settings, forbidden="\n\r\0;")
        return HsqldbInstance(request, self.class_path(request), settings)

    def knob(self, name: str, value: str, version: str) -> Settings:
        if name == "group_commit":
            raise JobError("HSQLDB has no group commit: with WRITE DELAY off each commit syncs the log itself")
        raise JobError("HSQLDB has no background maintenance: what is deleted is reused, no statistics are kept")


ADAPTER = HsqldbAdapter()
