"""Backup by the engine's own tools and methods: timed, sized, sampled, and verified by a restore once per cell."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchagent.dbms import probes
from benchagent.dbms.backup import Action, BackupMethod, SqlCommands
from benchagent.dbms.base import JobError, first_value
from benchagent.dbms.counters import CHECKPOINTS, checkpoint_words, differences
from benchagent.dbms.probes import Step
from benchagent.machine.devices import device_of, same_device
from benchagent.machine.sampling import disk_counters
from benchagent.workloads import steps
from benchagent.workloads.backup import dataset
from benchagent.workloads.base import Bench, Factors, Observe, Workload

LOADER_THREADS = 2
TIMEOUT_S = 24 * 3600.0
MEGABYTE = 1_000_000
LARGE_TABLES = tuple(dataset.ARTICLE_ROWS)
BACKUP, RESTORE, PREPARE, COUNT = "backup", "restore", "prepare", "count"
# Condition that says which run has proven the backup.
VERIFIED = "verified"
# The phase whose figures are the result, as with every workload.
MEASURED = "run"


class Backup(Workload):
    slug = "backup"
    data_factors = ("dataset_mb",)

    def perform(self, bench: Bench) -> None:
        if bench.instance.in_memory:
            raise JobError("a database in memory leaves nothing to back up")
        bench.condition(VERIFIED, "not verified")
        method, options = _chosen(bench)
        rows = dataset.tables(bench.factors.number("dataset_mb"))
        if bench.data_missing:
            bench.session(_prepare(bench, rows))
            with bench.unmeasured():
                _do(bench, bench.instance.make_dense(), "dense")
            bench.data_loaded()
        # How old statistics, vacuum and purge are, before the caches are as asked for: the look reads the catalogue.
        source = bench.instance.engine_counters
        if queries := source.maintenance_queries(LARGE_TABLES):
            bench.session(probes.steps(probes.MAINTENANCE, queries, optional=True))
        bench.describe("none", dict(source.none))
        method.check(options)
        bench.before_run()
        elsewhere = bench.instance.elsewhere
        bench.condition("backup_storage", elsewhere or same_device(bench.data_dir, bench.backup_dir).words)
        target = bench.backup_dir / "backup"
        with bench.unmeasured():  # what the load has left to be written is none of the backup
            bench.write_back(bench.data_dir, bench.backup_dir)
        with _checkpoints_noted(bench), _bytes_noted(bench):
            took_s = self._back_up(bench, method, target, options)
            bench.metric("backup_synced_s", took_s + bench.write_back(bench.backup_dir), MEASURED)
        _note_backup(bench, target, took_s)
        _count(bench, rows)
        if bench.verified_in_repeat is None:
            _verify(bench, method, target, rows)
        else:
            bench.condition(VERIFIED, f"restored and verified in repeat {bench.verified_in_repeat} of this cell")

    def _back_up(self, bench: Bench, method: BackupMethod, target: Path, options: Mapping[str, str]) -> float:
        """Seconds of all its actions together."""
        bench.log(f"backup by {method.label}")
        trace: list[str] = []
        try:
            took_s = _do(bench, method.backup(target, options), BACKUP, lambda pid: trace.extend(method.observe(pid)))
        except BaseException:
            with suppress(Exception):  # what stopped it is what is told
                method.cancel()
            raise
        if dishonest := method.honest(trace):
            raise JobError(dishonest)
        if way := method.way(trace):
            bench.condition("backup_way", way)
        return took_s

    def tables(self, factors: Factors) -> Sequence[str]:
        return LARGE_TABLES

    def loaded(self, factors: Factors) -> dict[str, Any]:
        rows = dataset.tables(factors.number("dataset_mb"))
        return {"rows": {**dict(list(rows.items())[:3]), "each of 147 small tables": list(rows.values())[-1]}}

    def disk_bytes(self, factors: Factors) -> int:
        return factors.needed_bytes(self.slug)


WORKLOAD = Backup()


def _chosen(bench: Bench) -> tuple[BackupMethod, dict[str, str]]:
    """The method that was asked for, with its options. Raises `JobError`."""
    methods = {method.slug: method for method in bench.instance.backup_methods()}
    wanted = bench.factors.text("method") or next(iter(methods), "")
    if wanted not in methods:
        offered = ", ".join(methods) or "none"
        raise JobError(f"there is no backup method {wanted!r} in this installation; there are: {offered}")
    options = {"verbose": bench.factors.text("verbose")}
    if bench.factors.number("jobs"):
        options["jobs"] = bench.factors.text("jobs")
    unknown = [name for name, value in options.items() if value != "off" and name not in methods[wanted].options]
    if unknown:
        raise JobError(f"backup method {wanted} knows no {', '.join(unknown)}")
    return methods[wanted], options


def _prepare(bench: Bench, rows: Mapping[str, int]) -> list[Step]:
    dialect = bench.instance.dialect
    tables = [dataset.load(dialect, name, count) for name, count in rows.items()]
    load = steps.load(tables, threads=LOADER_THREADS, seed=bench.seed)
    create, index = dataset.create(dialect, rows), dataset.indexes(dialect, rows)
    return steps.prepare(dialect, list(rows), create=create, load=load, index=index)


@contextmanager
def _checkpoints_noted(bench: Bench) -> Iterator[None]:
    """Those that fall into the block, where the engine counts them: by a look before it, as each run has one."""
    source = bench.instance.engine_counters
    counted = bool(source.counter_queries()) and CHECKPOINTS not in source.none
    begin = _counters(bench) if counted else {}
    yield
    end = _counters(bench) if counted else {}
    words = checkpoint_words(source, differences(begin, end), "from just before the backup to just after it")
    if counted and bench.factors.text("cache_state") == "cold":
        words += "; the look before it has read the engine's catalogue"
    bench.condition(CHECKPOINTS, words)


@contextmanager
def _bytes_noted(bench: Bench) -> Iterator[None]:
    """What the disk of the data has read in the block and that of the target written, whoever wanted it."""
    data = "" if bench.instance.elsewhere else device_of(bench.data_dir)
    target = device_of(bench.backup_dir)
    read, written = disk_counters(data), disk_counters(target)
    yield
    read_then, written_then = disk_counters(data), disk_counters(target)
    words = [
        f"not known what was read from {data or 'the disk of the data'}",
        f"not known what was written to {target}",
    ]
    if read and read_then:
        bench.metric("backup_read_bytes", read_then.read_bytes - read.read_bytes, MEASURED)
        words[0] = f"read from {data}, by all that used it"
    if written and written_then:
        bench.metric("backup_written_bytes", written_then.written_bytes - written.written_bytes, MEASURED)
        words[1] = f"written to {target}, by all that used it"
    bench.condition("backup_disks", "; ".join(words))


def _counters(bench: Bench) -> dict[str, float]:
    source = bench.instance.engine_counters
    queries = source.counter_queries()
    rows = probes.rows(probes.COUNTERS, bench.session(probes.steps(probes.COUNTERS, queries, optional=True)).rows)
    return source.counters(rows) if queries.keys() <= rows.keys() else {}


def _do(bench: Bench, actions: Sequence[Action], phase: str, observe: Observe | None = None) -> float:
    """All actions one after the other; seconds of all together.

    Of SQL they are those of the statements, or of the whole process where opening another database is the work.
    """
    total_s = 0.0
    for action in actions:
        if isinstance(action, SqlCommands):
            begun = time.perf_counter()
            result = bench.session(steps.execute(phase, action.statements), watch=phase, url=action.url)
            total_s += time.perf_counter() - begun if action.url else result.phases[phase]["elapsed_s"]
        else:
            total_s += bench.tool(action, phase=phase, timeout_s=TIMEOUT_S, observe=observe).elapsed_s
    return total_s


def _note_backup(bench: Bench, target: Path, took_s: float) -> None:
    size, data = _bytes(target), bench.instance.size_bytes()
    bench.metric("backup_s", took_s, MEASURED)
    bench.metric("backup_bytes", size, MEASURED)
    if took_s > 0:
        bench.metric("backup_mb_per_s", size / MEGABYTE / took_s, MEASURED)
        if data:  # of a server of others it is not known
            bench.metric("backup_data_mb_per_s", data / MEGABYTE / took_s, MEASURED)
    detail = f"the backup has {size} bytes" + (f", the database {data}" if data else "")
    bench.check({"name": "backup_made", "ok": size > 0, "detail": detail})


def _count(bench: Bench, rows: Mapping[str, int]) -> None:
    """The article's control: how long it takes to count the largest table, under the same caches as the backup."""
    bench.before_run(COUNT)
    name = next(iter(rows))
    sql = f"SELECT COUNT(*) FROM {name}"  # noqa: S608
    result = bench.session([{"op": "query", "name": COUNT, "sql": sql, "phase": COUNT}], watch=COUNT)
    counted, took_s = int(first_value(result.rows.get(COUNT)) or 0), float(result.queries[COUNT]["elapsed_s"])
    bench.metric("count_s", took_s, COUNT)
    plan, size = _way_of_counting(bench, sql, name)
    if size and took_s > 0:
        bench.metric("count_mb_per_s", size / MEGABYTE / took_s, COUNT)
    facts = {"state": bench.factors.text("cache_state"), "sql": sql, "plan": plan, "elapsed_s": took_s}
    bench.describe("queries", [{"query": COUNT, **facts, "count": counted}])
    detail = f"{name} has {counted} rows, {rows[name]} were loaded"
    bench.check({"name": "rows_counted", "ok": counted == rows[name], "detail": detail})


def _way_of_counting(bench: Bench, sql: str, name: str) -> tuple[str, int | None]:
    """The plan, and the bytes of the table where they were what was read: None when the engine went by an index or
    does not tell. Asked after the count, for it may read the tables."""
    source = bench.instance.engine_counters
    plans = {f"plan:{part}": statement for part, statement in enumerate(source.plan_queries(sql))}
    queries = [
        *probes.steps(probes.SCHEMA, source.schema_queries(LARGE_TABLES), optional=True),
        *probes.steps("", plans, optional=True),
    ]
    answers = bench.session(queries).rows
    rows = probes.rows(probes.SCHEMA, answers)
    shown = [row for part in plans for row in answers.get(part, [])]
    plan = source.plan(shown) if shown else ""
    if not rows or not plan or any(index.index.lower() in plan.lower() for index in source.indexes(rows)):
        return plan, None
    return plan, next((table.size_bytes for table in source.tables(rows) if table.table.lower() == name), None)


def _verify(bench: Bench, method: BackupMethod, target: Path, rows: Mapping[str, int]) -> None:
    """Restore the backup and count the rows of every table of it."""
    scratch = bench.temp_dir / "restored"
    scratch.mkdir()
    bench.own(scratch)
    if method.in_place:
        _do(bench, [SqlCommands([f"DROP TABLE {name}" for name in rows])], "drop")
    restored_s, prepare = _do(bench, method.restore(target, scratch), RESTORE), method.prepare(scratch)
    prepared_s = _do(bench, prepare, PREPARE)
    if prepare:
        bench.metric("prepare_s", prepared_s, PREPARE)
    bench.metric("restore_s", restored_s + prepared_s, RESTORE)
    stop = method.open_restored(target, scratch)
    try:
        counts = {name: f"SELECT COUNT(*) FROM {name}" for name in rows}  # noqa: S608
        answers = bench.session(probes.steps("", counts), url=method.restored_url(target, scratch)).rows
    finally:
        stop()
        _do(bench, method.discard(target, scratch), "discard")
    restored = {name: int(first_value(answers.get(name)) or 0) for name in rows}
    differ = [f"{name} {restored[name]} instead of {count}" for name, count in rows.items() if restored[name] != count]
    detail = f"restored and counted: {len(rows)} tables, {sum(restored.values())} rows"
    if differ:
        detail += f"; wrong: {', '.join(differ[:5])}"
    bench.check({"name": "restored", "ok": not differ, "detail": detail})
    bench.condition(VERIFIED, "restored, and it is wrong" if differ else "restored and verified in this run")


def _bytes(path: Path) -> int:
    """The size of a file or of all files of a folder; 0 when it is not there."""
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size if path.exists() else 0
