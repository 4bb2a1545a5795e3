"""What is known of servers of an engine that somebody else runs: the module that its entry names as `external`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from benchagent.catalog import DBMSS
from benchagent.dbms.backup import Action, BackupMethod, Options, ToolCommand
from benchagent.dbms.base import JobError, Retryable
from benchagent.dbms.counters import EngineCounters, QueryRows
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.external.connections import ToolLogin
from benchagent.dbms.external.space import IN_MEMORY

MARKER = "benchagent_owner"
DEVICE = re.compile(r"/dev/(?!shm/)")
Rows = Sequence[Sequence[Any]]


def _no_backups(tool_login: ToolLogin) -> Sequence[BackupMethod]:
    name = DBMSS[tool_login.connection.dbms].name
    raise JobError(
        f"no backup on a server of others: {name} backs up or restores whole databases, not the agent's schema alone"
    )


def folders_as_told(rows: Rows) -> list[tuple[str, str]]:
    return [(str(name).strip(), str(path or "").strip()) for name, path in rows]


def folder_of(file: str) -> str:
    """Empty for a name without a folder, as an alias, a path of another operating system or a device."""
    return str(Path(file).parent) if "/" in file and not DEVICE.match(file) else ""


def folders_of_files(rows: Rows) -> list[tuple[str, str]]:
    return [(name, path if path == IN_MEMORY else folder_of(path)) for name, path in folders_as_told(rows)]


@dataclass(frozen=True)
class ExternalServer:
    """In SQL, ``{schema}`` is the schema (or database) of the agent's own.

    `objects` lists the names of all tables and views in it, and what else the catalogue shows, with its kind before
    the name; but nothing that goes with a table, as an index. `schemas` gives a row when it is there; `create` makes
    it, empty where the agent cannot; `use` makes unqualified names mean it, empty where they always do. `free_space`:
    free and all bytes; `folders`: of the server, which `read_folders` reads as names and paths, that of the data first,
    an empty path for what is not told, `IN_MEMORY` for data in memory. `in_force`: settings from the rows of
    `effective_queries`.
    """

    dbms: str
    dialect: Dialect
    objects: str
    schemas: str
    effective_queries: Mapping[str, str]
    in_force: Callable[[QueryRows], list[tuple[str, str]]]
    engine_counters: EngineCounters
    create: str = ""
    use: Sequence[str] = ()
    retryable: Retryable = field(default_factory=Retryable)
    tolerable: Retryable = field(default_factory=Retryable)
    properties: Mapping[str, str] = field(default_factory=dict)
    driver_class: str | None = None
    # Version of the group of jars with the driver; empty for the default one.
    driver: str = ""
    # A query for the version, read as text up to the first blank behind the number. Empty: the driver is asked.
    version_query: str = ""
    # False where the engine does not tell all settings: then none has its default for certain.
    settings_complete: bool = True
    # True where a statement that changes something keeps others from changing whatever rows it reads.
    changes_lock: bool = False
    # False where a buffer may be larger than the settings say.
    buffer_is_set: bool = True
    free_space: str = ""
    folders: str = ""
    read_folders: Callable[[Rows], list[tuple[str, str]]] = folders_as_told
    # The ways to back up the agent's schema alone, over the network. Raises `JobError` where there are none.
    backups: Callable[[ToolLogin], Sequence[BackupMethod]] = _no_backups
    # Those that reach further or run on the server's own machine: a dry run shows them, no job runs them.
    shown_backups: Sequence[BackupMethod] = ()


def external_server(dbms: str, version: str, schema: str) -> ExternalServer:
    """Raises `JobError` where the agent can use no server of others."""
    if not reachable(dbms):
        raise JobError(f"the agent cannot work on a server of {DBMSS[dbms].name} that it did not start")
    made: ExternalServer = import_module(DBMSS[dbms].external).external_server(version, schema)
    return made


def reachable(dbms: str) -> bool:
    return bool(DBMSS[dbms].external)


Command = Callable[[Path], Sequence[str | Path]]


class ToolBackup(BackupMethod):
    """Backup by a tool of an engine that the agent cannot start: commands for the server's own machine, to be shown.

    `back_up` and `bring_back` make the arguments, from the target, which the tool writes below or as. It logs in by the
    operating system, so that no password is an argument. No job runs it: it is of a whole database, and brought back as
    a second one.
    """

    def __init__(self, slug: str, label: str, back_up: Command, bring_back: Command) -> None:
        self.slug, self.label = slug, label
        self._back_up, self._bring_back = back_up, bring_back

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        return [ToolCommand(self._back_up(target))]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [ToolCommand(self._bring_back(source))]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return "jdbc:"  # nobody connects
