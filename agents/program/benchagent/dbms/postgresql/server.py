"""One throw-away server: its files, initdb, start as a direct child, wait until it answers, stop.

Nothing inside a cluster knows its path but two kinds of links, to a transaction log and to a tablespace on other
storage. Both are renewed before each start, so that a copy of the folders can be opened under another path.
"""

from __future__ import annotations

import secrets
import shutil
import signal
import socket
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchagent.dbms.base import GUEST, ProvisionRequest, Settings
from benchagent.dbms.dialect import sql_text
from benchagent.dbms.postgresql.discovery import Installation, numbers
from benchagent.dbms.private_server import HOST, PrivateServer
from benchagent.machine.storages import JobFolders
from benchagent.paths import NAME, straight, text_of, without_links

USER = "bench"
DATABASE = "postgres"
TEMP_TABLESPACE = "bench_temp"
OWN_CONFIGURATION = "benchagent.conf"
# The folder of the transaction log is called so from version 10 on, and so before.
LOG_NAMES = (NEW_LOG, OLD_LOG) = ("pg_wal", "pg_xlog")


@dataclass(frozen=True)
class Folders:
    """`log` and `temp`: the transaction log and a tablespace for temporary files, where they lie apart."""

    home: Path
    log: Path | None = None
    temp: Path | None = None

    @property
    def data(self) -> Path:
        return self.home / "cluster"

    @property
    def password_file(self) -> Path:
        """In the format of libpq's PGPASSFILE; beside the cluster, so that a copy takes it along."""
        return self.home / "pgpass"

    @property
    def temp_name_file(self) -> Path:
        return self.home / "temp_tablespace"


def folders_of(given: JobFolders) -> Folders:
    return Folders(
        given.data,
        given.log / "wal" if given.log_apart else None,
        given.temp / "tablespace" if given.temp_apart else None,
    )


INITDB_TIMEOUT_S = 300.0
PROTOCOL_3 = 196608


class Server(PrivateServer):
    """`port` opens it; `process` is the postmaster. A second one may run on other folders of the same request."""

    stop_signal, kill_signal = signal.SIGINT, signal.SIGQUIT
    port_taken = "could not bind"

    def __init__(self, request: ProvisionRequest, installation: Installation, folders: Folders) -> None:
        name, log = f"PostgreSQL {installation.version}", request.job_dir / f"{folders.home.name}-postgresql.log"
        super().__init__(name, request, installation.environment, log)
        self.installation = installation
        self.version = numbers(installation.version)
        self.folders = folders

    # Files

    def create(self, settings: Settings, initdb_options: Sequence[str]) -> None:
        """initdb, password, access and configuration. Raises `ProcessFailed`."""
        folders = self.folders
        self.password = secrets.token_urlsafe(24)
        self.write_private(folders.password_file, f"{HOST}:*:*:{USER}:{self.password}\n")
        method = "scram-sha-256" if self.version >= (10, 0) else "md5"
        self._initdb(method, initdb_options)
        # Our users alone, over loopback: also for a base backup, which is its own kind of connection.
        access = [f"host {database} {USER} {HOST}/32 {method}\n" for database in ("all", "replication")]
        access.append(f"host {DATABASE} {GUEST} {HOST}/32 md5\n")
        (folders.data / "pg_hba.conf").write_text("".join(access))
        with open(folders.data / "postgresql.conf", "a", encoding="utf-8", opener=without_links) as file:
            file.write(f"\ninclude '{OWN_CONFIGURATION}'\n")
        self.configure(settings)
        if folders.temp:  # without a connection: the server in its single-user mode reads one statement
            self._make_folder(folders.temp)
            statement = folders.home / "tablespace.sql"
            statement.write_text(f"CREATE TABLESPACE {TEMP_TABLESPACE} LOCATION {sql_text(folders.temp)}\n")
            with statement.open("rb") as stdin:
                self._run([self.installation.bin_dir / "postgres", "--single", "-D", folders.data, DATABASE], stdin)
            statement.unlink()
            # The folder that the server has made in it is named after its version: a copy has to have it too.
            folders.temp_name_file.write_text("\n".join(entry.name for entry in folders.temp.iterdir()))

    def open_copy(self, settings: Settings) -> None:
        """Open a copy of folders that `create` has made for another job. Raises `OSError`."""
        self.configure(settings)
        self.password = text_of(self.folders.password_file).strip().rpartition(":")[2]

    def configure(self, settings: Settings) -> None:
        """`settings` in their order, in a file that initdb's own includes."""
        lines = []
        for name, value in settings:
            bare = value[1:-1].replace("''", "'") if len(value) > 1 and value[0] == value[-1] == "'" else value
            quoted = bare.replace("\\", "\\\\").replace("'", "''")
            lines.append(f"{name} = '{quoted}'\n")
        self.write_private(self.folders.data / OWN_CONFIGURATION, "".join(lines))

    def _initdb(self, method: str, options: Sequence[str]) -> None:
        """The cluster is thrown away, so initdb need not sync it, where it can be told so."""
        folders = self.folders
        secret = folders.home / "password"
        self.write_private(secret, self.password + "\n")
        command: list[str | Path] = [self.installation.bin_dir / "initdb", "-D", folders.data, "-U", USER]
        command += ["-A", method, f"--pwfile={secret}", "-E", "UTF8", "--locale=C", *options]
        command += ["-N"] if self.version >= (9, 3) else []
        if folders.log:
            self._make_folder(folders.log)
            command += ["-X", folders.log]
        self.remember(command)
        try:
            self._run(command)
        finally:
            secret.unlink()

    def _make_folder(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        self.own(folder)

    def _run(self, command: Sequence[str | Path], stdin: Any = subprocess.DEVNULL) -> None:
        self._request.children.run(
            command, timeout_s=INITDB_TIMEOUT_S, cwd=self.folders.home, stdin=stdin, env=self.environment
        )

    # Process

    def start(self) -> None:
        """With the links to the log and to the tablespace for temporary files renewed."""
        folders = self.folders
        log_name = NEW_LOG if self.version >= (10, 0) else OLD_LOG
        links = [(folders.data / log_name, folders.log)] if folders.log else []
        if folders.temp:
            self._make_folder(folders.temp)
            if folders.temp_name_file.exists():
                name = text_of(folders.temp_name_file)
                if not NAME.match(name):  # kept data may have been written by anybody: no way out of the folder
                    raise OSError(f"{folders.temp_name_file} holds no name of a folder")
                self._make_folder(folders.temp / name)
            links += [(link, folders.temp) for link in straight(folders.data / "pg_tblspc").iterdir()]
        for link, target in links:
            if not link.is_symlink():  # a log that lay with the data so far
                shutil.move(link, straight(target))
            self.relink(link, target)
        super().start()

    def launch(self) -> None:
        command: list[str | Path] = [self.installation.bin_dir / "postgres", "-D", self.folders.data]
        command += ["-p", str(self.port)]
        if self.process is None:
            self.remember(command)
        # SIGQUIT: the postmaster takes its backends with it. It must not daemonise, so no pg_ctl.
        home = self.folders.home
        self.spawn(command, self.log_path, cwd=home, env=self.environment, death_signal=signal.SIGQUIT)

    def answers(self) -> bool:
        """True when the server asks for authentication; while starting up it answers with an error instead."""
        body = struct.pack("!i", PROTOCOL_3) + f"user\0{USER}\0database\0{DATABASE}\0\0".encode()
        try:
            with socket.create_connection((HOST, self.port), timeout=2) as connection:
                connection.sendall(struct.pack("!i", len(body) + 4) + body)
                return connection.recv(1) == b"R"
        except OSError:
            return False
