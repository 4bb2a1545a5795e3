"""The life of a job on its agent: claim, lease, what is delivered, cancel, give up.

Every move is a conditional update. Agents and observers deliver numbered batches, each applied once and as a whole.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from benchagent.configfiles.refusals import refused_words
from benchagent.protocol import (
    AGENT_STATES,
    CONFIGURATION,
    LEASE_S,
    OUTCOMES,
    Ack,
    Batch,
    Claimed,
    Item,
    Lease,
    ObservedBatch,
    ObservedItem,
    SamplesItem,
)
from django.db import transaction
from django.utils import timezone

from agents import enqueueing
from agents.jobs import observers
from agents.models import Agent, Job, ObserverOrder
from agents.refusals import BadMessage, Conflict
from runs import results
from runs.models import Experiment, Run, User, digest_secret
from runs.models.choices import ACTIVE_STATES, OPEN_STATES, RunState
from runs.models.runs import RunQuerySet
from runs.models.visible import Person

TOKEN_PREFIX = "bsj_"
LEASE = timedelta(seconds=LEASE_S)
# The first heartbeat comes at once, before the benchmark starves the machine. Without it the answer to the claim
# was lost on its way, and the agent does not know of the job.
FIRST_LEASE = timedelta(seconds=90)


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


# What is delivered


def apply(*, run_id: Any, batch: Batch) -> Ack:
    """Apply the next batch; one applied before is acknowledged and changes nothing.

    Raises Conflict, BadMessage and Job.DoesNotExist; nothing is stored then.
    """
    with transaction.atomic():
        job = Job.locked(run_id)
        if _apply_next(job, batch, partial(_apply_item, job)):
            job.lease_expires_at = timezone.now() + LEASE
            job.save(update_fields=["last_seq", "lease_expires_at", "log_bytes", "closed_at"])
    return {"seq": batch["seq"], "cancel": job.cancel_requested_at is not None and job.closed_at is None}


def _apply_item(job: Job, item: Item, field: str) -> None:
    if item["kind"] == "samples":
        if "connection" in job.spec and item["metric"] in observers.ALLOWED:
            raise BadMessage(f"{field}.metric", "only the observer of a server that was not started here sends this")
        results.append_samples(run=job.run, item=item)
    elif item["kind"] == "log":
        job.append_log(offset=item["offset"], text=item["text"])
    elif item["kind"] == "state":
        if item["state"] not in AGENT_STATES:
            raise BadMessage(f"{field}.state", f"must be one of {', '.join(AGENT_STATES)}")
        # A state that the run cannot enter from where it is (given up as lost) is passed over.
        if results.record_state(run_id=job.run_id, state=item["state"], at=_time_of(job, item["at"], field)):
            job.run.refresh_from_db(fields=["state", "state_changed_at"])
        observers.begin(job, item)
    else:
        if item["outcome"] not in OUTCOMES:
            raise BadMessage(f"{field}.outcome", f"must be one of {', '.join(OUTCOMES)}")
        at = _time_of(job, item["at"], field)
        outcome, message, result = item["outcome"], item["message"], item["result"]
        if outcome == RunState.CANCELLED:
            message = job.run.message or message  # the agent does not know who did it
        results.finish_run(run=job.run, outcome=outcome, message=message, at=at, result=result)
        job.closed_at = timezone.now()
        if outcome == RunState.FAILED and item.get("failure") == CONFIGURATION:
            _fail_alike(job)
        observers.settle(job)
        enqueueing.enqueue(enqueueing.DISPATCH)
        enqueueing.enqueue(enqueueing.FILE)


def _fail_alike(job: Job) -> None:
    """What waits in its experiment for the same machine with the same settings is not begun: it would fail, too.

    It says which setting was refused, or where the DBMS does not tell which that another repeat had shown it.
    """
    if job.run.experiment_id is None:
        return
    waiting = Job.objects.select_for_update().filter(
        run__experiment=job.run.experiment_id, run__state=RunState.QUEUED, requested_agent=job.requested_agent_id
    )
    keys = [other.pk for other in waiting.order_by("pk") if other.configuration == job.configuration]
    unnamed = f"repeat {job.run.repeat} had shown that its settings are not taken"
    message = f"not started: {refused_words(job.run.message) or unnamed}"
    results.end_waiting(keys, state=RunState.FAILED, at=timezone.now(), message=message)


def _time_of(job: Job, at_s: float, field: str) -> datetime:
    """The agent's time of an event, kept between the run's last change and now: its clock may be wrong."""
    now = timezone.now()
    try:
        at = datetime.fromtimestamp(at_s, UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise BadMessage(f"{field}.at", "must be seconds since 1970") from error
    return min(max(at, job.run.state_changed_at), now)


def apply_observed(*, run_id: Any, batch: ObservedBatch) -> Ack:
    """As `apply`, of an observer. Raises Conflict, BadMessage; nothing is stored then."""
    with transaction.atomic():
        job = Job.locked(run_id)
        order = ObserverOrder.objects.select_for_update().get(pk=run_id)

        def apply_item(item: SamplesItem | ObservedItem, field: str) -> None:
            if item["kind"] == "observed":
                order.problem, order.clock = item["problem"][:500], item["clock"] or {}
                order.closed_at = timezone.now()
            elif item["metric"] not in observers.ALLOWED:
                raise BadMessage(f"{field}.metric", f"an observer sends {', '.join(sorted(observers.ALLOWED))}")
            else:
                results.append_samples(run=job.run, item=item)

        if _apply_next(order, batch, apply_item):
            order.save(update_fields=["last_seq", "problem", "clock", "closed_at"])
            observers.settle(job)
    return {"seq": batch["seq"], "cancel": False}


def _apply_next(to: Job | ObserverOrder, batch: Batch | ObservedBatch, apply_item: Callable[[Any, str], None]) -> bool:
    """Give each item of the next batch and its path to `apply_item`. False for a batch that was applied before.

    `to` is locked and saved by the caller. Raises Conflict, BadMessage; what was stored is undone by the caller then.
    """
    if batch["seq"] <= to.last_seq:
        return False
    if to.closed_at is not None:
        raise Conflict(f"the {'job' if isinstance(to, Job) else 'observation'} has ended")
    expected = to.last_seq + 1
    if batch["seq"] != expected:  # one is missing
        raise Conflict(f"batch {expected} is expected next", expected=expected)
    for index, item in enumerate(batch["items"]):
        field = f"items[{index}]"
        if to.closed_at is not None:
            raise BadMessage(field, f"nothing may follow the {'finish' if isinstance(to, Job) else 'end'}")
        try:
            apply_item(item, field)
        except ValueError as error:
            raise BadMessage(field, str(error)) from error
    to.last_seq = expected
    return True


# Its end


def _cancelled(by: Person) -> str:
    return f"cancelled by {by.get_username()}" if isinstance(by, User) else "cancelled"


def cancel(run: Run, *, by: Person = None, message: str = "") -> bool:
    """Cancel an open run: at once while it waits, else as soon as its agent hears of it. False: it had ended.

    `message`: what is said of one that waited.
    """
    now = timezone.now()
    with transaction.atomic():
        job = Job.locked(run.pk)
        if job.run.state not in OPEN_STATES:
            return False
        if job.run.state in ACTIVE_STATES:
            if Job.objects.filter(pk=job.pk, cancel_requested_at=None).update(cancel_requested_at=now) and by:
                job.run.change(message=_cancelled(by))
            return True
        words = message or f"{_cancelled(by)} before it started"
        done = results.record_state(run_id=run.pk, state=RunState.CANCELLED, at=now, message=words)
    enqueueing.enqueue(enqueueing.DISPATCH)
    return done


def cancel_experiment(experiment: Experiment, *, by: Person = None) -> int:
    """Cancel every open run, the waiting ones first so that none of them starts. Returns how many."""
    open_runs = Run.objects.filter(experiment=experiment, state__in=OPEN_STATES, job__isnull=False)
    count = cancel_waiting(open_runs, by=by)
    return count + sum(cancel(run, by=by) for run in open_runs.all())


def cancel_waiting(runs: RunQuerySet, *, by: Person = None) -> int:
    """Those of these that wait, together: one after the other 380 took half a minute. Returns how many.

    What an agent has goes on.
    """
    with transaction.atomic():
        held = Job.objects.select_for_update().filter(run__in=runs.filter(state=RunState.QUEUED))
        keys = list(held.order_by("pk").values_list("pk", flat=True))
        words = f"{_cancelled(by)} before it started"
        count = results.end_waiting(keys, state=RunState.CANCELLED, at=timezone.now(), message=words)
    enqueueing.enqueue(enqueueing.DISPATCH)
    return count


def expire_leases(*, now: datetime | None = None) -> list[Any]:
    """Give up as lost what no agent speaks for any more. Never starts it elsewhere. Returns the ids of the runs."""
    now = now or timezone.now()
    overdue = Job.objects.filter(run__state__in=ACTIVE_STATES, lease_expires_at__lt=now)
    lost = []
    for run_id in overdue.values_list("pk", flat=True):
        with transaction.atomic():
            job = Job.locked(run_id)
            if job.lease_expires_at is None or job.lease_expires_at >= now or job.run.state not in ACTIVE_STATES:
                continue
            name = job.agent.name if job.agent else "its agent"
            words = f"no sign of life from {name} within {LEASE_S // 60} minutes"
            if job.last_seq == 0 and job.claimed_at and job.lease_expires_at == job.claimed_at + FIRST_LEASE:
                words = f"{name} fetched the run and was not heard of again"
            message = f"{words}; if its result comes, it is still taken"
            if results.record_state(run_id=run_id, state=RunState.LOST, at=now, message=message):
                lost.append(run_id)
    return lost


def cancel_deleted() -> int:
    """Deleted runs do not start, and end where they have."""
    gone = Run.objects.filter(state__in=OPEN_STATES, job__cancel_requested_at=None).exclude(deleted_at=None)
    return sum(cancel(run) for run in gone.filter(job__isnull=False))


def cancel_overdue(*, now: datetime | None = None) -> int:
    """Runs that were not to begin after a time that is over do not begin."""
    overdue = Run.objects.filter(state=RunState.QUEUED, job__not_after__lt=now or timezone.now())
    words = "it had not begun by the time after which it was not to begin"
    return sum(cancel(run, message=words) for run in overdue)
