"""What a DBMS adapter has to offer. Adding a DBMS is one folder with an ``ADAPTER`` and one line in the catalogue."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchagent.abort import Abort
from benchagent.catalog import Durability
from benchagent.java import JavaToolchain
from benchagent.process import Children
from benchagent.protocol import EngineFacts

# Rows of a `query` step, by its name: columns and rows as JDBC returned them.
QueryRows = Mapping[str, list[list[Any]]]
EFFECTIVE = "effective"


class JobError(Exception):
    """The job cannot be done, for a reason the reader of the run page can act on."""


@dataclass(frozen=True)
class Dialect:
    """SQL that differs between systems."""

    integer: str = "INTEGER"
    bigint: str = "BIGINT"
    timestamp: str = "TIMESTAMP"
    create_table: str = "CREATE TABLE"
    table_options: str = ""
    # False where a primary key can only be given in CREATE TABLE.
    primary_key_afterwards: bool = True
    # Run after the load, with {table} replaced: statistics and the like.
    after_load_each: tuple[str, ...] = ()
    # Run once after the load: a checkpoint, so that every run starts from the same state.
    after_load: tuple[str, ...] = ()

    def char(self, length: int) -> str:
        return f"CHAR({length})"


@dataclass(frozen=True)
class Connection:
    url: str
    driver_class: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Transaction:
    """None: JDBC's own transaction (auto-commit off)."""

    begin: str | None = None
    commit: str | None = None
    rollback: str | None = None


@dataclass(frozen=True)
class Retryable:
    """Conflicts after which a transaction is tried again as a whole."""

    sqlstates: Sequence[str] = ()
    sqlstate_prefixes: Sequence[str] = ()
    codes: Sequence[int] = ()


@dataclass(frozen=True)
class EngineContext:
    """What discovery may look at. `installed` names the optional engines that were added, as "derby-10.6.2.1"."""

    toolchain: JavaToolchain
    installed: frozenset[str]
    jobs_dir: Path


@dataclass(frozen=True)
class ProvisionRequest:
    """`connections`: how many terminals will connect at once. `log` writes a line into the job's log."""

    version: str
    settings: Sequence[tuple[str, str]]
    connections: int
    job_dir: Path
    toolchain: JavaToolchain
    children: Children
    abort: Abort
    log: Callable[[str], None]


class Instance(ABC):
    """A private throw-away instance (or database file) for one job.

    It SHALL keep everything below its job folder, SHALL be gone after `stop()` whatever happened before, and
    SHALL NOT put passwords on a command line.
    """

    dialect = Dialect()
    transaction = Transaction()
    retryable = Retryable()
    session_sql: Sequence[str] = ()
    # Run once, before the schema is created.
    setup_sql: Sequence[str] = ()
    # Run on one last connection; then `close_url` is connected to and its error ignored.
    close_sql: Sequence[str] = ()
    close_url: str | None = None
    # For the JVM that holds the driver and, for an embedded engine, the DBMS.
    heap_mb = 512
    jvm_environment: Mapping[str, str] = {}

    def __init__(
        self, *, connection: Connection, class_path: Sequence[Path], data_path: Path, driver_dir: Path
    ) -> None:
        """`driver_dir` is the load generator's working directory: embedded engines write their logs there."""
        self.connection = connection
        self.class_path = list(class_path)
        self.data_path = data_path
        self.driver_dir = driver_dir
        self.command_lines: list[str] = []
        self.ignored_settings: list[str] = []

    def server_pids(self) -> list[int]:
        """Root processes of the DBMS; empty for an engine inside the load generator."""
        return []

    @abstractmethod
    def effective_queries(self) -> Mapping[str, str]:
        """SQL by name that reads back which settings are in force. Run after the load, before the run."""

    @abstractmethod
    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        """Settings in force, from the rows of `effective_queries`. MAY add to `ignored_settings`."""

    @abstractmethod
    def durability(self, effective: Mapping[str, str]) -> tuple[Durability, str]:
        """What a COMMIT promises under the *effective* settings, and why."""

    def log_tail(self) -> str:
        """The end of the DBMS's own log; read only when something went wrong."""
        return ""

    def size_bytes(self) -> int:
        """Space the database takes on disk now."""
        return sum(_size(path) for path in self.data_path.rglob("*"))

    def stop(self) -> None:  # noqa: B027 - an embedded engine ends with its JVM
        """Stop the DBMS. SHALL NOT raise when it is gone already."""


class Adapter(ABC):
    slug: str

    @abstractmethod
    def discover(self, context: EngineContext) -> list[EngineFacts]:
        """Installed versions. One that is there but cannot be used SHALL be reported with the reason."""

    @abstractmethod
    def provision(self, request: ProvisionRequest) -> Instance:
        """Make a private instance. Raises `JobError`; SHALL leave no process behind when it does."""


def _size(path: Path) -> int:
    try:
        return path.lstat().st_blocks * 512 if path.is_file() else 0
    except OSError:  # a log segment that the DBMS has just removed
        return 0


SETTING_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_. ]*\Z")


def checked_settings(settings: Sequence[tuple[str, str]], forbidden: str = "\n\r\0") -> list[tuple[str, str]]:
    """Trimmed names and values. Raises `JobError` for what could break out of its line or statement."""
    result = []
    for name, value in ((str(name).strip(), str(value).strip()) for name, value in settings):
        if not SETTING_NAME.match(name):
            raise JobError(f"{name!r} is not the name of a setting")
        if any(character in value for character in forbidden):
            raise JobError(f"the value of {name} holds a character that is not allowed there")
        result.append((name, value))
    return result


def first_value(rows: list[list[Any]] | None) -> str | None:
    """The single value of a query that returns one, as text."""
    return None if not rows or not rows[0] or rows[0][0] is None else str(rows[0][0])
