"""How long pages and lists take on the server with 1,000, 10,000 and 100,000 runs stored, and how that grows.

Starts a private PostgreSQL, fills it through the upload API's own function, and asks each address through Django's test
client in this process: time from request to whole response, without the network. Prints p50 and p95 in ms, the number
of queries, and the growth exponent between the two largest sizes (0: not slower, 1: ten times the runs, ten times the
time). Run by `make bench-pages [ARGS="--sizes 1000,10000 --asks 20"]`.
"""

from __future__ import annotations

import argparse
import gc
import math
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from benchmarks.bench_uploads import document
from scripts.private import private_postgresql, set_up_here

SIZES = (1_000, 10_000, 100_000)
PER_REQUEST = 500
MACHINES = 40
# {run}, {cell}: of a stored run. {deep}: a cursor near the end of the list.
PAGES = {
    "list": "/runs/",
    "list, by DBMS": "/runs/?dbms=postgresql-15-3",
    "list, by factor": "/runs/?factor.terminals=16",
    "list, by value": "/runs/?ordering=-value",
    "list, by machine": "/runs/?ordering=hardware",
    "list, words": "/runs/?q=bench",
    "list, near the end": "/runs/?cursor={deep}",
    "run": "/runs/{run}/",
    "home": "/",
    "compare a cell": "/compare/?cell={cell}",
    "compare, nothing chosen": "/compare/",
    "machines": "/hardware/",
    "API list": "/api/v1/runs/",
    "API list of 100": "/api/v1/runs/?page_size=100",
    "API list, near the end": "/api/v1/runs/?cursor={deep}",
    "API list, by workload": "/api/v1/runs/?workload=tpcb",
    "API run": "/api/v1/runs/{run}/",
    "API compare a cell": "/api/v1/compare/?cell={cell}",
}


def fill(generator: random.Random, count: int) -> None:
    """Store this many runs more: a run a document, as a CI sends them."""
    from runs import results

    while count > 0:
        documents = [run_document(generator) for _ in range(min(PER_REQUEST, count))]
        for outcome in results.store_uploads(documents=documents):
            if outcome.status != "created":
                raise RuntimeError(outcome.errors)
        count -= len(documents)


def run_document(generator: random.Random) -> dict[str, Any]:
    made = document(generator)
    made["hardware"]["name"] = f"Bench {generator.randrange(MACHINES)}"
    made["factors"]["batch"] = generator.randrange(1000)
    return made


def addresses() -> dict[str, str]:
    from runs.listing import cursor as keyset
    from runs.listing.filters import columns_of
    from runs.models import Run

    last = Run.objects.order_by("created_at")[100]
    cell = Run.objects.order_by("-created_at").values_list("cell_key", flat=True)[0]
    deep = keyset.cursor_at(last, columns_of(""), "")
    return {name: path.format(run=last.id, cell=cell, deep=deep) for name, path in PAGES.items()}


def ask(path: str, asks: int) -> tuple[float, float, int]:
    """(p50 in ms, p95 in ms, number of queries)."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client()
    with CaptureQueriesContext(connection) as queries:
        answer = client.get(path)
    statements = len(queries)
    if answer.status_code != 200:
        raise RuntimeError(f"{path}: {answer.status_code} {answer.content[:300]!r}")
    times = []
    for _ in range(asks):
        before = time.perf_counter()
        client.get(path)
        times.append(1000 * (time.perf_counter() - before))
    return statistics.median(times), statistics.quantiles(times, n=20, method="inclusive")[-1], statements


def report(times: dict[int, dict[str, tuple[float, float, int]]]) -> None:
    sizes = sorted(times)
    print(f"{'p50 / p95 in ms':<26}" + "".join(f"{size:>20,}" for size in sizes) + f"{'queries':>12}{'exponent':>10}")
    for name in times[sizes[0]]:
        cells = "".join(f"{times[size][name][0]:>11.1f} /{times[size][name][1]:>7.1f}" for size in sizes)
        counts = sorted({times[size][name][2] for size in sizes})
        words = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}-{counts[-1]}"
        growth = ""
        if len(sizes) > 1:
            small, large = sizes[-2:]
            exponent = math.log(times[large][name][0] / times[small][name][0]) / math.log(large / small)
            growth = f"{exponent:.2f}"
        print(f"{name:<26}{cells}{words:>12}{growth:>10}")


def measure(sizes: Sequence[int], asks: int) -> dict[int, dict[str, tuple[float, float, int]]]:
    from django.db import connection

    generator, stored = random.Random(2026), 0
    times: dict[int, dict[str, tuple[float, float, int]]] = {}
    for size in sizes:
        before = time.perf_counter()
        fill(generator, size - stored)
        stored = size
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
        print(f"{size:,} runs after {time.perf_counter() - before:.0f} s", file=sys.stderr, flush=True)
        # What filling left in this process is no page's: without this the collector walks it again and again.
        gc.collect()
        gc.freeze()
        times[size] = {name: ask(path, asks) for name, path in addresses().items()}
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--asks", type=int, default=40, help="requests to each address")
    arguments = parser.parse_args()
    sizes = sorted(int(text) for text in arguments.sizes.split(","))
    with private_postgresql() as url, tempfile.TemporaryDirectory(prefix="benchsite-") as state:
        set_up_here(state, url)
        report(measure(sizes, arguments.asks))


if __name__ == "__main__":
    main()
