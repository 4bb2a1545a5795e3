"""SQLite through the Xerial JDBC driver: one file, one process, settings are PRAGMAs of each connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchagent.configfiles.engines.sqlite import LEVELS
from benchagent.dbms.backup import Action, BackupMethod, Options, SqlCommands, ToolCommand
from benchagent.dbms.base import Connection, ProvisionRequest, Retryable, Settings, Transaction, first_value
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.dialect import Dialect, sql_text
from benchagent.dbms.embedded import EmbeddedAdapter, EmbeddedInstance, not_in_force
from benchagent.dbms.sqlite.counters import SqliteCounters

SQLITE_BUSY, BUSY_RECOVERY, BUSY_SNAPSHOT = 5, 261, 517
SQLITE_CONSTRAINT = 19
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
    "auto_vacuum",
)
# SQLite takes words and answers with numbers.
WORDS = {
    "synchronous": LEVELS,
    "auto_vacuum": {"0": "NONE", "1": "FULL", "2": "INCREMENTAL"},
    "temp_store": {"0": "DEFAULT", "1": "FILE", "2": "MEMORY"},
}
BUSY_TIMEOUT_MS = "60000"


class SqliteInstance(EmbeddedInstance):
    slug = "sqlite"
    # With auto-commit off the driver takes the write lock too early and keeps it; explicit statements do not.
    # One that would begin as a reader and go on to write can fail half-way, so writers take the lock at once; readers
    # do not.
    transaction = Transaction(
        begin="BEGIN IMMEDIATE", begin_reading="BEGIN DEFERRED", commit="COMMIT", rollback="ROLLBACK"
    )
    retryable = Retryable(codes=(SQLITE_BUSY, BUSY_RECOVERY, BUSY_SNAPSHOT))
    tolerable = Retryable(codes=(SQLITE_CONSTRAINT,))
    dialect = Dialect(
        primary_key_afterwards=False,
        timestamp_literal="'{text}'",
        first="SELECT {select} LIMIT {n}",
        after_load_each=("ANALYZE {table}",),
        after_load=("PRAGMA wal_checkpoint(TRUNCATE)",),
    )
    engine_counters = SqliteCounters()
    log_names = ("*-wal", "*-shm", "*-journal")

    def __init__(self, request: ProvisionRequest, class_path: Sequence[Path], given: Settings) -> None:
        connection = Connection(f"jdbc:sqlite:{request.folders.data / 'bench.db'}")
        super().__init__(request, class_path, connection, given, log_path=request.folders.data)
        self.jvm_environment = {"SQLITE_TMPDIR": str(request.folders.temp)}
        self._given = list(given)
        if not any(name.lower() == "busy_timeout" for name, _ in given):
            self._settings.insert(0, ("busy_timeout", BUSY_TIMEOUT_MS))
        self.session_sql = [f"PRAGMA {name} = {value}" for name, value in self._settings]

    def effective_queries(self) -> Mapping[str, str]:
        names = dict.fromkeys([*(name.lower() for name, _ in self._settings), *ALWAYS_READ])
        return {name: f"PRAGMA {name}" for name in names}

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        in_force = []
        for name in self.effective_queries():
            value = first_value(rows.get(name))
            if value is None:  # SQLite says nothing about a PRAGMA it does not know
                self.ignored_settings.append(name)
            else:
                in_force.append((name, in_words(name, value)))
        spoken = [(name, in_words(name, value)) for name, value in self._given]
        self.ignored_settings += not_in_force("sqlite", spoken, in_force)
        self._effective = in_force
        return in_force

    def backup_methods(self) -> Sequence[BackupMethod]:
        return (VacuumInto(), OnlineBackup())


def in_words(name: str, value: str) -> str:
    return WORDS.get(name.lower(), {}).get(value, value)


class FileBackup(BackupMethod):
    """The backup is a database file: to restore it is to copy it."""

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [ToolCommand(["cp", source, scratch / "restored.db"])]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return f"jdbc:sqlite:{scratch / 'restored.db'}"


class VacuumInto(FileBackup):
    slug = "vacuum_into"

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        return [SqlCommands([f"VACUUM INTO {sql_text(target)}"])]


class OnlineBackup(FileBackup):
    slug = "online_backup"

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        """A statement of the JDBC driver, which calls `sqlite3_backup_step` until all pages are copied."""
        return [SqlCommands([f"backup to {sql_text(target)}"])]


# It has no process of its own: what is tidied up is so inside commits.
VACUUM = {"on": [("auto_vacuum", "FULL")], "off": [("auto_vacuum", "NONE")]}
ADAPTER = EmbeddedAdapter(
    "sqlite",
    SqliteInstance,
    no_log_apart="SQLite keeps its journal beside the database file: its log cannot have a storage of its own",
    knobs={
        "group_commit": "SQLite has no group commit: one transaction writes at a time",
        "background_maintenance": VACUUM,
    },
)
