"""Many stored runs, quickly, and as varied as a site's: 1,000,000 take minutes, not hours.

The first `BASE` runs come in through the upload API's own function; all others are copies of them made in the
database, with ids, batches, times and numbers of their own, in the order of time.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

BASE = 5_000
AT_ONCE = 50
RUNS_OF_A_BATCH = 25
PER_REQUEST = 500
MACHINES = 20
HOURS_OF_A_BASE = 131  # 200 of them are three years
SYSTEMS = {
    "PostgreSQL": [f"{major}.{minor}" for major in (15, 16, 17) for minor in (1, 3, 5)], "MySQL": ["8.0.36", "8.4.2"],
    "MariaDB": ["10.11.6", "11.4.2"], "Firebird": ["3.0.11", "4.0.4", "5.0.1"], "SQLite": ["3.40.1", "3.46.0"],
    "Apache Derby": ["10.16.1"], "HSQLDB": ["2.7.2", "2.7.3"], "H2": ["2.2.224", "2.3.232"],
}  # fmt: skip
WORKLOADS = ("tpcb", "tpcc", "inserts_selects", "backup")
MEDIA = ("hdd", "ssd", "nvme")
METRICS = ("tps", "latency_mean_ms", "latency_p50_ms", "latency_p95_ms", "latency_p99_ms", "load_s", "load_mb_per_s",
           "db_size_bytes")  # fmt: skip
COPIED = ("runs_runfactor", "runs_measurement", "runs_runstorage")
# Said of runs and batches of the oldest copy only: what a filter finds last.
RARE = {"tag": "release-1", "setting": ("track_counts", "off"), "factor": ("huge_pages", "on")}


def batches(generator: random.Random, count: int) -> Iterator[list[dict[str, Any]]]:
    """Documents of one batch each, a run a document: two versions on one machine over factors."""
    for number in range(count):
        machine, workload = generator.randrange(MACHINES), generator.choice(WORKLOADS)
        name = generator.choice(list(SYSTEMS))
        others = generator.choice(list(SYSTEMS))
        subjects = [(name, generator.choice(SYSTEMS[name])), (others, generator.choice(SYSTEMS[others]))]
        batch = str(uuid.UUID(int=generator.getrandbits(128)))
        rows = []
        for at in range(RUNS_OF_A_BATCH):
            system, version = subjects[at % 2]
            rows.append(
                _document(generator, number, at, batch=batch, workload=workload, machine=machine) | {
                    "dbms": {"name": system, "version": version},
                }
            )  # fmt: skip
        yield rows


def _document(
    generator: random.Random, number: int, at: int, *, batch: str, workload: str, machine: int
) -> dict[str, Any]:
    size, memory = f"{2 ** generator.randrange(5)}GB", f"{2 ** generator.randrange(3, 7)}MB"
    medium, terminals = MEDIA[(machine + at // 20) % 3], 4 ** (at // 6 % 4)
    return {
        "schema_version": 1,
        "id": str(uuid.UUID(int=generator.getrandbits(128))),
        "batch": batch,
        "workload": workload,
        "hardware": {
            "name": f"Bench {machine}", "os": "Debian 12", "cpu_model": f"Xeon {machine % 4}",
            "ram_bytes": 2**30 * 16 * (1 + machine % 4),
            "storage": [{"name": medium, "medium": medium}],
        },
        "storage": [{"role": "data", "device": medium}, {"role": "log", "device": medium}],
        "config": [
            {"name": "shared_buffers", "value": size}, {"name": "work_mem", "value": memory},
            {"name": "max_wal_size", "value": "16GB"}, {"name": "random_page_cost", "value": 1.1},
        ],
        "effective_settings": [
            ["shared_buffers", size], ["work_mem", memory], ["max_wal_size", "16GB"], ["fsync", "on"],
            ["track_counts", "on"], ["data_directory", f"/srv/data/{number}"],
            *([f"parameter_{index}", str(index * 7)] for index in range(20)),
        ],
        "factors": {
            "scale_factor": 10 ** (at // 2 % 3), "terminals": terminals, "duration_s": 60,
            "read_percent": generator.choice([0, 50, 95]), "protocol": generator.choice(["simple", "prepared"]),
        },
        "durability": "power_loss" if machine % 5 else "dbms_crash",
        "command_lines": ["pgbench -c 4 -j 4 -T 60 bench"],
        "tags": ["nightly"] if number % 2 else ["tuning", f"topic-{number % 40}"],
        "tested": {"branch": generator.choice(["main", "release"]), "commit": f"{generator.getrandbits(160):040x}"},
        "repeats": [{"metrics": _metrics(generator, terminals)}],
    }  # fmt: skip


def _metrics(generator: random.Random, terminals: int) -> dict[str, float]:
    """They agree with each other: a run that contradicts itself is marked invalid, and most pages leave it out."""
    values = {name: generator.uniform(1, 1000) for name in METRICS}
    names = ("latency_p50_ms", "latency_p95_ms", "latency_p99_ms")
    values |= dict(zip(names, sorted(values[name] for name in names), strict=True))
    values["latency_mean_ms"] = values["latency_p50_ms"]
    return values | {"tps": generator.uniform(0.8, 1) * 1000 * terminals / values["latency_mean_ms"]}


def fill(generator: random.Random, stored: int, wanted: int) -> None:
    """Store runs until there are `wanted`, of which `stored` are there; both whole multiples of `BASE`, or fewer."""
    from django.db import connection, transaction

    from runs.space import count_for_sqlite

    if stored == 0:
        _upload(generator, min(BASE, wanted))
        stored = min(BASE, wanted)
    with _without_indexes() if wanted - stored >= 10 * BASE else nullcontext():
        copies = range(stored // BASE, wanted // BASE)
        for first in copies[::AT_ONCE]:
            # Ids lie anywhere in the indexes that stay: each transaction of SQLite writes nearly all their pages.
            with transaction.atomic():
                for copy in copies[first - copies[0] :][:AT_ONCE]:
                    _copy(copy)
    # As PostgreSQL does by itself after a while, and a site's sweep with SQLite.
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
    count_for_sqlite()


def _upload(generator: random.Random, count: int) -> None:
    from datetime import timedelta

    from django.db.models import F
    from django.utils import timezone

    from runs import results
    from runs.models import Batch, Run
    from runs.publications.importer import import_own

    import_own()
    begin = timezone.now() - timedelta(hours=HOURS_OF_A_BASE * 200)
    documents: list[dict[str, Any]] = []
    for rows in batches(generator, count // RUNS_OF_A_BATCH):
        documents += rows
        if len(documents) >= PER_REQUEST:
            _store(results.store_uploads, documents)
            documents = []
    _store(results.store_uploads, documents)
    made = Run.objects.filter(publication=None)
    for number, key in enumerate(made.values_list("batch", flat=True).distinct().order_by("batch")):
        at = begin + number * timedelta(hours=HOURS_OF_A_BASE) * RUNS_OF_A_BATCH / count
        Batch.objects.filter(pk=key).update(created_at=at, label=f"sweep {number}-0" if number % 3 else "")
        Run.objects.filter(batch=key).update(created_at=at, started_at=at, measured_on=at.date(), measured_at=at)
    oldest = Run.objects.filter(publication=None).order_by("created_at", "id")
    rare = oldest.values_list("batch", flat=True)[0]
    Batch.objects.filter(pk=rare).update(tags=RARE["tag"])
    from runs.models import RunFactor

    for run in list(oldest[:3]):
        told = [[name, "off" if name == RARE["setting"][0] else value] for name, value in run.effective_settings]
        Run.objects.filter(pk=run.pk).update(effective_settings=told, repeat=F("repeat"))
        RunFactor.of(run, *RARE["factor"]).save()


def _store(store: Callable[..., Any], documents: list[dict[str, Any]]) -> None:
    for outcome in store(documents=documents) if documents else ():
        if outcome.status != "created":
            raise RuntimeError(outcome.errors)


def _copy(number: int) -> None:
    """The base once more, `number` times its hours later."""
    from django.db import connection

    sqlite = connection.vendor == "sqlite"
    new_id = "lower(hex(randomblob(16)))" if sqlite else "gen_random_uuid()"
    noise = "(0.9 + 0.2 * abs(random() % 1000) / 1000.0)" if sqlite else "(0.9 + 0.2 * random())"
    hours = number * HOURS_OF_A_BASE

    def later(column: str) -> str:
        if sqlite:
            return f"strftime('%Y-%m-%d %H:%M:%f', {column}, '+{hours} hours')"
        return f"{column} + interval '{hours} hours'"

    day = f"date(measured_on, '+{hours} hours')" if sqlite else f"(measured_on + interval '{hours} hours')::date"
    name, value = RARE["setting"]
    settings = f'replace(effective_settings::text, \'["{name}", "{value}"]\', \'["{name}", "on"]\')::jsonb'
    if sqlite:
        settings = settings.replace("::text", "").replace("::jsonb", "")
    changes: dict[str, dict[str, str]] = {
        "runs_batch": {
            "id": "copy.new", "created_at": later("created_at"),
            "label": f"replace(label, '-0', '-{number}')", "tags": f"replace(tags, '{RARE['tag']}', 'tuning')",
        },
        "runs_run": {
            "id": "copy.new", "batch_id": "batch_copy.new", "upload_id": "NULL", "created_at": later("created_at"),
            "effective_settings": settings, "started_at": later("started_at"), "measured_on": day,
            "measured_at": later("measured_at"),
            "primary_value": f"primary_value * {noise}",
        },
        **{table: {"run_id": "copy.new"} for table in COPIED},
    }  # fmt: skip
    changes["runs_measurement"]["value"] = f"value * {noise}"
    joins = {
        "runs_batch": "JOIN batch_copy copy ON copy.old = source.id",
        "runs_run": "JOIN run_copy copy ON copy.old = source.id "
        "JOIN batch_copy ON batch_copy.old = source.batch_id ORDER BY source.created_at",
        **dict.fromkeys(COPIED, "JOIN run_copy copy ON copy.old = source.run_id"),
    }
    with connection.cursor() as cursor:
        oldest = f"SELECT id FROM runs_run WHERE publication_id IS NULL ORDER BY created_at LIMIT {BASE}"
        of_batches = "SELECT DISTINCT batch_id AS id FROM runs_run WHERE id IN (SELECT id FROM run_base)"
        for kind, rows in (("run", oldest), ("batch", of_batches)):
            cursor.execute(f"CREATE TEMPORARY TABLE IF NOT EXISTS {kind}_base AS {rows}")
            cursor.execute(f"DROP TABLE IF EXISTS {kind}_copy")
            cursor.execute(f"CREATE TEMPORARY TABLE {kind}_copy AS SELECT id AS old, {new_id} AS new FROM {kind}_base")
            cursor.execute(f"CREATE UNIQUE INDEX {kind}_copy_old ON {kind}_copy (old)")
        for table, changed in changes.items():
            columns = [column for column in _columns(table) if table not in COPIED or column != "id"]
            values = ", ".join(changed.get(column, f"source.{column}") for column in columns)
            rare = f" WHERE source.name <> '{RARE['factor'][0]}'" if table == "runs_runfactor" else ""
            cursor.execute(
                f"INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table} source {joins[table]}{rare}"
            )


def _columns(table: str) -> list[str]:
    from django.db import connection

    with connection.cursor() as cursor:
        return [column.name for column in connection.introspection.get_table_description(cursor, table)]


@contextmanager
def _without_indexes() -> Iterator[None]:
    """Indexes are made again afterwards, and nothing is checked meanwhile: it is a copy of what was checked."""
    from django.db import connection

    sqlite = connection.vendor == "sqlite"
    tables = ("runs_run", "runs_batch", *COPIED)
    if sqlite:
        indexes = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = %s"
        before = [
            "PRAGMA foreign_keys = OFF",
            "PRAGMA synchronous = OFF",
            "PRAGMA cache_size = -2000000",
            "PRAGMA journal_mode = OFF",
        ]
        after = ["PRAGMA foreign_keys = ON", "PRAGMA synchronous = FULL", "PRAGMA cache_size = -2000",
                 "PRAGMA journal_mode = WAL"]  # fmt: skip
    else:
        indexes = (
            "SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = %s::regclass"
            " AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)"
        )
        before, after = ["SET session_replication_role = replica"], ["RESET session_replication_role"]
    with connection.cursor() as cursor:
        made = []
        for table in tables:
            cursor.execute(indexes, [table])
            made += cursor.fetchall()
        for statement in [*before, *(f'DROP INDEX "{name}"' for name, _ in made)]:
            cursor.execute(statement)
        yield
        for statement in [*(definition for _, definition in made), *after]:
            cursor.execute(statement)
