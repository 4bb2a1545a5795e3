"""HSQLDB inside the load generator's JVM; settings are SET FILES and SET DATABASE commands.

It tells rows of its tables, who waits for whom, plans.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchagent.configfiles.engines.hsqldb import canonical
from benchagent.configfiles.units import KIB
from benchagent.dbms.backup import Action, BackupMethod, Options, SqlCommands
from benchagent.dbms.base import GUEST, Connection, Guest, ProvisionRequest, Retryable, Settings
from benchagent.dbms.counters import COUNTERS, EFFORT, EngineCounters, QueryRows
from benchagent.dbms.dialect import Dialect, sql_text
from benchagent.dbms.embedded import EmbeddedAdapter, EmbeddedInstance, JavaBackup, heap_mb, in_url, split_storage

NO_COUNTER = "HSQLDB does not count it"
WAITING = "SELECT 'transaction', COUNT(*) FROM INFORMATION_SCHEMA.SYSTEM_SESSIONS WHERE THIS_WAITING_FOR <> ''"
ROWS = (
    "SELECT TABLE_NAME, TABLE_TYPE, CARDINALITY FROM INFORMATION_SCHEMA.SYSTEM_TABLESTATS "
    "WHERE TABLE_SCHEMA = CURRENT_SCHEMA AND LOWER(TABLE_NAME) IN ({tables})"
)


class HsqldbCounters(EngineCounters):
    spelt = staticmethod(str.lower)
    schema_sql = {"tables": ROWS}
    table_columns = ("table", "engine", "rows")
    waiting = {"waiting": WAITING}
    plan_sql = ("EXPLAIN PLAN FOR {sql}",)
    origins = {
        "tables": "`INFORMATION_SCHEMA.SYSTEM_TABLESTATS`: rows; no sizes",
        "plans": "`EXPLAIN PLAN FOR`",
        "waits": "`INFORMATION_SCHEMA.SYSTEM_SESSIONS` each second: sessions that wait for another",
    }
    none = {
        **dict.fromkeys((*COUNTERS, *EFFORT), NO_COUNTER),
        "indexes": "HSQLDB tells sizes of indexes only of tables with a space of their own, which these have not",
        "maintenance": "HSQLDB has no statistics of values, and nothing to be tidied up but at a checkpoint",
    }


VALUES = "SELECT {expressions} FROM (VALUES (0)) AS nothing (zero)"
PROPERTIES = "SELECT PROPERTY_NAME, PROPERTY_VALUE FROM INFORMATION_SCHEMA.SYSTEM_PROPERTIES"
SERIALIZATION_FAILURE = "40001"
TEMPORARY = "hsqldb.temp_directory"
CACHE_SIZE, ISOLATION = "hsqldb.cache_size", "hsqldb.tx_level"
DEFAULT_CACHE_KIB = 10_000
ARCHIVE = "bench.tar.gz"
# A schema of the guest's own: the public one is the administrators'.
GRANTS = (
    f"CREATE USER {GUEST} PASSWORD ''",
    f"CREATE SCHEMA {GUEST} AUTHORIZATION {GUEST}",
    f"ALTER USER {GUEST} SET INITIAL SCHEMA {GUEST}",
    f"ALTER USER SA SET INITIAL SCHEMA {GUEST}",
    f"SET SCHEMA {GUEST}",
)
# No SQL is made of SQL here. A file is the source of a text table, whoever owns that; and SA may have no password. A
# trigger may be any class on the class path, of which the engine asks nobody.
REFUSED = {
    r"\bSET\b.*\bTABLE\b.*\bSOURCE\b": "opens a file as a table",
    r"\bTRIGGER\b.*\bCALL\b": "runs a class of Java",
    r"\bCONNECT\b|\bSET\s+PASSWORD\b": "goes on as somebody else",
}
DOORS = {
    r"(DATABASE\s+)?(AUTHENTICATION|PASSWORD)\b": "runs Java to let people in",
    r"(DATABASE\s+)?TEXT\b": "opens files as tables",
    r".*(/\*|--)": "holds a comment, which could hide what it does",
}


class HsqldbInstance(EmbeddedInstance):
    slug = "hsqldb"
    retryable = Retryable(sqlstates=(SERIALIZATION_FAILURE,))
    close_sql = ("SHUTDOWN",)
    effective_queries = {"properties": PROPERTIES}
    engine_counters = HsqldbCounters()
    log_names = ("*.log",)

    def __init__(self, request: ProvisionRequest, class_path: Sequence[Path], given: Settings) -> None:
        self.in_memory, settings = split_storage(given)
        data = request.folders.data
        address = "mem:bench" if self.in_memory else f"file:{in_url(data / 'bench')}"
        connection = Connection(f"jdbc:hsqldb:{address}", None, {"user": "SA", "password": ""})
        super().__init__(request, class_path, connection, settings)
        self._restored = request.restored
        self.setup_sql = [_command(name, value) for name, value in settings]
        # Without CACHED a table of a file database too is held in the heap, and written as a script.
        table = "CREATE MEMORY TABLE" if self.in_memory else "CREATE CACHED TABLE"
        after_load = () if self.in_memory else ("CHECKPOINT",)
        self.dialect = Dialect(create_table=table, select_values=VALUES, after_load=after_load)
        cache = {canonical(name): value for name, value in settings}.get(CACHE_SIZE, "")
        cache_bytes = (int(cache) if cache.isdecimal() else DEFAULT_CACHE_KIB) * KIB
        self.heap_mb = heap_mb(math.inf if self.in_memory else cache_bytes)
        self._settings = [
            (name, value.replace(" ", "_") if canonical(name) == ISOLATION else value) for name, value in settings
        ]

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        return self.noted(in_force(rows))

    def guest(self) -> Guest:
        properties = {"user": GUEST.upper(), "password": ""}
        grants = () if self._restored else GRANTS
        return Guest(replace(self.connection, properties=properties), self.connection, grants, REFUSED)

    def backup_methods(self) -> Sequence[BackupMethod]:
        return () if self.in_memory else (BackupDatabase(self._toolchain, self.class_path),)


def in_force(rows: QueryRows) -> list[tuple[str, str]]:
    """The engine's own properties; its SQL dialect switches and its temporary folder say nothing about speed."""
    named = ((str(row[0]), str(row[1])) for row in rows.get("properties", []) if row[1] is not None)
    return sorted((name, value) for name, value in named if name.startswith("hsqldb.") and name != TEMPORARY)


def _command(name: str, value: str) -> str:
    scope = "" if name.upper().split()[0] in ("FILES", "DATABASE") else "DATABASE "
    return f"SET {scope}{name} {value}"


class BackupDatabase(JavaBackup):
    """`target` becomes a folder, because HSQLDB looks at how the file name ends."""

    slug = "backup_database"

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        """Blocking: writers wait from the checkpoint on, else the archive may not be opened."""
        return [SqlCommands([f"BACKUP DATABASE TO {sql_text(target / ARCHIVE)} BLOCKING"])]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [self.tool("org.hsqldb.lib.tar.DbBackupMain", "--extract", source / ARCHIVE, scratch / "restored")]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return f"jdbc:hsqldb:file:{in_url(scratch / 'restored' / 'bench')};ifexists=true"


ADAPTER = EmbeddedAdapter(
    "hsqldb",
    HsqldbInstance,
    no_log_apart="HSQLDB keeps its log beside its data under one name: it cannot have a storage of its own",
    doors=DOORS,
    no_temp_apart="HSQLDB keeps temporary files beside its data: they cannot have another storage",
    knobs={
        "group_commit": "HSQLDB has no group commit: with WRITE DELAY off each commit syncs the log itself",
        "background_maintenance": "HSQLDB has no background maintenance: what is deleted is reused, no statistics are "
        "kept",
    },
)
