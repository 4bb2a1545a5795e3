"""Private and throw-away, for tests, benchmarks and fuzzing: a PostgreSQL server, and a Benchsite.

The server has a data directory and a free port of its own. The Benchsite is all its programs, one web process, or lives
in this process.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import requests
from benchagent.dbms.private_server import free_port

if TYPE_CHECKING:
    from benchsite.programs import Address
    from benchsite.state import State

ROOT = Path(__file__).resolve().parent.parent
# Pages name static files; nothing is collected here.
PLAIN = {"STATICFILES_BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
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
            ready = partial(works, str(binaries / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port))
            until_ready(ready, "PostgreSQL")
            yield f"postgres://{SERVICE_USER}@127.0.0.1:{port}/postgres"
        finally:
            server.send_signal(signal.SIGINT)
            server.wait(timeout=30)


def until_ready(is_ready: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + READY_WITHIN_S
    while not is_ready():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what} was not ready within {READY_WITHIN_S} s")
        time.sleep(0.1)


def answers(address: str) -> bool:
    try:
        return requests.get(address, timeout=10).ok
    except requests.RequestException:
        return False


def environment(state: str, database_url: str = "") -> dict[str, str]:
    """Without an address of a database: SQLite below `state`."""
    inherited = {name: value for name, value in os.environ.items() if name != "DATABASE_URL"}
    database = {"DATABASE_URL": database_url} if database_url else {}
    quiet = {"LOG_LEVEL": "ERROR", "FIRST_RUN": "0", "RATE_LIMITS": "0"}
    return {**inherited, "STATE": state, **quiet, **PLAIN, **database}


def manage(env: dict[str, str], *arguments: str) -> str:
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout


@contextmanager
def running(environment: dict[str, str], state: State, address: Address) -> Iterator[None]:
    """Broker, web, worker and beat as `make up` starts them, without an agent; they are ready.

    They end with this process, however it ends; of SIGTERM it unwinds as of Ctrl-C, so that folders are gone, too.
    """
    # `scripts/test_legs.py` needs of this module what needs no Benchsite.
    from benchsite import programs
    from benchsite.supervisor import die_with_parent

    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with ExitStack() as stack:
        for program in (
            programs.broker(state), programs.worker(), programs.beat(state), programs.web(address),
        ):  # fmt: skip
            log = stack.enter_context((state.path / f"{program.name}.log").open("wb"))
            child = subprocess.Popen(
                program.command, cwd=ROOT, env=environment, stdout=log, stderr=log,
                preexec_fn=partial(die_with_parent, os.getpid()),  # noqa: PLW1509 (no other thread forks meanwhile)
            )  # fmt: skip
            stack.callback(child.wait)
            stack.callback(child.terminate)
        until_ready(partial(answers, f"{address.local_url}/readyz"), "the site")
        yield


@contextmanager
def web(env: dict[str, str]) -> Iterator[tuple[str, int]]:
    """The web server as it is shipped; its address and its process."""
    address = f"127.0.0.1:{free_port()}"
    server = subprocess.Popen([sys.executable, "manage.py", "web", "--listen", address], cwd=ROOT, env=env)
    base = f"http://{address}"
    try:
        until_ready(partial(answers, f"{base}/api/v1/runs/"), "the web process")
        yield base, server.pid
    finally:
        server.terminate()
        server.wait(timeout=30)


def set_up_here(state: str, database_url: str = "") -> None:
    """Django in this process, for its test client, on an empty database."""
    os.environ.pop("DATABASE_URL", None)
    os.environ |= environment(state, database_url) | {
        "ALLOWED_HOSTS": "testserver",
        "DJANGO_SETTINGS_MODULE": "benchsite.settings",
    }
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def works(*command: str) -> bool:
    """Whether the command is there and ends well."""
    try:
        return subprocess.run(command, capture_output=True, check=False, timeout=300).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
