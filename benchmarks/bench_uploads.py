"""How many results and samples one web process accepts, and what a result costs in CPU.

Starts a private PostgreSQL (durability as shipped: a commit waits for the disk), or takes SQLite as `make up` does, and
the web server; one client sends documents over one kept connection, bodies made beforehand. Run by
`make bench-uploads [ARGS="--seconds 5 --database sqlite"]`.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import psutil
import requests

from scripts.private import environment, manage, private_postgresql, web

SECRET = """
from runs.models import ApiToken, User
user = User.objects.create_user(username="bench", role="contributor")
print(ApiToken.issue(owner=user, name="bench", scopes=["upload"])[1])
"""
BULK = 500


@dataclass(frozen=True)
class Figure:
    """`cpu_ms` is the web process's own, per result."""

    what: str
    results: int
    samples: int
    seconds: float
    cpu_ms: float

    def line(self) -> str:
        per_s, samples = self.results / self.seconds, self.samples / self.seconds
        return f"{self.what:<42} {per_s:>9,.0f} {samples:>13,.0f} {self.cpu_ms:>9.2f}"


def document(generator: random.Random, *, repeats: int = 1, samples: int = 0) -> dict[str, Any]:
    """A result as a CI would send it: 8 metrics, 4 factors, 6 settings; one of 40 configurations."""
    names = ("tps", "latency_mean_ms", "latency_p50_ms", "latency_p95_ms", "latency_p99_ms", "transactions", "load_s",
             "db_size_bytes")  # fmt: skip
    series = [{"name": "tps", "values": [generator.gauss(900, 30) for _ in range(samples)]}] if samples else []
    return {
        "schema_version": 1,
        "id": str(uuid.UUID(int=generator.getrandbits(128))),
        "workload": "tpcb",
        "dbms": {"name": "PostgreSQL", "version": f"15.{generator.randrange(8)}"},
        "hardware": {"name": "Bench", "os": "Debian 12", "cpu_model": "Xeon", "ram_bytes": 17179869184},
        "config": [
            {"name": "shared_buffers", "value": f"{generator.randrange(5)}GB"},
            {"name": "max_wal_size", "value": "16GB"}, {"name": "fsync", "value": "on"},
            {"name": "synchronous_commit", "value": "on"}, {"name": "work_mem", "value": "64MB"},
            {"name": "random_page_cost", "value": 1.1},
        ],
        "factors": {"scale_factor": 10, "terminals": generator.choice([1, 4, 16]), "duration_s": 60, "disk": "nvme"},
        "measured_on": "2026-05-04",
        "durability": "power_loss",
        "command_lines": ["pgbench -c 4 -j 4 -T 60 bench"],
        "repeats": [
            {"metrics": {name: generator.uniform(1, 1000) for name in names}, "series": series} for _ in range(repeats)
        ],
    }  # fmt: skip


def measure(what: str, seconds: float, worker: psutil.Process, send: Callable[[], tuple[int, int]]) -> Figure:
    """`send` sends one request and returns how many results and samples it held, (0, 0) when no body is left."""
    send()
    cpu_before, spent, results, samples = cpu_s(worker), 0.0, 0, 0
    while spent < seconds:
        before = time.perf_counter()
        sent = send()
        if not sent[0]:
            break
        spent += time.perf_counter() - before
        results, samples = results + sent[0], samples + sent[1]
    return Figure(what, results, samples, spent, 1000 * (cpu_s(worker) - cpu_before) / results)


def cpu_s(worker: psutil.Process) -> float:
    times = worker.cpu_times()
    return float(times.user + times.system)


class Sender:
    """Bodies are prepared before the clock runs: the client shares the machine's cores."""

    def __init__(self, base: str, secret: str, seed: int) -> None:
        self.url = f"{base}/api/v1/results/"
        self.session = requests.Session()
        self.session.headers.update({"Authorization": f"Bearer {secret}", "Content-Type": "application/json"})
        self.generator = random.Random(seed)

    def prepared(self, count: int, of: int, **shape: int) -> Callable[[], tuple[int, int]]:
        """A function that sends the next of `count` bodies of `of` documents; 0 means one, not in a list."""
        bodies = []
        for _ in range(count):
            documents = [document(self.generator, **shape) for _ in range(of or 1)]
            bodies.append(json.dumps(documents if of else documents[0]).encode())
        waiting = iter(bodies)
        results = of or 1

        def send() -> tuple[int, int]:
            body = next(waiting, None)
            if body is None:
                return 0, 0
            answer = self.session.post(self.url, data=body, timeout=300)
            answer.raise_for_status()
            if of and {result["status"] for result in answer.json()["results"]} != {"created"}:
                raise RuntimeError(answer.text[:500])
            return results, results * shape.get("repeats", 1) * shape.get("samples", 0)

        return send


def figures(base: str, secret: str, worker: psutil.Process, seconds: float) -> Iterator[Figure]:
    sender = Sender(base, secret, 2026)
    spare = int(seconds) + 2
    yield measure("one result a request", seconds, worker, sender.prepared(400 * spare, 0))
    yield measure("10 results a request", seconds, worker, sender.prepared(100 * spare, 10))
    yield measure(f"{BULK} results a request", seconds, worker, sender.prepared(5 * spare, BULK))
    yield measure(f"{BULK} results of 3 repeats", seconds, worker, sender.prepared(3 * spare, BULK, repeats=3))
    yield measure("100 results with 60 samples each", seconds, worker, sender.prepared(20 * spare, 100, samples=60))
    yield measure("10 results with 3,600 samples each", seconds, worker, sender.prepared(10 * spare, 10, samples=3600))
    yield measure(
        "one result with 1,000,000 samples", seconds, worker, sender.prepared(2 * spare, 0, samples=1_000_000)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="measured window of each case")
    parser.add_argument("--database", choices=("postgresql", "sqlite"), default="postgresql")
    arguments = parser.parse_args()
    database = private_postgresql(fsync="on") if arguments.database == "postgresql" else nullcontext("")
    with database as url, tempfile.TemporaryDirectory(prefix="benchsite-") as state:
        env = environment(state, url)
        manage(env, "migrate", "--verbosity=0")
        secret = manage(env, "shell", "--no-imports", "-c", SECRET).split()[-1]
        with web(env) as (base, server):
            worker = psutil.Process(server)
            print(f"{'':<42} {'results/s':>9} {'samples/s':>13} {'CPU ms':>9}")
            for figure in figures(base, secret, worker, arguments.seconds):
                print(figure.line(), flush=True)


if __name__ == "__main__":
    main()
