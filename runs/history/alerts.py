"""Alerts: changes at one place of one machine, or of several that were given the same anew, have one cause, as far as
noise lets their places be known. What people say of them, and who said it.

`move` is the one function through which an alert's state passes, also when it is made: whoever is to be told hangs
on it, after the commit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Prefetch, QuerySet
from django.db.models.functions import Greatest
from django.utils import timezone

from runs.access import changes
from runs.history.causes import OWN_OF_A_BATCH, commit_given, given_anew, recorded_anew
from runs.history.words import alert_title, moment_words
from runs.models import Alert, Benchmark, ChangePoint, SeriesBatch, User
from runs.models.choices import BEGIN_WITH_A_BATCH, OF_LEVEL, AlertState, ChangeKind, ChangeState
from runs.models.visible import Person
from runs.stats import watch as statistics

# What a person can say of an alert.
SAID = (
    AlertState.ACKNOWLEDGED, AlertState.EXPECTED, AlertState.FIXED, AlertState.NOISE, AlertState.MACHINE,
    AlertState.CONFIRMED,
)  # fmt: skip
NOT_CONFIRMED = "further batches did not confirm it"
NO_LONGER_SHOWN = "its batch has other numbers by now, which do not show it"
CAME_LATE = "batches that came late show where it began"
# Machines are given the same thing within so long.
ONE_CAUSE = timedelta(days=7)
# So many steps of an alert are asked whether another goes with them.
MOST_ASKED = 20
# What is closed as gone; what is expected stays.
GONE = (AlertState.FIXED, AlertState.NOISE, AlertState.MACHINE)
MOST_TOLD_AGAIN = 3
PART_OF_A_DRIFT = "it is part of a slow drift: a line fits the batches better than steps do"


def move(alert: Alert, state: str, *, by: Person = None, reason: str = "", fixed_by: str = "") -> bool:
    """To another state, noting who did so and why. False: it was there already, or somebody was faster."""
    before = "" if alert._state.adding else alert.state
    with transaction.atomic():
        if not before:
            alert.state = state
            alert.save()
        else:
            rows = Alert.objects.filter(pk=alert.pk, state=before).exclude(state=state)
            if rows.update(state=state, state_changed_at=timezone.now(), fixed_by=fixed_by) != 1:
                return False
            alert.refresh_from_db(fields=["state", "state_changed_at", "fixed_by"])
        changes.record(target=alert, field="state", old=before, new=state, by=by, reason=reason)
        if fixed_by:
            changes.record(target=alert, field="fixed by", old="", new=fixed_by, by=by)
    return True


def edit(alert: Alert, *, by: User, **values: Any) -> None:
    """Who takes care, note and links."""
    before = {name: getattr(alert, name) for name in values}
    with transaction.atomic():
        for name in alert.change(**values):
            changes.record(target=alert, field=name, old=before[name], new=values[name], by=by)


def attach(point: ChangePoint, rows: Sequence[SeriesBatch], *, was_refuted: bool = False) -> None:
    """Give a change its alert: that of its place on its machine, of its cause, or a new one.

    Confirmed, it confirms it. `was_refuted`: before, so that its alert was closed by itself.
    """
    benchmark, places = point.benchmark, _places(point, rows)
    span = _span(rows, places)
    causes = _causes(point, rows, places)
    alert = point.alert or _open_at(point, span, rows, places) or _open_with(benchmark, causes, rows, places)
    if alert is None:
        alert = Alert(
            owner_id=benchmark.owner_id, visibility=benchmark.visibility, machine_id=benchmark.machine_id,
            causes=causes, **span,
        )  # fmt: skip
        move(alert, AlertState.NEW)
    elif not _standing(alert).exclude(pk=point.pk).exists():
        # Further batches may have placed it elsewhere.
        alert.change(causes=causes, machine=benchmark.machine, **span)
    else:
        # What was recorded of others and not of this one is no cause of both; commits each may have measured others.
        is_step_there = point.kind in BEGIN_WITH_A_BATCH and alert.machine_id == benchmark.machine_id
        kept = [cause for cause in alert.causes if not is_step_there or cause.startswith(OWN_OF_A_BATCH)]
        shared = [cause for cause in alert.causes if cause in causes] or kept
        alert.change(causes=shared, **(_common(alert, span) if alert.machine_id == benchmark.machine_id else {}))
    if point.alert_id != alert.pk:
        point.alert = alert
        point.save(update_fields=["alert"])
    was_closed = was_refuted and closed_itself(alert)
    if point.state == ChangeState.CONFIRMED and (alert.state == AlertState.NEW or was_closed):
        move(alert, AlertState.CONFIRMED)
    elif was_closed:
        move(alert, AlertState.NEW)


def _causes(point: ChangePoint, rows: Sequence[SeriesBatch], places: Sequence[int]) -> list[str]:
    """A step on a machine has causes, from zero, too; a drift and a noise begin with no batch."""
    return given_anew(rows, places) if point.kind in BEGIN_WITH_A_BATCH and point.benchmark.machine_id else []


def came_late(point: ChangePoint, rows: Sequence[SeriesBatch]) -> None:
    """Batches that came late may have placed a change elsewhere. Its alert is told since then once the last of its
    changes has moved, and notes that.
    """
    if (alert := point.alert) is None:
        return
    before = alert.since
    attach(point, rows)
    if not _standing(alert).filter(at__measured_at__gt=alert.after, at__measured_at__lte=alert.latest).exists():
        places = _places(point, rows)
        alert.change(causes=_causes(point, rows, places), **_span(rows, places))
    changes.record(target=alert, field="since", old=_when(before), new=_when(alert.since), by=None, reason=CAME_LATE)


def _when(at: datetime) -> str:
    return moment_words(at, is_alone=False)


def became_drift(point: ChangePoint, rows: Sequence[SeriesBatch]) -> None:
    """The alert of a step that proved to be a drift says so; one of nothing else tells since when it drifts."""
    if (alert := point.alert) is None:
        return
    changes.record(target=alert, field="kind", old="step", new="drift", by=None, reason=PART_OF_A_DRIFT)
    if not _standing(alert).exclude(pk=point.pk).exists():
        alert.change(**_span(rows, _places(point, rows)))


def refuted(point: ChangePoint, reason: str = NOT_CONFIRMED) -> None:
    """An alert of which nothing is left that may be so is closed by itself."""
    alert = point.alert
    if alert is None or alert.is_judged:
        return
    if not _standing(alert).exists():
        move(alert, AlertState.NOISE, reason=reason)


def closed_itself(alert: Alert) -> bool:
    """Not by a person, whose word stands."""
    last = changes.history(alert).filter(field="state").first()
    return alert.state == AlertState.NOISE and last is not None and last.by is None


def _places(point: ChangePoint, rows: Sequence[SeriesBatch]) -> list[int]:
    """The batches that a change may have begun with, the likeliest first."""
    at = next(index for index, row in enumerate(rows) if row.pk == point.at_id)
    of_noise = point.kind == ChangeKind.NOISE
    sizes = [statistics.spread_of(row.values) if of_noise else row.centre for row in rows]
    with_size = [place for place, size in enumerate(sizes) if size]
    if point.kind in (ChangeKind.DRIFT, ChangeKind.ZERO) or at not in with_size:
        return [at]
    logs, among = [math.log(size) for size in sizes if size], with_size.index(at)
    logs = statistics.calmed(logs)
    found = statistics.places(logs, among, max(0, among - point.batches_before), among + point.batches_after)
    return list(dict.fromkeys([at, *(with_size[place] for place in found)]))


def _span(rows: Sequence[SeriesBatch], places: Sequence[int]) -> dict[str, datetime]:
    """From the batch before a change to the last that may be its first, and the likeliest, as they were measured."""
    first = rows[min(places)].measured_at
    # A drift may begin with the first batch.
    before = rows[min(places) - 1].measured_at if min(places) else first - timedelta(seconds=1)
    times = [before, *(rows[place].measured_at for place in places)]
    return {"after": min(times), "since": rows[places[0]].measured_at, "latest": max(times)}


def _common(alert: Alert, span: Mapping[str, datetime]) -> dict[str, datetime]:
    """What of the span of an alert another change leaves of it; the span, where they have nothing in common."""
    after, latest = max(alert.after, span["after"]), min(alert.latest, span["latest"])
    if after >= latest:
        return {}
    return {"after": after, "since": min(alert.since, span["since"]), "latest": latest}


def _open_with(
    benchmark: Benchmark, causes: Sequence[str], rows: Sequence[SeriesBatch], places: Sequence[int]
) -> Alert | None:
    """The open alert of one of these causes, on whatever machine, about the same people's results; else of a step that
    may have begun with the same commit, where one of the two series has not measured each.
    """
    since = rows[places[0]].measured_at
    found = list(Alert.objects.open().filter(
        owner=benchmark.owner_id, visibility=benchmark.visibility, changes__benchmark__dbms=benchmark.dbms_id,
        since__range=(since - ONE_CAUSE, since + ONE_CAUSE),
    ).distinct().order_by("created_at", "pk")) if causes else []  # fmt: skip
    alike = (alert for cause in causes for alert in found if cause in alert.causes)
    return next(alike, None) or next((alert for alert in found if _has_step_between(alert, rows, places, causes)), None)


def _has_step_between(alert: Alert, rows: Sequence[SeriesBatch], places: Sequence[int], causes: Sequence[str]) -> bool:
    """Both of nothing else than commits."""
    if not alert.causes or not all(map(commit_given, (*causes, *alert.causes))):
        return False
    for step in _standing(alert).filter(kind=ChangeKind.STEP).select_related("benchmark"):
        others = _newest(step)
        if any(row.pk == step.at_id for row in others):
            of_other = _places(step, others)
            if _is_between(rows, places, others, of_other) or _is_between(others, of_other, rows, places):
                return True
    return False


def _is_between(
    rows: Sequence[SeriesBatch], places: Sequence[int], others: Sequence[SeriesBatch], of_other: Sequence[int]
) -> bool:
    """Whether a step may have begun with a commit between the last before another's and the last that may be its first,
    in the order of a series that has measured both.
    """
    at = {row.commit: index for index, row in enumerate(rows) if row.commit}
    before, last = (at.get(others[place].commit) for place in (max(0, min(of_other) - 1), max(of_other)))
    return before is not None and last is not None and any(before < place <= last for place in places)


def _open_at(
    point: ChangePoint, span: Mapping[str, datetime], rows: Sequence[SeriesBatch], places: Sequence[int]
) -> Alert | None:
    """The open alert about the same people's results; a step has none of steps where something else was recorded."""
    benchmark = point.benchmark
    if benchmark.machine_id is None:
        return None
    found = Alert.objects.filter(
        machine=benchmark.machine_id, owner=benchmark.owner_id, visibility=benchmark.visibility,
        after__lt=span["latest"], latest__gt=span["after"],
    ).exclude(state=AlertState.NOISE).order_by("created_at")  # fmt: skip
    recorded = recorded_anew(rows, places) if point.kind in BEGIN_WITH_A_BATCH else []
    return next((alert for alert in found if not recorded or _may_share(alert, recorded)), None)


def _may_share(alert: Alert, recorded: Sequence[set[tuple[str, str]]]) -> bool:
    """Whether at a place of each of its steps something of this was recorded anew, or nothing as at one of these.

    The first of many tell it: each costs two queries, and a release may be slower in a thousand benchmarks.
    """
    for step in _standing(alert).filter(kind=ChangeKind.STEP).select_related("benchmark").order_by("pk")[:MOST_ASKED]:
        others = _newest(step)
        if all(row.pk != step.at_id for row in others):
            continue
        of_other = recorded_anew(others, _places(step, others))
        if not any(each & other or not (each or other) for each in recorded for other in of_other):
            return False
    return True


def _newest(step: ChangePoint) -> list[SeriesBatch]:
    newest = step.benchmark.series.newest_first().filter(centre__gt=0).only("benchmark", "commit", "centre")
    return list(newest[: statistics.WINDOW])[::-1]


def places_differ(alert: Alert) -> bool:
    """Whether steps of one system are placed at different commits, though they may have begun with one."""
    steps = [each for each in alert.standing() if each.kind == ChangeKind.STEP and each.at.commit]
    commits = {(step.benchmark.dbms_id, step.at.commit) for step in steps}
    return len(commits) > len({system for system, _ in commits})


def _standing(alert: Alert) -> QuerySet[ChangePoint]:
    return alert.changes.exclude(state=ChangeState.REFUTED)


def title(alert: Alert, ends: Mapping[int, datetime] | None = None) -> str:
    """27 of 40 benchmarks on alpha since 2026-11-02: worse. Reads its changes with `with_changes`.

    `ends`: what `ends_of` says of them, where a list has asked it of all.
    """
    return alert_title(alert, watched_beside(alert), ends_of(alert.changes.all()) if ends is None else ends)


def ends_of(points: Iterable[ChangePoint]) -> dict[int, datetime]:
    """For each of these changes of a level that another has followed, when that was; of one from zero or to it that
    another such has.
    """
    asked = [point for point in points if point.kind in OF_LEVEL]
    steps = ChangePoint.objects.filter(
        benchmark__in={point.benchmark_id for point in asked}, state=ChangeState.CONFIRMED, kind__in=OF_LEVEL
    ).select_related("at")
    followers: dict[UUID, list[ChangePoint]] = {}
    for step in steps.defer("at__runs", "at__values"):
        followers.setdefault(step.benchmark_id, []).append(step)
    ends = {}
    for point in asked:
        later = [
            step.at for step in followers.get(point.benchmark_id, [])
            if step.at.place > point.at.place and (point.kind != ChangeKind.ZERO or step.kind == ChangeKind.ZERO)
        ]  # fmt: skip
        if later:
            ends[point.pk] = min(later, key=lambda at: at.place).measured_at
    return ends


def told_again(alert: Alert) -> tuple[list[Alert], list[Alert]]:
    """The closed alerts whose changes come back in this one, confirmed of the same benchmark and to the same side, and
    those in which its own came back after it was closed; the nearest first.
    """
    own = [point for point in alert.standing() if point.state == ChangeState.CONFIRMED]
    others = ChangePoint.objects.filter(
        benchmark__in={point.benchmark_id for point in own}, state=ChangeState.CONFIRMED, alert__isnull=False
    ).exclude(alert=alert)  # fmt: skip
    before, after = dict[UUID, Alert](), dict[UUID, Alert]()
    for other in others.select_related("alert", "at").defer("at__runs", "at__values"):
        for point in own:
            if other.alert and _direction(point) == _direction(other):
                if other.at.place < point.at.place and other.alert.state in GONE:
                    before[other.alert.pk] = other.alert
                elif other.at.place > point.at.place and alert.state in GONE:
                    after[other.alert.pk] = other.alert
    in_order = [sorted(found.values(), key=lambda each: abs(each.since - alert.since)) for found in (before, after)]
    return in_order[0][:MOST_TOLD_AGAIN], in_order[1][:MOST_TOLD_AGAIN]


def _direction(point: ChangePoint) -> tuple[UUID, bool, str, bool]:
    is_rise = point.change.get("value", 0.0) > 0
    return point.benchmark_id, point.kind == ChangeKind.NOISE, point.side, is_rise


def with_changes(alerts: QuerySet[Alert]) -> QuerySet[Alert]:
    points = ChangePoint.objects.select_related("benchmark__hardware", "benchmark__metric", "benchmark__workload", "at")
    return alerts.select_related("assignee").prefetch_related(Prefetch("changes", points))


@dataclass(frozen=True)
class Quality:
    """How good suspicions were: of those of `days`, how many further batches confirmed or did not, and people rejected.
    What lay in the past when it was found made no alert and counts nowhere.

    `withdrawn`: by later batches, of what was confirmed once: the alarms of a day that are none of the next.
    `days_to_find`: the median from when the first batch after a change was measured, or came, to when it was confirmed.
    """

    days: int
    suspected: int
    confirmed: int
    withdrawn: int
    refuted: int
    rejected: int
    days_to_find: float | None

    @property
    def waiting(self) -> int:
        return self.suspected - self.confirmed - self.withdrawn - self.refuted


def quality(benchmarks: QuerySet[Benchmark] | Sequence[Benchmark], days: int = 90) -> Quality:
    """The quality of the alarms of these."""
    since = timezone.now() - timedelta(days=days)
    points = ChangePoint.objects.filter(benchmark__in=benchmarks, found_at__gt=since).exclude(alert=None)
    known = Greatest("at__measured_at", "at__batch__created_at")
    rows = list(points.values_list("state", "alert__state", "confirmed_at", known))
    confirmed = [row for row in rows if row[0] == ChangeState.CONFIRMED]
    refuted = [row for row in rows if row[0] == ChangeState.REFUTED]
    withdrawn = sum(at is not None for _, _, at, _ in refuted)
    waits = [(at - since).total_seconds() / 86_400 for _, _, at, since in confirmed if at]
    return Quality(
        days, len(rows), len(confirmed), withdrawn, len(refuted) - withdrawn,
        sum(row[1] == AlertState.NOISE for row in confirmed), median(waits) if waits else None,
    )  # fmt: skip


def watched_beside(alert: Alert) -> int:
    """How many benchmarks of its machines have the batches before it and since that a change such as these takes to be
    told; those that moved, at least.
    """
    standing = alert.standing()
    moved = {point.benchmark_id: point.benchmark.machine_id for point in standing}
    machines = {machine for machine in moved.values() if machine}
    if len(moved) < 2 or not machines:
        return len(moved)
    is_confirmed = any(point.state == ChangeState.CONFIRMED for point in standing)
    since = statistics.CONFIRMING if is_confirmed else 1
    series = SeriesBatch.objects.filter(benchmark=OuterRef("pk")).exclude(centre=None)
    rows = Benchmark.objects.watched().filter(
        Exists(series.filter(measured_at__lt=alert.since)[statistics.LEAST_TO_TELL - 1 :]),
        Exists(series.filter(measured_at__gte=alert.since)[since - 1 :]),
        machine__in=machines, owner=alert.owner_id, visibility=alert.visibility, joined_to=None,
    )  # fmt: skip
    return max(len(moved), rows.count())
