"""1,000 benchmarks of 1,000 batches each: what their pages cost, and what one upload's update costs the worker.

Starts a private PostgreSQL, stores a night of every benchmark through the upload API's own function, makes all nights
before it in the database, and asks the overview and pages of benchmarks through Django's test client. Then results of
single benchmarks are uploaded, and the worker's update is timed. Prints p50 and p95 in ms of CPU (of this process and
of the database's) and of wall time, and the growth exponent of CPU over batches (0: not slower, 1: ten times the
batches, ten times the time). Run by `make bench-series [ARGS="--benchmarks 1000 --batches 300,1000 --asks 40"]`. The
page of a benchmark draws its newest 300 batches: up to there it grows with what it shows.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import psutil

from benchmarks.bench_pages import Cost, ask, percentiles, report
from scripts.private import private_postgresql, set_up_here

OF_A_MACHINE, LEVEL, SPREAD, BEGUN = 50, 1000, 0.02, "2024-01-01T02:00:00+00:00"
# Nights before those that were stored, of each benchmark: a level of its own that falls by 6 % once.
OLDER = """
INSERT INTO runs_seriesbatch (benchmark_id, batch_id, part, runs, "values", centre, measured_at, commit_number,
    version_order, version_id, "commit", build, label, conditions_id, is_watched)
SELECT like_it.benchmark_id, batch.id, like_it.part, jsonb_build_array(gen_random_uuid()),
    jsonb_build_array(made.centre * 0.99, made.centre, made.centre * 1.01), made.centre,
    night.at, 0, like_it.version_order, like_it.version_id, md5(night.at::text), '', '', like_it.conditions_id, true
FROM runs_seriesbatch like_it
JOIN runs_benchmark benchmark ON benchmark.id = like_it.benchmark_id
CROSS JOIN generate_series(%(from)s, %(to)s) number
CROSS JOIN LATERAL (SELECT like_it.measured_at - number * interval '1 day' AS at) night
JOIN runs_batch batch ON batch.label = 'machine ' || benchmark.machine_id AND batch.created_at = night.at
CROSS JOIN LATERAL (SELECT {level} * (1 + {spread} * (random() + random() + random() - 1.5))
    * CASE WHEN number > 20 THEN 1.06 ELSE 1 END AS centre) made
WHERE like_it.label = 'stored'
"""


def document(number: int, night: int) -> dict[str, Any]:
    machine, generator = number // OF_A_MACHINE, random.Random(f"{number} {night}")
    at = datetime.fromisoformat(BEGUN) + timedelta(days=night, minutes=number % OF_A_MACHINE)
    return {
        "schema_version": 1, "id": str(uuid4()), "workload": ("tpcb", "tpcc")[number % 2], "label": "stored",
        "dbms": {"name": ("PostgreSQL", "MariaDB")[number // 2 % 2], "version": "17.2"},
        "hardware": {"name": f"Bench {machine}", "cpu_model": "Xeon", "kernel": "6.1"},
        "factors": {"scale_factor": 1 + number % OF_A_MACHINE, "terminals": 4},
        "started_at": at.isoformat(), "tested": {"commit": f"{generator.getrandbits(160):040x}"},
        "repeats": [{"metrics": {"tps": LEVEL * generator.gauss(1, SPREAD)}} for _ in range(3)],
    }  # fmt: skip


def store(documents: list[dict[str, Any]]) -> None:
    from runs import results
    from runs.models import User

    owner, _ = User.objects.get_or_create(username="bench", defaults={"role": "contributor"})
    for outcome in results.store_uploads(documents=documents, owner=owner):
        if outcome.errors:
            raise RuntimeError(str(outcome.errors))


def file_all() -> None:
    from runs.history import filing

    while filing.keep_up():
        pass


def add_nights(first: int, last: int) -> None:
    """Of every benchmark, so many days before the night that was stored; lists then show the newest."""
    from django.db import connection

    from runs.models import Batch, Benchmark, SeriesBatch

    nights = SeriesBatch.objects.filter(label="stored").values_list("benchmark__machine_id", "measured_at").distinct()
    for machine, at in nights:
        Batch.objects.bulk_create(
            [
                Batch(label=f"machine {machine}", created_at=at - timedelta(days=number), is_filed=True)
                for number in range(first, last + 1)
            ]
        )
    with connection.cursor() as cursor:
        # Without it the planner takes the new batches for a few, and looks through all of them for each row.
        cursor.execute("ANALYZE")
        cursor.execute(OLDER.format(level=LEVEL, spread=SPREAD), {"from": first, "to": last})
        cursor.execute("VACUUM ANALYZE")
    for benchmark in Benchmark.objects.all():
        benchmark.show(last + 1, list(benchmark.series.newest_first()[:30])[::-1])
        benchmark.save()


def addresses() -> dict[str, str]:
    from runs.models import Benchmark

    benchmark = Benchmark.objects.order_by("pk")[0]
    return {
        "overview": "/benchmarks/",
        "overview, 30 days": "/benchmarks/?than=days:30",
        "overview, a workload": "/benchmarks/?workload=tpcb",
        "overview, the last page": "/benchmarks/?page=20",
        "benchmark": benchmark.get_absolute_url(),
        "API benchmarks": "/api/v1/benchmarks/",
        "API benchmark": f"/api/v1/benchmarks/{benchmark.pk}/",
    }


def updates(benchmarks: int, night: int, count: int) -> Cost:
    """An upload of one benchmark at a time, and what the worker does of it."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        database = psutil.Process(cursor.fetchone()[0])
    wall, cpu = [], []
    for number in range(count):
        store([document(number * 7 % benchmarks, night + number // benchmarks)])
        before, spent = time.perf_counter(), time.process_time() + sum(database.cpu_times()[:2])
        file_all()
        cpu.append(1000 * (time.process_time() + sum(database.cpu_times()[:2]) - spent))
        wall.append(1000 * (time.perf_counter() - before))
    store([document(count * 7 % benchmarks, night)])
    with CaptureQueriesContext(connection) as queries:
        file_all()
    return Cost(percentiles(cpu), percentiles(wall), len(queries))


def sizes(benchmarks: int, batches: list[int], asks: int) -> Iterator[tuple[int, dict[str, Cost | None]]]:
    for begin in range(0, benchmarks, 500):
        store([document(number, 0) for number in range(begin, min(benchmarks, begin + 500))])
    file_all()
    there = 1
    for number, size in enumerate(batches):
        before = time.perf_counter()
        add_nights(there, size - 1)
        there = size
        print(
            f"{benchmarks:,} × {size:,} batches after {time.perf_counter() - before:.0f} s", file=sys.stderr, flush=True
        )
        # First: what moves stands on top of the overview, and at each size as many are to have moved there.
        update = updates(benchmarks, 1 + number, asks)
        costs: dict[str, Cost | None] = {name: ask(path, asks) for name, path in addresses().items()}
        yield size, costs | {"update after one upload": update}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--benchmarks", type=int, default=1000)
    parser.add_argument("--batches", default="300,1000")
    parser.add_argument("--asks", type=int, default=40)
    options = parser.parse_args()
    wanted = sorted(int(text) for text in options.batches.split(","))
    server = private_postgresql(shared_buffers="1GB", maintenance_work_mem="512MB", max_wal_size="8GB")
    with server as url, tempfile.TemporaryDirectory(prefix="benchsite-") as state:
        set_up_here(state, url)
        report(dict(sizes(options.benchmarks, wanted, options.asks)))


if __name__ == "__main__":
    main()
