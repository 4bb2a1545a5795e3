"""Schedules: a plan becomes an experiment at the times of a cron expression, each time once.

A time that has come while the experiment before it had not ended starts nothing, and says so. Times that were missed
while the server was away are made up once. Beat ticks every minute; the row of a time is unique, so that any number of
ticks may work at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, tzinfo
from itertools import islice, takewhile
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from agents.models import Occurrence, Schedule
from agents.plans.plan import NAME_LIMIT, planned
from agents.plans.schedule import start
from agents.refusals import FieldErrors
from runs.access.rules import may_operate
from runs.models import Run, User
from runs.models.choices import OPEN_STATES

SHOWN = 5


def times(cron: str, zone: str, after: datetime) -> CronSim:
    """The times of a cron expression after that one. Raises FieldErrors naming each field that is wrong."""
    wrong: dict[str, str] = {}
    known: tzinfo = UTC
    try:
        known = ZoneInfo(zone)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        wrong["zone"] = f"There is no time zone {zone}; one is Europe/Berlin."
    try:
        found = CronSim(cron, after.astimezone(known))
    except CronSimError as error:
        wrong["cron"] = _cron_error(cron, error, after)
    if wrong:
        raise FieldErrors(**wrong)
    return found


def _cron_error(cron: str, error: CronSimError, after: datetime) -> str:
    fields = cron.split()
    if len(fields) == 5 and str(error) == "Bad day-of-month":
        with suppress(CronSimError):
            CronSim(" ".join([*fields[:3], "*", fields[4]]), after)
            return f"“{cron}” never happens: no month that it names has such a day."
    five = " Five fields are needed: minute, hour, day, month, weekday. 0 2 * * * is every night at two."
    return f"{error} in “{cron}”.{'' if len(fields) == 5 else five}"


def coming(schedule: Schedule, after: datetime) -> Iterator[datetime]:
    """Its times after that one, in UTC. In the hour that a clock repeats cronsim begins with the first of the two."""
    found = (each.astimezone(UTC) for each in times(schedule.cron, schedule.zone, after))
    ahead = (each for each in found if each > after)
    return takewhile(lambda each: schedule.ends_at is None or each <= schedule.ends_at, ahead)


def next_times(schedule: Schedule) -> list[datetime]:
    """The next five, in UTC; none while it is paused."""
    if schedule.due_at is None or schedule.is_paused:
        return []
    later = coming(schedule, schedule.due_at) if schedule.cron else ()
    return [schedule.due_at, *islice(later, SHOWN - 1)]


def cron_words(schedule: Schedule) -> str:
    if not schedule.cron:
        return "once"
    return f"{times(schedule.cron, schedule.zone, timezone.now()).explain()} ({schedule.zone})"


def settle(schedule: Schedule, *, at: datetime | None = None) -> None:
    """Set when it is due next, from now on: `at` where it has no cron expression. Raises FieldErrors."""
    now = timezone.now()
    if not schedule.cron:
        if at is not None and at <= now:
            raise FieldErrors(at="This time is over.")
        schedule.due_at = at or schedule.due_at
        if schedule.due_at is None:
            raise FieldErrors(at="Name a time, or a cron expression for many.")
    elif at is not None:
        raise FieldErrors(at="Once at this time, or at those of the cron expression: leave one of them empty.")
    else:
        schedule.due_at = next(coming(schedule, now), None)
    if schedule.due_at is None or (schedule.ends_at is not None and schedule.due_at > schedule.ends_at):
        raise FieldErrors(ends_at="It would never be due: its end comes first.")


def tick(*, now: datetime | None = None) -> int:
    """Start what is due. Returns how many times were dealt with."""
    now = now or timezone.now()
    due = Schedule.objects.present().filter(is_paused=False, due_at__lte=now).values_list("pk", flat=True)
    return sum(_come(pk, now) for pk in due)


def _come(pk: Any, now: datetime) -> bool:
    with transaction.atomic():
        schedule = Schedule.objects.select_for_update().get(pk=pk)
        if schedule.is_paused or schedule.deleted_at or schedule.due_at is None or schedule.due_at > now:
            return False  # another tick was first, or a person
        occurrence = Occurrence(schedule=schedule, due_at=schedule.due_at, begun_at=now)
        before = schedule.occurrences.exclude(experiment=None).first()
        if before and Run.objects.present().filter(experiment=before.experiment, state__in=OPEN_STATES).exists():
            occurrence.note = f"not started: {before.experiment} has not ended"
        else:
            _start(schedule, occurrence)
        occurrence.save()
        schedule.change(due_at=next(coming(schedule, now), None) if schedule.cron else None)
    return True


def _start(schedule: Schedule, occurrence: Occurrence) -> None:
    """Its experiment, or why there is none."""
    owner, day = schedule.owner, f" {occurrence.due_at:%Y-%m-%d %H:%M}"
    if owner is None or not may_operate(owner):
        occurrence.note = "not started: its owner may not schedule any more"
        return
    try:
        with transaction.atomic():
            plan = replace(planned(schedule.plan, user=owner), name=schedule.name[: NAME_LIMIT - len(day)] + day)
            occurrence.experiment = start(plan, user=owner)
    except (FieldErrors, PermissionDenied) as error:
        occurrence.note = f"not started: {error}"[:500]


# What people do


def make(plan: Mapping[str, Any], *, owner: User, at: datetime | None = None, **given: Any) -> Schedule:
    """`given`: name, cron, zone, ends_at. Raises FieldErrors, also where the plan cannot be run again."""
    planned(plan, user=owner)
    schedule = Schedule(slug=Schedule.free_slug(given["name"]), owner=owner, plan=dict(plan), **given)
    settle(schedule, at=at)
    schedule.save()
    return schedule


def set_paused(schedule: Schedule, *, paused: bool) -> None:
    """Times that come while it is paused are passed over. Raises FieldErrors where no time is left."""
    if not paused and schedule.cron:
        settle(schedule)
    schedule.is_paused = paused
    schedule.save()


def delete(schedule: Schedule) -> bool:
    return Schedule.objects.present().filter(pk=schedule.pk).update(deleted_at=timezone.now()) == 1


def restore(schedule: Schedule) -> bool:
    """Times that came while it was deleted are passed over; False where it was not."""
    now, due_at = timezone.now(), schedule.due_at
    if schedule.cron and due_at:
        due_at = next(coming(schedule, now), None)
    elif due_at and due_at <= now:
        due_at = None
    return Schedule.objects.filter(pk=schedule.pk).exclude(deleted_at=None).update(deleted_at=None, due_at=due_at) == 1
