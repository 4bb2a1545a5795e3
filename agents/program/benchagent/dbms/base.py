"""What a DBMS adapter has to offer. Adding a DBMS is one folder with an ``ADAPTER`` and one line in the catalogue."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchagent.catalog import DBMSS, Durability
from benchagent.dbms.backup import Action, BackupMethod
from benchagent.dbms.counters import EngineCounters, QueryRows
from benchagent.dbms.dialect import Dialect
from benchagent.errors import ConfigurationRefused as ConfigurationRefused  # noqa: PLC0414 - adapters find it here
from benchagent.errors import JobError as JobError  # noqa: PLC0414 - and this
from benchagent.java import JarSupply, JavaToolchain
from benchagent.machine.limits import JobCgroup
from benchagent.machine.process import Abort, Children
from benchagent.machine.storages import JobFolders
from benchagent.machine.system import bytes_on_disk
from benchagent.protocol import EngineFacts

Settings = Sequence[tuple[str, str]]
# SQLSTATEs of violated constraints.
INTEGRITY_CLASS = "23"


@dataclass(frozen=True)
class Connection:
    url: str
    driver_class: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Transaction:
    """None: JDBC's own transaction (auto-commit off).

    `begin_reading`: begins one that changes nothing; None: it begins as any other.
    """

    begin: str | None = None
    begin_reading: str | None = None
    commit: str | None = None
    rollback: str | None = None


@dataclass(frozen=True)
class Retryable:
    """Conflicts after which a transaction is tried again as a whole."""

    sqlstates: Sequence[str] = ()
    sqlstate_prefixes: Sequence[str] = ()
    codes: Sequence[int] = ()


# The user of a guest, where the engine has users with names of their own.
GUEST = "bench_guest"


@dataclass(frozen=True)
class Guest:
    """Who runs SQL that somebody else wrote: makes tables, and reaches no file, no program and nothing of the agent's.

    `owner`: as whom the agent connects beside it. `grants`: what the owner runs first, once per job. `refused`:
    patterns of SQL that opens a door which the engine itself cannot close, with what it would do.
    """

    connection: Connection
    owner: Connection
    grants: Sequence[str] = ()
    refused: Mapping[str, str] = field(default_factory=dict)

    def check(self, sql: str) -> None:
        """Raises `JobError`. A pattern is looked for in comments and texts too: no reading of quotes can be evaded."""
        for pattern, what in self.refused.items():
            if match := re.search(pattern, sql, re.IGNORECASE | re.DOTALL):
                raise JobError(f"a script may not use {match[0].strip()!r}, which {what}: {' '.join(sql.split())[:80]}")


@dataclass(frozen=True)
class EngineContext:
    """What discovery may look at. `installed` names the optional engines that were added, as "derby-10.6.2.1".

    `supply` fetches jars that are not here; without it they count as what can be had when they are needed.
    """

    toolchain: JavaToolchain
    installed: frozenset[str]
    jobs_dir: Path
    engines_dir: Path
    supply: JarSupply | None = None


@dataclass(frozen=True)
class ProvisionRequest:
    """What an adapter gets to make its instance.

    `connections`: how many terminals will connect at once. `folders`: empty ones for data, log, temporary files
    and backups, on the storages that were asked for; where `restored` they hold what an instance of the same version
    and the same settings left when it was shut down, to be opened as it is. `cgroup`: the limits that the server has to
    be started in (`Children.spawn(..., cgroup=request.cgroup)`). `log` writes a line into the job's log.
    """

    version: str
    settings: Settings
    connections: int
    job_dir: Path
    folders: JobFolders
    restored: bool
    engines_dir: Path
    toolchain: JavaToolchain
    children: Children
    cgroup: JobCgroup | None
    abort: Abort
    log: Callable[[str], None]


class Instance(ABC):
    """A private throw-away instance (or database file) for one job.

    It SHALL keep everything below its job folder and the folders of its job's storages, SHALL be gone after `stop()`
    whatever happened before, and SHALL NOT put passwords on a command line.
    """

    dialect = Dialect()
    transaction = Transaction()
    retryable = Retryable()
    # Errors that end a transaction, counted, but not its terminal: a row that is there already, for instance.
    tolerable = Retryable(sqlstate_prefixes=(INTEGRITY_CLASS,))
    session_sql: Sequence[str] = ()
    # Run once, before the schema is created.
    setup_sql: Sequence[str] = ()
    # Run on one last connection; then `close_url` is connected to and its error ignored.
    close_sql: Sequence[str] = ()
    close_url: str | None = None
    # Whether a guest's tables are analysed by the guest: where the agent's own user must not look up names of theirs.
    guest_settles = False
    # True where nothing outlives the process: there is one session, no restart and no copy of the data.
    in_memory = False
    # Why it cannot be started anew; empty where it can.
    no_restart = ""
    # Where the data are when they are not on this machine's disks; empty when they are.
    elsewhere = ""
    # What lies between the terminals and the engine, where it is not in their own process.
    transport = "TCP, same machine"
    engine_counters: EngineCounters = EngineCounters()
    # SQL by name that reads back which settings are in force. Run after the load, before the run.
    effective_queries: Mapping[str, str]
    # Files and folders of the transaction log inside `data_path`, as patterns of names: no part of the database's size.
    log_names: Sequence[str] = ()
    # For the JVM that holds the driver and, for an embedded engine, the DBMS.
    heap_mb = 512
    jvm_environment: Mapping[str, str] = {}

    def __init__(
        self, *, connection: Connection, class_path: Sequence[Path], data_path: Path, generator_dir: Path
    ) -> None:
        """`generator_dir` is the load generator's working directory: embedded engines write their logs there."""
        self.connection = connection
        self.class_path = list(class_path)
        self.data_path = data_path
        self.generator_dir = generator_dir
        self.command_lines: list[str] = []
        self.ignored_settings: list[str] = []
        self.warnings: list[str] = []

    def server_pids(self) -> list[int]:
        """Root processes of the DBMS; empty for an engine inside the load generator."""
        return []

    @abstractmethod
    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        """Settings in force, from the rows of `effective_queries`. MAY add to `ignored_settings`."""

    @abstractmethod
    def durability(self, effective: Mapping[str, str]) -> tuple[Durability | None, str]:
        """What a COMMIT promises under the *effective* settings, and why; None where nothing is known of it."""

    def guest(self) -> Guest | None:
        """For a job with SQL that somebody else wrote. None: it is run as the connection's user.

        SHALL be there for an instance that the agent has made.
        """
        return None

    def adapted(self, steps: Sequence[dict[str, Any]]) -> Sequence[dict[str, Any]]:
        """Steps as the load generator gets them. Raises `JobError` for what must not be done here."""
        return steps

    def seen(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """Every event of the load generator passes through here before anybody else sees it."""
        return event

    def redacted(self, text: str) -> str:
        """Text of driver and DBMS without what must not be known of the server."""
        return text

    def log_tail(self) -> str:
        """The end of the DBMS's own log; read only when something went wrong."""
        return ""

    def size_bytes(self) -> int:
        """Space that the database takes on disk now, without the transaction log."""
        return bytes_on_disk(self.data_path, self.log_names)

    def buffer_bytes(self) -> int | None:
        """Size of the buffer pool as configured; None where there is none or it is not known."""
        return None

    def restart(self) -> None:  # noqa: B027 - an embedded engine is started anew with each session
        """Stop cleanly and start again on the same data. Raises `JobError`."""

    def shut_down(self) -> None:  # noqa: B027 - an embedded engine has closed its files at the end of its session
        """Stop cleanly, so that the job's folders can be copied and opened again. Raises `JobError`."""

    def start(self) -> None:  # noqa: B027
        """Start again after `shut_down`. Raises `JobError`."""

    def make_dense(self) -> Sequence[Action]:
        """What leaves the data without old versions and gaps, where loading alone does not."""
        return ()

    def backup_methods(self) -> Sequence[BackupMethod]:
        """The first one is the usual one."""
        return ()

    def stop(self) -> None:  # noqa: B027 - an embedded engine ends with its JVM
        """Stop the DBMS. SHALL NOT raise when it is gone already."""


class Adapter(ABC):
    slug: str
    # Settings that leave no trace in the files: what was loaded under one value of them serves the others.
    settings_beside_data: frozenset[str] = frozenset()
    # Version of the group of jars with the driver for its servers; empty for the default one.
    driver: str = ""
    # For each of `catalog.factors.KNOBS` its settings by value, or why the engine has nothing of the kind.
    knobs: Mapping[str, Mapping[str, Settings] | str] = {}

    @abstractmethod
    def discover(self, context: EngineContext) -> list[EngineFacts]:
        """Installed versions. One that is there but cannot be used SHALL be reported with the reason."""

    @abstractmethod
    def provision(self, request: ProvisionRequest) -> Instance:
        """Make a private instance. Raises `JobError`; SHALL leave no process behind when it does."""

    def knob(self, name: str, value: str, version: str) -> Settings:
        """Settings for one of `catalog.factors.KNOBS`, put before those of the job. Raises `JobError`."""
        words = name.replace("_", " ")
        choices = self.knobs.get(name, f"{DBMSS[self.slug].name} has no setting for {words}")
        if isinstance(choices, str):
            raise JobError(choices)
        if value not in choices:
            raise JobError(f"{words} is {' or '.join(choices)}, not {value!r}")
        return choices[value]


SETTING_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_. ]*\Z")


def checked_settings(
    settings: Sequence[tuple[str, str]], forbidden: str = "\n\r\0", doors: Mapping[str, str] | None = None
) -> list[tuple[str, str]]:
    """Trimmed names and values. Raises `ConfigurationRefused` for what could break out of its line or statement, or
    opens a door.

    `doors`: patterns of how `name value` begins, with what such a setting does.
    """
    result = []
    for name, value in ((str(name).strip(), str(value).strip()) for name, value in settings):
        if not SETTING_NAME.match(name):
            raise ConfigurationRefused(f"{name!r} is not the name of a setting")
        if any(character in value for character in forbidden):
            raise ConfigurationRefused(f"the value of {name} holds a character that is not allowed there")
        for pattern, what in (doors or {}).items():
            if re.match(pattern, f"{name} {value}", re.IGNORECASE | re.DOTALL):
                raise ConfigurationRefused(f"{name} is not for a job to set, as it {what}: leave it out")
        result.append((name, value))
    return result


def first_value(rows: list[list[Any]] | None) -> str | None:
    """The single value of a query that returns one, as text."""
    return None if not rows or not rows[0] or rows[0][0] is None else str(rows[0][0])
