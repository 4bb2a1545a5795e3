"""One throw-away server: initdb, start as a direct child, wait until it answers, stop."""

from __future__ import annotations

import signal
import socket
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchagent.dbms.base import ProvisionRequest, Settings
from benchagent.dbms.dialect import sql_text
from benchagent.dbms.postgresql import cluster
from benchagent.dbms.postgresql.cluster import DATABASE, USER, Folders
from benchagent.dbms.postgresql.discovery import Installation, numbers
from benchagent.dbms.private_server import HOST, PrivateServer, hand_over, write_private
from benchagent.machine.users import ServiceUser

INITDB_TIMEOUT_S = 300.0
PROTOCOL_3 = 196608


class Server(PrivateServer):
    """`port` opens it; `process` is the postmaster. A second one may run on other folders of the same request."""

    stop_signal, kill_signal = signal.SIGINT, signal.SIGQUIT
    port_taken = "could not bind"

    def __init__(
        self, request: ProvisionRequest, installation: Installation, folders: Folders, user: ServiceUser | None
    ) -> None:
        name, log = f"PostgreSQL {installation.version}", request.job_dir / f"{folders.home.name}-postgresql.log"
        super().__init__(name, request, user, installation.environment, log)
        self.installation = installation
        self.version = numbers(installation.version)
        self.folders = folders

    # Files

    def create(self, settings: Settings, initdb_options: Sequence[str]) -> str:
        """initdb, access and configuration; returns the password. Raises `ProcessFailed`."""
        folders, user = self.folders, self.user
        password = cluster.make_password(folders, user)
        method = "scram-sha-256" if self.version >= (10, 0) else "md5"
        self._initdb(password, method, initdb_options)
        cluster.write_access(folders, method)
        cluster.include_configuration(folders)
        self.configure(settings)
        if folders.temp:
            self._create_temp_tablespace(folders.temp)
        return password

    def configure(self, settings: Settings) -> None:
        cluster.write_configuration(self.folders, settings, self.user)

    def _initdb(self, password: str, method: str, options: Sequence[str]) -> None:
        """The cluster is thrown away, so initdb need not sync it, where it can be told so."""
        folders = self.folders
        secret = folders.home / "password"
        write_private(secret, password + "\n", self.user)
        command: list[str | Path] = [self.installation.bin_dir / "initdb", "-D", folders.data, "-U", USER]
        command += ["-A", method, f"--pwfile={secret}", "-E", "UTF8", "--locale=C", *options]
        command += ["-N"] if self.version >= (9, 3) else []
        if folders.log:
            folders.log.mkdir(mode=0o700)
            hand_over([folders.log], self.user)
            command += ["-X", folders.log]
        self.remember(command)
        try:
            self._run(command)
        finally:
            secret.unlink()

    def _create_temp_tablespace(self, folder: Path) -> None:
        """Without a connection: the server in its single-user mode reads one statement."""
        cluster.make_temp_folder(self.folders, self.user)
        statement = self.folders.home / "tablespace.sql"
        statement.write_text(f"CREATE TABLESPACE {cluster.TEMP_TABLESPACE} LOCATION {sql_text(folder)}\n")
        with statement.open("rb") as stdin:
            self._run([self.installation.bin_dir / "postgres", "--single", "-D", self.folders.data, DATABASE], stdin)
        statement.unlink()
        cluster.note_temp_folder(self.folders)

    def _run(self, command: Sequence[str | Path], stdin: Any = subprocess.DEVNULL) -> None:
        self._request.children.run(
            command,
            timeout_s=INITDB_TIMEOUT_S,
            cwd=self.folders.home,
            stdin=stdin,
            env=self.environment,
            **self.popen_user(),
        )

    # Process

    def start(self) -> None:
        cluster.mend(self.folders, self.version, self.user)
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
