"""One throw-away server: initdb, start as a direct child, wait until it answers, stop."""

from __future__ import annotations

import shlex
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchagent.dbms.base import JobError, ProvisionRequest, Settings
from benchagent.dbms.postgresql import cluster
from benchagent.dbms.postgresql.cluster import DATABASE, HOST, USER, Folders
from benchagent.dbms.postgresql.discovery import Installation
from benchagent.dbms.postgresql.version import numbers
from benchagent.machine import process
from benchagent.machine.users import ServiceUser

START_TIMEOUT_S = 300.0
STOP_TIMEOUT_S = 300.0
INITDB_TIMEOUT_S = 300.0
PROTOCOL_3 = 196608
PORT_ATTEMPTS = 3
LOG_TAIL = 1_500


class Server:
    """`port` opens it; `process` is the postmaster. A second one may run on other folders of the same request."""

    def __init__(
        self, request: ProvisionRequest, installation: Installation, folders: Folders, user: ServiceUser | None
    ) -> None:
        self.installation = installation
        self.version = numbers(installation.version)
        self.folders = folders
        self.user = user
        self.port = _free_port()
        self.process: subprocess.Popen[Any] | None = None
        self.command_lines: list[str] = []
        self.log_path = request.job_dir / f"{folders.home.name}-postgresql.log"
        self._request = request

    # Files

    def create(self, settings: Settings, initdb_options: Sequence[str]) -> str:
        """initdb, access and configuration; returns the password. Raises `ProcessFailed`."""
        folders, user = self.folders, self.user
        password = cluster.make_password(folders, user)
        self._initdb(password, initdb_options)
        cluster.write_access(folders, self._method())
        cluster.include_configuration(folders)
        self.configure(settings)
        if folders.temp:
            self._create_temp_tablespace(folders.temp)
        return password

    def configure(self, settings: Settings) -> None:
        cluster.write_configuration(self.folders, settings, self.user)

    def _method(self) -> str:
        return "scram-sha-256" if self.version >= (10, 0) else "md5"

    def _initdb(self, password: str, options: Sequence[str]) -> None:
        """The cluster is thrown away, so initdb need not sync it, where it can be told so."""
        folders = self.folders
        secret = folders.home / "password"
        cluster.write_private(secret, password + "\n", self.user)
        command: list[str | Path] = [self.installation.bin_dir / "initdb", "-D", folders.data, "-U", USER]
        command += ["-A", self._method(), f"--pwfile={secret}", "-E", "UTF8", "--locale=C", *options]
        command += ["-N"] if self.version >= (9, 3) else []
        if folders.log:
            folders.log.mkdir(mode=0o700)
            cluster.hand_over([folders.log], self.user)
            command += ["-X", folders.log]
        self._remember(command)
        try:
            self._run(command)
        finally:
            secret.unlink()

    def _create_temp_tablespace(self, folder: Path) -> None:
        """Without a connection: the server in its single-user mode reads one statement."""
        cluster.make_temp_folder(self.folders, self.user)
        statement = self.folders.home / "tablespace.sql"
        quoted = str(folder).replace("'", "''")
        statement.write_text(f"CREATE TABLESPACE {cluster.TEMP_TABLESPACE} LOCATION '{quoted}'\n")
        with statement.open("rb") as stdin:
            self._run([self.installation.bin_dir / "postgres", "--single", "-D", self.folders.data, DATABASE], stdin)
        statement.unlink()
        cluster.note_temp_folder(self.folders)

    def _run(self, command: Sequence[str | Path], stdin: Any = subprocess.DEVNULL) -> None:
        self._request.children.run(
            command, timeout_s=INITDB_TIMEOUT_S, cwd=self.folders.home, stdin=stdin, **self.as_child()
        )

    # Process

    def start(self) -> None:
        """On the same port as before, where it is still free. Raises `JobError` with the end of the server's log."""
        cluster.mend(self.folders, self.version, self.user)
        if self.process:
            self.process.poll()  # one that was killed keeps its number until it is reaped, and its lock file names it
        for attempt in range(PORT_ATTEMPTS):
            self.port = self.port if attempt == 0 else _free_port()
            begin = self._log_size()
            self._spawn()
            if self._wait_until_ready():
                return
            if "could not bind" not in self._log_since(begin):
                break
        self.stop()
        raise JobError(f"PostgreSQL {self.installation.version} did not start: {self._log_since(begin)[-LOG_TAIL:]}")

    def _spawn(self) -> None:
        command: list[str | Path] = [self.installation.bin_dir / "postgres", "-D", self.folders.data]
        command += ["-p", str(self.port)]
        if self.process is None:
            self._remember(command)
        with self.log_path.open("ab") as log:
            # SIGQUIT: the postmaster takes its backends with it. It must not daemonise, so no pg_ctl.
            self.process = self._request.children.spawn(
                command,
                stdout=log,
                stderr=log,
                cwd=self.folders.home,
                death_signal=signal.SIGQUIT,
                cage=self._request.cage,
                **self.as_child(),
            )

    def shut_down(self) -> None:
        """Fast shutdown with a checkpoint: the files are consistent afterwards. Raises `JobError`."""
        if self.process is None or self.process.poll() is not None:
            raise JobError(f"PostgreSQL has ended by itself: {self.log_tail()}")
        self.process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while self.process.poll() is None and time.monotonic() < deadline:
            self._request.abort.sleep(0.02)
        if self.process.poll() != 0:
            self.stop()
            raise JobError(f"PostgreSQL did not shut down cleanly: {self.log_tail()}")

    def stop(self) -> None:
        """Immediate shutdown: the data is thrown away."""
        if self.process is not None:
            process.stop(self.process, first=signal.SIGQUIT, grace_s=5)

    def log_tail(self) -> str:
        return self._log_since(0)[-LOG_TAIL:]

    def as_child(self) -> dict[str, Any]:
        """Arguments of `Children.spawn`: user and environment of the server and of its tools."""
        environment = self._request.children.environment(**self.installation.environment)
        return {"env": environment, **self.popen_user()}

    def popen_user(self) -> dict[str, Any]:
        return self.user.popen() if self.user else {}

    def _log_size(self) -> int:
        return self.log_path.stat().st_size if self.log_path.exists() else 0

    def _log_since(self, begin: int) -> str:
        try:
            return self.log_path.read_bytes()[begin:].decode(errors="replace").strip()
        except OSError:
            return ""

    def _wait_until_ready(self) -> bool:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            self._request.abort.check()
            if self.process is None or self.process.poll() is not None:
                return False
            if answers(self.port):
                return True
            self._request.abort.sleep(0.05)
        return False

    def _remember(self, command: Sequence[str | Path]) -> None:
        self.command_lines.append(shlex.join(str(part) for part in command))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int) -> bool:
    """True when the server asks for authentication; while starting up it answers with an error instead."""
    body = struct.pack("!i", PROTOCOL_3) + f"user\0{USER}\0database\0{DATABASE}\0\0".encode()
    try:
        with socket.create_connection((HOST, port), timeout=2) as connection:
            connection.sendall(struct.pack("!i", len(body) + 4) + body)
            return connection.recv(1) == b"R"
    except OSError:
        return False
