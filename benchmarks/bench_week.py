"""A lab's week by the clock, in minutes: is a time of a schedule ever missed, or started twice?

Schedules with several expressions and time zones run over a change of the clock; two beats tick each minute at once,
and beat is stopped now and then for up to some hours. What should have come is told by a plain reading of each
expression, minute by minute, not by the library that the product uses. Run by `make bench-week [ARGS="--seed 1"]`;
ends with 1 where a time is missed, doubled, or came that should not have.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
# In Europe the clock goes back on 2026-10-25 and forward on 2027-03-28.
STARTS = (datetime(2026, 10, 22, tzinfo=UTC), datetime(2027, 3, 25, tzinfo=UTC))
EXPRESSIONS = (
    "30 2 * * *",
    "0 2 * * 6",
    "15 */6 * * *",
    "5 3 28 3 *",
    "0 1,2,3 * * 0",
    "45 23 * * 1-5",
    "10 12 26 * *",
)
ZONES = ("Europe/Berlin", "Europe/London", "UTC", "America/New_York", "Asia/Kolkata")
ENDS_WITHIN = timedelta(minutes=30)


def field_has(field: str, value: int) -> bool:
    for part in field.split(","):
        values, _, step = part.partition("/")
        low, _, high = values.partition("-")
        first = 0 if values == "*" else int(low)
        last = 10**6 if values == "*" or step else int(high or low)
        if first <= value <= last and (value - first) % int(step or 1) == 0:
            return True
    return False


def is_meant(expression: str, local: datetime) -> bool:
    minute, hour, day, month, weekday = expression.split()
    days = field_has(day, local.day), field_has(weekday, local.isoweekday() % 7)
    on_day = any(days) if "*" not in (day, weekday) else all(days)
    return field_has(minute, local.minute) and field_has(hour, local.hour) and field_has(month, local.month) and on_day


def expected(expression: str, zone: str, since: datetime, until: datetime) -> list[datetime]:
    """Where the clock repeats an hour the first of the two; where it skips one at the next minute that there is."""
    known, found, seen = ZoneInfo(zone), list[datetime](), set[datetime]()
    now, before = since, since.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    while (now := now + MINUTE) <= until:
        local = now.astimezone(known).replace(tzinfo=None)
        passed = [before + MINUTE * step for step in range(1, int((local - before) / MINUTE) + 1)] or [local]
        if any(is_meant(expression, each) and each not in seen for each in passed):
            found.append(now)
        seen.update(each for each in passed if is_meant(expression, each))
        before = local
    return found


def ticks(since: datetime, rng: random.Random) -> Iterator[datetime]:
    """Each minute of a week; beat is stopped about twice a day."""
    now, until = since, since + 7 * DAY
    while (now := now + MINUTE) <= until:
        if rng.random() < 2 / 1440:
            now += timedelta(minutes=rng.randint(2, 300))
        yield now


def week(since: datetime, rng: random.Random) -> list[str]:
    """What was wrong."""
    from agents.models import Occurrence
    from agents.plans import timetable
    from runs.models import Run
    from runs.models.choices import ENDED_STATES, RunState

    schedules = {made.pk: (expression, zone, made) for expression, zone, made in _schedules(since)}
    ticked = list(ticks(since, rng))
    for now in ticked:
        Run.objects.exclude(state__in=ENDED_STATES).filter(
            experiment__occurrences__begun_at__lt=now - ENDS_WITHIN
        ).update(state=RunState.FINISHED)
        for _ in range(2):  # two beats
            timetable.tick(now=now)
    wrong = []
    for key, (expression, zone, made) in schedules.items():
        came = {row.due_at: row for row in Occurrence.objects.filter(schedule=key).select_related("experiment")}
        wanted = expected(expression, zone, since, ticked[-1])
        wrong += [f"{expression} {zone}: {at} came and was not meant" for at in came.keys() - set(wanted)]
        wrong += [
            f"{expression} {zone}: {at} missed" for at in wanted if at not in came and not _made_up(at, came, ticked)
        ]
        wrong += [f"{expression} {zone}: {row.due_at} {row.note}" for row in came.values() if row.experiment is None]
        if made.occurrences.exclude(experiment=None).values("experiment").distinct().count() != len(came):
            wrong.append(f"{expression} {zone}: doubled")
    count = Occurrence.objects.count()
    print(f"week of {since:%Y-%m-%d}: {len(schedules)} schedules, {count} times came, {len(ticked)} ticks")
    return wrong


def _made_up(at: datetime, came: dict[datetime, Any], ticked: list[datetime]) -> bool:
    """Whether beat was stopped then, and an earlier time of the same pause was made up for all of them."""
    after = next(tick for tick in ticked if tick >= at)
    return any(due < at and row.begun_at == after for due, row in came.items())


def _schedules(since: datetime) -> Iterator[tuple[str, str, Any]]:
    from agents.machines import Engine
    from agents.models import Agent, AgentStatus
    from agents.plans import timetable
    from agents.plans.plan import Plan
    from runs.models import User
    from runs.models.choices import UserRole

    engine = {"dbms": "sqlite", "version": "3.50.1", "available": True, "reason": "", "path": "/x"}
    Agent.objects.all().delete()
    Agent.objects.create(slug="m", name="m", token_digest="d", status=AgentStatus.APPROVED, engines=[engine])
    owner, _ = User.objects.get_or_create(username="lab", defaults={"role": UserRole.OPERATOR})
    factors = {"scale_factor": 1, "terminals": 1, "warm_up_s": 0, "duration_s": 1}
    plan = Plan("tpcb", (Engine("sqlite", "3.50.1"),), factors).as_json()
    for expression in EXPRESSIONS:
        for zone in ZONES:
            made = timetable.make(plan, owner=owner, name=f"{expression} {zone}", cron=expression, zone=zone)
            made.change(due_at=next(timetable.coming(made, since), None))
            yield expression, zone, made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="benchsite-week-") as name:
        os.environ |= {"STATE": name, "DJANGO_SETTINGS_MODULE": "benchsite.settings"}
        import django

        django.setup()
        from django.core.management import call_command

        from runs.models import Experiment

        call_command("migrate", verbosity=0)
        for since in STARTS:
            wrong += week(since, random.Random(f"{given.seed} {since}"))
            Experiment.objects.all().delete()
            from agents.models import Schedule

            Schedule.objects.all().delete()
    print(*wrong, f"missed or doubled: {len(wrong)}", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
