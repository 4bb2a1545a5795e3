"""Planted causes: does the page of an alert name the right kind first?

A PostgreSQL and an SQLite run short windows of TPC-B (`pgbench`, a loop in this process) as they are, then with one
thing changed at a time: settings, indexes, statistics, locks, CPU, disk. What the product's own counters, waits and
indexes tell of each window is stored through the door of results; the change is put where it was planted, and the
product is asked why. `make bench-causes [ARGS="--seconds 3 --only lock"]`; ends with 1 when the right kind comes first
in fewer than 80 %. The agent takes no part: windows are run here, with its adapters' queries.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psutil
import psycopg
from benchagent.dbms.counters import EngineCounters, differences, hit_percent
from benchagent.dbms.postgresql.counters import PostgresqlCounters
from benchagent.machine.sampling import ProcessTable

from scripts.private import find_binaries, private_postgresql, set_up_here

BEFORE, AFTER, TERMINALS, SCALE, SAMPLED_EVERY_S, LEAST_RIGHT = 4, 3, 2, 2, 0.05, 0.8
TABLES = ("pgbench_accounts", "pgbench_branches", "pgbench_tellers")
# What PostgreSQL would do by itself at moments that nobody chose.
QUIET = {
    "fsync": "on",
    "autovacuum": "off",
    "shared_buffers": "64MB",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "1h",
}
WRITER = """
import os, sys
with open(sys.argv[1], "wb") as file:
    while True:
        file.seek(0); file.write(os.urandom(1_000_000)); file.flush(); os.fsync(file.fileno())
"""


@dataclass
class Window:
    """What one window has shown, as a result that can be stored."""

    metrics: dict[str, float]
    statistics: dict[str, Any]
    settings: list[list[str]]
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Cause:
    """`kinds`: those that are right. `set_up` and `undo`: SQL; `meanwhile`: what happens while a window runs.

    `is_new_server`: whether its settings need a server that was started with them.
    """

    name: str
    kinds: frozenset[str]
    set_up: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()
    settings: tuple[tuple[str, str], ...] = ()
    is_new_server: bool = False
    meanwhile: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)


def _of(*kinds: str) -> frozenset[str]:
    return frozenset(kinds)


SETTING = _of("setting")
TRIGGER = (
    "CREATE FUNCTION work() RETURNS trigger LANGUAGE plpgsql AS $$ DECLARE n int; BEGIN"
    " SELECT count(*) INTO n FROM generate_series(1, 20000); RETURN NEW; END $$",
    "CREATE TRIGGER work BEFORE INSERT ON pgbench_history FOR EACH ROW EXECUTE FUNCTION work()",
)
POSTGRESQL = (
    Cause("smaller buffer", SETTING, settings=(("shared_buffers", "256kB"),), is_new_server=True),
    Cause("group commit waits", SETTING, settings=(("commit_delay", "20000"), ("commit_siblings", "0"))),
    Cause("another sync method", SETTING, settings=(("wal_sync_method", "open_sync"),), is_new_server=True),
    Cause("no index scans", SETTING, settings=(("enable_indexscan", "off"), ("enable_bitmapscan", "off"))),
    Cause("every statement logged", SETTING, settings=(("log_statement", "all"), ("log_duration", "on"))),
    Cause("compiled each time", SETTING, settings=(("jit", "on"), ("jit_above_cost", "0"))),
    Cause("log kept small", SETTING, settings=(("max_wal_size", "32MB"),), is_new_server=True),
    Cause("commits do not wait", SETTING | {"durability"}, settings=(("synchronous_commit", "off"),)),
    Cause(
        "index dropped", _of("index"), ("ALTER TABLE pgbench_accounts DROP CONSTRAINT pgbench_accounts_pkey",),
        ("ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid)",),
    ),
    Cause(
        "indexes added", _of("index"),
        tuple(f"CREATE INDEX extra_{n} ON pgbench_accounts (abalance, aid)" for n in range(4)),
        tuple(f"DROP INDEX extra_{n}" for n in range(4)),
    ),
    Cause(
        "statistics never made", _of("statistics", "plan"),
        ("CREATE TABLE copy AS TABLE pgbench_accounts", "DROP TABLE pgbench_accounts",
         "ALTER TABLE copy RENAME TO pgbench_accounts", "ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid)"),
        ("VACUUM ANALYZE pgbench_accounts",),
    ),
    Cause("a trigger that works", _of("CPU"), TRIGGER, ("DROP FUNCTION work CASCADE",)),
    Cause("rows locked by another", _of("lock"), meanwhile="lock rows"),
    Cause("a table locked by another", _of("lock"), meanwhile="lock table"),
    Cause("half of the CPU time", _of("waiting for CPU", "machine"), meanwhile="stop"),
    Cause("a worker beside each", _of("waiting for CPU", "machine"), meanwhile="burn"),
    Cause("others sync to the disk", _of("disk", "machine"), meanwhile="sync"),
    Cause("another version", _of("version"), facts={"version": "15.99"}),
    Cause("another kernel", _of("machine"), facts={"kernel": "6.12"}),
    Cause("more rows for others to skip", _of("dataset", "reads", "CPU"),
          ("UPDATE pgbench_accounts SET abalance = 0", "UPDATE pgbench_accounts SET abalance = 1",
           "UPDATE pgbench_accounts SET abalance = 0"), ("VACUUM FULL ANALYZE pgbench_accounts",)),
)  # fmt: skip
SQLITE = (
    Cause("smaller cache", SETTING, settings=(("cache_size", "4"),)),
    Cause("another journal", SETTING | {"durability"}, settings=(("journal_mode", "DELETE"),)),
    Cause("no sync", SETTING | {"durability"}, settings=(("synchronous", "OFF"),)),
    Cause("index dropped", _of("index"), ("DROP INDEX accounts_aid",),
          ("CREATE INDEX accounts_aid ON accounts (aid)",)),
    Cause("the writer's lock held by another", _of("lock"), meanwhile="lock"),
    Cause("a trigger that works", _of("CPU"),
          ("CREATE TRIGGER work AFTER INSERT ON history BEGIN UPDATE accounts SET balance ="
           " (WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 20000) SELECT max(x) FROM n)"
           " WHERE aid = 1; END",), ("DROP TRIGGER work",)),
)  # fmt: skip


@contextmanager
def aside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Something else at the same time, until the window is over."""
    stop = threading.Event()
    thread = threading.Thread(target=work, args=(stop,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class Postgresql:
    """A private server with the tables of `pgbench`."""

    def __init__(self, url: str, seconds: int) -> None:
        self.url, self.seconds = url.replace("postgres://", "postgresql://"), seconds
        binaries = find_binaries()
        assert binaries is not None
        self._pgbench = str(binaries / "pgbench")
        subprocess.run([self._pgbench, "-q", "-i", "-s", str(SCALE), self.url], check=True, capture_output=True)
        with self._connected() as connection:
            self.version = connection.info.server_version // 10_000, connection.info.server_version % 10_000
            (pid,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
            parent = psutil.Process(pid).parent()
            assert parent is not None
            self.server = parent
        self.processes = ProcessTable()
        self.source: EngineCounters = PostgresqlCounters(self.version)
        self.name, self.shown_version = "PostgreSQL", ".".join(map(str, self.version))

    def _connected(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.url, autocommit=True)

    def execute(self, statements: Sequence[str]) -> None:
        with self._connected() as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def run(self, cause: Cause | None) -> Window:
        settings = cause.settings if cause and not cause.is_new_server else ()
        options = " ".join(f"-c {name}={value}" for name, value in settings)
        with ExitStack() as stack, self._connected() as connection:
            if cause and cause.meanwhile:
                stack.enter_context(aside(getattr(self, "_" + cause.meanwhile.replace(" ", "_"))))
            connection.execute("CHECKPOINT")
            begin, cpu_s, own = self._counters(connection), self._cpu_s(), _own_cpu_s()
            written = self._others_written()
            psutil.cpu_percent()
            command = [self._pgbench, "-n", "-c", str(TERMINALS), "-T", str(self.seconds), self.url]
            environment = os.environ | ({"PGOPTIONS": options} if options else {})
            load = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            waits = self._sample(load)
            said, wrong = load.communicate()
            if load.returncode:
                raise RuntimeError(wrong)
            busy, end = psutil.cpu_percent(), self._counters(connection)
            cpu = {
                "server_cpu_cores": (self._cpu_s() - cpu_s) / self.seconds,
                "driver_cpu_cores": (_own_cpu_s() - own) / self.seconds, "machine_cpu_percent": busy,
                "others_disk_write_mb_per_s": max(0, self._others_written() - written) / 1e6 / self.seconds,
            }  # fmt: skip
            counted = differences(begin, end)
            report = {"counters": counted, "waits": waits} | self._schema(connection)
            return Window(self._metrics(said, counted) | cpu, report, self._settings(connection, settings))

    @staticmethod
    def _metrics(said: str, counted: Mapping[str, float]) -> dict[str, float]:
        tps, latency, count = (
            float(match[1]) if (match := re.search(pattern, said)) else 0.0
            for pattern in (r"tps = ([\d.]+)", r"latency average = ([\d.]+)", r"actually processed: (\d+)")
        )
        hits = hit_percent(counted)
        told = {"tps": tps, "latency_mean_ms": latency, "transactions": count}
        return told if hits is None else told | {"buffer_hit_percent": hits}

    def _counters(self, connection: psycopg.Connection[Any]) -> dict[str, float]:
        time.sleep(0.2)  # sessions that end report their counters a moment later
        asked = {name: self._rows(connection, sql) for name, sql in self.source.counter_queries().items()}
        return self.source.counters(asked)

    @staticmethod
    def _rows(connection: psycopg.Connection[Any], sql: str) -> list[list[Any]]:
        return [list(row) for row in connection.execute(sql.encode()).fetchall()]

    def _sample(self, load: subprocess.Popen[str]) -> dict[str, float]:
        """Mean number of sessions in each event."""
        sums, samples = defaultdict[str, float](float), 0
        (query,) = self.source.waiting
        with self._connected() as connection:
            while load.poll() is None:
                for event, count in self.source.waits(
                    {query: self._rows(connection, self.source.waiting[query])}
                ).items():
                    sums[event] += count
                samples += 1
                time.sleep(SAMPLED_EVERY_S)
        return {event: total / max(1, samples) for event, total in sums.items()}

    def _others_written(self) -> int:
        self.processes.look()
        _, others = self.processes.written_bytes([self.server.pid])
        return others or 0

    def _cpu_s(self) -> float:
        """Of the server with all its processes, those that have ended included."""
        spent = sum(self.server.cpu_times()[:4])
        for child in self.server.children():
            with suppress(psutil.Error):
                spent += sum(child.cpu_times()[:2])
        return spent

    def _settings(self, connection: psycopg.Connection[Any], of_sessions: Sequence[tuple[str, str]]) -> list[list[str]]:
        asked = "SELECT name, setting FROM pg_settings WHERE source <> 'default' AND name <> 'port' ORDER BY 1"
        told = {str(name): str(value) for name, value in self._rows(connection, asked)} | dict(of_sessions)
        return [[name, value] for name, value in told.items()]

    def _schema(self, connection: psycopg.Connection[Any]) -> dict[str, Any]:
        source = self.source
        asked = {**source.schema_queries(TABLES), **source.maintenance_queries(TABLES)}
        rows = {name: self._rows(connection, sql) for name, sql in asked.items()}
        return {
            "tables": [each.as_dict() for each in source.tables(rows)],
            "indexes": [each.as_dict() for each in source.indexes(rows)],
            "maintenance": [
                {"what": age.what, "age_s": age.age_s, "detail": age.detail} for age in source.maintenance(rows)
            ],
        }  # fmt: skip

    def _lock(self, stop: threading.Event, statement: str) -> None:
        """For 60 ms of each 80."""
        with psycopg.connect(self.url) as connection:
            while not stop.wait(0.02):
                connection.execute(statement.encode())
                time.sleep(0.06)
                connection.rollback()

    def _lock_rows(self, stop: threading.Event) -> None:
        self._lock(stop, "SELECT * FROM pgbench_branches FOR UPDATE")

    def _lock_table(self, stop: threading.Event) -> None:
        self._lock(stop, "LOCK TABLE pgbench_accounts IN EXCLUSIVE MODE")

    def _sessions(self) -> list[int]:
        found = []
        for each in self.server.children():
            with suppress(psutil.Error):
                found += [each.pid] if "127.0.0.1(" in " ".join(each.cmdline()) else []
        return found

    def _stop(self, stop: threading.Event) -> None:
        """Its sessions are stopped for 40 ms of each 50: another's quota."""
        while not stop.wait(0.01):
            held = self._sessions()
            with suppress(ProcessLookupError):
                for pid in held:
                    os.kill(pid, signal.SIGSTOP)
            time.sleep(0.04)
            with suppress(ProcessLookupError):
                for pid in held:
                    os.kill(pid, signal.SIGCONT)

    def _burn(self, stop: threading.Event) -> None:
        workers = [
            subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(4 * (os.cpu_count() or 1))
        ]
        stop.wait()
        for worker in workers:
            worker.kill()
            worker.wait()

    def _sync(self, stop: threading.Event) -> None:
        """Four writers that wait for the disk after each megabyte."""
        with tempfile.TemporaryDirectory(prefix="benchsite-sync-") as folder:
            writers = [
                subprocess.Popen([sys.executable, "-c", WRITER, str(Path(folder) / str(number))]) for number in range(4)
            ]
            stop.wait()
            for writer in writers:
                writer.kill()
                writer.wait()


def _own_cpu_s() -> float:
    """Of the load that has ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


class Sqlite:
    """A file, and a loop of transactions in this process."""

    name, shown_version = "SQLite", sqlite3.sqlite_version

    def __init__(self, folder: Path, seconds: int) -> None:
        self.path, self.seconds = folder / "bench.sqlite3", seconds
        with self._connected() as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("CREATE TABLE accounts (aid INTEGER NOT NULL, balance INTEGER NOT NULL, filler TEXT)")
            connection.execute("CREATE TABLE history (aid INTEGER, delta INTEGER)")
            rows = ((aid, 0, "x" * 80) for aid in range(100_000))
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO accounts VALUES (?, ?, ?)", rows)
            connection.execute("COMMIT")
            connection.execute("CREATE INDEX accounts_aid ON accounts (aid)")

    def _connected(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, isolation_level=None, timeout=60, check_same_thread=False)

    def execute(self, statements: Sequence[str]) -> None:
        connection = self._connected()
        for statement in statements:
            connection.execute(statement)
        connection.close()

    def run(self, cause: Cause | None) -> Window:
        given = {"journal_mode": "WAL", "synchronous": "FULL", "cache_size": "-2000"} | dict(
            cause.settings if cause else ()
        )
        connection = self._connected()
        for name, value in given.items():
            connection.execute(f"PRAGMA {name} = {value}")
        with ExitStack() as stack:
            if cause and cause.meanwhile:
                stack.enter_context(aside(self._lock))
            psutil.cpu_percent()
            count, number, waited, cpu, begun = 0, 7, 0.0, time.thread_time(), time.perf_counter()
            while (elapsed := time.perf_counter() - begun) < self.seconds:
                number = number * 48_271 % 2_147_483_647
                asked = time.perf_counter()
                connection.execute("BEGIN IMMEDIATE")
                waited += time.perf_counter() - asked
                connection.execute("UPDATE accounts SET balance = balance + 1 WHERE aid = ?", [number % 100_000])
                connection.execute("INSERT INTO history VALUES (?, 1)", [number % 100_000])
                connection.execute("COMMIT")
                count += 1
            spent, busy = (time.thread_time() - cpu) / elapsed, psutil.cpu_percent()
        indexes = connection.execute("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index'").fetchall()
        connection.close()
        metrics = {
            "tps": count / elapsed, "latency_mean_ms": 1000 * elapsed / count, "transactions": count,
            "begin_ms": 1000 * waited / count, "server_cpu_cores": spent, "machine_cpu_percent": busy,
        }  # fmt: skip
        told = {"indexes": [{"index": name, "table": table} for name, table in indexes]}
        return Window(metrics, told, [[name, value] for name, value in given.items()])

    def _lock(self, stop: threading.Event) -> None:
        connection = self._connected()
        while not stop.wait(0.02):
            connection.execute("BEGIN IMMEDIATE")
            time.sleep(0.06)
            connection.execute("ROLLBACK")
        connection.close()


Engine = Postgresql | Sqlite


def windows(engine: Engine, cause: Cause | None, count: int) -> list[Window]:
    if cause and cause.is_new_server:
        with private_postgresql(**QUIET | dict(cause.settings)) as url:
            other = Postgresql(url, engine.seconds)
            made = [other.run(None) for _ in range(count + 1)][1:]
    else:
        made = [engine.run(cause) for _ in range(count)]
    return [Window(each.metrics, each.statistics, each.settings, dict(cause.facts) if cause else {}) for each in made]


def why_of(engine: Engine, cause: Cause, before: Sequence[Window], after: Sequence[Window]) -> Any:
    """Store them as a benchmark of their own, and ask at the place that is known."""
    from runs.history import alerts
    from runs.history.causes import why
    from runs.models import Benchmark, ChangePoint
    from runs.stats.watch import change_at

    begun = datetime.now(UTC) - timedelta(days=len(before) + len(after))
    for number, window in enumerate((*before, *after)):
        _store(engine, f"{engine.name} {cause.name}", window, begun + timedelta(days=number))
    benchmark = Benchmark.objects.get(workload__name=f"{engine.name} {cause.name}")
    from runs.history.watching import BenchmarkSeries

    series = BenchmarkSeries.of(benchmark)
    found = change_at(series.logs, len(before), 0)
    assert found is not None
    side = "worse" if found.change.value < 1 else "better"
    point = ChangePoint.objects.create(
        benchmark=benchmark, at=series.rows[len(before)], state="confirmed", side=side,
        change={"value": found.change.value - 1},
    )  # fmt: skip
    alerts.attach(point, series.rows)
    assert point.alert is not None
    return found.change.value - 1, why([point], 1)


def _store(engine: Engine, name: str, window: Window, at: datetime) -> None:
    from runs import results
    from runs.history import filing
    from runs.models import Run, User

    owner, _ = User.objects.get_or_create(username="bench", defaults={"role": "contributor"})
    facts = {"version": engine.shown_version, "kernel": "6.1"} | window.facts
    document: dict[str, Any] = {
        "schema_version": 1, "id": str(uuid4()), "workload": {"slug": re.sub(r"\W+", "-", name.lower()), "name": name},
        "dbms": {"name": engine.name, "version": facts["version"]}, "started_at": at.isoformat(),
        "hardware": {"name": "here", "kernel": facts["kernel"], "cpu_threads": os.cpu_count() or 1},
        "effective_settings": window.settings,
        "config": [{"name": name, "value": value} for name, value in window.settings],
        "repeats": [{"metrics": window.metrics}],
    }  # fmt: skip
    for outcome in results.store_uploads(documents=[document], owner=owner):
        if outcome.errors:
            raise RuntimeError(str(outcome.errors))
    Run.objects.filter(upload=document["id"]).update(statistics=window.statistics)
    filing.keep_up()


def trial(engine: Engine, causes: Sequence[Cause], only: str) -> list[bool]:
    engine.run(None)  # caches fill
    right = []
    for cause in causes:
        if only not in f"{engine.name} {cause.name}":
            continue
        before = windows(engine, None, BEFORE)
        engine.execute(cause.set_up)
        try:
            after = windows(engine, cause, AFTER)
        finally:
            engine.execute(cause.undo)
        change, told = why_of(engine, cause, before, after)
        right.append(told.kind in cause.kinds)
        first = told.changed[0][1] if told.changed else told.where[0].words if told.where else ""
        mark = "right" if right[-1] else f"WRONG, it is {' or '.join(sorted(cause.kinds))}"
        print(f"{engine.name}, {cause.name}: {change:+.0%}; {told.kind or 'nothing'} ({first}): {mark}", flush=True)
        if not right[-1]:
            print(*(f"    {each.quantity.label}: {each.words}" for each in told.where), sep="\n", flush=True)
    return right


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=3, help="of each window")
    parser.add_argument("--only", default="", help="causes whose name holds this")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="benchsite-") as state, tempfile.TemporaryDirectory() as folder:
        set_up_here(state)
        right = trial(Sqlite(Path(folder), options.seconds), SQLITE, options.only)
        with private_postgresql(**QUIET) as url:
            right += trial(Postgresql(url, options.seconds), POSTGRESQL, options.only)
    share = sum(right) / max(1, len(right))
    print(f"{sum(right)} of {len(right)} causes named first: {share:.0%}")
    return 0 if share >= LEAST_RIGHT else 1


if __name__ == "__main__":
    sys.exit(main())
