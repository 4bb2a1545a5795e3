"""What runs and what waits, in the order in which it begins: who makes it, from when to when, and why it waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from uuid import UUID

from django.db import transaction
from django.db.models import Max, Min
from django.utils import timezone

from agents import enqueueing
from agents.jobs.dispatch import busy, idle_agents, may_take, queued
from agents.jobs.reservations import Calendar, kind_of
from agents.jobs.status import progress, reason, silence
from agents.models import Agent, AgentStatus, Job, Reservation
from agents.plans.estimate import space_lacking
from runs.models import Experiment, Run
from runs.models.choices import ON_AGENT_STATES, RunState
from runs.models.visible import Reader
from runs.space import shortage


@dataclass
class Entry:
    """Runs of one experiment on one machine, which begin one after the other; or a run of no experiment.

    `run`: the first of them; None where whoever asks may not see it. `begins_at` and `ends_at` are expected; None where
    nothing begins as things stand. `reason`: why it waits, or that nobody hears of it.
    """

    experiment: Experiment | None
    run: Run | None
    runs: int
    agent: Agent | None
    is_running: bool
    begins_at: datetime | None
    ends_at: datetime | None
    reason: str


def entries(user: Reader, *, now: datetime | None = None) -> list[Entry]:
    """What runs first, then what waits, as it will be handed out."""
    now = now or timezone.now()
    calendar = Calendar(now)
    running, free_at = _running(calendar)
    rows = [*running, *_waiting(free_at, calendar)]
    shown = set(Run.objects.listed_for(user).filter(pk__in=[run.pk for run, *_ in rows]).values_list("pk", flat=True))
    made = []
    for (_, agent, seen), group in groupby(rows, lambda row: _key(row[0], row[1], row[0].pk in shown)):
        planned = [(run, begins_at, ends_at) for run, _, begins_at, ends_at in group]
        made.append(_entry(planned, agent, seen, now))
    return made


Planned = tuple[Run, Agent | None, datetime | None, datetime | None]
Key = tuple[tuple[bool, UUID], Agent | None, bool]


def _key(run: Run, agent: Agent | None, seen: bool) -> Key:
    return (run.state == RunState.QUEUED, run.experiment_id or run.pk), agent, seen


def _entry(
    planned: list[tuple[Run, datetime | None, datetime | None]], agent: Agent | None, seen: bool, now: datetime
) -> Entry:
    first = planned[0][0]
    is_running = first.state in ON_AGENT_STATES
    return Entry(
        experiment=first.experiment if seen else None,
        run=first if seen else None,
        runs=len(planned),
        agent=agent,
        is_running=is_running,
        begins_at=planned[0][1],
        ends_at=planned[-1][2],
        reason=(silence(first) if is_running else reason(first, now=now)) if seen else "",
    )


def _running(calendar: Calendar) -> tuple[list[Planned], dict[Agent, datetime]]:
    """What agents do, and from when each that may get more is free."""
    now = calendar.now
    jobs = Job.objects.filter(busy(now), agent__isnull=False).select_related(
        "agent", "requested_agent", "run__dbms_version__dbms", "run__workload", "run__experiment", "run__owner"
    )
    approved = Agent.objects.filter(status=AgentStatus.APPROVED)
    free_at = {agent: now for agent in approved if agent.is_online}
    running: list[Planned] = []
    for job in jobs.order_by("assigned_at"):
        run = job.run
        run.job = job
        so_far = progress(run, now=now)
        left = timedelta(seconds=so_far.left_s) if so_far else None if silence(run) else calendar.length(run)
        ends_at = None if left is None else now + left
        # One that nobody hears of holds its machine until it is given up.
        if until := ends_at or job.lease_expires_at:
            _occupy(free_at, job.agent, until)
        if run.state in ON_AGENT_STATES:
            running.append((run, job.agent, run.started_at or now, ends_at))
    return running, free_at


def _waiting(free_at: dict[Agent, datetime], calendar: Calendar) -> Iterator[Planned]:
    """Each queued run with the agent that is free for it first."""
    takes: dict[tuple[UUID | None, Agent, str], bool] = {}
    for run in queued().select_related("job__requested_agent", "experiment", "owner", "workload"):
        kind = kind_of(run)
        begins: dict[Agent, datetime] = {}
        for agent, at in free_at.items():
            asked = run.experiment_id or run.pk, agent, kind
            if asked not in takes:
                takes[asked] = may_take(agent, run)
            if takes[asked] and (begin := calendar.begin(agent, run, at)):
                begins[agent] = begin
        if not begins:
            yield run, run.job.requested_agent, None, None
            continue
        agent = min(begins, key=lambda agent: begins[agent])
        ends_at = begins[agent] + (timedelta() if space_lacking(agent, run) else calendar.length(run))
        _occupy(free_at, agent, ends_at)
        yield run, agent, begins[agent], ends_at


def _occupy(free_at: dict[Agent, datetime], agent: Agent | None, until: datetime) -> None:
    """The agents on its machine are free from then on."""
    for other, at in free_at.items():
        if agent and other.shares_machine_with(agent):
            free_at[other] = max(at, until)


def timeline(agent: Agent, user: Reader) -> list[Entry | Reservation]:
    """What it does, what waits for it and what is reserved, by the begin; what has no time comes last."""
    now = timezone.now()
    found: list[Entry | Reservation] = [entry for entry in entries(user, now=now) if entry.agent == agent]
    found += Calendar(now).of(agent)
    return sorted(found, key=lambda each: each.begins_at.timestamp() if each.begins_at else float("inf"))


# An alarm

STALLED_AFTER = timedelta(minutes=5)


def stalled(*, now: datetime | None = None) -> str:
    """That work waits, machines that fit it are idle, and nothing has begun for five minutes; empty where not so."""
    now = now or timezone.now()
    calendar = Calendar(now)
    if shortage() or calendar.of_queue:
        return ""
    since = now - STALLED_AFTER
    if Job.objects.filter(assigned_at__gt=since).exists() or Job.objects.filter(closed_at__gt=since).exists():
        return ""
    idle = [agent for agent in idle_agents() if agent.registered_at < since]
    for run in queued().filter(state_changed_at__lt=since) if idle else ():
        fit = (agent for agent in idle if may_take(agent, run) and not calendar.in_the_way(agent, run))
        if agent := next(fit, None):
            minutes = int(STALLED_AFTER.total_seconds() // 60)
            return (
                f"Stalled: {agent.name} is idle and could run what waits, and nothing has begun for {minutes} minutes."
            )
    return ""


# What operators do


def move(jobs_of: Experiment | Run, *, first: bool) -> int:
    """Let its waiting runs begin before all others, or after them. Returns how many wait."""
    with transaction.atomic():
        waiting = Job.objects.filter(run__state=RunState.QUEUED)
        most, least = waiting.aggregate(most=Max("priority"), least=Min("priority")).values()
        own = {"run__experiment": jobs_of} if isinstance(jobs_of, Experiment) else {"run": jobs_of}
        count = waiting.filter(**own).update(priority=(most or 0) + 1 if first else (least or 0) - 1)
    enqueueing.enqueue(enqueueing.DISPATCH)
    return count
