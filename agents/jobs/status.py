"""What pages show of a run's job and of an experiment's progress: in words, from the rows alone. Reads only."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from benchagent.catalog import DBMSS
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Max, Q
from django.utils import timezone
from django.utils.timesince import timesince

from agents.jobs.dispatch import busy, is_target, may_take, queued
from agents.jobs.reservations import Calendar, kind_of
from agents.machines import approved_agents
from agents.models import Agent, AgentStatus, Errand, Job, Reservation
from agents.plans import estimate, schedule
from agents.plans.plan import number_of
from runs.access.rules import may_operate
from runs.answers.words.gaps import counted
from runs.models import Experiment, Run, User
from runs.models.choices import ACTIVE_STATES, ENDED_STATES, ON_AGENT_STATES, OPEN_STATES, RunState, Visibility
from runs.space import shortage

# The dispatcher needs a second or two, also when the message that calls it was lost and the sweep does.
DISPATCHED_WITHIN = timedelta(seconds=8)
COLLECTING_S = 2.0
WORKER_SILENT = "The worker that hands out runs is not answering. The run starts as soon as it is back."
Viewer = User | AnonymousUser | None
_NOT_ENDED_WELL = (RunState.FAILED, RunState.LOST)
STATE_WORDS = {
    RunState.QUEUED: "Waiting in the queue",
    RunState.ASSIGNED: "Assigned to an agent",
    RunState.PREPARING: "Preparing the DBMS",
    RunState.LOADING: "Loading data",
    RunState.WARMING_UP: "Warming up",
    RunState.MEASURING: "Measuring",
    RunState.COLLECTING: "Collecting the results",
    RunState.FINISHED: "Finished",
    RunState.FAILED: "Failed",
    RunState.CANCELLED: "Cancelled",
    RunState.LOST: "Lost",
}


def job_of(run: Run) -> Job | None:
    return Job.objects.filter(pk=run.pk).select_related("agent", "requested_agent").first()


def job_status(run: Run, user: Viewer) -> dict[str, Any]:
    """Context of agents/_job_status.html; `job` is None for runs that were not scheduled here."""
    job = job_of(run)
    if job is None:
        return {"job": None, "run": run}
    job.run = run
    return {
        "run": run,
        "job": job,
        "words": STATE_WORDS.get(RunState(run.state), run.get_state_display()),
        "reason": reason(run),
        "progress": progress(run),
        "silence": silence(run),
        "cancelling": job.cancel_requested_at is not None and run.is_open,
        "log": job.log_tail(),
        "can_operate": may_operate(user),
    }


def experiment_progress(experiment: Experiment, user: Viewer) -> dict[str, Any]:
    """Context of agents/_experiment_progress.html; `total` counts the runs that were scheduled."""
    runs = list(
        Run.objects.present()
        .filter(experiment=experiment, job__isnull=False)
        .select_related("job__agent", "job__requested_agent", "dbms_version__dbms")
        .order_by("order_index")
    )
    states = Counter(run.state for run in runs)
    ended = sum(states[state] for state in ENDED_STATES)
    is_open = any(states[state] for state in OPEN_STATES)
    active = next((run for run in runs if run.state in ON_AGENT_STATES), None)
    first = next((run for run in runs if run.state == RunState.QUEUED), None)
    return {
        "experiment": experiment,
        "total": len(runs),
        "ended": ended,
        "is_open": is_open,
        "counts": [(state, RunState(state).label.lower(), states[state]) for state in RunState.values if states[state]],
        "active": active,
        # Why nothing is happening.
        "reason": silence(active) if active else reason(first) if first else "",
        "left": estimate.about(_left_s(runs)) if is_open else "",
        "failed": bool(schedule.not_made_up(experiment, runs)),
        "failures": counted(run.message for run in runs if run.state in _NOT_ENDED_WELL and run.message),
        "last_ended": max((run.finished_at for run in runs if run.finished_at), default=None),
        "can_operate": may_operate(user),
    }


def cell_left(runs: Sequence[Run]) -> str:
    """Expected time of what has not ended of a cell's runs; empty where all has."""
    scheduled = Run.objects.filter(pk__in=[run.pk for run in runs if run.is_open], job__isnull=False)
    left = list(scheduled.select_related("job__agent", "job__requested_agent", "owner"))
    return estimate.about(_left_s(left)) if left else ""


def _left_s(runs: list[Run]) -> float:
    """Expected time of everything that has not ended, one run after the other on each machine."""
    by_machine: dict[object, float] = defaultdict(float)
    by_cell: dict[str, float] = {}
    for run in runs:
        agent = run.job.requested_agent
        if run.state not in OPEN_STATES or (agent and estimate.space_lacking(agent, run)):
            continue
        so_far = progress(run)
        if so_far is None and run.job.cell not in by_cell:
            by_cell[run.job.cell] = estimate.before_window_s(run) + estimate.window_s(run.job.spec["factors"])
        by_machine[run.job.requested_agent_id] += so_far.left_s if so_far else by_cell[run.job.cell]
    return max(by_machine.values(), default=0.0)


MOST_REASONS = 5


def first_experiment(user: Viewer) -> dict[str, Any]:
    """Context of agents/_first_experiment.html: why nothing of the first experiment is to be seen (yet)."""
    experiment = schedule.first_experiment()
    if experiment is None:
        return {"waits": settings.FIRST_RUN, "reasons": _why_not_begun() if settings.FIRST_RUN else []}
    if not Experiment.objects.readable_by(user or AnonymousUser()).filter(pk=experiment.pk).exists():
        return {}
    shown = experiment_progress(experiment, user)
    if not schedule.has_failed(experiment):
        return {"waits": shown["is_open"], "reasons": [shown["reason"]] if shown["reason"] else []}
    messages = Run.objects.present().filter(experiment=experiment).order_by("order_index").values_list("message")
    return {
        "failed": True,
        "total": shown["total"],
        "reasons": list(dict.fromkeys(message for (message,) in messages if message))[:MOST_REASONS],
        "can_operate": shown["can_operate"],
        "may_start_again": settings.FIRST_RUN,
    }


def _why_not_begun() -> list[str]:
    """What the machines lack for the first experiment."""
    agents = approved_agents()
    if not agents:
        return ["no agent is registered and approved yet"]
    return [
        f"{DBMSS[engine['dbms']].name} on {agent.name}: {engine['reason']}"
        for agent in agents
        for engine in agent.engines
        if engine["dbms"] in schedule.FIRST_ENGINES and not engine["available"]
    ]


# Why a run waits


def reason(run: Run, *, now: datetime | None = None) -> str:
    """Why a queued or assigned run does not start; empty for any other."""
    now = now or timezone.now()
    if run.state == RunState.ASSIGNED and run.job.agent is not None:
        return f"Assigned to {run.job.agent.name}, which fetches it when it asks next{_last_seen(run.job.agent, now)}."
    if run.state != RunState.QUEUED:
        return ""
    calendar = Calendar(now)
    return shortage() or (f"The queue is {calendar.of_queue}." if calendar.of_queue else _why_queued(run, calendar))


def _why_queued(run: Run, calendar: Calendar) -> str:
    wanted = run.job.requested_agent
    agents = [wanted] if wanted else list(Agent.objects.all())
    if not agents:
        return "No agent is registered. The agents page tells how to add one."
    approved = [agent for agent in agents if agent.status == AgentStatus.APPROVED]
    if not approved:
        return _none_approved(agents)
    targets = approved if wanted else [agent for agent in approved if is_target(agent, run)]
    if not targets:
        plan = run.experiment.plan if run.experiment else {}
        which = [*(f"label {label}" for label in plan.get("labels", ())), *plan.get("machines", ())]
        return f"No approved agent is one that its plan asks for: {', '.join(which)}."
    offering = [agent for agent in targets if may_take(agent, run)]
    if not offering:
        return _no_offer(targets, run, alone=len(agents) == 1)
    held = {agent: found for agent in offering if (found := calendar.in_the_way(agent, run))}
    online = [agent for agent in offering if agent.is_online and agent not in held]
    where = _in_line(online, run, calendar.now) if online else _nobody_there(offering, held, calendar.now)
    lacking = [f"{agent.name} lacks {lacks}" for agent in offering if (lacks := estimate.space_lacking(agent, run))]
    if len(lacking) < len(offering):
        return where
    return f"{'; '.join(lacking)}: the run fails unless there is more when it begins. {where}"


def _none_approved(agents: list[Agent]) -> str:
    if any(agent.status == AgentStatus.PENDING for agent in agents):
        # Not which: a stranger may have chosen the name.
        return "No agent is approved yet; one waits for it on the agents page."
    return f"Agent {', '.join(agent.name for agent in agents)} is {agents[0].get_status_display().lower()}."


def _nobody_there(offering: list[Agent], held: Mapping[Agent, Reservation], now: datetime) -> str:
    """Each of them is held by a reservation, or offline."""
    if held:
        words = " ".join(f"{_whose(agent, reservation)} is {reservation}." for agent, reservation in held.items())
        return words if any(each.stands(now) for each in held.values()) else f"{words} The run would not end before."
    seen = ", ".join(f"{agent.name}{_last_seen(agent, now)}" for agent in offering)
    return f"Offline: {seen}. The run starts when an agent is back."


def _whose(agent: Agent, held: Reservation) -> str:
    own = held.agent is None or held.agent_id == agent.pk
    return f"Agent {agent.name}" if own else f"Agent {held.agent}, on the same machine as {agent.name},"


def _no_offer(approved: list[Agent], run: Run, *, alone: bool) -> str:
    """`alone`: the run can only be made by this agent, or there is no other."""
    dbms, version = run.dbms_version.dbms.slug, run.dbms_version.version
    connection = run.job.spec.get("connection", "")
    if any(agent.has_ready(dbms, version, connection) for agent in approved):
        return "No single agent offers all engines of this experiment any more, and it stays on one machine."
    reasons = [
        engine["reason"]
        for agent in approved
        for engine in agent.engines
        if (engine["dbms"], engine["version"]) == (dbms, version)
    ]
    who = f"Agent {approved[0].name} does not offer" if alone else "No approved agent offers"
    return f"{who} {run.dbms_version.name}" + (f": {'; '.join(dict.fromkeys(reasons))}." if any(reasons) else ".")


def _last_seen(agent: Agent, now: datetime) -> str:
    if agent.last_seen_at is None:
        return " (never heard of)"
    if now - agent.last_seen_at < timedelta(minutes=1):
        return f" (heard of {max(0, round((now - agent.last_seen_at).total_seconds()))} s ago)"
    return f" (last heard of {timesince(agent.last_seen_at, now, depth=1)} ago)"


def _in_line(online: list[Agent], run: Run, now: datetime) -> str:
    """The agents are there: either they are busy, or the dispatcher should have acted by now."""
    jobs = list(Job.objects.filter(busy(now), agent__isnull=False).select_related("agent", "run__dbms_version"))
    occupied = {agent.pk: job for job in jobs for agent in online if job.agent and agent.shares_machine_with(job.agent)}
    asked = {
        errand.agent_id: errand for errand in Errand.objects.open().filter(agent__in=online).select_related("agent")
    }
    idle = [agent for agent in online if agent.pk not in occupied and agent.pk not in asked]
    if not idle:
        doing = "; ".join([
            *dict.fromkeys(f"{_where(job, online)} is busy with {_named(job.run, run)}" for job in occupied.values()),
            *(f"agent {errand.agent} does first: {errand}" for pk, errand in asked.items() if pk not in occupied),
        ])  # fmt: skip
        return f"A{doing[1:]}, {_ahead_words(_ahead_of(run, online))}."
    on_them = [agent for agent in Agent.objects.all() if any(agent.shares_machine_with(each) for each in idle)]
    ended = Job.objects.filter(agent__in=on_them).aggregate(last=Max("closed_at"))["last"]
    since = max([run.state_changed_at, *(agent.registered_at for agent in idle), *filter(None, [ended])])
    if now - since > DISPATCHED_WITHIN:
        return WORKER_SILENT
    ahead = _ahead_of(run, idle)
    begins = f", {_ahead_words(ahead)}" if ahead >= len(idle) else ": the run starts in a moment"
    return f"Agent {idle[0].name} is free{begins}."


def _ahead_of(run: Run, agents: list[Agent]) -> int:
    """How many runs that wait begin before it on these agents."""
    earlier = Q(job__priority=run.job.priority, created_at__lt=run.created_at)
    takes: dict[tuple[object, str], bool] = {}
    ahead = 0
    for other in queued().filter(Q(job__priority__gt=run.job.priority) | earlier):
        alike = other.experiment_id or other.pk, kind_of(other)
        if alike not in takes:
            takes[alike] = any(may_take(agent, other) for agent in agents)
        ahead += takes[alike]
    return ahead


def _ahead_words(ahead: int) -> str:
    return f"{ahead} {'run is' if ahead == 1 else 'runs are'} ahead" if ahead else "this run is next"


def _where(job: Job, online: list[Agent]) -> str:
    """The agent of the job, as those that could take the run see it."""
    return f"agent {job.agent}" if job.agent in online else f"agent {job.agent}, on the same machine,"


def _named(busy_with: Run, waiting: Run) -> str:
    """Who sees the waiting run need not be one who may see the other."""
    alike = waiting.experiment_id is not None and busy_with.experiment_id == waiting.experiment_id
    shown = alike or busy_with.visibility == Visibility.PUBLIC
    return busy_with.dbms_version.name if shown else "a run that is not public"


def silence(run: Run, *, now: datetime | None = None) -> str:
    """That the agent of a run that goes on is not heard of, and what comes of it; empty while it is."""
    agent = run.job.agent
    if run.state not in ACTIVE_STATES or run.state == RunState.ASSIGNED or agent is None or agent.is_online:
        return ""
    now = now or timezone.now()
    lease = run.job.lease_expires_at
    given_up = f"At {lease:%H:%M:%S} UTC the run is given up as lost" if lease else "The run is given up as lost"
    return (
        f"No sign of life from {agent.name}{_last_seen(agent, now)}. If it is heard of again, the run goes on. "
        f"{given_up}, and is not started elsewhere; a result that comes later is still taken."
    )


# How far it has come


@dataclass(frozen=True)
class Progress:
    percent: int
    left_s: float

    @property
    def left(self) -> str:
        return f"{estimate.about(self.left_s)} left" if self.left_s > 0 else "nearly done"


def progress(run: Run, *, now: datetime | None = None) -> Progress | None:
    """How far a run on an agent has come, by the clock and what such runs usually take.

    None: it is not running, or nobody hears of it.
    """
    if run.state not in ACTIVE_STATES or run.started_at is None or silence(run):
        return None
    now = now or timezone.now()
    factors = run.job.spec["factors"]
    around_s = estimate.before_window_s(run)
    warm_up_s, duration_s = (number_of(factors, name) for name in ("warm_up_s", "duration_s"))
    spent_s = (now - run.started_at).total_seconds()
    in_state_s = (now - run.state_changed_at).total_seconds()
    left_s = {
        RunState.WARMING_UP: warm_up_s + duration_s + COLLECTING_S - in_state_s,
        RunState.MEASURING: duration_s + COLLECTING_S - in_state_s,
        RunState.COLLECTING: COLLECTING_S - in_state_s,
    }.get(RunState(run.state), max(0.0, around_s - spent_s) + warm_up_s + duration_s)
    left_s = max(0.0, left_s)
    return Progress(min(99, round(100 * spent_s / max(1.0, spent_s + left_s))), left_s)
