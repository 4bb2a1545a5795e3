"""H2 (MVStore) inside the load generator's JVM; settings are parameters of the database URL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchagent.configfiles.units import KIB
from benchagent.dbms.backup import Action, BackupMethod, Options, SqlCommands
from benchagent.dbms.base import Connection, ProvisionRequest, Retryable, Settings
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.dialect import Dialect, sql_text
from benchagent.dbms.embedded import (
    EmbeddedAdapter,
    EmbeddedInstance,
    heap_mb,
    in_url,
    java_tool,
    memory_heap_mb,
    split_storage,
)
from benchagent.dbms.h2.counters import ONE_FILE, H2Counters, H2MemoryCounters
from benchagent.java import JavaToolchain

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


class H2Instance(EmbeddedInstance):
    slug = "h2"
    retryable = Retryable(sqlstates=(DEADLOCK,), codes=(LOCK_TIMEOUT, CONCURRENT_UPDATE))
    close_sql = ("SHUTDOWN",)

    def __init__(self, request: ProvisionRequest, class_path: Sequence[Path], given: Settings) -> None:
        self.in_memory, settings = split_storage(given)
        address = "mem:bench;DB_CLOSE_DELAY=-1" if self.in_memory else f"file:{in_url(request.folders.data / 'bench')}"
        parameters = "".join(f";{name}={value}" for name, value in settings)
        connection = Connection(f"jdbc:h2:{address}{parameters}", None, {"user": "sa", "password": ""})
        super().__init__(request, class_path, connection, settings)
        self.engine_counters = H2MemoryCounters() if self.in_memory else H2Counters()
        after_load = () if self.in_memory else ("CHECKPOINT SYNC",)
        self.dialect = Dialect(
            for_update=" FOR UPDATE", after_load_each=("ANALYZE TABLE {table}",), after_load=after_load
        )
        cache = {name.upper(): value for name, value in settings}.get(CACHE, "")
        cache_bytes = int(cache) * KIB if cache.isdecimal() else 0
        self.heap_mb = memory_heap_mb() if self.in_memory else heap_mb(cache_bytes)

    def effective_queries(self) -> Mapping[str, str]:
        return {"settings": SETTINGS}

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        return self.told(in_force(rows))

    def backup_methods(self) -> Sequence[BackupMethod]:
        return () if self.in_memory else (BackupTo(self._toolchain, self.class_path),)


def in_force(rows: QueryRows) -> list[tuple[str, str]]:
    """Without info.* and property.*, which describe the store's state and the JVM, not how H2 is set; but for the size
    of its cache, of which only a given one is among the settings."""
    named = {str(row[0]): str(row[1]) for row in rows.get("settings", [])}
    cache_mib = named.get(CACHE_IN_USE, "")
    settings = {name: value for name, value in named.items() if not name.startswith(("info.", "property."))}
    if cache_mib.isdecimal():
        settings.setdefault(CACHE, str(int(cache_mib) * KIB))
    return sorted(settings.items())


class BackupTo(BackupMethod):
    slug = "backup_to"

    def __init__(self, toolchain: JavaToolchain, class_path: Sequence[Path]) -> None:
        self._toolchain = toolchain
        self._class_path = class_path

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        return [SqlCommands([f"BACKUP TO {sql_text(target)}"])]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        tool = "org.h2.tools.Restore"
        return [java_tool(self._toolchain, self._class_path, tool, "-file", source, "-dir", scratch)]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return f"jdbc:h2:file:{in_url(scratch / 'bench')};IFEXISTS=TRUE"


ADAPTER = EmbeddedAdapter(
    "h2",
    H2Instance,
    no_log_apart=f"{ONE_FILE} that could have a storage of its own",
    knobs={"group_commit": "H2 has no group commit: no commit waits for the disk", "background_maintenance": UPKEEP},
)
