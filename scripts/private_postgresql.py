"""A private, throw-away PostgreSQL server for tests: own data directory, own free port, gone afterwards."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchagent.dbms.private_server import free_port

SERVICE_USER = "postgres"
READY_WITHIN_S = 60


def find_binaries() -> Path | None:
    """The folder of the newest installed server, None when there is none."""
    versions = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: float(path.parts[4]))
    if versions:
        return versions[-1].parent
    program = shutil.which("postgres")
    return Path(program).parent if program else None


@contextmanager
def private_postgresql(**settings: str) -> Iterator[str]:
    """Its DATABASE_URL; fsync is off unless `settings` say so: it holds tests, no data."""
    binaries = find_binaries()
    if binaries is None:
        raise FileNotFoundError("no PostgreSQL server is installed")
    user = SERVICE_USER if os.geteuid() == 0 else None
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="benchsite-pg-", ignore_cleanup_errors=True) as folder:
        if user:
            shutil.chown(folder, user)
        data = f"{folder}/data"
        initdb = [str(binaries / "initdb"), "-D", data, "-U", SERVICE_USER, "-A", "trust", "-E", "UTF8"]
        subprocess.run([*initdb, "--locale=C", "--no-sync"], user=user, cwd="/", check=True, stdout=subprocess.DEVNULL)
        own = {"port": port, "listen_addresses": "127.0.0.1", "unix_socket_directories": folder}
        command = [str(binaries / "postgres"), "-D", data]
        for name, value in (own | {"fsync": "off", "max_connections": "200"} | settings).items():
            command += ["-c", f"{name}={value}"]
        with Path(folder, "log").open("wb") as log:
            server = subprocess.Popen(command, user=user, cwd="/", stdout=log, stderr=log)
        try:
            wait([str(binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)])
            yield f"postgres://{SERVICE_USER}@127.0.0.1:{port}/postgres"
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=30)


def wait(command: list[str]) -> None:
    for _ in range(READY_WITHIN_S * 10):
        if subprocess.run(command, check=False).returncode == 0:
            return
        time.sleep(0.1)
    raise TimeoutError(f"PostgreSQL did not start within {READY_WITHIN_S} s")
