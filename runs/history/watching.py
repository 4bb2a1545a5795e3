"""What a benchmark's series says after its newest batches: suspicions, confirmed changes, and what lists show of it."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from runs.answers.answer import Amount, amount_of, as_share
from runs.answers.history import expected_amount, set_against, suspicion
from runs.history import alerts
from runs.models import Alert, Benchmark, ChangePoint, Metric, Run, SeriesBatch, User
from runs.models.choices import (
    OF_LEVEL,
    OF_RATIO,
    OPEN_STATES,
    AlertState,
    Better,
    ChangeKind,
    ChangeState,
)
from runs.stats import WINNERS, mean, side_of
from runs.stats import watch as statistics
from runs.stats.steps import LEAST_DAYS
from runs.stats.zeros import ZeroChange, zero_changes

# What lies so far back when it is found wakes nobody.
PAST = timedelta(days=30)
RECENT, BASELINE = 30, 10
# What lists show of a benchmark; the rest of it others may have changed meanwhile.
SUMMARY = ("batches", "newest_at", "recent", "moved", "verdict", "hardware", "config", "workload")

# What more batches tell of a change that stays where it is.
MEASURED = ("change", "batches_before", "batches_after", "earliest", "latest")


@dataclass
class BenchmarkSeries:
    """The newest batches of a benchmark, in their order, and its changes among them."""

    benchmark: Benchmark
    rows: list[SeriesBatch]
    points: list[ChangePoint]

    @classmethod
    def of(cls, benchmark: Benchmark, most: int | None = None, *, for_readers: bool = True) -> BenchmarkSeries:
        """`for_readers`: with what is shown of each batch beside its values."""
        rows = benchmark.series.newest_first()
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

    @property
    def above_zero(self) -> BenchmarkSeries:
        """The batches of which there are ratios, as those have logs."""
        return replace(self, rows=[row for row in self.rows if row.centre])

    @property
    def is_at_zero(self) -> bool:
        """Whether most batches since its last change are zero."""
        present = self.rows[max(self.starts, default=0) :]
        return 2 * sum(row.centre == 0 for row in present) > len(present)

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
        """The first batch that the present baseline may hold: the last change before the newest moves it."""
        begins = [self.index[each.at_id] for each in self.points if each.begins_level and each.at_id in self.index]
        return max((at for at in begins if at < len(self.rows) - 1), default=0)

    @property
    def baseline(self) -> tuple[list[SeriesBatch], list[float | None], list[tuple[SeriesBatch, float]]]:
        """The batches that the newest is set against, their means, and those that are left out, as `set_against`."""
        newest = self.rows[-1].centre if self.rows else None
        recent = self.rows[self.baseline_from : -1][-BASELINE:]
        return set_against(newest, [(row, row.centre) for row in recent])

    def last_of(self, point: ChangePoint) -> int:
        """The newest batch that a change tells of: a drift leads up to it, and began long before."""
        at = self.index.get(point.at_id, -1)
        return min(at + point.batches_after, len(self.rows)) - 1 if point.kind == ChangeKind.DRIFT else at

    @property
    def settled(self) -> list[float]:
        """The logs of the batches before the first that is suspected: what it is off by is no scatter of theirs."""
        return self.logs[: min(self.places(ChangeState.SUSPECTED), default=None)]

    def band(self) -> statistics.Band | None:
        """Where the next batch is expected."""
        above = self.above_zero
        threshold = self.benchmark.metric.threshold
        return None if self.is_at_zero else statistics.expected(above.settled, threshold, above.starts, above.drifts)

    def too_small(self) -> list[ChangePoint]:
        """The steps that all batches show surely, and that are smaller than matters: no changes, and not stored."""
        above, suspects = self.above_zero, self.above_zero.places(ChangeState.SUSPECTED)
        least = self.benchmark.metric.threshold
        points = []
        for found in statistics.told_small(above.logs, least, above.starts, above.drifts, suspects):
            points.append(ChangePoint(benchmark=self.benchmark, state=ChangeState.CONFIRMED))
            _describe(above, points[-1], found)
        return points

    def least_told(self) -> float:
        """The least change that three further batches show, as an answer of the same series tells it."""
        above, threshold = self.above_zero, self.benchmark.metric.threshold
        return max(threshold, statistics.least_told(above.settled, threshold, above.starts, above.drifts) or 0.0)

    def repeats_needed(self, expected: statistics.Band, share: float) -> int | None:
        """A batch, to see a change of this share; None where no number of them would show it."""
        above = self.above_zero
        rows = [row for row in above.rows[-statistics.MOST_IN_BAND :] if len(row.values) > 1]
        if not rows:
            return None
        within, repeats = (
            mean([statistics.spread_of(row.values) ** 2 for row in rows]),
            mean([len(row.values) for row in rows]),
        )
        threshold = self.benchmark.metric.threshold
        least = statistics.least_told(above.settled, threshold, above.starts, above.drifts) or 0.0
        return statistics.repeats_needed(expected, least, within=within, repeats=repeats, share=share)


def goes_on(points: Iterable[ChangePoint], metric: Metric) -> ChangePoint | None:
    """Where the last confirmed step of a series took back the one before it, as after a disturbed week, the change
    before these, whose level goes on; None of others.
    """
    left: list[ChangePoint] = []
    is_back = False
    for point in sorted(points, key=lambda point: point.at.place):
        if point.state != ChangeState.CONFIRMED or point.kind not in OF_LEVEL or is_rejected(point):
            continue
        pair = (*left[-1:], point)
        both, most = math.prod(1 + each.change.get("value", 0.0) for each in pair), 1 + metric.threshold
        is_back = [each.kind for each in pair] == 2 * [ChangeKind.STEP] and 1 / most < both < most
        left = left[:-1] if is_back else [*left, point]
    return left[-1] if is_back and left else None


def is_rejected(point: ChangePoint) -> bool:
    return point.alert is not None and point.alert.state == AlertState.NOISE and point.state != ChangeState.REFUTED


def watch(benchmark: Benchmark) -> None:
    """After batches were filed, changed or taken out. In the caller's transaction.

    A batch of which runs are still to come is judged once it is whole: the first of its repeats wakes nobody.
    """
    fresh = Count("pk", filter=Q(is_watched=False))
    counted = benchmark.series.aggregate(batches=Count("pk"), fresh=fresh)
    newest = statistics.WINDOW + counted["fresh"]
    series = BenchmarkSeries.of(benchmark, newest, for_readers=False)
    is_late = any(row.is_watched for row in series.rows[len(series.rows) - counted["fresh"] :])
    if is_late and counted["batches"] > newest:
        series = BenchmarkSeries.of(benchmark, for_readers=False)
    new = benchmark.series.filter(is_watched=False)
    in_part = set(new.filter(batch__runs__state__in=OPEN_STATES).values_list("pk", flat=True))
    whole = replace(series, rows=[row for row in series.rows if row.pk not in in_part])
    if benchmark.is_watched and whole.rows:
        _look_at_zero(whole, _first_to_look_at(whole))
    if benchmark.is_watched and (above := whole.above_zero).rows:
        begin = _first_to_look_at(above)
        _look(above, begin)
        _look_at_noise(above, begin)
        _measure_anew(above)
    new.exclude(pk__in=in_part).update(is_watched=True)
    summarise(benchmark, series, counted["batches"])


def _first_to_look_at(series: BenchmarkSeries) -> int:
    """The first batch that is new; where one came late, as far before it as what it may have changed."""
    watched = [row.is_watched for row in series.rows]
    first = watched.index(False) if False in watched else len(watched)
    return max(0, first - statistics.WINDOW) if any(watched[first:]) else first


def _parted(series: BenchmarkSeries, kinds: Collection[str], begin: int) -> tuple[list[ChangePoint], list[ChangePoint]]:
    """Its changes of these kinds: those that stay, as they were confirmed before `begin` or judged by people, and those
    that are placed anew.
    """
    stay: list[ChangePoint] = []
    open_ones: list[ChangePoint] = []
    for point in series.points:
        if point.kind in kinds and point.at_id in series.index:
            is_settled = point.is_judged or series.index[point.at_id] < begin
            (stay if is_settled and point.state == ChangeState.CONFIRMED else open_ones).append(point)
    return stay, open_ones


def _look(series: BenchmarkSeries, begin: int) -> None:
    """What the batches from `begin` on tell, one after the other, in whatever order they came. Stored is where that
    ends: what one batch calls out and others deny that are there already wakes nobody.
    """
    stay, open_ones = _parted(series, OF_RATIO, begin)
    suspects = [series.index[point.at_id] for point in open_ones if point.state == ChangeState.SUSPECTED]
    after, found = _watched(series, stay, [at for at in suspects if at < begin], begin)
    begins = {drift.start for drift in after.drifts}
    passed = [
        point for point in stay
        if not point.is_judged and point.kind == ChangeKind.STEP
        and (series.index[point.at_id] in begins or series.index[point.at_id] not in after.starts)
    ]  # fmt: skip
    stay, open_ones = [point for point in stay if point not in passed], open_ones + passed
    for point in open_ones:
        if point.state == ChangeState.SUSPECTED and series.index[point.at_id] in after.refuted:
            _refute(point)
    held = {series.index[point.at_id]: point.kind for point in stay}
    for drift in after.drifts:
        if held.get(drift.start) != ChangeKind.DRIFT:
            _become_drift(series, found[drift.start], _parts_of(series, drift, after.starts, open_ones))
    for at in after.starts:
        if at not in held and at not in begins:
            _confirm(series, found[at], _take(series, at, open_ones))
    for at in after.suspects:
        _suspect(series, at, after, open_ones)
    _refute_standing(series, open_ones)
    seen_in = {drift.start: drift for drift in after.drifts}
    for point in series.points:
        span = seen_in.get(series.index.get(point.at_id, -1))
        if point.kind == ChangeKind.DRIFT and span:
            point.batches_after = len(span)


def _watched(
    series: BenchmarkSeries, stay: Sequence[ChangePoint], suspects: Sequence[int], begin: int
) -> tuple[statistics.Watched, dict[int, statistics.Found]]:
    """Where the series comes to from `begin` on with these changes, with all that was refuted on the way; and what was
    confirmed, by place.
    """
    least, places = series.benchmark.metric.threshold, {series.index[point.at_id] for point in stay}
    judged = [series.index[point.at_id] for point in stay if point.is_judged]
    drifts = {series.index[point.at_id]: point for point in stay if point.kind == ChangeKind.DRIFT}
    seen = (range(at, min(series.last_of(point) + 1, begin)) for at, point in drifts.items() if at < begin)
    starts = tuple(sorted(at for at in places if at < begin))
    after, refuted = statistics.Watched(starts, tuple(suspects), drifts=tuple(seen)), set[int]()
    found: dict[int, statistics.Found] = {}
    for newest in range(begin, len(series.rows)):
        before = replace(
            after, starts=tuple(sorted({*after.starts, *(at for at in judged if at <= newest)})),
            drifts=(*after.drifts, range(newest, newest + 1)) if newest in drifts else after.drifts,
        )  # fmt: skip
        after = statistics.watch(series.logs[: newest + 1], before, least)
        found |= {each.at: each for each in after.confirmed}
        refuted |= {*after.refuted}
    return replace(after, refuted=tuple(refuted)), found


def _take(series: BenchmarkSeries, at: int, among: list[ChangePoint]) -> ChangePoint | None:
    """The change that was there before, be it placed a few batches beside; one that proved to be none last, and not
    where somebody has said so of another batch.
    """
    near = [
        (point.state == ChangeState.REFUTED, abs(series.index[point.at_id] - at), point)
        for point in among if abs(series.index[point.at_id] - at) <= LEAST_DAYS
    ]  # fmt: skip
    near = [each for each in near if not (each[0] and each[1] and each[2].is_judged)]
    if not near:
        return None
    point = min(near, key=lambda each: each[:2])[2]
    among.remove(point)
    return point


def _parts_of(
    series: BenchmarkSeries, drift: range, starts: Sequence[int], among: list[ChangePoint]
) -> list[ChangePoint]:
    """What was confirmed within a drift and is no step on it: the drift as it was placed before, or steps."""
    parts = [
        point for point in among
        if point.state == ChangeState.CONFIRMED and drift.start <= series.last_of(point) < drift.stop
        and (point.kind == ChangeKind.DRIFT or series.index[point.at_id] not in {*starts} - {drift.start})
    ]  # fmt: skip
    among[:] = [point for point in among if point not in parts]
    return sorted(parts, key=lambda point: (point.kind != ChangeKind.DRIFT, series.index[point.at_id]))


def _look_at_noise(series: BenchmarkSeries, begin: int) -> None:
    stay, open_ones = _parted(series, [ChangeKind.NOISE], begin)
    held = [series.index[point.at_id] for point in stay]
    spreads = [statistics.spread_of(row.values) for row in series.rows]
    for newest in range(begin, len(spreads)):
        for found in statistics.changes_of_noise(spreads[: newest + 1]):
            if all(abs(found.at - at) > LEAST_DAYS for at in held):
                _confirm(series, found, _take(series, found.at, open_ones))
                held.append(found.at)
    _refute_standing(series, open_ones)


def _look_at_zero(series: BenchmarkSeries, begin: int) -> None:
    """Where it came from zero or to it; how many batches there are before it and since."""
    stay, open_ones = _parted(series, [ChangeKind.ZERO], begin)
    held, batches = [series.index[point.at_id] for point in stay], [row.values for row in series.rows]
    found: list[ZeroChange] = []
    for newest in range(begin, len(batches)) if any(row.centre == 0 for row in series.rows) else ():
        found = zero_changes(batches[: newest + 1])
        for change in found:
            if change.at not in held:
                _confirm(series, change, _take(series, change.at, open_ones))
                held.append(change.at)
    _refute_standing(series, open_ones)
    of_zero = {series.index.get(point.at_id): point for point in series.points if point.kind == ChangeKind.ZERO}
    for change in found:
        point = of_zero[change.at]
        if (point.batches_before, point.batches_after) != (change.before, change.after):
            _describe(series, point, change)
            point.save()


def _suspect(series: BenchmarkSeries, at: int, after: statistics.Watched, among: list[ChangePoint]) -> None:
    better, least = series.benchmark.metric.better, series.benchmark.metric.threshold
    found = suspicion(series.logs, at, after.starts, after.drifts, better=better, threshold=least)
    if found is None:
        return
    # That a batch a few places before proved to be none, as a bad night does, says nothing of this one.
    row = series.rows[at].pk
    point = _take(series, at, [each for each in among if each.state != ChangeState.REFUTED or each.at_id == row])
    if point:
        among.remove(point)
    if point:
        before = point.state, point.at_id
        _describe(series, point, found)
        point.state = ChangeState.SUSPECTED
        point.save()
        if before[0] == ChangeState.REFUTED:
            _tell(series, point, was_refuted=True)
        elif before != (ChangeState.SUSPECTED, row):
            alerts.came_late(point, series.rows)
    else:
        _new(series, found, ChangeState.SUSPECTED)


def _confirm(series: BenchmarkSeries, found: statistics.Found | ZeroChange, point: ChangePoint | None) -> None:
    """`point`: what was there before."""
    if point is None:
        _new(series, found, ChangeState.CONFIRMED)
        return
    before = point.state
    _describe(series, point, found)
    if before != ChangeState.CONFIRMED:
        point.state, point.confirmed_at = ChangeState.CONFIRMED, timezone.now()
    point.save()
    if before == ChangeState.CONFIRMED:
        alerts.came_late(point, series.rows)
    else:
        _tell(series, point, was_refuted=before == ChangeState.REFUTED)


def _become_drift(series: BenchmarkSeries, found: statistics.Found, parts: Sequence[ChangePoint]) -> None:
    """The first of the steps that prove to be part of a drift becomes it, with its alert; the others are none any more.
    What people have judged stays a step.
    """
    if not parts:
        _new(series, found, ChangeState.CONFIRMED)
        return
    first, *others = parts
    was_step = first.kind == ChangeKind.STEP
    _describe(series, first, found)
    first.save()
    for point in others:
        _refute(point, alerts.PART_OF_A_DRIFT)
    if first.alert is None:
        _tell(series, first)
    elif was_step:
        alerts.became_drift(first, series.rows)
    else:
        alerts.came_late(first, series.rows)


def _refute(point: ChangePoint, reason: str = alerts.NOT_CONFIRMED) -> None:
    point.state = ChangeState.REFUTED
    point.save(update_fields=["state"])
    alerts.refuted(point, reason)


def _refute_standing(series: BenchmarkSeries, points: Iterable[ChangePoint]) -> None:
    newest = series.rows[-1].pk
    for point in points:
        if point.state != ChangeState.REFUTED:
            _refute(point, alerts.NO_LONGER_SHOWN if point.at_id == newest else alerts.NOT_CONFIRMED)


def _new(series: BenchmarkSeries, found: statistics.Found | ZeroChange, state: str) -> None:
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
    elif was_refuted and point.alert and alerts.closed_itself(point.alert):
        # It would hide the change as if a person had rejected it.
        point.alert = None
        point.save(update_fields=["alert"])


def _describe(series: BenchmarkSeries, point: ChangePoint, found: statistics.Found | ZeroChange) -> None:
    point.at, point.kind = series.rows[found.at], ChangeKind(found.kind)
    point.change = {}
    if not isinstance(found, ZeroChange):
        point.change = as_share(amount_of(found.change)).model_dump(include={"value", "low", "high"})
    better = Better.LOWER if point.kind == ChangeKind.NOISE else series.benchmark.metric.better
    point.side = side_of(is_rise=found.is_rise, better=better)
    point.batches_before, point.batches_after = found.before, found.after
    near = None if isinstance(found, ZeroChange) else found.near
    point.earliest, point.latest = (series.rows[place].measured_at for place in near) if near else (None, None)


def _measure_anew(series: BenchmarkSeries) -> None:
    """How large the confirmed steps and drifts are, of all batches up to the next; what is none is refuted."""
    starts, least = series.starts, series.benchmark.metric.threshold
    for point in series.points:
        at = series.index.get(point.at_id)
        if at is None or at not in starts or point.kind not in OF_RATIO:
            continue
        found = statistics.measured(series.logs, at, starts, series.drifts, least)
        if found and not point.is_judged and statistics.is_none(found, least, is_last=at == starts[-1]):
            _refute(point)
            _measure_anew(series)
            return
        before = {name: getattr(point, name) for name in MEASURED}
        if found and point.kind == found.kind:
            _describe(series, point, found)
        if before != {name: getattr(point, name) for name in MEASURED}:
            point.save()
            if point.kind == ChangeKind.DRIFT and point.alert is None:  # what was past when it was found goes on
                _tell(series, point)


@transaction.atomic
def set_alert_state(alert: Alert, state: str, *, by: User, reason: str = "", fixed_by: str = "") -> None:
    """A person judges an alert; lists show its benchmarks accordingly."""
    if alerts.move(alert, state, by=by, reason=reason, fixed_by=fixed_by):
        for benchmark in Benchmark.objects.filter(changes__alert=alert).select_related("metric").distinct():
            summarise(benchmark, BenchmarkSeries.of(benchmark, statistics.WINDOW, for_readers=False), benchmark.batches)


def summarise(benchmark: Benchmark, series: BenchmarkSeries, count: int) -> None:
    """What lists show. A benchmark that holds nothing any more goes."""
    if not count and not benchmark.is_kept:
        benchmark.delete()
        return
    recent = series.rows[-RECENT:]
    benchmark.show(count, recent)
    if recent and recent[-1].run_id:
        newest = Run.objects.filter(pk=recent[-1].run_id).values_list("hardware", "config", "workload")
        benchmark.hardware_id, benchmark.config_id, benchmark.workload_id = newest.get()
    amount = newest_against(series)
    benchmark.verdict = amount.verdict if amount else ""
    now = 0.0
    if amount and amount.verdict in WINNERS:
        now = 1.0 if amount.value is None else abs(amount.value - 1)
    benchmark.moved = max([now, *_lately(series)])
    benchmark.save(update_fields=SUMMARY)


def _lately(series: BenchmarkSeries) -> list[float]:
    """How large the changes of the level among the newest batches are, but for those that people expect or reject.

    Of noise none: it may be ten times what it was where the level has not moved.
    """
    settled = (AlertState.EXPECTED, AlertState.NOISE)
    return [
        point.size
        for point in series.points
        if point.state == ChangeState.CONFIRMED and point.kind in OF_LEVEL
        and series.last_of(point) >= len(series.rows) - RECENT
        and not (point.alert and point.alert.state in settled)
    ]  # fmt: skip


def newest_against(series: BenchmarkSeries) -> Amount | None:
    """The newest batch as a ratio to those of its baseline. None without either."""
    before, means, _ = series.baseline
    metric = series.benchmark.metric
    if not before:
        return None
    return expected_amount(series.rows[-1].centre, means, better=metric.better, threshold=metric.threshold)
