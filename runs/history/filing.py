"""A batch into the series of its benchmarks, after each delivery, by the worker.

The batch is filed as it is now, whole: what was deleted, marked invalid or shown to fewer people leaves the series.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Prefetch

from runs.compare.configurations import short_names
from runs.compare.guard import beyond_span
from runs.formatting import version_order
from runs.history import releases
from runs.history.identity import Identity, digest, identity_of
from runs.history.ordering import order_by_parents, order_by_time
from runs.history.watching import watch
from runs.models import Batch, Benchmark, Conditions, Measurement, Run, RunStorage, SeriesBatch
from runs.models.base import clean, in_parts
from runs.models.choices import OPEN_STATES, Better
from runs.results.rows import pause_for_writers
from runs.run import likeness
from runs.run.circumstances import circumstances
from runs.run.facets import commit_number
from runs.run.number import headline_numbers
from runs.stats import mean_or_zero

# One call of the worker takes so long at most: it has other things to do.
MOST_S = 5.0
# Batches that came together are filed together: their series are watched once.
AT_ONCE = 50
# The runs of so many batches are read together, by the same few queries as the runs of one.
READ_AT_ONCE = 10
# A batch of more is filed in many transactions.
MOST_RUNS = 500
Stored = dict[tuple[UUID, str], SeriesBatch]
Touched = dict[UUID, Benchmark]
_LONGEST_NAME = 400
# What the judgement of a series rests on.
_JUDGED = {"values", "centre", "measured_at"}


@dataclass(frozen=True)
class _Group:
    """Runs of one batch that are one batch of a benchmark; `before` as many others of it that only what is in force
    tells from them.
    """

    identity: Identity
    runs: Sequence[Run]
    values: Sequence[float]
    before: int = 0

    @property
    def first(self) -> Run:
        return self.runs[0]

    @property
    def part(self) -> str:
        run, tested = self.first, self.first.effective_tested
        day = f"{run.measured_at:%Y-%m-%d}" if run.measured_at and run.experiment_id is None else ""
        own = [run.cell_key, tested.get("commit", ""), tested.get("build", ""), day]
        return digest([*own, self.before] if self.before else own)


_Pair = tuple[Benchmark, _Group]
# By line, branch and procedure, of batches that are filed together.
_Known = dict[tuple[str, str, str], Benchmark]


def keep_up() -> int:
    """File what waits, the oldest first, for some seconds. -> batches filed. What comes meanwhile calls it itself."""
    begun, filed, is_more = time.monotonic(), 0, True
    while is_more and time.monotonic() - begun < MOST_S:
        waiting = Batch.objects.filter(is_filed=False).order_by("created_at", "pk")
        some = list(waiting.values_list("pk", flat=True)[:AT_ONCE])
        is_more = len(some) == AT_ONCE
        if some:
            file_batches(some)
            filed += len(some)
            pause_for_writers(0.0)
    return filed


def file_batches(ids: Sequence[UUID]) -> None:
    """These, and look what that says of their benchmarks. Whoever changes one meanwhile has it filed again.

    A few go in one transaction; of more, as after a merge of machines, nobody else could write to SQLite during one of
    all.
    """
    runs = Run.objects.filter(batch__in=ids).counts_by("batch")
    large = [pk for pk in ids if runs.get(pk, 0) > MOST_RUNS]
    parts = [*in_parts([pk for pk in ids if pk not in large], READ_AT_ONCE)]
    if len(parts) == 1 and not large:
        with transaction.atomic():
            _look(_put_whole(parts[0]))
        return
    touched: Touched = {}
    try:
        for some in parts:
            started = time.monotonic()
            with transaction.atomic():
                touched |= _put_whole(some)
            pause_for_writers(time.monotonic() - started)
        for batch in Batch.objects.filter(pk__in=large):
            Batch.objects.filter(pk=batch.pk).update(is_filed=True)
            touched |= _put_in_parts(batch)
        for each in in_parts([*touched.items()], AT_ONCE):
            started = time.monotonic()
            with transaction.atomic():
                _look(dict(each))
            pause_for_writers(time.monotonic() - started)
    except BaseException:
        Batch.objects.filter(pk__in=ids).update(is_filed=False)
        raise


def _put_whole(ids: Sequence[UUID]) -> Touched:
    """-> benchmarks of which something has changed."""
    touched: Touched = {}
    rows = Batch.objects.select_for_update().filter(pk__in=ids).order_by("created_at", "pk")
    were_filed = {*SeriesBatch.objects.filter(batch__in=ids).values_list("batch", flat=True)}
    filed: list[_Pair] = []
    known: _Known = {}
    for batch, groups in _groups(list(rows)):
        stored = _stored(batch) if batch.pk in were_filed else {}
        pairs = _in_releases(_with_benchmarks(groups, known), stored)
        touched |= _put(batch, pairs, stored) | _take_out(stored)
        filed += pairs
    _order(filed)
    Batch.objects.filter(pk__in=ids).update(is_filed=True)
    return touched


def _put_in_parts(batch: Batch) -> Touched:
    """An import of thousands of runs, in many transactions. -> benchmarks of which something has changed."""
    ((_, groups),) = _groups([batch])
    stored = _stored(batch)
    pairs = _in_releases(_with_benchmarks(groups, {}), stored)
    touched: Touched = {}
    for some in in_parts(pairs, AT_ONCE):
        started = time.monotonic()
        with transaction.atomic():
            touched |= _put(batch, some, stored)
            _order(some)
        pause_for_writers(time.monotonic() - started)
    with transaction.atomic():
        touched |= _take_out(stored)
    return touched


def look_at_left() -> None:
    """At series of which batches are filed and not looked at, as where the worker was killed in between."""
    left = SeriesBatch.objects.filter(is_watched=False, batch__is_filed=True)
    left = left.exclude(batch__runs__state__in=OPEN_STATES)
    for benchmark in Benchmark.objects.filter(pk__in=left.values("benchmark")).select_related("metric"):
        with transaction.atomic():
            watch(benchmark)


def _look(touched: Touched) -> None:
    parted = {pk: each for benchmark in touched.values() for pk, each in releases.part(benchmark).items()}
    for _, benchmark in sorted((parted | touched).items()):
        watch(benchmark)


def _stored(batch: Batch) -> Stored:
    rows = SeriesBatch.objects.filter(batch=batch).select_related("benchmark__metric")
    return {(row.benchmark_id, row.part): row for row in rows}


def _in_releases(pairs: Sequence[_Pair], stored: Stored) -> list[_Pair]:
    """What is of an older release stays there until all of its batches tell otherwise."""
    of_releases = {(row.benchmark.release_of_id, part): row.benchmark for (_, part), row in stored.items()}
    return [(of_releases.get((benchmark.pk, group.part), benchmark), group) for benchmark, group in pairs]


def _put(batch: Batch, pairs: Iterable[_Pair], stored: Stored) -> Touched:
    """Take what is there already out of `stored`. -> benchmarks of which something has changed."""
    touched: Touched = {}
    for benchmark, group in pairs:
        row = stored.pop((benchmark.pk, group.part), None)
        if _store(row or SeriesBatch(benchmark=benchmark, batch=batch, part=group.part), group):
            touched[benchmark.pk] = benchmark
    return touched


def _order(pairs: Sequence[_Pair]) -> None:
    """The series that these were put into."""
    since: dict[Benchmark, datetime] = {}
    for benchmark, group in pairs:
        at = min(run.measured_at for run in group.runs if run.measured_at)
        since[benchmark] = min(at, since.get(benchmark, at))
    with_parents = {benchmark for benchmark, group in pairs if group.first.effective_tested.get("parents")}
    for benchmark, at in since.items():
        if benchmark in with_parents:
            order_by_parents(benchmark)
        order_by_time(benchmark, None if benchmark in with_parents else at)


def _take_out(stored: Stored) -> Touched:
    """What the batch does not hold any more. -> benchmarks that it was part of."""
    if not stored:
        return {}
    SeriesBatch.objects.filter(pk__in=[row.pk for row in stored.values()]).take_out()
    of_rows = {row.benchmark_id for row in stored.values()}
    return Benchmark.objects.select_related("metric").in_bulk(of_rows)


def _groups(batches: Sequence[Batch]) -> list[tuple[Batch, list[_Group]]]:
    rows = Run.objects.with_values().filter(batch__in=batches, publication=None).order_by("cell_key", "repeat", "pk")
    rows = rows.select_related("workload", "dbms_version__dbms", "config", "hardware")
    rows = rows.prefetch_related(
        "factors", "config__parameters",
        Prefetch("measurements", Measurement.objects.select_related("metric")),
        Prefetch("storage", RunStorage.objects.select_related("device")),
    )  # fmt: skip
    runs: dict[UUID, list[Run]] = {batch.pk: [] for batch in batches}
    shared: dict[Any, Any] = {None: None}
    for run in rows.exclude(measured_at=None):
        # What is noted of a machine, a configuration or a disk is written once for all runs.
        run.hardware = shared.setdefault(run.hardware_id, run.hardware)
        run.config = shared.setdefault(run.config_id, run.config)
        for use in run.storage.all():
            use.device = shared.setdefault(use.device_id, use.device)
        runs[run.batch_id].append(run)
    return [(batch, _groups_of(batch, runs[batch.pk])) for batch in batches]


def _groups_of(batch: Batch, runs: Sequence[Run]) -> list[_Group]:
    for run in runs:
        run.batch = batch
    groups = []
    for _, repeats in groupby(runs, key=lambda run: (run.cell_key, run.visibility, str(run.owner_id))):
        for part in likeness.alike(list(repeats), by_day=True):
            for tested in _by_tested(part):
                groups += _of_metrics(tested)
    return groups


def _by_tested(runs: Iterable[Run]) -> list[list[Run]]:
    """Commits of one upload are batches of their own."""
    by: dict[tuple[str, ...], list[Run]] = {}
    for run in runs:
        tested = run.effective_tested
        by.setdefault(tuple(tested.get(name, "") for name in ("branch", "commit", "build")), []).append(run)
    return list(by.values())


def _of_metrics(runs: Sequence[Run]) -> list[_Group]:
    """Of their main metric, and of each with a better side that stands beside it in their line, as p99 latency does:
    what loses there alone is told, too.
    """
    numbers = [(run, numbers) for run in runs if (numbers := headline_numbers(run))]
    if not numbers:
        return []
    first, (main, *others) = numbers[0]
    identity, groups = identity_of(first, main.metric), []
    for metric in (main.metric, *(each.metric for each in others if each.metric.better != Better.NONE)):
        kept = [(run, each.value) for run, known in numbers for each in known if each.metric == metric]
        own = identity if metric == main.metric else identity.beside(metric)
        groups.append(_Group(own, [run for run, _ in kept], [value for _, value in kept]))
    return groups


def _with_benchmarks(groups: Sequence[_Group], known: _Known) -> list[_Pair]:
    """Configurations that nobody named and that a batch has several of are what it varies: benchmarks of their own."""
    configs: dict[str, set[Any]] = {}
    for group in groups:
        configs.setdefault(group.identity.line(), set()).add(group.first.config_id)
    short, _ = short_names(((group.first, True) for group in groups), None)
    found = []
    counts: Counter[tuple[UUID, str]] = Counter()
    for group in groups:
        is_varied = len(configs[group.identity.line()]) > 1
        config = group.first.config
        varied_config = config.slug if is_varied and config else ""
        identity = group.identity
        key = identity.line(with_config=varied_config), identity.branch, str(identity.procedure)
        if key not in known:
            known[key] = _benchmark(group, varied_config, short)
        benchmark = known[key]
        part = (benchmark.pk, group.part)
        found.append((benchmark, replace(group, before=counts[part])))
        counts[part] += 1
    return found


def _benchmark(group: _Group, varied_config: str, short: Mapping[str, str]) -> Benchmark:
    """`short`: what a configuration is called beside the others of its batch."""
    identity, run = group.identity, group.first
    line = identity.line(with_config=varied_config)
    name = run.config.name if varied_config and run.config else ""
    called = clean(", ".join([*identity.names, *filter(None, [short.get(name, name)])]), _LONGEST_NAME)
    key, former_line = digest([line, identity.branch]), identity.without_sizes.line(with_config=varied_config)
    if former_line != line and not Benchmark.objects.filter(key=key).exists():
        # What held several sizes keeps its address, and what people said of it, with the first that is filed anew.
        former = Benchmark.objects.filter(key=digest([former_line, identity.branch]), series__batch=run.batch_id)
        former.update(key=key, line=line, name=called)
    known = Benchmark.objects.select_related("metric").defer("recent")
    siblings = list(known.filter(line=line, branch=identity.branch, release_of=None).order_by("created_at", "pk"))
    lengths = {name: length for name, (length, _) in identity.procedure.items()}
    row = next((each for each in siblings if not beyond_span(each.procedure, lengths, lengths)), None)
    if row is None:
        if siblings:
            key, first = digest([line, identity.branch, lengths]), siblings[0].procedure
            apart = [words for name, (_, words) in identity.procedure.items() if beyond_span(first, lengths, [name])]
            called = clean(", ".join([called, *apart]), _LONGEST_NAME)
        row, _ = known.get_or_create(
            key=key,
            defaults={
                "line": line, "branch": identity.branch, "visibility": identity.visibility, "owner_id": identity.owner,
                "name": called, "workload": run.workload, "metric": identity.metric, "procedure": lengths,
                "dbms": run.dbms_version.dbms, "config": run.config, "hardware": run.hardware,
                "machine": identity.machine, "is_beside": identity.is_beside,
            },
        )  # fmt: skip
    elif not lengths.keys() <= row.procedure.keys():
        row.change(procedure={**lengths, **row.procedure})
    if row.is_beside and row.metric.name == run.workload.primary_metric:  # as it is by now
        row.change(is_beside=False)
    return row.joined_to or row


def _store(row: SeriesBatch, group: _Group) -> bool:
    """-> whether anything has changed."""
    run, tested = group.first, group.first.effective_tested
    facts, times = circumstances(run), [each.measured_at for each in group.runs if each.measured_at]
    columns: dict[str, Any] = {
        "run_id": run.pk, "runs": [str(each.pk) for each in group.runs], "values": list(group.values),
        "centre": mean_or_zero(group.values), "measured_at": min(times),
        "version_order": version_order(run.dbms_version.version),
        "version_id": run.dbms_version_id, "commit": clean(tested.get("commit", ""), 120),
        "build": clean(tested.get("build", "") or tested.get("dbms_build", ""), 120), "label": run.effective_label,
        "conditions_id": digest(facts),
    }  # fmt: skip
    # Else it has its place by others (`ordering`).
    if number := commit_number(tested):
        columns["commit_number"] = number
    changed = {name for name, value in columns.items() if getattr(row, name) != value}
    if row.is_watched and not changed:
        return False
    if row.is_watched and changed & _JUDGED:
        row.benchmark.series.look_again(min(row.measured_at, columns["measured_at"]))
        row.is_watched = False
    Conditions.objects.bulk_create([Conditions(digest=columns["conditions_id"], facts=facts)], ignore_conflicts=True)
    for name, value in columns.items():
        setattr(row, name, value)
    row.save()
    return True
