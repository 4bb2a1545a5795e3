"""Whether what was just measured is worse than a baseline: each cell, judged together, for a pipeline that must decide.

A cell is judged by the main metric of its workload, or by each of those that are asked for.

The baseline are batches of the main branch (`gated`), or runs that were measured in turn with it (`in_turn`).

Only what `runs.compare.guard` lets be compared has a verdict; of two sides in turn, whose settings may differ on
purpose, also where a commit survives less on one.

Against three batches or more a cell is judged by how batches differ; against fewer by its repeats; in turn, from six
repeats on, by the pairs of them. Each way one of a set of cells that are all as before is called worse in at most 5 of
100 cases (Bonferroni's levels).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any
from uuid import UUID

from benchagent.catalog import Role, factor_role

from runs.answers.answer import Amount, change_of
from runs.answers.history import LEAST_BATCHES, expected_amount, judged_by_repeats, set_against
from runs.compare.asked import Missing
from runs.compare.baseline import Baseline, Facts
from runs.compare.configurations import differences_between
from runs.compare.groups import Contrast
from runs.compare.guard import Difference, beyond_span, blocking, fetch_settings, unlike
from runs.history import filing
from runs.models import Batch, Benchmark, ChangePoint, Measurement, Metric, Run, SeriesBatch
from runs.models.choices import Better
from runs.models.visible import Reader
from runs.run.facets import factor_facets
from runs.run.number import number_of, primary_number, why_no_number
from runs.stats import ALPHA, Kind, judge_pairs, mean_or_zero, summarise
from runs.stats.watch import WINDOW, watched

Factors = tuple[tuple[str, str], ...]
CellKey = tuple[tuple[Any, Factors], Metric]
Side = Sequence[tuple[Run, float]]
# The runs of a batch with their values.
Values = Mapping[str, float]
# The batches of a baseline with their values, and those that it does without, each with its ratio to the others.
Before = Sequence[tuple[SeriesBatch, Sequence[float]]]
Apart = Sequence[tuple[SeriesBatch, float]]
# What two sides in turn differ in on purpose, and what follows from it.
OF_A_SIDE = ("config", "buffer_pool", "durability")
# How fewer pairs scatter is hardly known: then two sides by themselves tell it better.
LEAST_PAIRS = 6


@dataclass(frozen=True)
class Judged:
    """A cell by one metric: its ratio to the baseline. `differing`: in what its runs are not like those of that; where
    they may not be compared, why.
    """

    metric: Metric
    change: Amount
    is_not_worse: bool
    differing: Sequence[Difference]

    @property
    def is_refused(self) -> bool:
        return bool(blocking(self.differing))


@dataclass(frozen=True)
class Gated(Judged):
    """Its new batch, which of its runs have a value, how many batches the baseline has, and which it does without."""

    row: SeriesBatch
    runs: Sequence[str]
    value: float | None
    batches: int
    left_out: Apart


@dataclass(frozen=True)
class InTurn(Judged):
    """Of two sides that were measured in turn: its runs with their values, and those of the base."""

    runs: Side
    base: Side

    @property
    def first(self) -> Run:
        return self.runs[0][0]

    @property
    def value(self) -> float | None:
        return _centre([value for _, value in self.runs])

    @property
    def name(self) -> str:
        facets = [facet.text for facet in factor_facets(self.first) if facet.value]
        return ", ".join([self.first.workload.name, self.first.dbms_version.dbms.name, *facets])


def _centre(values: Sequence[float]) -> float | None:
    summary = summarise(values)
    return summary.centre if summary else None


def in_turn(
    runs: Collection[UUID], base: Collection[UUID], user: Reader, *, metrics: Collection[str] = (),
    allowed: float | None = None,
) -> list[InTurn]:  # fmt: skip
    """Each cell of these runs against that of the other side, which differs in its version or settings.

    `allowed`: a change that is smaller than this share matters not; else that of the metric counts.
    """
    heads, bases = (_cells(ids, user, metrics) for ids in (runs, base))
    others = {key: cell for key, cell in bases.items() if key not in heads}
    pairs = [
        (key[1], cell, other) for key, cell in heads.items()
        if (other := bases.get(key) or _measured_otherwise(key, others))
    ]  # fmt: skip
    fetch_settings(run for _, *both in pairs for side in both for run, _ in side)
    cells = [(*pair, _differing_in_turn(*pair)) for pair in pairs]
    judged, count = [], sum(not blocking(differing) for *_, differing in cells)
    for metric, own, other, differing in cells:
        least = allowed or metric.threshold
        if refused := blocking(differing):
            change = change_of(None, refused=Contrast(refused))
        else:
            change = _judged_in_turn(metric, own, other, least=least, confidence=1 - ALPHA / count)
        not_worse = is_not_worse(change, better=metric.better, least=least)
        judged.append(InTurn(metric, change, not_worse, differing, own, other))
    return judged


def _measured_otherwise(key: CellKey, cells: Mapping[CellKey, Side]) -> Side | None:
    """The only one of these cells that differs in how it was measured alone, which the guard may refuse."""
    (subject, factors), metric = key

    def asked(factors: Factors) -> Factors:
        return tuple(factor for factor in factors if factor_role(factor[0]) != Role.PROCEDURE)

    alike = [
        cell for ((of_cell, its_factors), its_metric), cell in cells.items()
        if (of_cell, its_metric, asked(its_factors)) == (subject, metric, asked(factors))
    ]  # fmt: skip
    return alike[0] if len(alike) == 1 else None


def _differing_in_turn(metric: Metric, own: Side, other: Side) -> list[Difference]:
    """In what two sides are not alike beside their versions and configurations, and what follows from these."""
    found = differences_between(*([run for run, _ in side] for side in (own, other)), metric=metric.name)
    found = unlike(found, named=OF_A_SIDE)
    return blocking(found) or found


def _numbers(run: Run, metrics: Collection[str]) -> list[Measurement]:
    """Those that it is judged by."""
    chosen = [number_of(run, name) for name in metrics] if metrics else [primary_number(run)]
    return [number for number in chosen if number]


def is_not_worse(change: Amount, *, better: str, least: float) -> bool:
    """Whether the interval holds no loss of the share `least` or more. It may be undecided whether anything was won."""
    if change.verdict != Kind.UNDECIDED:
        return change.verdict in {Kind.BETTER, Kind.EQUIVALENT, Kind.TOO_SMALL}
    if change.low is None or change.high is None or better == "none":
        return False
    worst = change.low if better == "higher" else 1 / change.high
    return worst >= 1 / (1 + least)


def _judged_in_turn(
    metric: Metric, own: Sequence[tuple[Run, float]], other: Sequence[tuple[Run, float]], *, least: float,
    confidence: float,
) -> Amount:  # fmt: skip
    """From six repeats of one experiment on by pairs: both sides of a pair have it if the machine becomes slower."""
    base = {(run.experiment_id, run.repeat): value for run, value in other if run.experiment_id}
    pairs = [(value, base[key]) for run, value in own if (key := (run.experiment_id, run.repeat)) in base]
    if len(pairs) >= LEAST_PAIRS and min(map(min, pairs)) > 0:
        return change_of(judge_pairs(pairs, better=metric.better, threshold=least, confidence=confidence))
    values, before = ([value for _, value in side] for side in (own, other))
    return judged_by_repeats(values, before, better=metric.better, threshold=least, confidence=confidence)


def _cells(ids: Collection[UUID], user: Reader, metrics: Collection[str]) -> dict[CellKey, list[tuple[Run, float]]]:
    """Runs with a number by what both sides share: workload, machine and factors."""
    rows = Run.objects.for_comparisons().with_values().readable_by(user).present().filter(pk__in=ids)
    cells: dict[CellKey, list[tuple[Run, float]]] = {}
    for run in rows.order_by("order_index", "pk"):
        for number in _numbers(run, metrics):
            factors = tuple(sorted((factor.name, str(factor.value)) for factor in run.factors.all()))
            key = (((run.workload_id, run.hardware_id), factors), number.metric)
            cells.setdefault(key, []).append((run, number.value))
    return cells


def why_not_judged(
    ids: Collection[UUID], user: Reader, labels: Mapping[str, str] = MappingProxyType({})
) -> dict[UUID, str]:
    """What keeps each of these runs from being judged, by whatever metrics are asked for: their names with labels."""
    rows = Run.objects.readable_by(user).present().filter(pk__in=ids).select_related("workload")
    known = {run.pk: run for run in rows.prefetch_related("measurements__metric", "factors")}
    return {pk: _lack(known[pk], labels) if pk in known else "there is no such run" for pk in ids}


def also_measured(ids: Collection[UUID], user: Reader, judged: Collection[str]) -> list[str]:
    """The metrics with a better side that these runs have beside those that are judged, which are given by labels."""
    runs = Run.objects.readable_by(user).present().filter(pk__in=ids)
    others = Measurement.objects.filter(run__in=runs).exclude(metric__better=Better.NONE)
    names = others.exclude(metric__label__in=judged).order_by("metric__name").values_list("metric__name", flat=True)
    return [*names.distinct()]


def _lack(run: Run, labels: Mapping[str, str]) -> str:
    lacking = [label for name, label in labels.items() if number_of(run, name) is None]
    if not run.counts or lacking or primary_number(run) is None:
        return why_no_number(run, next(iter(lacking), ""))
    return "nothing to be set against" if run.measured_at else "it is not known when it was measured"


def gated(
    runs: Collection[UUID], baseline: Baseline, user: Reader, *, metrics: Collection[str] = (),
    allowed: float | None = None,
) -> list[Gated]:  # fmt: skip
    """The cells of these runs, as far as `user` may read them, against batches of their main branch; `allowed` as of
    `in_turn`.
    """
    mine = Run.objects.readable_by(user).present().filter(pk__in=runs)
    batches = set(mine.values_list("batch_id", flat=True))
    filing.file_batches(list(Batch.objects.filter(pk__in=batches, is_filed=False).values_list("pk", flat=True)))
    wanted = {str(pk) for pk in mine.values_list("pk", flat=True)}
    rows = SeriesBatch.objects.filter(
        batch__in=batches, benchmark__in=Benchmark.objects.readable_by(user).order_by().values("pk")
    )
    rows = rows.select_related("benchmark__metric", "benchmark__hardware", "version").order_by("benchmark__name")
    found = [
        (row, *cell)
        for row, beside in _with_those_beside(row for row in rows if not wanted.isdisjoint(row.runs))
        for cell in _by_metric(row, beside, batches, baseline, metrics)
    ]  # fmt: skip
    first_runs = _first_runs([each for row, *_, before in found for each in (row, *(base for base, _ in before))])
    cells = [
        (row, metric, own, *_alike(row, before, first_runs, metric), _lacking(row, earlier, baseline, user))
        for row, metric, own, earlier, before in found
    ]  # fmt: skip
    judged, count = [], sum(not blocking(differing) for *_, differing, _ in cells)
    for row, metric, own, of_base, differing, lacking in cells:
        least, values = allowed or metric.threshold, [*own.values()]
        apart: Apart = []
        if refused := blocking(differing):
            change = change_of(None, refused=Contrast(refused))
        else:
            change = Amount(verdict=Kind.TOO_FEW, basis=lacking)
            if of_base:
                change, apart = _judged(metric, values, of_base, least=least, confidence=1 - ALPHA / count)
        not_worse = is_not_worse(change, better=metric.better, least=least)
        shown = ([*own], _centre(values), len(of_base) - len(apart), apart)
        judged.append(Gated(metric, change, not_worse, differing, row, *shown))
    return judged


def _first_runs(rows: Sequence[SeriesBatch]) -> dict[UUID | None, Run]:
    """The first run of each of these batches, which tells what all of its runs tell."""
    runs = list(Run.objects.for_comparisons().filter(pk__in={row.run_id for row in rows}))
    fetch_settings(runs)
    return {run.pk: run for run in runs}


def _alike(
    row: SeriesBatch, before: Iterable[tuple[SeriesBatch, Values]], runs: Mapping[UUID | None, Run],
    metric: Metric,
) -> tuple[Before, list[Difference]]:  # fmt: skip
    """Those batches before it that it may be compared with, and in what they differ; of none why not."""

    def differing(others: Sequence[SeriesBatch]) -> list[Difference]:
        own, base = ([runs[each.run_id] for each in side if each.run_id in runs] for side in ([row], others))
        return differences_between(own, base, metric=metric.name)

    valued = [(each, [*values.values()]) for each, values in before if values]
    alike = [(each, values) for each, values in valued if not blocking(differing([each]))]
    if valued and not alike:
        return [], blocking(differing([valued[-1][0]]))
    found = unlike(differing([each for each, _ in alike]))
    return alike, [each for each in found if each.severity == "note"]


def _with_those_beside(rows: Iterable[SeriesBatch]) -> list[tuple[SeriesBatch, list[SeriesBatch]]]:
    """Each batch of a main metric, and those of other metrics that are watched of the same repeats."""
    beside: dict[tuple[UUID, str], list[SeriesBatch]] = {}
    main = []
    for row in rows:
        if row.benchmark.is_beside:
            beside.setdefault((row.batch_id, row.part), []).append(row)
        else:
            main.append(row)
    return [(row, beside.get((row.batch_id, row.part), [])) for row in main]


def _by_metric(
    row: SeriesBatch, beside: Sequence[SeriesBatch], batches: Collection[UUID], baseline: Baseline,
    metrics: Collection[str],
) -> Iterator[tuple[Metric, Values, list[SeriesBatch], list[tuple[SeriesBatch, Values]]]]:  # fmt: skip
    """By each metric that it has: its runs with their values, the batches before it, and those of its baseline."""
    watched_by_name = {each.benchmark.metric.name: each for each in (row, *beside)}
    for name in metrics or [row.benchmark.metric.name]:
        own = watched_by_name.get(name)
        earlier = _earlier(own or row, batches, baseline)
        if own:
            before = baseline.before([*earlier, own], _facts_of, changed_at=_changed_at(earlier))
            yield own.benchmark.metric, _values_of(own), earlier, [(each, _values_of(each)) for each in before]
        elif numbers := _numbers_of([row], name)[0]:
            metric = next(iter(numbers.values())).metric
            before_it = _unwatched(row, earlier, baseline, metric)
            yield metric, {pk: number.value for pk, number in numbers.items()}, earlier, before_it


def _values_of(row: SeriesBatch) -> Values:
    return dict(zip(row.runs, row.values, strict=True))


def _numbers_of(rows: Sequence[SeriesBatch], name: str) -> list[dict[str, Measurement]]:
    """The runs of each of these batches with their numbers of this metric."""
    runs = Run.objects.with_values().filter(pk__in={pk for each in rows for pk in each.runs})
    known = {str(run.pk): run for run in runs.prefetch_related("factors", "measurements__metric")}
    return [
        {pk: number for pk in each.runs if pk in known and (number := number_of(known[pk], name))} for each in rows
    ]  # fmt: skip


def _earlier(row: SeriesBatch, batches: Collection[UUID], baseline: Baseline) -> list[SeriesBatch]:
    """The batches of the main branch of the same benchmark before it, of what was measured too differently only where
    there is nothing else; never what is judged itself. What has a name may be of a release that is measured beside it,
    recent batches of an older one are of that.
    """
    main = SeriesBatch.objects.filter(benchmark__line=row.benchmark.line, benchmark__in=Benchmark.objects.watched())
    if baseline.is_recent:
        of_release = {"benchmark": row.benchmark} if row.benchmark.release_of_id else {"benchmark__branch": ""}
        main = main.filter(**of_release)
    rows = list(main.exclude(batch__in=batches).select_related("version", "benchmark").in_order())
    own = row.benchmark.procedure
    rows = [each for each in rows if not beyond_span(own, each.benchmark.procedure, own)] or rows
    return [each for each in rows if each.measured_at <= row.measured_at]


def _changed_at(rows: Sequence[SeriesBatch]) -> list[datetime]:
    """When each level of these batches began."""
    changes = ChangePoint.objects.filter(benchmark__in={each.benchmark_id for each in rows})
    return [point.at.measured_at for point in changes.select_related("at", "alert") if point.begins_level]


def _unwatched(
    row: SeriesBatch, earlier: Sequence[SeriesBatch], baseline: Baseline, metric: Metric
) -> list[tuple[SeriesBatch, Values]]:
    """The baseline of a metric that no benchmark is of: its levels begin where an answer finds them."""
    near = earlier[-WINDOW:] if baseline.kind == "last" else baseline.before([*earlier, row], _facts_of)
    values = {
        each: of_metric
        for each, numbers in zip(near, _numbers_of(near, metric.name), strict=True)
        if (of_metric := {pk: number.value for pk, number in numbers.items() if number.metric_id == metric.pk})
    }
    means = [(each.measured_at, mean_or_zero([*of_batch.values()])) for each, of_batch in values.items()]
    above = [(at, math.log(mean)) for at, mean in means if mean]
    starts = watched([log for _, log in above], metric.threshold).starts
    before = baseline.before([*values, row], _facts_of, changed_at=[above[start][0] for start in starts])
    return [(each, values[each]) for each in before]


def _lacking(row: SeriesBatch, earlier: Sequence[SeriesBatch], baseline: Baseline, user: Reader) -> Missing:
    """What a cell lacks that is set against nothing: others may have sent the same of a machine of this name."""
    if earlier:
        return Missing("base_batch", names=[str(baseline)])
    benchmark = row.benchmark
    mark = benchmark.hardware.filed_as if benchmark.hardware else ""
    alike = Benchmark.objects.readable_by(user).exclude(machine=benchmark.machine_id)
    alike = alike.filter(name=benchmark.name, metric=benchmark.metric_id, hardware__filed_as=mark)
    return Missing("first_of_sender" if mark and alike.exists() else "first_batch")


def _facts_of(row: SeriesBatch) -> Facts:
    return Facts(row.measured_at, row.label, row.commit, [row.version.version])


def _judged(
    metric: Metric, values: Sequence[float], before: Before, *, least: float, confidence: float
) -> tuple[Amount, Apart]:
    if len(before) < LEAST_BATCHES:
        repeats = [value for _, of_batch in before for value in of_batch]
        change = judged_by_repeats(values, repeats, better=metric.better, threshold=least, confidence=confidence)
        return change, []
    by_batch = [(row, mean_or_zero(of_batch)) for row, of_batch in before]
    _, means, apart = set_against(centre := mean_or_zero(values), by_batch)
    return expected_amount(centre, means, better=metric.better, threshold=least, confidence=confidence), apart
