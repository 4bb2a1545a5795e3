"""Times in which machines begin nothing that would not end before: pauses, maintenance, people's own use."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from agents import enqueueing
from agents.models import Agent, Reservation
from agents.plans import estimate
from agents.refusals import FieldErrors
from runs.access.changes import record
from runs.models import Run, User
from runs.models.base import clean
from runs.models.visible import Person


def kind_of(run: Run) -> str:
    """The same for runs that take alike."""
    return json.dumps([run.job.spec["dbms"], run.job.spec["dbms_version"], run.job.spec["factors"]])


class Calendar:
    """What is reserved from `now` on, read once for many agents and runs."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.ahead = list(Reservation.objects.ahead(now).select_related("agent", "by"))
        self._lengths: dict[str, timedelta] = {}

    @property
    def of_queue(self) -> Reservation | None:
        """While there is one nothing new is handed out to anybody. What runs goes on."""
        return next((each for each in self.ahead if each.agent_id is None and each.stands(self.now)), None)

    def of(self, agent: Agent) -> list[Reservation]:
        """Its own, those of the whole queue and those of its machine, by their begin."""
        return [each for each in self.ahead if each.holds(agent)]

    def length(self, run: Run) -> timedelta:
        """How long such a run takes."""
        kind = kind_of(run)
        if kind not in self._lengths:
            seconds = estimate.before_window_s(run) + estimate.window_s(run.job.spec["factors"])
            self._lengths[kind] = timedelta(seconds=seconds)
        return self._lengths[kind]

    def begin(self, agent: Agent, run: Run, at: datetime) -> datetime | None:
        """The first time from `at` on at which the run would end before a reservation; None: not as things stand."""
        for each in self.of(agent):
            if each.begins_at < at + self.length(run) and (each.ends_at is None or each.ends_at > at):
                if each.ends_at is None:
                    return None
                at = each.ends_at
        return at

    def in_the_way(self, agent: Agent, run: Run) -> Reservation | None:
        """What keeps the run from beginning now: it stands, or begins before the run would end."""
        ahead = self.of(agent)
        return next((each for each in ahead if each.begins_at < self.now + self.length(run)), None) if ahead else None


def reserve(
    agent: Agent | None,
    *,
    by: Person,
    reason: str = "",
    begins_at: datetime | None = None,
    ends_at: datetime | None = None,
) -> Reservation:
    """Without a begin from now on, in the place of what stands. Raises FieldErrors, also where it is reserved."""
    now = timezone.now()
    if ends_at is not None and ends_at <= max(now, begins_at or now):
        raise FieldErrors(ends_at="This time is over." if ends_at <= now else "It ends before it begins.")
    made = Reservation(agent=agent, begins_at=begins_at or now, ends_at=ends_at, reason=clean(reason, 200))
    made.by = by if isinstance(by, User) else None
    with transaction.atomic():
        if agent is not None:
            Agent.objects.select_for_update().get(pk=agent.pk)
        if begins_at is None:
            resume(agent, by=by)
        else:
            rest = Reservation.objects.ahead(max(now, begins_at)).filter(agent=agent)
            if taken := (rest.filter(begins_at__lt=ends_at) if ends_at else rest).first():
                raise FieldErrors(begins_at=f"It is {taken}.")
        made.save()
        _note(agent, old="", new=str(made), by=by)
    return made


def end(reservation: Reservation, *, by: Person) -> None:
    now = timezone.now()
    with transaction.atomic():
        _note(reservation.agent, old=str(reservation), new="", by=by)
        if reservation.begins_at > now:
            reservation.delete()
        else:
            reservation.change(ends_at=now)
    enqueueing.enqueue(enqueueing.SWEEP)


def resume(agent: Agent | None, *, by: Person) -> None:
    """End what stands; what comes stays."""
    for standing in Reservation.objects.standing(timezone.now()).filter(agent=agent):
        end(standing, by=by)


def _note(agent: Agent | None, *, old: str, new: str, by: Person) -> None:
    if agent is not None:
        record(target=agent, field="reservation", old=old, new=new, by=by)
