"""What agents and observers deliver about a job: numbered batches, each applied once and as a whole."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from benchagent.protocol import AGENT_STATES, OUTCOMES, Ack, Batch, Item, ObservedBatch, ObservedItem, SamplesItem
from django.db import transaction
from django.utils import timezone

from agents import hints
from agents.jobs import observers
from agents.jobs.life import LEASE
from agents.jobs.refusals import BadMessage, Conflict
from agents.models import Job, ObserverOrder
from runs import results


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
        results.finish_run(run=job.run, outcome=outcome, message=message, at=at, result=result)
        job.closed_at = timezone.now()
        observers.settle(job)
        hints.hint(hints.DISPATCH)


def _time_of(job: Job, at_s: float, field: str) -> datetime:
    """The agent's time of an event, kept between the run's last change and now: its clock may be wrong."""
    now = timezone.now()
    try:
        at = datetime.fromtimestamp(at_s, UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise BadMessage(f"{field}.at", "must be seconds since 1970") from error
    return min(max(at, job.run.state_changed_at), now)


# Of an observer


def apply_observed(*, run_id: Any, batch: ObservedBatch) -> Ack:
    """As `apply`, of an observer. Raises Conflict, BadMessage; nothing is stored then."""
    with transaction.atomic():
        job = Job.locked(run_id)
        order = ObserverOrder.objects.select_for_update().get(pk=run_id)
        if _apply_next(order, batch, partial(_apply_observed_item, job, order)):
            order.save(update_fields=["last_seq", "problem", "clock", "closed_at"])
            observers.settle(job)
    return {"seq": batch["seq"], "cancel": False}


def _apply_observed_item(job: Job, order: ObserverOrder, item: SamplesItem | ObservedItem, field: str) -> None:
    if item["kind"] == "observed":
        order.problem, order.clock = item["problem"][:500], item["clock"] or {}
        order.closed_at = timezone.now()
    elif item["metric"] not in observers.ALLOWED:
        raise BadMessage(f"{field}.metric", f"an observer sends {', '.join(sorted(observers.ALLOWED))}")
    else:
        results.append_samples(run=job.run, item=item)


# Of both


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
