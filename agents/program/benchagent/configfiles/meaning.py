"""Settings that mean the same in different engines, to compare them, and what a COMMIT promises under them.

Each engine's file names its parameters for a meaning and the manual in which they stand; docs/use/configs.md lists
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchagent.catalog import Durability
from benchagent.configfiles.engines import ENGINES
from benchagent.configfiles.settings import Facts, Given, Promise, Settings
from benchagent.configfiles.units import Quantity

MEANINGS: dict[str, str] = {
    "buffer_pool": "Buffer pool",
    "page_size": "Page size",
    "log_buffer": "Log buffer",
    "sort_memory": "Memory for sorting",
    "join_memory": "Memory for a join",
    "work_memory_total": "Working memory of all sessions",
    "maintenance_memory": "Memory for index builds and maintenance",
    "temp_memory": "Memory for temporary tables",
    "query_cache": "Cache of query results",
    "cache_estimate": "What the planner takes for cached",
    "huge_pages": "Huge pages",
    "commit_flush": "Log at commit",
    "sync_method": "How the log is synced",
    "group_commit": "Group commit",
    "log_kind": "Kind of log",
    "torn_pages": "Protection against torn pages",
    "log_capacity": "Log until a checkpoint",
    "checkpoint_interval": "Time until a checkpoint",
    "replication_log": "Log for replication",
    "replication_log_sync": "Sync of the log for replication",
    "max_connections": "Connections at most",
    "thread_limit": "Threads inside the engine at once",
    "process_model": "Process model",
    "parallel_workers": "Workers of one statement",
    "concurrency_control": "Concurrency control",
    "isolation": "Isolation level",
    "lock_timeout": "Wait for a lock",
    "deadlock_check": "Search for deadlocks after",
    "background_writer": "Background writing",
    "garbage_collection": "Old row versions",
    "direct_io": "File system cache passed by",
    "table_engine": "Storage engine of tables",
    "data_storage": "Storage of the data",
    "log_storage": "Storage of the log",
    "temp_storage": "Storage of temporary files",
}


def settings_of(dbms: str, given: Iterable[Given], facts: Facts | None = None) -> Settings | None:
    """The settings of a server out of its parameters; None for a DBMS that has no module."""
    engine = ENGINES.get(dbms)
    return Settings(engine, given, facts) if engine else None


def unread_values(dbms: str, given: Iterable[Given]) -> list[str]:
    """`shared_buffers=12GX: unit GX is not known`, `max_connections=many: not a number`, of each setting that its
    server refuses, or passes over in silence."""
    settings = settings_of(dbms, ())
    if settings is None:
        return []
    meant = ((each, settings.meant(each)) for each in given)
    return [
        f"{each.name}={each.value}: {quantity.reason}" for each, quantity in meant if quantity and quantity.is_unread
    ]


@dataclass(frozen=True)
class Reading:
    """One meaning in one configuration. `quantity` None with `exists`: the engine has it, its value is not known."""

    exists: bool
    names: tuple[str, ...] = ()
    given: tuple[Given, ...] = ()
    quantity: Quantity | None = None
    note: str = ""
    unknown: str = ""


def reading(settings: Settings | None, key: str) -> Reading:
    meaning = settings.engine.meanings.get(key) if settings else None
    if settings is None or meaning is None:
        return Reading(exists=False)
    quantity = settings.means(key)
    unknown = "" if quantity else ", ".join(settings.words(name) for name in meaning.names)
    # Parts of a value that could not be put together say nothing alone.
    given = tuple(settings.used(key)) if quantity or meaning.read is None else ()
    names = tuple(settings.engine.spelt(name) for name in meaning.names)
    return Reading(True, names, given, quantity, meaning.note, unknown)


def durability(dbms: str, given: Iterable[Given], facts: Facts | None = None) -> Promise:
    """The durability class that a configuration promises, with the reason."""
    settings = settings_of(dbms, given, facts)
    if settings is None:
        return Promise(None, "what a commit promises is not known for this DBMS")
    if not settings.names and not settings.facts.complete:
        return Promise(None, "no setting is stated")
    return settings.engine.durability(settings)


def of_effective(dbms: str, effective: Mapping[str, str], facts: Facts | None = None) -> tuple[Durability | None, str]:
    """What settings promise that were read back from the server, so that nothing is a guess; the unknown promises
    nothing. None: of this DBMS it is not known what a setting promises.
    """
    promise = durability(dbms, [Given(name, value) for name, value in effective.items()], facts)
    return promise.durability or (Durability.NONE if dbms in ENGINES else None), promise.reason


# What decides on a commit by the engine's settings, and may be set for a session, a transaction or the whole server.
_SETS = r"\b(?:SET|SET_CONFIG|PRAGMA|\w+_PROPERTY)\b"
DECIDING = ("commit_flush", "sync_method", "torn_pages", "replication_log_sync")


def in_sessions(dbms: str, effective: Mapping[str, str], sql: str) -> list[tuple[Mapping[str, str], str]]:
    """Settings in force, and the same with each that SQL of others sets for its own sessions, with words on that."""
    own = [
        ({**effective, given.name: given.value or ""}, f"the script sets {given.name}: ") for given in set_by(dbms, sql)
    ]
    return [(effective, ""), *own]


def set_by_options(dbms: str, command: str) -> list[Given]:
    """What a command line gives to the same settings: `-c fsync=off`, `--innodb-flush-log-at-trx-commit=0`, or SQL."""
    options = re.sub(
        r"(?:(?<!\S)|(?<=['\"=]))(?:-c\s*|--)([\w-]+)=", lambda match: f" SET {match[1].replace('-', '_')} = ", command
    )
    return set_by(dbms, options)


def set_by(dbms: str, sql: str) -> list[Given]:
    """What SQL gives to the settings that decide on a commit, however it does so: `SET LOCAL name = value`,
    `set_config('name', 'value', …)`, `PRAGMA name(value)`, `ALTER ROLE … SET name TO value`."""
    engine = ENGINES.get(dbms)
    if engine is None:
        return []
    known = [name for key in DECIDING if key in engine.meanings for name in engine.meanings[key].names]
    names = dict.fromkeys((*map(engine.spelt, known), *engine.sql_names))
    text = re.sub(r"--[^\n]*|/\*.*?\*/", " ", sql, flags=re.DOTALL)
    marks = [Given(name, "of this script") for name, mark in engine.sql_marks.items() if re.search(mark, text, re.I)]
    return marks + [
        Given(name, match[1])
        for name in names
        for match in re.finditer(
            rf"{_SETS}[^;]{{0,60}}?(?<!\w){re.escape(name)}[\"'`]?\s*(?:=|,|\(|\bTO\b|\s)\s*[\"']?(\w+(?:\s+MILLIS)?)",
            text,
            re.IGNORECASE,
        )
    ]
