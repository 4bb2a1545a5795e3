"""How long pages and lists take on the server with 10,000, 100,000 and 1,000,000 runs stored, and how that grows.

Starts a private PostgreSQL, or takes SQLite as `make up` does, fills it (`benchmarks.stored`), and asks each address
through Django's test client in this process: from request to whole response, without the network. Prints p50 and p95
of CPU (of this process and of the database's) and of wall time in ms, the number of queries, and the growth exponent
of CPU between the two largest sizes (0: not slower, 1: ten times the runs, ten times the time). Run by
`make bench-pages [ARGS="--database sqlite --sizes 10000,100000 --asks 20 --only facets"]`.

`--filled 100000=FOLDER_OR_URL 1000000=…` only asks databases that were filled before (the folder of `STATE`, or an
address), after their migrations. A page that needs more than `--limit` seconds on average is told as "no answer".
"""

from __future__ import annotations

import argparse
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Any

import psutil

from benchmarks.stored import BASE, RARE, fill
from scripts.private import private_postgresql, set_up_here

SIZES = (10_000, 100_000, 1_000_000)
# {run}, {cell}, {day}, {batch}: of stored runs. {deep}: a cursor near the end of the list. {ids}: 20, 200, 1,000 runs.
PAGES = {
    "list": "/runs/",
    "list, by machine": "/runs/?hardware={machine}",
    "list, by DBMS": "/runs/?dbms=postgresql",
    "list, by workload and DBMS": "/runs/?workload=tpcb&dbms=mysql",
    "list, by factor": "/runs/?factor.terminals=16",
    "list, by rare factor": "/runs/?factor.huge_pages=on",
    "list, by two factors": "/runs/?factor.terminals=16&factor.scale_factor=100",
    "list, by setting": "/runs/?setting.work_mem=64MB",
    "list, by rare setting": "/runs/?setting.track_counts=off",
    "list, by tag": "/runs/?tag=nightly",
    "list, by rare tag": "/runs/?tag={rare_tag}",
    "list, by label": "/runs/?label=sweep+1-0",
    "list, by day": "/runs/?measured_from={day}&measured_to={day}",
    "list, by value": "/runs/?above=990",
    "list, by value of a metric": "/runs/?above.latency_p99_ms=990",
    "list, by rare value": "/runs/?above.latency_p99_ms=1088",
    "list, by medium": "/runs/?medium=ssd",
    "list, by commit": "/runs/?commit={commit}",
    "list, by batch": "/runs/?batch={batch}",
    "list, by state": "/runs/?status=finished",
    "list, by provenance": "/runs/?provenance=uploaded",
    "list, from a day": "/runs/?measured_from=2000-01-01",
    "list, words": "/runs/?q=bench",
    "list, rare words": "/runs/?q={rare_tag}",
    "list, sorted by value": "/runs/?ordering=-value",
    "list, sorted by value rising": "/runs/?ordering=value",
    "list, sorted by machine": "/runs/?ordering=hardware",
    "list, sorted by DBMS": "/runs/?ordering=dbms",
    "list, sorted by start": "/runs/?ordering=-started_at",
    "list, near the end": "/runs/?cursor={deep}",
    "run": "/runs/{run}/",
    "home": "/",
    "machines": "/hardware/",
    "machine": "/hardware/{machine}/",
    "DBMSs": "/dbms/",
    "DBMS": "/dbms/postgresql/",
    "configurations": "/configs/",
    "configuration": "/configs/{config}/",
    "batch": "/batches/{batch}/",
    "compare, newest": "/compare/?batch={batch}",
    "compare, a cell": "/compare/?cell={cell}",
    "compare, facets of all": "/compare/?workload=tpcb",
    "compare, facets of a factor": "/compare/?factor.terminals=16",
    "compare, 20 runs": "/compare/?{ids20}",
    "compare, 200 runs": "/compare/?{ids200}",
    "compare, 1,000 runs": "/compare/?{ids1000}",
    "curve, 200 runs": "/compare/?view=curve&x=factor:terminals&{ids200}",
    "over time, 20 runs": "/compare/?view=time&{ids20}",
    "latency, 20 runs": "/compare/?view=latency&{ids20}",
    "API list": "/api/v1/runs/",
    "API list of 100": "/api/v1/runs/?page_size=100",
    "API list, near the end": "/api/v1/runs/?cursor={deep}",
    "API list, by workload": "/api/v1/runs/?workload=tpcb",
    "API run": "/api/v1/runs/{run}/",
    "API compare, 200 runs": "/api/v1/compare/?{ids200}",
}


@dataclass(frozen=True)
class Cost:
    """In ms, each p50 and p95."""

    cpu: tuple[float, float]
    wall: tuple[float, float]
    queries: int


def addresses() -> dict[str, str]:
    from runs.listing import cursor as keyset
    from runs.listing.filters import columns_of
    from runs.models import Run

    measured = Run.objects.filter(publication=None)
    newest = list(measured.order_by("-created_at", "id").select_related("hardware", "config")[:1000])
    deep = keyset.cursor_at(measured.order_by("created_at")[100], columns_of(""), "")
    ids = {f"ids{count}": "&".join(f"run={run.id}" for run in newest[:count]) for count in (20, 200, 1000)}
    run = newest[0]
    return {
        name: path.format(
            run=run.id, cell=run.cell_key, deep=deep, machine=run.hardware and run.hardware.slug, batch=run.batch_id,
            config=run.config and run.config.slug,
            day=newest[-1].measured_on, commit=run.tested["commit"][:8], rare_tag=RARE["tag"], **ids,
        )
        for name, path in PAGES.items()
    }  # fmt: skip


def ask(path: str, asks: int) -> Cost:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client()
    # A long address leads to a short one, which stays.
    path = (client.get(path, follow=True).redirect_chain or [(path, 0)])[-1][0]
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(path)
    statements = len(queries)
    if answer.status_code != 200:
        raise RuntimeError(f"{path}: {answer.status_code} {answer.content[:300]!r}")
    database = None
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            database = psutil.Process(cursor.fetchone()[0])
    wall, cpu = [], []
    for _ in range(asks):
        before, spent = time.perf_counter(), time.process_time() + _cpu_s(database)
        client.get(path)
        cpu.append(1000 * (time.process_time() + _cpu_s(database) - spent))
        wall.append(1000 * (time.perf_counter() - before))
    return Cost(percentiles(cpu), percentiles(wall), statements)


def _cpu_s(process: psutil.Process | None) -> float:
    """In steps of 10 ms."""
    return sum(process.cpu_times()[:2]) if process else 0.0


def percentiles(values: list[float]) -> tuple[float, float]:
    return statistics.median(values), statistics.quantiles(values, n=20, method="inclusive")[-1]


def report(costs: dict[int, dict[str, Cost | None]]) -> None:
    sizes = sorted(costs)
    heads = "".join(f"{size:>26,}" for size in sizes)
    print(f"{'ms p50/p95: CPU · wall':<30}{heads}{'queries':>9}{'exponent':>10}")
    for name in costs[sizes[0]]:
        of = [costs[size].get(name) for size in sizes]
        cells = "".join(
            f"{f'{c.cpu[0]:,.0f}/{c.cpu[1]:,.0f} · {c.wall[0]:,.0f}/{c.wall[1]:,.0f}' if c else 'no answer':>26}"
            for c in of
        )
        counts = sorted({cost.queries for cost in of if cost})
        words = "-".join(map(str, dict.fromkeys([*counts[:1], *counts[-1:]])))
        growth = ""
        if len(of) > 1 and of[-1] and of[-2]:
            growth = f"{math.log(of[-1].cpu[0] / of[-2].cpu[0]) / math.log(sizes[-1] / sizes[-2]):.2f}"
        print(f"{name:<30}{cells}{words:>9}{growth:>10}")


def measure(asks: int, only: str, limit_s: float) -> dict[str, Cost | None]:
    """None where a page did not answer `asks` + 1 times in so many times the limit."""
    # As the web processes begin; what filling left in this one is no page's.
    return {name: _within(path, asks, limit_s) for name, path in addresses().items() if only in name}


def _within(path: str, asks: int, limit_s: float) -> Cost | None:
    from django.db import DatabaseError, connection

    connection.ensure_connection()
    open_one: Any = connection.connection
    timer = threading.Timer(
        limit_s * (asks + 1), open_one.interrupt if connection.vendor == "sqlite" else open_one.cancel
    )
    timer.start()
    try:
        return ask(path, asks)
    except (DatabaseError, RuntimeError) as error:
        print(f"{path[:80]}: {str(error)[:200]}", file=sys.stderr, flush=True)
        return None
    finally:
        timer.cancel()


def _asked_alone(size: int, where: str, arguments: argparse.Namespace) -> dict[str, Cost | None]:
    """Of a database that was filled before, in a process of its own: Django knows one database."""
    command = [sys.executable, "-m", "benchmarks.bench_pages", "--asks", str(arguments.asks), "--only", arguments.only,
               "--limit", str(arguments.limit), "--json", where]  # fmt: skip
    print(f"{size:,} runs in {where}", file=sys.stderr, flush=True)
    told = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])
    return {
        name: cost and Cost(tuple(cost["cpu"]), tuple(cost["wall"]), cost["queries"]) for name, cost in told.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help=f"multiples of {BASE:,}")
    parser.add_argument("--asks", type=int, default=20, help="requests to each address")
    parser.add_argument("--database", choices=("postgresql", "sqlite"), default="postgresql")
    parser.add_argument("--only", default="", help="pages whose name holds this")
    parser.add_argument("--limit", type=float, default=10, help="seconds that an answer may take on average")
    parser.add_argument("--filled", nargs="*", default=[], help="RUNS=FOLDER or RUNS=URL: databases to ask only")
    parser.add_argument("--json", default="", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.json:
        is_url = "://" in arguments.json
        with tempfile.TemporaryDirectory(prefix="benchsite-") as state:
            set_up_here(state if is_url else arguments.json, arguments.json if is_url else "")
            asked = measure(arguments.asks, arguments.only, arguments.limit)
        print(json.dumps({name: cost and asdict(cost) for name, cost in asked.items()}))
        return
    if arguments.filled:
        given = [text.partition("=") for text in arguments.filled]
        report({int(size): _asked_alone(int(size), where, arguments) for size, _, where in given})
        return
    sizes = sorted(int(text) for text in arguments.sizes.split(","))
    server: Any = nullcontext("")
    if arguments.database == "postgresql":
        server = private_postgresql(shared_buffers="1GB", maintenance_work_mem="512MB", max_wal_size="8GB")
    with server as url, tempfile.TemporaryDirectory(prefix="benchsite-") as state:
        set_up_here(state, url)
        generator, stored = random.Random(2026), 0
        costs: dict[int, dict[str, Cost | None]] = {}
        for size in sizes:
            before = time.perf_counter()
            fill(generator, stored, size)
            stored = size
            print(f"{size:,} runs after {time.perf_counter() - before:.0f} s", file=sys.stderr, flush=True)
            costs[size] = measure(arguments.asks, arguments.only, arguments.limit)
        report(costs)


if __name__ == "__main__":
    main()
