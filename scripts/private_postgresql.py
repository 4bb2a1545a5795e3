"""A private, throw-away PostgreSQL server for tests: own data directory, own free port, gone afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

SERVICE_USER = "postgres"
READY_WITHIN_S = 60


def find_binaries() -> Path | None:
    """The folder of the newest installed server, None when there is none."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[4]))
    if versions:
        return versions[-1].parent
    program = shutil.which("postgres")
    return Path(program).parent if program else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class PrivatePostgreSQL:
    """Context manager. `url` is a DATABASE_URL; fsync is off unless `settings` say so: it holds tests, no data."""

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self.settings = {"fsync": "off", "max_connections": "200", **(settings or {})}
        binaries = find_binaries()
        if binaries is None:
            raise FileNotFoundError("no PostgreSQL server is installed")
        self.binaries = binaries
        self.directory = Path(tempfile.mkdtemp(prefix="benchsite-pg-"))
        self.port = free_port()
        self.user = SERVICE_USER if os.geteuid() == 0 else None
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"postgres://{SERVICE_USER}@127.0.0.1:{self.port}/postgres"

    def __enter__(self) -> PrivatePostgreSQL:
        if self.user:
            shutil.chown(self.directory, self.user)
        data = str(self.directory / "data")
        initdb = [str(self.binaries / "initdb"), "-D", data, "-U", SERVICE_USER, "-A", "trust", "-E", "UTF8"]
        subprocess.run(
            [*initdb, "--locale=C", "--no-sync"], user=self.user, cwd="/", check=True, stdout=subprocess.DEVNULL
        )
        options = [f"port={self.port}", "listen_addresses=127.0.0.1", f"unix_socket_directories={self.directory}"]
        command = [str(self.binaries / "postgres"), "-D", data]
        for option in [*options, *(f"{name}={value}" for name, value in self.settings.items())]:
            command += ["-c", option]
        log = (self.directory.parent / f"{self.directory.name}.log").open("wb")
        self.process = subprocess.Popen(command, user=self.user, cwd="/", stdout=log, stderr=log)
        self._wait()
        return self

    def _wait(self) -> None:
        command = [str(self.binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        for _ in range(READY_WITHIN_S * 10):
            if subprocess.run(command, check=False).returncode == 0:
                return
            time.sleep(0.1)
        raise TimeoutError(f"PostgreSQL did not start within {READY_WITHIN_S} s")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process:
            self.process.send_signal(signal.SIGINT)
            self.process.wait(timeout=30)
        shutil.rmtree(self.directory, ignore_errors=True)
        (self.directory.parent / f"{self.directory.name}.log").unlink(missing_ok=True)
