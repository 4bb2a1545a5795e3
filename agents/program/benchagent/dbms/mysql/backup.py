"""Backup methods, as far as an installation has the tools for them: dump, dump by tables, mariadb-backup."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from benchagent.dbms.backup import Action, BackupMethod, Options, SqlCommands, ToolCommand
from benchagent.dbms.base import ProvisionRequest, Settings
from benchagent.dbms.mysql import folders
from benchagent.dbms.mysql.product import DATABASE
from benchagent.dbms.mysql.server import Server
from benchagent.dbms.private_server import HOST, hand_over

RESTORED = f"{DATABASE}_restored"
CLIENTS, DUMPERS, COPIERS = ("mariadb", "mysql"), ("mariadb-dump", "mysqldump"), ("mariadb-backup",)
CANCEL_TIMEOUT_S = 60


def methods(server: Server, request: ProvisionRequest, given: Settings) -> list[BackupMethod]:
    tools = Tools(server)
    client, dumper, copier = (server.installation.program(*names) for names in (CLIENTS, DUMPERS, COPIERS))
    dumps: list[BackupMethod] = (
        [Dump(tools, dumper, client), DumpTables(tools, dumper, client)] if dumper and client else []
    )
    return [*dumps, *([Copy(tools, copier, request, given)] if copier else [])]


class Tools:
    """How the tools of one installation are called for one server."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def command(self, program: Path, *arguments: str | Path, **more: Path | None) -> ToolCommand:
        """As the server's user; the password is in the option file."""
        argv = [program, f"--defaults-file={self.server.folders.client_file}", *arguments]
        return replace(self.plain(argv), **more)  # type: ignore[arg-type]

    def plain(self, argv: Sequence[str | Path]) -> ToolCommand:
        return ToolCommand(argv, self.server.installation.environment, user=self.server.popen_user())

    def url(self, port: int, database: str) -> str:
        return f"jdbc:{self.server.product.slug}://{HOST}:{port}/{database}"

    def ask(self, client: Path, sql: str) -> str:
        """Run SQL although the job may be over: its children can no longer be used."""
        command = self.command(client, "--batch", "--skip-column-names", f"--execute={sql}")
        done = subprocess.run(
            [str(part) for part in command.argv],
            capture_output=True,
            text=True,
            check=False,
            timeout=CANCEL_TIMEOUT_S,
            env={**os.environ, **command.environment},
            **dict(command.user),  # type: ignore[call-overload]
        )
        return str(done.stdout)


class Dump(BackupMethod):
    """All statements that make the database anew, as one transaction saw it."""

    slug = "dump"
    options = ("verbose",)

    def __init__(self, tools: Tools, dumper: Path, client: Path) -> None:
        self._tools = tools
        self._dumper = dumper
        self._client = client
        self.label = f"{dumper.name} --single-transaction"

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        return [self._tools.command(self._dumper, *dump_options(options), DATABASE, stdout=target)]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        made = SqlCommands([f"CREATE DATABASE {RESTORED}"])
        return [made, self._tools.command(self._client, RESTORED, stdin=self._script(source, scratch))]

    def _script(self, source: Path, scratch: Path) -> Path:
        return source

    def restored_url(self, source: Path, scratch: Path) -> str:
        return self._tools.url(self._tools.server.port, RESTORED)

    def discard(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [SqlCommands([f"DROP DATABASE {RESTORED}"])]


class DumpTables(Dump):
    """The tool writes what makes a table, the server its rows: as text, into a file beside it."""

    slug = "dump_tab"

    def __init__(self, tools: Tools, dumper: Path, client: Path) -> None:
        super().__init__(tools, dumper, client)
        self.label = f"{dumper.name} --single-transaction --tab"

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        target.mkdir()
        hand_over([target], self._tools.server.user)
        return [self._tools.command(self._dumper, *dump_options(options), f"--tab={target}", DATABASE)]

    def _script(self, source: Path, scratch: Path) -> Path:
        lines = ["SET foreign_key_checks = 0;", "SET unique_checks = 0;"]
        for rows in sorted(source.glob("*.txt")):
            lines.append(f"source {rows.with_suffix('.sql')}")
            lines.append(f"LOAD DATA INFILE '{rows}' INTO TABLE `{rows.stem}` CHARACTER SET binary;")
        script = scratch / "restore.sql"
        script.write_text("\n".join([*lines, ""]))
        return script

    def cancel(self) -> None:
        """The server does not notice that nobody waits for the file any more."""
        listed = (
            "SELECT id FROM information_schema.processlist WHERE info LIKE '%INTO OUTFILE%' AND id <> CONNECTION_ID()"
        )
        for number in self._tools.ask(self._client, listed).split():
            self._tools.ask(self._client, f"KILL {number}")
        while self._tools.ask(self._client, listed).split():
            pass


class Copy(BackupMethod):
    """The files themselves, with the log that was written meanwhile; `prepare` makes them consistent."""

    slug = "mariadb_backup"
    options = ("jobs",)

    def __init__(self, tools: Tools, program: Path, request: ProvisionRequest, given: Settings) -> None:
        self._tools = tools
        self._program = program
        self._request = request
        self._given = given
        self._second: Server | None = None

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        more = [f"--parallel={options['jobs']}"] if options.get("jobs") else []
        return [self._tools.command(self._program, "--backup", f"--target-dir={target}", *more)]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        """On a copy, so that the backup stays as it is."""
        return [self._tools.plain(["cp", "-a", source, scratch / "data"])]

    def prepare(self, scratch: Path) -> Sequence[Action]:
        data = scratch / "data"
        return [self._tools.plain([self._program, "--no-defaults", "--prepare", f"--target-dir={data}"])]

    def open_restored(self, source: Path, scratch: Path) -> Callable[[], None]:
        tools = self._tools
        where = folders.Folders(scratch, None, scratch / "tmp", scratch, tools.server.folders.work / "restored")
        folders.make(where, tools.server.user)
        second = self._second = Server(self._request, tools.server.installation, where, tools.server.user)
        second.configure(self._given)
        second.start()
        return second.stop

    def restored_url(self, source: Path, scratch: Path) -> str:
        if self._second is None:
            raise RuntimeError("the restored database has not been opened")
        return self._tools.url(self._second.port, DATABASE)


def dump_options(options: Options) -> list[str]:
    return ["--single-transaction", "--quick", *(["--verbose"] if options.get("verbose") == "on" else [])]
