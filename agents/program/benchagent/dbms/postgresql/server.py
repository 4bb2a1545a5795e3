"""One throw-away cluster: initdb, start as a direct child, wait until it answers, stop."""

from __future__ import annotations

import os
import secrets
import shlex
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchagent import process
from benchagent.dbms.base import JobError, ProvisionRequest
from benchagent.dbms.postgresql.discovery import ServiceUser

USER = "bench"
DATABASE = "postgres"
HOST = "127.0.0.1"
START_TIMEOUT_S = 60.0
PROTOCOL_3 = 196608
PORT_ATTEMPTS = 3


class Server:
    """`port` and `password` open it; `process` is the postmaster."""

    def __init__(
        self, request: ProvisionRequest, *, bin_dir: Path, base_dir: Path, user: ServiceUser | None, major: float
    ) -> None:
        self._request = request
        self._bin_dir = bin_dir
        self._user = user
        self._major = major
        self.base_dir = base_dir
        self.data_dir = base_dir / "cluster"
        self.log_path = base_dir / "postgresql.log"
        self.password = secrets.token_urlsafe(24)
        self.port = 0
        self.process: subprocess.Popen[Any] | None = None
        self.command_lines: list[str] = []

    def create(self, settings: Sequence[tuple[str, str]]) -> None:
        """initdb, and a postgresql.conf with `settings` in their order. Raises `ProcessFailed`."""
        password_file = self.base_dir / "password"
        self._write(password_file, self.password + "\n")
        # Scram came with 10. The cluster is thrown away, so initdb need not sync it.
        method = "scram-sha-256" if self._major >= 10 else "md5"
        command: list[str | Path] = [
            self._bin_dir / "initdb",
            "-D",
            self.data_dir,
            "-U",
            USER,
            "-A",
            method,
            f"--pwfile={password_file}",
            "-E",
            "UTF8",
            "--locale=C",
            *(["--no-sync"] if self._major >= 10 else []),
        ]
        self._remember(command)
        self._request.children.run(command, timeout_s=120, cwd=self.base_dir, **self._as_user())
        password_file.unlink()
        lines = "".join(f"{name} = '{_quoted(value)}'\n" for name, value in settings)
        with (self.data_dir / "postgresql.conf").open("a", encoding="utf-8") as file:
            file.write(f"\n# benchagent\n{lines}")

    def start(self) -> None:
        """Raises `JobError` with the end of the server's log when it does not come up."""
        for attempt in range(1, PORT_ATTEMPTS + 1):
            self.port = _free_port()
            command: list[str | Path] = [self._bin_dir / "postgres", "-D", self.data_dir, "-p", str(self.port)]
            if attempt == 1:
                self._remember(command)
            with self.log_path.open("ab") as log:
                # SIGQUIT: the postmaster takes its backends with it. It must not daemonise, so no pg_ctl.
                self.process = self._request.children.spawn(
                    command, stdout=log, stderr=log, cwd=self.base_dir, death_signal=signal.SIGQUIT, **self._as_user()
                )
            if self._wait_until_ready():
                return
            if "could not bind" not in self.log_tail():
                break
        raise JobError(f"PostgreSQL did not start: {self.log_tail()}")

    def stop(self) -> None:
        """Immediate shutdown: the data is thrown away."""
        if self.process is not None:
            process.stop(self.process, first=signal.SIGQUIT, grace_s=5)

    def log_tail(self, size: int = 1500) -> str:
        try:
            return self.log_path.read_text(errors="replace")[-size:].strip()
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

    def _write(self, path: Path, text: str) -> None:
        path.touch(mode=0o600)
        path.write_text(text)
        if self._user:
            os.chown(path, self._user.uid, self._user.gid)

    def _as_user(self) -> dict[str, Any]:
        return self._user.popen() if self._user else {}

    def _remember(self, command: Sequence[str | Path]) -> None:
        self.command_lines.append(shlex.join(str(part) for part in command))


def _quoted(value: str) -> str:
    bare = value[1:-1].replace("''", "'") if len(value) > 1 and value[0] == value[-1] == "'" else value
    return bare.replace("\\", "\\\\").replace("'", "''")


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
