"""A whole Benchsite started with `make up`, as a person starts it, and looked at from outside."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
GONE_WITHIN_S = 30.0
READY_WITHIN_S = 120.0
# Of the environment of the tests, nothing that a site has its own of.
UNWANTED = (
    "STATE", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "DJANGO_SETTINGS_MODULE", "DATABASE_URL", "CELERY_BROKER_URL"
)  # fmt: skip


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def naming(path: Path) -> dict[int, str]:
    """Processes whose command line, working directory or environment names `path`, read from /proc."""
    commands = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError):
            command = (entry / "cmdline").read_bytes()
            texts = [command, (entry / "environ").read_bytes(), os.fsencode((entry / "cwd").readlink())]
            if any(os.fsencode(path) in text for text in texts):
                commands[int(entry.name)] = command.replace(b"\0", b" ").decode(errors="replace").strip()
    return commands


def wait_until(true: Callable[[], Any], within_s: float, every_s: float = 0.1) -> Any:
    """The first true value; the last one, whatever it is, when the time is over."""
    deadline = time.monotonic() + within_s
    while not (value := true()) and time.monotonic() < deadline:
        time.sleep(every_s)
    return value


def slowness() -> float:
    """How many times as long work takes now as the CPU time it needs: 1 where nothing else runs."""
    begun, cpu_s = time.perf_counter(), time.process_time()
    while time.process_time() - cpu_s < 0.3:
        pass
    return max(1.0, (time.perf_counter() - begun) / 0.3)


def get(port: int, path: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


PREPARE = """
import shutil, django
django.setup()
from django.conf import settings
from django.db import connections
from benchsite import embedded
embedded.migrate(settings.STATE, print)
connections.close_all()
shutil.copy(settings.STATE.database, settings.STATE.path / "tables.sqlite3")
embedded.fill(settings.STATE, print)
"""


def prepare(state: Path) -> None:
    """What the first start of every site makes alike; and `tables.sqlite3`, a database without a row."""
    environment = {name: value for name, value in os.environ.items() if name not in UNWANTED}
    environment |= {"STATE": str(state), "DJANGO_SETTINGS_MODULE": "benchsite.settings"}
    subprocess.run([sys.executable, "-c", PREPARE], cwd=REPOSITORY, env=environment, umask=0o077, check=True)


def copy_prepared(prepared: Path, state: Path) -> None:
    for name in ("db.sqlite3", "static.stamp"):
        shutil.copy(prepared / name, state / name)
    shutil.copytree(prepared / "static", state / "static")


def share_cache(state: Path) -> None:
    """The jars of all legs, and their classes with the archives, as the agent of this STATE will find them.

    A link, since an archive holds for one way to its jars; the agent verifies their checksums all the same.
    """
    if cache := os.environ.get("BENCHSITE_TEST_CACHE"):
        Path(cache).mkdir(parents=True, exist_ok=True)
        (state / "agent").mkdir(parents=True, mode=0o711)
        state.chmod(0o711)
        (state / "agent" / "cache").symlink_to(Path(cache).resolve())


def document(number: int, random_bytes: Callable[[int], bytes]) -> dict[str, Any]:
    """A result with a series and a file of its own."""
    return {
        "schema_version": 1,
        "id": str(uuid.uuid4()),
        "workload": "tpcb",
        "dbms": {"name": "PostgreSQL", "version": f"15.{number % 8}"},
        "hardware": {"name": "Größe 2 🜛", "os": "Debian 12", "cpu_model": "Xeon", "ram_bytes": 17179869184},
        "config": [{"name": "shared_buffers", "value": f"{number % 5}GB"}],
        "factors": {"scale_factor": 10, "terminals": 4, "duration_s": 60},
        "repeats": [{"metrics": {"tps": 0.1 + number}, "series": [{"name": "tps", "values": [1 / 3, None, 1e-9]}]}],
        "artefacts": [{"name": "raw.bin", "base64": base64.b64encode(random_bytes(20_000)).decode()}],
    }


class Site:
    """One STATE. `up` may be called again after a stop; `environment` is what a person's shell would have.

    Where there is a `prepared` one, the first start finds what it holds.
    """

    def __init__(self, state: Path, home: Path, **environment: str) -> None:
        self.state = state
        self.home = home
        self.prepared: Path | None = None
        self.port = free_port()
        self.environment = {"HOME": str(home), "FIRST_RUN": "0"} | environment
        self.output = home.parent / f"{home.name}.out"
        self.make: subprocess.Popen[bytes] | None = None

    @property
    def base(self) -> dict[str, str]:
        return {name: value for name, value in os.environ.items() if name not in UNWANTED} | self.environment

    def command(self, target: str, *more: str) -> list[str]:
        variables = [f"PYTHON={sys.executable}", f"STATE={self.state}", f"PORT={self.port}"]
        return ["make", target, *variables, *more]

    def run(self, target: str, *more: str) -> subprocess.CompletedProcess[str]:
        """A target that ends by itself."""
        command = self.command(target, *more)
        return subprocess.run(
            command, cwd=REPOSITORY, env=self.base, check=False, capture_output=True, text=True, timeout=120
        )

    def start(self) -> None:
        if self.prepared and not (self.state / "secret_key").exists():
            self.state.mkdir(mode=0o711, exist_ok=True)
            copy_prepared(self.prepared, self.state)
        with self.output.open("w") as output:
            self.make = subprocess.Popen(
                # Started under nohup, the tests would make it deaf to the signal of a terminal that is closed.
                ["env", "--default-signal=HUP", *self.command("up")],
                cwd=REPOSITORY,
                env=self.base,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait(self, within_s: float = READY_WITHIN_S) -> None:
        """Until it is ready, or has ended."""
        make = self.make
        assert make is not None
        wait_until(lambda: "ready after" in self.said or make.poll() is not None, within_s)

    def up(self) -> str:
        """Start and wait until it says that it is ready. Returns what it said."""
        self.start()
        self.wait()
        assert "ready after" in self.said, self.said
        wait_until(lambda: "Stop with" in self.said, 60)
        return self.said

    @property
    def said(self) -> str:
        return self.output.read_text()

    @property
    def supervisor(self) -> int:
        return int((self.state / "up.pid").read_text())

    def child(self, name: str) -> int:
        return int((self.state / "run" / f"{name}.pid").read_text().split()[0])

    def child_changed(self, name: str, before: int) -> bool:
        with suppress(OSError, IndexError):  # being replaced just now
            return self.child(name) != before
        return False

    def processes(self) -> dict[int, str]:
        return naming(self.state)

    def get(self, path: str) -> tuple[int, str]:
        return get(self.port, path)

    def ready(self) -> tuple[int, dict[str, Any]]:
        status, body = self.get("/readyz")
        return status, json.loads(body)

    def left(self, within_s: float = GONE_WITHIN_S) -> dict[int, str]:
        """What still names STATE after `within_s` (sooner when nothing does)."""
        wait_until(lambda: not naming(self.state), within_s)
        return naming(self.state)

    def stop(self) -> None:
        """Whatever state it is in; stopped processes included."""
        if self.make and self.make.poll() is None:
            with suppress(ProcessLookupError, OSError, ValueError):
                os.kill(self.supervisor, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self.make.wait(GONE_WITHIN_S)
        for pid in naming(self.state):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.make:
            self.make.wait(GONE_WITHIN_S)
