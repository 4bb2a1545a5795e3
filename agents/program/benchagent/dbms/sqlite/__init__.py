"""SQLite through the Xerial JDBC driver: one file, one process, settings are PRAGMAs of each connection."""

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
    Transaction,
    checked_settings,
    first_value,
)
from benchagent.dbms.embedded import EmbeddedAdapter, folders
from benchagent.storage import write_cache_words

SQLITE_BUSY, BUSY_RECOVERY, BUSY_SNAPSHOT = 5, 261, 517
ALWAYS_READ = (
    "journal_mode",
    "synchronous",
    "page_size",
    "cache_size",
    "busy_timeout",
    "wal_autocheckpoint",
    "locking_mode",
    "temp_store",
    "mmap_size",
)
SYNCHRONOUS = {"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}
BUSY_TIMEOUT_MS = "60000"


class SqliteInstance(Instance):
    # With auto-commit off the driver takes the write lock too early and keeps it; explicit statements do not.
    transaction = Transaction(begin="BEGIN IMMEDIATE", commit="COMMIT", rollback="ROLLBACK")
    retryable = Retryable(codes=(SQLITE_BUSY, BUSY_RECOVERY, BUSY_SNAPSHOT))
    dialect = Dialect(primary_key_afterwards=False, after_load=("PRAGMA wal_checkpoint(TRUNCATE)",))

    def __init__(
        self, data_path: Path, driver_dir: Path, class_path: Sequence[Path], settings: Sequence[tuple[str, str]]
    ) -> None:
        url = f"jdbc:sqlite:{data_path / 'bench.db'}"
        super().__init__(connection=Connection(url), class_path=class_path, data_path=data_path, driver_dir=driver_dir)
        self._settings = list(settings)
        if not any(name.lower() == "busy_timeout" for name, _ in settings):
            self._settings.insert(0, ("busy_timeout", BUSY_TIMEOUT_MS))
        self.session_sql = [f"PRAGMA {name} = {value}" for name, value in self._settings]

    def effective_queries(self) -> Mapping[str, str]:
        names = dict.fromkeys([*(name.lower() for name, _ in self._settings), *ALWAYS_READ])
        return {name: f"PRAGMA {name}" for name in names}

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        found = []
        for name in self.effective_queries():
            value = first_value(rows.get(name))
            if value is None:  # SQLite says nothing about a PRAGMA it does not know
                self.ignored_settings.append(name)
            else:
                found.append((name, SYNCHRONOUS.get(value, value) if name == "synchronous" else value))
        return found

    def durability(self, effective: Mapping[str, str]) -> tuple[Durability, str]:
        return of_effective("sqlite", effective, write_cache_words(self.data_path))


class SqliteAdapter(EmbeddedAdapter):
    slug = "sqlite"

    def provision(self, request: ProvisionRequest) -> SqliteInstance:
        settings = checked_settings(request.settings, forbidden="\n\r\0;")
        return SqliteInstance(*folders(request), self.class_path(request), settings)


ADAPTER = SqliteAdapter()
