"""Ways to back up a PostgreSQL server: pg_dump in three formats and pg_basebackup, with restore and clean end."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchagent.dbms.backup import Action, BackupMethod, Options, ToolCommand
from benchagent.dbms.base import JobError, ProvisionRequest, Settings
from benchagent.dbms.postgresql import discovery, settings
from benchagent.dbms.postgresql.discovery import Installation, Version, numbers
from benchagent.dbms.postgresql.server import DATABASE, USER, Folders, Server
from benchagent.dbms.private_server import HOST

TOOLS = ("pg_dump", "pg_restore", "psql", "pg_basebackup")
RESTORED = "restored"
# Formats of a dump by the slug of its method.
FORMATS = {"pg_dump_plain": "p", "pg_dump_custom": "c", "pg_dump_directory": "d"}
PARALLEL_DUMP_SINCE, STREAM_SINCE, MAPPING_SINCE = (9, 3), (9, 3), (9, 4)
# Before 10 a server is not ready for a base backup by default.
READY_SINCE = (10, 0)
PARALLEL_JOBS = 2
QUIET = ("-X", "-q", "-v", "ON_ERROR_STOP=1")
CANCEL_TIMEOUT_S = 30.0


def methods(server: Server, request: ProvisionRequest, given: Settings) -> list[BackupMethod]:
    """Those whose tools are here: in the server's own installation, else in the next newer one that has them."""
    client = Client(server, tools(server.installation, discovery.installations(request.engines_dir).values()))
    offered: list[BackupMethod] = []
    if client.tools.keys() >= {"pg_dump", "pg_restore", "psql"}:
        offered += [DatabaseDump(client, slug) for slug in FORMATS]
    if "pg_basebackup" in client.tools:
        offered.append(BaseBackup(client, request, given))
    return offered


def tools(own: Installation, others: Iterable[Installation]) -> dict[str, Installation]:
    """Where each tool comes from. One talks to servers of its own version and of older ones."""
    newer = [installation for installation in others if numbers(installation.version) > numbers(own.version)]
    listed = [own, *sorted(newer, key=lambda installation: numbers(installation.version))]
    nearest = {name: next((installation for installation in listed if installation.has(name)), None) for name in TOOLS}
    return {name: installation for name, installation in nearest.items() if installation}


@dataclass
class Client:
    """Tools that connect to one server as its user, and what they leave running in it."""

    server: Server
    tools: Mapping[str, Installation]
    known_sessions: set[int] = field(default_factory=set)

    def version(self, tool: str) -> Version:
        return numbers(self.tools[tool].version)

    def command(self, name: str, *arguments: str | Path) -> ToolCommand:
        """Its path says which installation the tool is from."""
        server, installation = self.server, self.tools[name]
        argv = [installation.bin_dir / name, "-h", HOST, "-p", str(server.port), "-U", USER, "-w", *arguments]
        environment = {**installation.environment, "PGPASSFILE": str(server.folders.password_file)}
        return ToolCommand(argv, environment, cwd=server.folders.home)

    def url(self, database: str, port: int | None = None) -> str:
        return f"jdbc:postgresql://{HOST}:{port or self.server.port}/{database}"

    def remember_sessions(self) -> None:
        self.known_sessions = {process.pid for process in self._sessions()}

    def end_new_sessions(self) -> None:
        """As pg_terminate_backend would, without a connection. Raises `JobError` when one does not end."""
        deadline = time.monotonic() + CANCEL_TIMEOUT_S
        while new := [process for process in self._sessions() if process.pid not in self.known_sessions]:
            for process in new:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.terminate()
            if time.monotonic() > deadline:
                raise JobError(f"{len(new)} sessions of the backup did not end within {CANCEL_TIMEOUT_S:.0f} s")
            time.sleep(0.05)

    def _sessions(self) -> list[psutil.Process]:
        """Server processes with a client: their title names its address."""
        postmaster = self.server.process
        sessions = []
        with contextlib.suppress(psutil.NoSuchProcess):
            for process in psutil.Process(postmaster.pid).children() if postmaster else []:
                with contextlib.suppress(psutil.Error):
                    if f"{HOST}(" in " ".join(process.cmdline()):
                        sessions.append(process)
        return sessions


class Dump(BackupMethod):
    """pg_dump in one format. Several jobs can write the directory at once where that is `parallel`: two by default."""

    def __init__(self, slug: str, command: Callable[..., ToolCommand], *, parallel: bool) -> None:
        self.slug, self._command = slug, command
        self.options = ("verbose", "jobs") if slug == "pg_dump_directory" else ("verbose",)
        self._is_parallel = parallel and "jobs" in self.options

    def dump(self, database: str, target: Path, options: Options, *wanted: str) -> ToolCommand:
        more = ["-v"] if options.get("verbose") == "on" else []
        more += ["-j", str(int(options.get("jobs") or PARALLEL_JOBS))] if self._is_parallel else []
        return self._command("pg_dump", "-F", FORMATS[self.slug], "-f", target, *wanted, *more, database)

    def bring_back(self, database: str, source: Path, *wanted: str) -> ToolCommand:
        if self.slug == "pg_dump_plain":
            return self._command("psql", *QUIET, "-o", "/dev/null", "-d", database, "-f", source)
        return self._command("pg_restore", *wanted, "-d", database, source)


class DatabaseDump(Dump):
    """A dump of the one database of a private server; it is restored into a second one beside it."""

    def __init__(self, client: Client, slug: str) -> None:
        super().__init__(slug, client.command, parallel=client.version("pg_dump") >= PARALLEL_DUMP_SINCE)
        self._client = client

    def check(self, options: Options) -> None:
        if "jobs" in self.options and int(options.get("jobs") or 1) > 1 and not self._is_parallel:
            raise JobError("this pg_dump has no parallel jobs: they came with 9.3")

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        self._client.remember_sessions()
        return [self.dump(DATABASE, target, options)]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        create = f"CREATE DATABASE {RESTORED} TEMPLATE template0"
        return [self._sql(create), self.bring_back(RESTORED, source)]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return self._client.url(RESTORED)

    def discard(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [self._sql(f"DROP DATABASE IF EXISTS {RESTORED}")]

    def _sql(self, statement: str) -> ToolCommand:
        return self._client.command("psql", *QUIET, "-d", DATABASE, "-c", statement)

    def cancel(self) -> None:
        self._client.end_new_sessions()


@dataclass(eq=False)
class BaseBackup(BackupMethod):
    """pg_basebackup of the whole cluster; a copy of it is started as a second server."""

    slug = "pg_basebackup"
    options = ("verbose",)
    client: Client
    request: ProvisionRequest
    given: Settings
    second: Server | None = None

    def check(self, options: Options) -> None:
        server = self.client.server
        if server.version < READY_SINCE:
            level = settings.last(self.given, "wal_level") or "minimal"
            senders = settings.last(self.given, "max_wal_senders") or "0"
            if level == "minimal" or senders == "0":
                raise JobError(
                    f"pg_basebackup needs a server with wal_level above minimal and max_wal_senders of 2 or more: "
                    f"PostgreSQL {server.installation.version} runs with {level} and {senders}"
                )
        if server.folders.temp and self.client.version("pg_basebackup") < MAPPING_SINCE:
            raise JobError("this pg_basebackup cannot move the tablespace for temporary files: that came with 9.4")

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        """Plain format, with the log that it needs, from an immediate checkpoint."""
        self.client.remember_sessions()
        server = self.client.server
        method = "stream" if server.version >= STREAM_SINCE else "fetch"
        more: list[str | Path] = ["-v"] if options.get("verbose") == "on" else []
        if server.folders.temp:
            more += ["-T", f"{server.folders.temp}={target.with_name(target.name + '-tablespace')}"]
        return [self.client.command("pg_basebackup", "-D", target, "-X", method, "-c", "fast", *more)]

    def cancel(self) -> None:
        self.client.end_new_sessions()

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        """A copy: a base backup is a cluster."""
        server = self.client.server
        self.second = Server(self.request, server.installation, Folders(scratch))
        return [ToolCommand(["cp", "-a", source, self.second.folders.data])]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return self.client.url(DATABASE, self._running().port)

    def open_restored(self, source: Path, scratch: Path) -> Callable[[], None]:
        second = self._running()
        second.start()
        return second.stop

    def _running(self) -> Server:
        if self.second is None:
            raise JobError("the base backup has not been restored")
        return self.second
