"""All benchmarks, one row each: where the newest batch stands to a baseline, what moved first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Case, OuterRef, Q, QuerySet, Subquery, When

from runs.answers.answer import Amount, as_share
from runs.answers.history import expected_amount, set_against
from runs.answers.words.verdicts import share
from runs.compare.baseline import DEFAULT_BASELINE, Baseline, Facts
from runs.formatting import grouped
from runs.history.watching import RECENT, goes_on
from runs.history.words import short_change
from runs.models import Benchmark, ChangePoint, SeriesBatch
from runs.models.choices import AlertState, ChangeState
from runs.models.visible import Reader

_NAMED = {"label": "label", "version": "version__version", "commit": "commit__startswith"}
SPARK_WIDTH, SPARK_HEIGHT = 120, 28


class Past(NamedTuple):
    """A batch, as far as a baseline asks for it: a list reads thousands."""

    centre: float | None
    facts: Facts


def read_baseline(text: str) -> Baseline:
    """Of the lists, which hold the newest `RECENT` batches of a benchmark at hand. Raises WrongBaseline."""
    return Baseline.read(text or DEFAULT_BASELINE, most_batches=RECENT - 1)


@dataclass(frozen=True)
class Row:
    """`change`: the newest batch as a ratio to the `batches` of the baseline, None where that has none; `level_since`:
    the day of the change before which further ones of it lie, which do not count. `step`: the last one that is
    confirmed, and `goes_on` the change that stands where that only took back the one before it; `suspicion`: the last
    that further batches have yet to confirm. `doubts`: what speaks against the newest batch.
    """

    benchmark: Benchmark
    newest: float | None
    change: Amount | None
    step: ChangePoint | None
    suspicion: ChangePoint | None = None
    goes_on: ChangePoint | None = None
    batches: int = 0
    level_since: str = ""
    doubts: str = ""

    @property
    def change_words(self) -> str:
        return share(as_share(self.change)) if self.change and self.change.value is not None else ""

    @property
    def last_changes(self) -> list[tuple[ChangePoint, str]]:
        """What was confirmed last, and what is suspected, in words."""
        points = filter(None, (self.goes_on, self.step, self.suspicion))
        return [(point, f"{short_change(point)} since {point.at.measured_at:%Y-%m-%d}") for point in points]

    @property
    def spark(self) -> str:
        """The points of an SVG polyline; empty for fewer than two batches."""
        centres = [each["centre"] for each in self.benchmark.recent if each["centre"] is not None]
        if len(centres) < 2:
            return ""
        least, most = min(centres), max(centres)
        span, each = (most - least) or 1.0, SPARK_WIDTH / (len(centres) - 1)
        return " ".join(
            f"{index * each:.1f},{2 + (SPARK_HEIGHT - 4) * (1 - (centre - least) / span):.1f}"
            for index, centre in enumerate(centres)
        )


def listed_benchmarks(user: Reader, runs: QuerySet[Any] | None = None) -> QuerySet[Benchmark]:
    """Those of the main branch that lists show to this person, what moved first and what was measured once last;
    `runs`: with any of these.
    """
    rows = Benchmark.objects.watched().listed_for(user).filter(joined_to=None, batches__gt=0)
    if runs is not None:
        of_runs = SeriesBatch.objects.filter(run__in=runs.order_by().values("pk"))
        rows = rows.filter(pk__in=of_runs.values("benchmark"))
    measured_once = Case(When(batches=1, then=1), default=0)
    rows = rows.select_related("metric", "hardware", "dbms", "workload")
    return rows.order_by("-moved", measured_once, "-newest_at", "pk")


def rows_of(benchmarks: Sequence[Benchmark], baseline: Baseline) -> list[Row]:
    series = _series(benchmarks, baseline)
    points: dict[UUID, list[ChangePoint]] = {}
    for point in (
        ChangePoint.objects.filter(benchmark__in=benchmarks)
        .exclude(state=ChangeState.REFUTED)
        .exclude(alert__state=AlertState.NOISE)
        .select_related("at", "alert")
        .defer("at__values", "alert__note", "alert__links")
        .order_by("at__measured_at")
    ):
        points.setdefault(point.benchmark_id, []).append(point)
    for each in benchmarks:
        for point in points.get(each.pk, []):
            point.benchmark = each
    return [_row(each, series.get(each.pk, []), baseline, points.get(each.pk, [])) for each in benchmarks]


def with_doubts(rows: Sequence[Row]) -> list[Row]:
    """These with what speaks against the newest batch of each."""
    # By the index of their order: a benchmark may have thousands of batches.
    last = SeriesBatch.objects.filter(benchmark=OuterRef("pk")).newest_first().values("pk")[:1]
    benchmarks = Benchmark.objects.filter(pk__in=[row.benchmark.pk for row in rows])
    newest = [*benchmarks.values_list(Subquery(last), flat=True)]
    doubts = SeriesBatch.objects.filter(pk__in=newest).doubts("benchmark")
    return [replace(row, doubts=doubts.get(row.benchmark.pk, "")) for row in rows]


def _row(benchmark: Benchmark, rows: Sequence[Past], baseline: Baseline, points: Sequence[ChangePoint]) -> Row:
    newest = rows[-1].centre if rows else None
    last = {point.state: point for point in points}
    changed_at = [point.at.measured_at for point in points if point.begins_level]
    held = baseline.before(rows, attrgetter("facts"), changed_at=changed_at) if rows else []
    _, before, _ = set_against(newest, [(row, row.centre) for row in held])
    change = None
    if before:
        change = expected_amount(newest, before, better=benchmark.metric.better, threshold=benchmark.metric.threshold)
    steps = (last.get(ChangeState.CONFIRMED), last.get(ChangeState.SUSPECTED))
    is_of_fewer = bool(held) and len(held) < len(baseline.before(rows, attrgetter("facts")))
    return Row(
        benchmark, newest, change, *steps, goes_on(points, benchmark.metric), len(before),
        f"{held[0].facts.measured_at:%Y-%m-%d}" if is_of_fewer else "",
    )  # fmt: skip


def _series(benchmarks: Sequence[Benchmark], baseline: Baseline) -> dict[UUID, list[Past]]:
    """For each benchmark its newest batch, behind those that the baseline can name, in order."""
    if baseline.kind == "last":
        return {
            benchmark.pk: [Past(each["centre"], Facts(datetime.fromisoformat(each["at"]))) for each in benchmark.recent]
            for benchmark in benchmarks
        }
    beside = {} if baseline.is_recent else _releases_beside(benchmarks)
    every = {each.pk for each in benchmarks}.union(*beside.values())
    wanted = SeriesBatch.objects.filter(benchmark__in=every).exclude(centre=None)
    if not baseline.is_recent:
        since = min((each.newest_at for each in benchmarks if each.newest_at), default=datetime.min)
        named = Q(**{_NAMED[baseline.kind]: baseline.value})
        wanted = wanted.filter(named | Q(measured_at__gte=since))
    else:
        oldest = min((each.newest_at for each in benchmarks if each.newest_at), default=datetime.max)
        wanted = wanted.filter(measured_at__gte=oldest - timedelta(days=int(baseline.value) + 1))
    asked = wanted.in_order().values_list("benchmark", "measured_at", "centre", "label", "commit", "version__version")
    found: dict[UUID, list[Past]] = {}
    for pk, at, centre, label, commit, version in asked:
        found.setdefault(pk, []).append(Past(centre, Facts(at, label, commit, [version])))
    others = {pk: chain.from_iterable(found.get(other, []) for other in own) for pk, own in beside.items()}
    return {pk: [*others.get(pk, []), *rows] for pk, rows in found.items()}


def _releases_beside(benchmarks: Sequence[Benchmark]) -> dict[UUID, list[UUID]]:
    """The benchmarks of the other releases that are measured beside each: a version that is named may be of one."""
    newest = {each.pk: each.release_of_id or each.pk for each in benchmarks}
    rows = Benchmark.objects.filter(Q(pk__in=newest.values()) | Q(release_of__in=newest.values()))
    lines = grouped((of or pk, pk) for pk, of in rows.values_list("pk", "release_of"))
    return {pk: [other for other in lines.get(of, []) if other != pk] for pk, of in newest.items()}
