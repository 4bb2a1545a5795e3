"""What a benchmark's series says after its newest batches: suspicions, confirmed changes, and what lists show of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from benchagent.catalog import threshold_of
from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from runs.answers.answer import Amount, amount_of, as_share
from runs.answers.history import expected_amount
from runs.history import alerts
from runs.models import Alert, Benchmark, ChangePoint, Run, SeriesBatch, User
from runs.models.choices import OF_LEVEL, OPEN_ALERTS, AlertState, Better, ChangeKind, ChangeState
from runs.stats import PRACTICAL_THRESHOLD, WINNERS, mean
from runs.stats import watch as statistics
from runs.stats.steps import LEAST_DAYS

# What lies so far back when it is found wakes nobody.
PAST = timedelta(days=30)
# A long past is looked at after each so many batches, its newest ones after each.
STRIDE = 50
RECENT, BASELINE = 30, 10
# What lists show of a benchmark; the rest of it others may have changed meanwhile.
SUMMARY = ("batches", "newest_at", "recent", "moved", "verdict", "hardware", "config", "workload")


@dataclass
class BenchmarkSeries:
    """The newest batches of a benchmark that have a centre, in their order, and its changes among them."""

    benchmark: Benchmark
    rows: list[SeriesBatch]
    points: list[ChangePoint]

    @classmethod
    def of(cls, benchmark: Benchmark, most: int | None = None, *, for_readers: bool = True) -> BenchmarkSeries:
        """`for_readers`: with what is shown of each batch beside its values."""
        rows = benchmark.series.newest_first().exclude(centre=None)
        points = benchmark.changes.select_related("alert").order_by("pk")
        if for_readers:
            rows, points = rows.select_related("version__dbms"), points.select_related("at")
        else:
            rows = rows.only("benchmark", "run", "values", "centre", "measured_at", "commit", "is_watched")
        if most:
            rows = rows[:most]
        return cls(benchmark, list(rows)[::-1], list(points))

    def __post_init__(self) -> None:
        self.index = {row.pk: index for index, row in enumerate(self.rows)}
        self.logs = [math.log(row.centre) for row in self.rows if row.centre]

    def places(self, state: str) -> list[int]:
        """The places of the changes of its level."""
        return sorted(
            self.index[point.at_id]
            for point in self.points
            if point.at_id in self.index and point.state == state and point.kind in OF_LEVEL
        )

    @property
    def starts(self) -> list[int]:
        """Where its level changed, also where a person says that it means nothing."""
        return self.places(ChangeState.CONFIRMED)

    @property
    def drifts(self) -> tuple[range, ...]:
        """The batches that each drift was seen in."""
        found = [
            point for point in self.points
            if point.kind == ChangeKind.DRIFT and point.state == ChangeState.CONFIRMED and point.at_id in self.index
        ]  # fmt: skip
        return tuple(range(self.index[point.at_id], self.last_of(point) + 1) for point in found)

    @property
    def baseline_from(self) -> int:
        """The first batch that the present baseline may hold: an expected change moves it, as a split does a share."""
        expected = [each for each in self.points if each.alert and each.alert.state == AlertState.EXPECTED]
        return max((self.index[each.at_id] for each in expected if each.at_id in self.index), default=0)

    def last_of(self, point: ChangePoint) -> int:
        """The newest batch that a change tells of: a drift leads up to it, and began long before."""
        at = self.index.get(point.at_id, -1)
        return min(at + point.batches_after, len(self.rows)) - 1 if point.kind == ChangeKind.DRIFT else at

    def band(self) -> statistics.Band | None:
        """Where the next batch is expected."""
        return statistics.band(self.logs, self.starts)

    def repeats_needed(self, expected: statistics.Band, share: float) -> int | None:
        """A batch, to see a change of this share; None where no number of them would show it."""
        rows = [row for row in self.rows[-statistics.MOST_IN_BAND :] if len(row.values) > 1]
        if not rows:
            return None
        within, repeats = (
            mean([statistics.spread_of(row.values) ** 2 for row in rows]),
            mean([len(row.values) for row in rows]),
        )
        return statistics.repeats_needed(expected, within=within, repeats=repeats, share=share)

    def near(self, at: int, kinds: Iterable[str]) -> ChangePoint | None:
        """The change that is there already, be it placed a few batches beside; one that proved to be none last."""
        found = [
            (point.state == ChangeState.REFUTED, abs(self.index[point.at_id] - at), point)
            for point in self.points
            if point.kind in kinds and point.at_id in self.index and abs(self.index[point.at_id] - at) <= LEAST_DAYS
        ]
        return min(found, key=lambda each: each[:2])[2] if found else None


def is_rejected(point: ChangePoint) -> bool:
    return point.alert is not None and point.alert.state == AlertState.NOISE and point.state != ChangeState.REFUTED


def threshold(benchmark: Benchmark) -> float:
    """From which on a change matters."""
    return max(PRACTICAL_THRESHOLD, threshold_of(benchmark.metric.name, benchmark.metric.unit))


def watch(benchmark: Benchmark) -> None:
    """After batches were filed, changed or taken out. In the caller's transaction."""
    counted = benchmark.series.aggregate(batches=Count("pk"), fresh=Count("pk", filter=Q(is_watched=False)))
    most = None if counted["fresh"] > statistics.WINDOW else statistics.WINDOW + counted["fresh"]
    series = BenchmarkSeries.of(benchmark, most, for_readers=False)
    if not benchmark.branch and series.rows:
        for end in _ends(series):
            _look(series, end)
        _look_at_noise(series)
        _measure_anew(series)
    benchmark.series.filter(is_watched=False).update(is_watched=True)
    summarise(benchmark, series, counted["batches"])


def _ends(series: BenchmarkSeries) -> list[int]:
    """After which batches to look: each of the new ones at the end, of many older ones every `STRIDE`.

    What was put in among older ones is looked at once, with the whole.
    """
    last = len(series.rows)
    first = last
    while first and not series.rows[first - 1].is_watched:
        first -= 1
    older = range(first + STRIDE, last - statistics.WINDOW, STRIDE)
    return [*older, *range(max(first, last - statistics.WINDOW) + 1, last + 1)] or [last]


def _look(series: BenchmarkSeries, end: int) -> None:
    before = statistics.Watched(
        tuple(at for at in series.starts if at < end), tuple(series.places(ChangeState.SUSPECTED)),
        drifts=tuple(drift for drift in series.drifts if drift.start < end),
    )  # fmt: skip
    least = threshold(series.benchmark)
    after = statistics.watch(series.logs[:end], before, least)
    for found in after.confirmed:
        if found.kind != "drift" or not _become_drift(series, found, after.absorbed):
            _confirm(series, found)
    for at in after.refuted:
        if (point := series.near(at, OF_LEVEL)) and point.state == ChangeState.SUSPECTED:
            _refute(point)
    for at in set(after.suspects) - set(before.suspects):
        known = series.near(at, OF_LEVEL)
        # That a batch a few places before proved to be none, as a bad night does, says nothing of this one.
        if known is None or (known.state == ChangeState.REFUTED and known.at_id != series.rows[at].pk):
            begin = max((start for start in after.starts if start < at), default=0)
            if found_at := statistics.change_at(series.logs, at, begin, at + 1, series.drifts):
                _new(series, found_at, ChangeState.SUSPECTED)


def _look_at_noise(series: BenchmarkSeries) -> None:
    for found in statistics.changes_of_noise([statistics.spread_of(row.values) for row in series.rows]):
        if series.near(found.at, [ChangeKind.NOISE]) is None:
            _new(series, found, ChangeState.CONFIRMED)


def _confirm(series: BenchmarkSeries, found: statistics.Found) -> None:
    point = series.near(found.at, OF_LEVEL)
    if point is None or (found.kind == "drift" and point.state == ChangeState.CONFIRMED):
        _new(series, found, ChangeState.CONFIRMED)
    elif point.state != ChangeState.CONFIRMED:
        was_refuted = point.state == ChangeState.REFUTED
        _describe(series, point, found)
        point.state, point.confirmed_at = ChangeState.CONFIRMED, timezone.now()
        point.save()
        _tell(series, point, was_refuted=was_refuted)


def _become_drift(series: BenchmarkSeries, found: statistics.Found, absorbed: Sequence[int]) -> bool:
    """The first of the steps that prove to be part of a drift becomes it, with its alert; the others are none any more.
    What people have judged stays a step. -> whether there is one.
    """
    places = [series.rows[at].pk for at in absorbed]
    steps = [
        point for point in sorted(series.points, key=lambda point: series.index.get(point.at_id, -1))
        if point.at_id in places and point.state == ChangeState.CONFIRMED and point.kind == ChangeKind.STEP
        and (point.alert is None or point.alert.state in OPEN_ALERTS)
    ]  # fmt: skip
    if not steps:
        return False
    first, *others = steps
    _describe(series, first, found)
    first.save()
    for point in others:
        _refute(point, alerts.PART_OF_A_DRIFT)
    if first.alert:
        alerts.became_drift(first, series.rows)
    else:
        _tell(series, first)
    return True


def _refute(point: ChangePoint, reason: str = alerts.NOT_CONFIRMED) -> None:
    point.state = ChangeState.REFUTED
    point.save(update_fields=["state"])
    alerts.refuted(point, reason)


def _new(series: BenchmarkSeries, found: statistics.Found, state: str) -> None:
    point = ChangePoint(benchmark=series.benchmark, state=state)
    _describe(series, point, found)
    if state == ChangeState.CONFIRMED:
        point.confirmed_at = point.found_at
    point.save()
    series.points.append(point)
    _tell(series, point)


def _tell(series: BenchmarkSeries, point: ChangePoint, *, was_refuted: bool = False) -> None:
    if series.rows[series.last_of(point)].measured_at > timezone.now() - PAST:
        alerts.attach(point, series.rows, was_refuted=was_refuted)


def _describe(series: BenchmarkSeries, point: ChangePoint, found: statistics.Found) -> None:
    point.at, point.kind = series.rows[found.at], ChangeKind(found.kind)
    point.change = as_share(amount_of(found.change)).model_dump(include={"value", "low", "high"})
    point.side = _side(series.benchmark, found)
    point.batches_before, point.batches_after = found.before, found.after


def _side(benchmark: Benchmark, found: statistics.Found) -> str:
    if found.kind == "noise":
        return "worse" if found.change.value > 1 else "better"
    if benchmark.metric.better == Better.NONE:
        return "different"
    return "better" if (found.change.value > 1) == (benchmark.metric.better == Better.HIGHER) else "worse"


def _measure_anew(series: BenchmarkSeries) -> None:
    """How large the confirmed steps and drifts are, of all batches up to the next; what is none is refuted.

    A step was placed by the batches that there were: of those that came later, and stand before, it may be none.
    """
    starts, least = series.starts, threshold(series.benchmark)
    for point in series.points:
        at = series.index.get(point.at_id)
        if at is None or at not in starts or point.kind not in OF_LEVEL:
            continue
        begin, end = max([0, *starts[: starts.index(at)]]), min([*starts[starts.index(at) + 1 :], len(series.rows)])
        if point.kind == ChangeKind.DRIFT:
            found = statistics.drift_goes_on(series.logs[:end], at, least)
        else:
            found = statistics.change_at(series.logs, at, begin, end, series.drifts)
        came_before = series.rows[at].is_watched and not all(row.is_watched for row in series.rows[:at])
        if found and _is_none(point, found, least, is_settled=came_before or end < len(series.rows)):
            _refute(point)
            _measure_anew(series)
            return
        if found and (found.before, found.after) != (point.batches_before, point.batches_after):
            _describe(series, point, found)
            point.save()
            if point.kind == ChangeKind.DRIFT and point.alert is None:  # what was past when it was found goes on
                _tell(series, point)


def _is_none(point: ChangePoint, found: statistics.Found, least: float, *, is_settled: bool) -> bool:
    """Whether a step that another follows, or that others were put before, is too small and not sure; what people have
    judged stays.
    """
    is_judged = point.alert is not None and point.alert.state not in (AlertState.NEW, AlertState.CONFIRMED)
    interval = found.change.interval
    is_small = interval is not None and interval.low < 1 < interval.high and abs(found.change.value - 1) < least
    return point.kind == ChangeKind.STEP and not is_judged and is_small and is_settled


@transaction.atomic
def set_alert_state(alert: Alert, state: str, *, by: User, reason: str = "", fixed_by: str = "") -> None:
    """A person judges an alert; lists show its benchmarks accordingly."""
    if alerts.move(alert, state, by=by, reason=reason, fixed_by=fixed_by):
        for benchmark in Benchmark.objects.filter(changes__alert=alert).select_related("metric").distinct():
            summarise(benchmark, BenchmarkSeries.of(benchmark, statistics.WINDOW, for_readers=False), benchmark.batches)


def summarise(benchmark: Benchmark, series: BenchmarkSeries, count: int) -> None:
    """What lists show. A benchmark that holds nothing any more goes."""
    if not count and not benchmark.joined.exists() and benchmark.joined_to_id is None:
        benchmark.delete()
        return
    recent = series.rows[-RECENT:]
    benchmark.show(count, recent)
    if recent and recent[-1].run_id:
        newest = Run.objects.filter(pk=recent[-1].run_id).values_list("hardware", "config", "workload")
        benchmark.hardware_id, benchmark.config_id, benchmark.workload_id = newest.get()
    amount = newest_against(series, series.rows[series.baseline_from : -1][-BASELINE:])
    benchmark.verdict = amount.verdict if amount else ""
    sure = amount is not None and amount.value is not None and amount.verdict in WINNERS
    now = abs((amount.value or 1.0) - 1) if amount and sure else 0.0
    benchmark.moved = max([now, *_lately(series)])
    benchmark.save(update_fields=SUMMARY)


def _lately(series: BenchmarkSeries) -> list[float]:
    """How large the changes of the level among the newest batches are, but for those that people expect or reject.

    Of noise none: it may be ten times what it was where the level has not moved.
    """
    settled = (AlertState.EXPECTED, AlertState.NOISE)
    return [
        abs(point.change.get("value", 0.0))
        for point in series.points
        if point.state == ChangeState.CONFIRMED and point.kind in OF_LEVEL
        and series.last_of(point) >= len(series.rows) - RECENT
        and not (point.alert and point.alert.state in settled)
    ]  # fmt: skip


def newest_against(series: BenchmarkSeries, before: Sequence[SeriesBatch]) -> Amount | None:
    """The newest batch as a ratio to those of a baseline. None without either."""
    if not before or not series.rows or not series.rows[-1].centre:
        return None
    centres = [row.centre for row in before if row.centre]
    metric = series.benchmark.metric
    return expected_amount(series.rows[-1].centre, centres, better=metric.better, threshold=threshold(series.benchmark))
