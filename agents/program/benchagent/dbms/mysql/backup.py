"""Backup methods, as far as an installation has the tools for them: dump, dump by tables, mariadb-backup."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchagent.dbms.backup import Action, BackupMethod, Options, SqlCommands, ToolCommand
from benchagent.dbms.base import ProvisionRequest, Settings
from benchagent.dbms.mysql.folders import Folders
from benchagent.dbms.mysql.product import DATABASE
from benchagent.dbms.mysql.server import Server
from benchagent.dbms.private_server import HOST
from benchagent.machine.system import answer_of

RESTORED = f"{DATABASE}_restored"
CLIENTS, DUMPERS, COPIERS = ("mariadb", "mysql"), ("mariadb-dump", "mysqldump"), ("mariadb-backup",)
CANCEL_TIMEOUT_S = 60


def methods(server: Server, request: ProvisionRequest, given: Settings) -> list[BackupMethod]:
    client, dumper, copier = (server.installation.program(*names) for names in (CLIENTS, DUMPERS, COPIERS))
    offered: list[BackupMethod] = []
    if dumper and client:
        offered += [Dump(server, dumper, client), DumpTables(server, dumper, client)]
    return [*offered, Copy(server, copier, request, given)] if copier else offered


def tool(server: Server, argv: Sequence[str | Path], **more: Path) -> ToolCommand:
    """As the server's user."""
    return ToolCommand(argv, server.installation.environment, **more)


def connected(server: Server, program: Path, *arguments: str | Path, **more: Path) -> ToolCommand:
    """The password is in the option file."""
    return tool(server, [program, f"--defaults-file={server.folders.client_file}", *arguments], **more)


def url(server: Server, database: str) -> str:
    return f"jdbc:{server.product.slug}://{HOST}:{server.port}/{database}"


class Dump(BackupMethod):
    """All statements that make the database anew, as one transaction saw it."""

    slug = "dump"
    options = ("verbose",)
    way_of_writing = ""

    def __init__(self, server: Server, dumper: Path, client: Path) -> None:
        self._server = server
        self._dumper = dumper
        self._client = client
        self.label = f"{dumper.name} --single-transaction{self.way_of_writing}"

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        return [connected(self._server, self._dumper, *dump_options(options), DATABASE, stdout=target)]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        made = SqlCommands([f"CREATE DATABASE {RESTORED}"])
        return [made, connected(self._server, self._client, RESTORED, stdin=self._script(source, scratch))]

    def _script(self, source: Path, scratch: Path) -> Path:
        return source

    def restored_url(self, source: Path, scratch: Path) -> str:
        return url(self._server, RESTORED)

    def discard(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [SqlCommands([f"DROP DATABASE {RESTORED}"])]


class DumpTables(Dump):
    """The tool writes what makes a table, the server its rows: as text, into a file beside it."""

    slug = "dump_tab"
    way_of_writing = " --tab"

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        target.mkdir()
        self._server.own(target)
        return [connected(self._server, self._dumper, *dump_options(options), f"--tab={target}", DATABASE)]

    def _script(self, source: Path, scratch: Path) -> Path:
        lines = ["SET foreign_key_checks = 0;", "SET unique_checks = 0;"]
        for rows in sorted(source.glob("*.txt")):
            lines.append(f"source {rows.with_suffix('.sql')}")
            lines.append(f"LOAD DATA INFILE '{rows}' INTO TABLE `{rows.stem}` CHARACTER SET binary;")
        script = scratch / "restore.sql"
        self._server.write_private(script, "\n".join([*lines, ""]))
        return script

    def cancel(self) -> None:
        """The server does not notice that nobody waits for the file any more."""
        listed = (
            "SELECT id FROM information_schema.processlist WHERE info LIKE '%INTO OUTFILE%' AND id <> CONNECTION_ID()"
        )
        for number in self._ask(listed).split():
            self._ask(f"KILL {number}")
        while self._ask(listed).split():
            pass

    def _ask(self, sql: str) -> str:
        """Although the job may be over, so that its children can no longer be used."""
        command = connected(self._server, self._client, "--batch", "--skip-column-names", f"--execute={sql}")
        environment = {**os.environ, **command.environment}
        return answer_of(command.argv, timeout_s=CANCEL_TIMEOUT_S, env=environment).stdout


@dataclass(eq=False)
class Copy(BackupMethod):
    """The files themselves, with the log that was written meanwhile; `prepare` makes them consistent."""

    slug = "mariadb_backup"
    options = ("jobs",)
    server: Server
    program: Path
    request: ProvisionRequest
    given: Settings
    second: Server | None = None

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        more = [f"--parallel={options['jobs']}"] if options.get("jobs") else []
        return [connected(self.server, self.program, "--backup", f"--target-dir={target}", *more)]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        """On a copy, so that the backup stays as it is."""
        return [tool(self.server, ["cp", "-a", source, scratch / "data"])]

    def prepare(self, scratch: Path) -> Sequence[Action]:
        data = scratch / "data"
        return [tool(self.server, [self.program, "--no-defaults", "--prepare", f"--target-dir={data}"])]

    def open_restored(self, source: Path, scratch: Path) -> Callable[[], None]:
        server = self.server
        where = Folders(scratch, None, scratch / "tmp", scratch, server.folders.work / "restored")
        second = self.second = Server(self.request, server.installation, where)
        second.make_folders()
        second.configure(self.given)
        second.start()
        return second.stop

    def restored_url(self, source: Path, scratch: Path) -> str:
        if self.second is None:
            raise RuntimeError("the restored database has not been opened")
        return url(self.second, DATABASE)


def dump_options(options: Options) -> list[str]:
    return ["--single-transaction", "--quick", *(["--verbose"] if options.get("verbose") == "on" else [])]
