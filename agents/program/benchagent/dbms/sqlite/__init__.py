"""SQLite through the Xerial JDBC driver: one file, one process, settings are PRAGMAs of each connection.

It tells the pages of each B-tree in its table `dbstat`, estimates of ANALYZE, plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchagent.configfiles.engines.sqlite import LEVELS
from benchagent.dbms.backup import Action, BackupMethod, Options, SqlCommands, ToolCommand
from benchagent.dbms.base import Connection, Guest, ProvisionRequest, Retryable, Settings, Transaction, first_value
from benchagent.dbms.counters import (
    COUNTERS,
    EFFORT,
    EngineCounters,
    IndexFacts,
    QueryRows,
    TableFacts,
    with_index_bytes,
)
from benchagent.dbms.dialect import Dialect, sql_text
from benchagent.dbms.embedded import EmbeddedAdapter, EmbeddedInstance, not_in_force

NO_COUNTERS = "SQLite has counters in its C interface only, none that SQL could ask for"
# One row for each B-tree; a path ends with one slash for each page on the way.
TREES = (
    "SELECT m.type, m.name, m.tbl_name, SUM(d.pgsize), COUNT(*), "
    "SUM(CASE WHEN d.pagetype = 'leaf' THEN d.ncell ELSE 0 END), "
    "SUM(CASE WHEN d.pagetype = 'leaf' OR m.type = 'index' THEN d.payload ELSE 0 END), SUM(d.unused), "
    "MAX(LENGTH(d.path) - LENGTH(REPLACE(d.path, '/', ''))), SUM(d.ncell) "
    "FROM sqlite_master m JOIN dbstat d ON d.name = m.name WHERE m.tbl_name IN ({tables}) GROUP BY m.name"
)


class SqliteCounters(EngineCounters):
    # It reads every page of the database.
    schema_sql = {"trees": TREES}
    plan_sql = ("EXPLAIN QUERY PLAN {sql}",)
    origins = {
        "tables": "`dbstat`, which reads the whole database; rows are cells of leaves",
        "indexes": "`dbstat`; the tree of a table by rowid is listed as an index",
        "plans": "`EXPLAIN QUERY PLAN`",
    }
    none = {
        **dict.fromkeys((*COUNTERS, *EFFORT), NO_COUNTERS),
        "waits": "there is one lock for writing, waited for inside the connection where nobody sees it",
        "maintenance": "SQLite notes no time of its last ANALYZE or VACUUM",
    }

    def tables(self, rows: QueryRows) -> list[TableFacts]:
        tables = [
            TableFacts(
                table=table,
                rows=int(cells),
                row_bytes=_mean(payload, cells),
                pages=int(pages),
                size_bytes=int(size),
                fill_percent=round(100 * (1 - float(unused) / float(size)), 1) if size else None,
            )
            for kind, _, table, size, pages, cells, payload, unused, *_ in rows.get("trees", [])
            if kind == "table"
        ]
        return with_index_bytes(tables, self.indexes(rows))

    def indexes(self, rows: QueryRows) -> list[IndexFacts]:
        """Inner pages of an index hold keys that no leaf repeats. The tree of a table is its index by rowid as well,
        whose bytes are the table's."""
        return [
            IndexFacts(f"{name} (rowid)", table, depth=int(depth), keys=int(leaf_cells))
            if kind == "table"
            else IndexFacts(
                name, table, depth=int(depth), keys=int(cells), key_bytes=_mean(payload, cells), size_bytes=int(size)
            )
            for kind, name, table, size, _pages, leaf_cells, payload, _unused, depth, cells in rows.get("trees", [])
        ]

    def plan(self, rows: Sequence[Sequence[Any]]) -> str:
        """Rows are (id, parent, unused, detail); children are indented below their parents."""
        depths: dict[int, int] = {}
        lines = []
        for number, parent, _, detail in rows:
            depths[int(number)] = depths.get(int(parent), -1) + 1
            lines.append("  " * depths[int(number)] + str(detail))
        return "\n".join(lines)


def _mean(total: Any, number: Any) -> float | None:
    return round(float(total) / float(number), 1) if number else None


SQLITE_BUSY, BUSY_RECOVERY, BUSY_SNAPSHOT = 5, 261, 517
SQLITE_CONSTRAINT = 19
_ALWAYS_READ = """journal_mode synchronous page_size cache_size busy_timeout wal_autocheckpoint locking_mode temp_store
mmap_size auto_vacuum"""
ALWAYS_READ = tuple(_ALWAYS_READ.split())
# SQLite takes words and answers with numbers.
WORDS = {
    "synchronous": LEVELS,
    "auto_vacuum": {"0": "NONE", "1": "FULL", "2": "INCREMENTAL"},
    "temp_store": {"0": "DEFAULT", "1": "FILE", "2": "MEMORY"},
}
BUSY_TIMEOUT_MS = "60000"
# Without users: limits of the connection, which no SQL can lift, and what the driver and PRAGMAs do beside them.
GUEST_LIMITS = {"limit_attached": "0", "enable_load_extension": "false"}
ELSEWHERE = {
    r"(temp|data)_store_directory": "writes files into any folder",
    r"writable_schema": "lets a file be damaged so that it is read in other ways",
}
REFUSED = {r"\A\s*(backup|restore)\b": "the driver takes for a copy of any file", **ELSEWHERE}


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
        super().__init__(request, class_path, connection, given)
        self.jvm_environment = {"SQLITE_TMPDIR": str(request.folders.temp)}
        self._given = list(given)
        if not any(name.lower() == "busy_timeout" for name, _ in given):
            self._settings.insert(0, ("busy_timeout", BUSY_TIMEOUT_MS))
        self.session_sql = [f"PRAGMA {name} = {value}" for name, value in self._settings]
        names = (*(name.lower() for name, _ in self._settings), *ALWAYS_READ)
        self.effective_queries = {name: f"PRAGMA {name}" for name in names}

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        in_force = []
        for name in self.effective_queries:
            value = first_value(rows.get(name))
            if value is None:  # SQLite says nothing about a PRAGMA it does not know
                self.ignored_settings.append(name)
            else:
                in_force.append((name, in_words(name, value)))
        spoken = [(name, in_words(name, value)) for name, value in self._given]
        self.ignored_settings += not_in_force("sqlite", spoken, in_force)
        self._effective = in_force
        return in_force

    def guest(self) -> Guest:
        limited = replace(self.connection, properties=GUEST_LIMITS)
        return Guest(limited, self.connection, refused=REFUSED)

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
    doors={rf"[\w. ]*{pattern}": what for pattern, what in ELSEWHERE.items()},
    knobs={
        "group_commit": "SQLite has no group commit: one transaction writes at a time",
        "background_maintenance": VACUUM,
    },
)
