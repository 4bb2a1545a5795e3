"""The life of a job on its agent: claim, lease, cancel, give up. Every move is a conditional update."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from benchagent.protocol import LEASE_S, Claimed, Lease
from django.db import transaction
from django.utils import timezone

from agents import hints
from agents.jobs import observers
from agents.jobs.refusals import Conflict
from agents.models import Agent, Job
from runs import results
from runs.models import Experiment, Run, digest_secret
from runs.models.choices import ACTIVE_STATES, OPEN_STATES, RunState

TOKEN_PREFIX = "bsj_"
LEASE = timedelta(seconds=LEASE_S)
# The first heartbeat comes at once, before the benchmark starves the machine. Without it the answer to the claim
# was lost on its way, and the agent does not know of the job.
FIRST_LEASE = timedelta(seconds=90)


def assigned_to(agent: Agent) -> Job | None:
    return agent.jobs.filter(run__state=RunState.ASSIGNED).order_by("assigned_at").first()


def claim(*, agent: Agent, run_id: Any) -> Claimed:
    """Start the job: its spec, a token for it alone, and the lease. Raises Conflict, also the second time."""
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    now = timezone.now()
    with transaction.atomic():
        job = Job.locked(run_id)
        if job.agent_id != agent.pk or not results.record_state(run_id=run_id, state=RunState.PREPARING, at=now):
            raise Conflict("the run is not assigned to this agent (any more)")
        job.token_digest = digest_secret(secret)
        job.claimed_at = now
        job.lease_expires_at = now + FIRST_LEASE
        job.save(update_fields=["token_digest", "claimed_at", "lease_expires_at"])
        job.run.hardware = agent.hardware
        job.run.set_cell_key()
        job.run.save(update_fields=["hardware", "cell_key"])
        observers.order(job, agent)
    return {"job": job.spec, "job_token": secret, "lease_s": LEASE_S}


def heartbeat(job: Job) -> Lease:
    """Renew the lease. A job given up as lost renews too: its late result is welcome. Raises Conflict after its end."""
    live = Job.objects.filter(pk=job.pk, closed_at=None)
    if not live.update(lease_expires_at=timezone.now() + LEASE):
        raise Conflict("the job has ended")
    return {"lease_s": LEASE_S, "cancel": job.cancel_requested_at is not None}


def cancel(run: Run) -> bool:
    """Cancel an open run: at once while it waits, else as soon as its agent hears of it. False: it had ended."""
    now = timezone.now()
    with transaction.atomic():
        job = Job.locked(run.pk)
        if job.run.state not in OPEN_STATES:
            return False
        if job.run.state in ACTIVE_STATES:
            Job.objects.filter(pk=job.pk, cancel_requested_at=None).update(cancel_requested_at=now)
            return True
        message = "cancelled before it started"
        done = results.record_state(run_id=run.pk, state=RunState.CANCELLED, at=now, message=message)
    hints.hint(hints.DISPATCH)
    return done


def cancel_experiment(experiment: Experiment) -> int:
    """Cancel every open run, the waiting ones first so that none of them starts. Returns how many."""
    open_runs = Run.objects.filter(experiment=experiment, state__in=OPEN_STATES, job__isnull=False)
    return sum(cancel(run) for run in sorted(open_runs, key=lambda run: run.state != RunState.QUEUED))


def expire_leases(*, now: datetime | None = None) -> list[Any]:
    """Give up as lost what no agent speaks for any more. Never starts it elsewhere. Returns the ids of the runs."""
    now = now or timezone.now()
    overdue = Job.objects.filter(run__state__in=ACTIVE_STATES, lease_expires_at__lt=now)
    return [run_id for run_id in overdue.values_list("pk", flat=True) if _expire(run_id, now)]


def _expire(run_id: Any, now: datetime) -> bool:
    with transaction.atomic():
        job = Job.locked(run_id)
        if job.lease_expires_at is None or job.lease_expires_at >= now or job.run.state not in ACTIVE_STATES:
            return False
        return results.record_state(run_id=run_id, state=RunState.LOST, at=now, message=_lost_words(job))


def _lost_words(job: Job) -> str:
    name = job.agent.name if job.agent else "its agent"
    if job.last_seq == 0 and job.claimed_at is not None and job.lease_expires_at == job.claimed_at + FIRST_LEASE:
        return f"{name} fetched the run and was not heard of again; if its result comes, it is still taken"
    return f"no sign of life from {name} within {LEASE_S // 60} minutes; if its result comes, it is still taken"


def cancel_deleted() -> int:
    """Deleted runs do not start, and end where they have."""
    gone = Run.objects.filter(state__in=OPEN_STATES, job__cancel_requested_at=None).exclude(deleted_at=None)
    return sum(cancel(run) for run in gone.filter(job__isnull=False))
