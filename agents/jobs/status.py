"""What pages show of a run's job and of an experiment's progress. Reads only."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.contrib.auth.models import AnonymousUser

from agents.jobs import log, waiting
from agents.models import Job
from agents.plans import estimate
from runs.access.rules import may_operate
from runs.models import Experiment, Run, User
from runs.models.choices import ENDED_STATES, ON_AGENT_STATES, OPEN_STATES, RunState

Viewer = User | AnonymousUser | None
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
        "reason": waiting.reason(run),
        "progress": waiting.progress(run),
        "cancelling": job.cancel_requested_at is not None and run.is_open,
        "log": log.tail(job),
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
        "reason": waiting.reason(first) if first and not active else "",
        "left": estimate.about(_left_s(runs)) if is_open else "",
        "last_ended": max((run.finished_at for run in runs if run.finished_at), default=None),
        "can_operate": may_operate(user),
    }


def _left_s(runs: list[Run]) -> float:
    """Expected time of everything that has not ended."""
    left_s = 0.0
    known: dict[str, float] = {}
    for run in runs:
        if run.state not in OPEN_STATES:
            continue
        progress = waiting.progress(run)
        if progress is not None:
            left_s += progress.left_s
            continue
        cell = f"{run.job.spec['dbms']} {run.job.spec['dbms_version']} {run.job.spec['factors']}"
        if cell not in known:
            known[cell] = estimate.before_window_s(run) + estimate.window_s(run.job.spec["factors"])
        left_s += known[cell]
    return left_s
