"""Which web server: what people get from each while clients are slow, the database is locked, or pages are heavy.

Each server runs the site as it comes, with the settings below, on SQLite with 500 results. Four clients ask for the
list of runs for some seconds in each case. Run by `make bench-servers [ARGS="--seconds 5 --only waitress"]`; servers
that are not installed are left out (`.venv/bin/pip install granian cheroot` adds two).
"""

from __future__ import annotations

import argparse
import json
import random
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import psutil
import requests
from benchagent.dbms.private_server import free_port

from benchmarks.bench_uploads import SECRET, document
from scripts.private import ROOT, environment, manage

APPLICATION = "benchsite.wsgi:application"
GUNICORN = ["gunicorn", "--worker-class=gthread", "--bind=127.0.0.1:{port}", "--log-level=error", APPLICATION]
WAITRESS = ["waitress", "--listen=127.0.0.1:{port}", "--connection-limit=1000", "--asyncore-use-poll"]
GRANIAN = ["granian", "--interface=wsgi", "--port={port}", "--log-level=error", APPLICATION]
# What follows `python -m`; the first word is the module.
SERVERS = {
    "waitress, 8 threads": [*WAITRESS, "--threads=8", APPLICATION],
    "waitress, 16 threads": [*WAITRESS, "--threads=16", APPLICATION],
    "gunicorn, 1 x 8 threads": [*GUNICORN, "--workers=1", "--threads=8"],
    "gunicorn, 2 x 8 threads": [*GUNICORN, "--workers=2", "--threads=8"],
    "gunicorn, 2 x 32 threads": [*GUNICORN, "--workers=2", "--threads=32"],
    "granian, 1 x 8 threads": [*GRANIAN, "--workers=1", "--blocking-threads=8"],
    "granian, 2 x 8 threads": [*GRANIAN, "--workers=2", "--blocking-threads=8"],
}
CLIENTS = 4
SLOW = 60
HALF_HEADER = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
# With the cookie, the site reads the body for the token in it.
HALF_BODY = (
    b"POST /login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\nCookie: csrftoken=" + b"a" * 32 + b"\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\nusername="
)
SENDERS = 8
LOCKED_S = 4.0
HEAVY = "/api/v1/runs/?page_size=100"
PATIENCE_S = 15.0


class Site:
    def __init__(self, state: Path, port: int, secret: str) -> None:
        self.state, self.port, self.url = state, port, f"http://127.0.0.1:{port}"
        self.secret = {"Authorization": f"Bearer {secret}"}

    def upload(self, documents: list[dict[str, object]]) -> None:
        body = json.dumps(documents)
        headers = {**self.secret, "Content-Type": "application/json"}
        requests.post(f"{self.url}/api/v1/results/", data=body, headers=headers, timeout=60)


@contextmanager
def served(command: list[str], env: dict[str, str], port: int) -> Iterator[psutil.Process]:
    words = [part.format(port=port) for part in command]
    child = subprocess.Popen([sys.executable, "-m", *words], cwd=ROOT, env=env)
    try:
        for _ in range(600):
            with suppress(requests.RequestException):
                if requests.get(f"http://127.0.0.1:{port}/runs/", timeout=20).ok:
                    break
            time.sleep(0.1)
        yield psutil.Process(child.pid)
    finally:
        child.terminate()
        try:
            child.wait(timeout=20)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


@contextmanager
def nothing(site: Site) -> Iterator[None]:
    yield


def unfinished(said: bytes) -> Callable[[Site], AbstractContextManager[None]]:
    @contextmanager
    def beside(site: Site) -> Iterator[None]:
        with ExitStack() as stack:
            for _ in range(SLOW):
                connection = stack.enter_context(socket.create_connection(("127.0.0.1", site.port)))
                connection.sendall(said)
            yield

    return beside


@contextmanager
def locked(site: Site) -> Iterator[None]:
    """The write lock is held for 4 s while eight clients send results."""
    database = sqlite3.connect(site.state / "db.sqlite3", isolation_level=None, check_same_thread=False)
    database.execute("BEGIN IMMEDIATE")
    generator = random.Random(time.time_ns())
    documents = [[document(generator)] for _ in range(SENDERS)]
    threads = [threading.Thread(target=site.upload, args=(one,)) for one in documents]
    release = threading.Timer(LOCKED_S, database.rollback)
    for thread in (*threads, release):
        thread.start()
    yield
    for thread in (*threads, release):
        thread.join()
    database.close()


@contextmanager
def heavy(site: Site) -> Iterator[None]:
    """Two clients ask for 100 runs of the API again and again."""
    ended = threading.Event()

    def ask() -> None:
        with requests.Session() as session:
            while not ended.is_set():
                with suppress(requests.RequestException):
                    session.get(site.url + HEAVY, timeout=20)

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    yield
    ended.set()
    for thread in threads:
        thread.join()


CASES: dict[str, Callable[[Site], AbstractContextManager[None]]] = {
    "alone": nothing,
    "60 half headers": unfinished(HALF_HEADER),
    "60 half bodies": unfinished(HALF_BODY),
    "locked": locked,
    "heavy pages": heavy,
}


def asked(url: str, seconds: float) -> list[float]:
    """The seconds of each answer that four clients got; those that got none within 15 s are not among them."""
    times: list[float] = []
    until = time.monotonic() + seconds

    def ask() -> None:
        with requests.Session() as session:
            while time.monotonic() < until:
                began = time.perf_counter()
                with suppress(requests.RequestException):
                    session.get(url, timeout=PATIENCE_S).raise_for_status()
                    times.append(time.perf_counter() - began)

    threads = [threading.Thread(target=ask) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times


def in_words(times: list[float], seconds: float) -> str:
    if len(times) < 2:
        return f"{len(times)} answers"
    p95 = statistics.quantiles(times, n=20, method="inclusive")[-1]
    return f"{len(times) / seconds:.1f}/s p95 {p95:.2f} s"


def memory_mb(server: psutil.Process) -> float:
    return sum(process.memory_full_info().pss for process in (server, *server.children(recursive=True))) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--only", default="", help="servers whose names begin so")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="benchsite-") as folder:
        env = environment(folder)
        manage(env, "migrate", "--verbosity=0")
        secret = manage(env, "shell", "--no-imports", "-c", SECRET).split()[-1]
        print(f"{'':<26}{'MB':>5}  {'/healthz':<22}", *(f"{case:<22}" for case in CASES))
        filled = False
        for name, command in SERVERS.items():
            if not name.startswith(arguments.only) or find_spec(command[0]) is None:
                continue
            site = Site(Path(folder), free_port(), secret)
            with served(command, env, site.port) as server:
                if not filled:
                    filled = True
                    site.upload([document(random.Random(2026 + number)) for number in range(500)])
                asked(f"{site.url}/runs/", 1)
                row = [in_words(asked(f"{site.url}/healthz", arguments.seconds), arguments.seconds)]
                for beside in CASES.values():
                    with beside(site):
                        row.append(in_words(asked(f"{site.url}/runs/", arguments.seconds), arguments.seconds))
                print(f"{name:<26}{memory_mb(server):>5.0f} ", *(f"{words:<22}" for words in row), flush=True)


if __name__ == "__main__":
    main()
