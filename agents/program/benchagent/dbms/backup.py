"""A way to back up a database, as an adapter offers it: by a tool of the engine, or by SQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from benchagent.catalog import BACKUP_METHODS

Options = Mapping[str, str]


@dataclass(frozen=True)
class ToolCommand:
    """A tool to be run and timed. Passwords go into `environment` or a file of mode 0600, never into `argv`.

    `stdout`: file that takes the tool's output, where it writes the backup there.
    """

    argv: Sequence[str | Path]
    environment: Mapping[str, str] = field(default_factory=dict)
    stdout: Path | None = None
    stdin: Path | None = None
    cwd: Path | None = None


@dataclass(frozen=True)
class SqlCommands:
    """Statements that back up or restore on a connection of the load generator.

    `url`: of another database than the instance's. To open it is the work then: its process is timed as a tool's is.
    """

    statements: Sequence[str]
    url: str = ""


Action = ToolCommand | SqlCommands


class BackupMethod(ABC):
    """One method. The target lies in a folder that the tool *and* the server may write.

    `backup` and `restore` are lists of actions done in order; the backup is what is timed as a whole.
    """

    slug: str
    # Options of the workload that the method understands: ``verbose``, ``jobs``.
    options: Sequence[str] = ()
    # True where it is restored over the tables themselves, which SHALL have been dropped: there is no second database.
    in_place = False

    @cached_property
    def label(self) -> str:
        """In the catalogue's words; set to others where the tool's own name or its reach says more."""
        return BACKUP_METHODS[self.slug]

    def check(self, options: Options) -> None:  # noqa: B027 - most methods can always be used
        """Raises `JobError` when the method cannot be used honestly on this instance."""

    @abstractmethod
    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        """`target`: a path that does not exist yet; the method makes a file or a folder of it."""

    @abstractmethod
    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        """Make a second database of the backup, below `scratch`."""

    def prepare(self, scratch: Path) -> Sequence[Action]:
        """What makes a restored copy of files a database: a part of the restore that is timed for itself as well."""
        return ()

    @abstractmethod
    def restored_url(self, source: Path, scratch: Path) -> str:
        """JDBC URL of the restored database, opened with the properties of the instance's own connection."""

    def discard(self, source: Path, scratch: Path) -> Sequence[Action]:
        """Undo `restore` where more than the folder has to go, as a database of the same server."""
        return ()

    def open_restored(self, source: Path, scratch: Path) -> Callable[[], None]:
        """Start what the restored database needs (a second server); returns how to stop it."""
        return lambda: None

    def observe(self, pid: int) -> Sequence[str]:
        """What can be seen of a running tool, for `honest`: asked once a second and at its begin."""
        return ()

    def honest(self, trace: Sequence[str]) -> str:
        """Why the method was not what it claims to be, from what was observed; empty when it was."""
        return ""

    def way(self, trace: Sequence[str]) -> str:
        """Which way an honest backup was seen to go, or that nobody saw it; empty for a method that has only one."""
        return ""

    def cancel(self) -> None:  # noqa: B027 - killing the tool is enough for most
        """End what the server still does for the backup after the tool has been killed. SHALL wait for its end."""
