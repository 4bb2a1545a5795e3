"""H2 (MVStore) inside the load generator's JVM; settings are parameters of the database URL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchagent.catalog import Durability
from benchagent.configfiles.durability import of_effective
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
    split_storage,
)
from benchagent.dbms.h2.backup import BackupTo
from benchagent.dbms.h2.statistics import ONE_FILE, H2MemoryStatistics, H2Statistics
from benchagent.dbms.statistics import QueryRows

SETTINGS = "SELECT SETTING_NAME, SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS"
# The first in KiB, the second in MiB.
CACHE, CACHE_IN_USE = "CACHE_SIZE", "info.CACHE_MAX_SIZE"
LOCK_TIMEOUT = 50200
CONCURRENT_UPDATE = 90131
DEADLOCK = "40001"
UPKEEP = {
    "on": [("AUTO_COMPACT_FILL_RATE", "90"), ("ANALYZE_AUTO", "2000")],
    "off": [("AUTO_COMPACT_FILL_RATE", "0"), ("ANALYZE_AUTO", "0")],
}


class H2Instance(Instance):
    retryable = Retryable(sqlstates=(DEADLOCK,), codes=(LOCK_TIMEOUT, CONCURRENT_UPDATE))
    close_sql = ("SHUTDOWN",)

    def __init__(self, request: ProvisionRequest, class_path: Sequence[Path], given: Settings) -> None:
        self.in_memory, self._settings = split_storage(given)
        self._effective: list[tuple[str, str]] = []
        place = "mem:bench;DB_CLOSE_DELAY=-1" if self.in_memory else f"file:{in_url(request.placement.data / 'bench')}"
        parameters = "".join(f";{name}={value}" for name, value in self._settings)
        super().__init__(
            connection=Connection(f"jdbc:h2:{place}{parameters}", None, {"user": "sa", "password": ""}),
            class_path=class_path,
            data_path=request.placement.data,
            driver_dir=driver_folder(request),
        )
        self._toolchain = request.toolchain
        self.statistics = H2MemoryStatistics() if self.in_memory else H2Statistics()
        after_load = () if self.in_memory else ("CHECKPOINT SYNC",)
        self.dialect = Dialect(
            for_update=" FOR UPDATE", after_load_each=("ANALYZE TABLE {table}",), after_load=after_load
        )
        self.heap_mb = memory_heap_mb() if self.in_memory else heap_mb(self._cache_bytes())

    def effective_queries(self) -> Mapping[str, str]:
        return {"settings": SETTINGS}

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        found = in_force(rows)
        self.ignored_settings += not_in_force("h2", self._settings, found)
        self._effective = [(STORAGE, "memory" if self.in_memory else "file"), *found]
        return self._effective

    def durability(self, effective: Mapping[str, str]) -> tuple[Durability, str]:
        return of_effective("h2", effective)

    def buffer_bytes(self) -> int | None:
        return None if self.in_memory else buffer_in_force("h2", self._effective)

    def backup_methods(self) -> Sequence[BackupMethod]:
        return () if self.in_memory else (BackupTo(self._toolchain, self.class_path),)

    def _cache_bytes(self) -> int:
        given = {name.upper(): value for name, value in self._settings}.get(CACHE, "")
        return int(given) * KIB if given.isdecimal() else 0


def in_force(rows: QueryRows) -> list[tuple[str, str]]:
    """Without info.* and property.*, which describe the store's state and the JVM, not how H2 is set; but for the size
    of its cache, of which only a given one is among the settings."""
    named = {str(row[0]): str(row[1]) for row in rows.get("settings", [])}
    cache_mib = named.get(CACHE_IN_USE, "")
    found = {name: value for name, value in named.items() if not name.startswith(("info.", "property."))}
    if cache_mib.isdecimal():
        found.setdefault(CACHE, str(int(cache_mib) * KIB))
    return sorted(found.items())


class H2Adapter(EmbeddedAdapter):
    slug = "h2"

    def provision(self, request: ProvisionRequest) -> H2Instance:
        refuse_log_apart(request, f"{ONE_FILE} that could have a storage of its own")
        settings = checked_settings(request.settings, forbidden="\n\r\0;")
        return H2Instance(request, self.class_path(request), settings)

    def knob(self, name: str, value: str, version: str) -> Settings:
        if name == "group_commit":
            raise JobError("H2 has no group commit: no commit waits for the disk")
        return UPKEEP[value]


ADAPTER = H2Adapter()
