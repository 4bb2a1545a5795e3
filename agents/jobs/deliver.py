"""What an agent delivers about a job: numbered batches, each applied once and as a whole."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any

from benchagent.protocol import AGENT_STATES, OUTCOMES, Ack, Batch, Item
from django.db import transaction
from django.utils import timezone

from agents import hints
from agents.jobs import log, observers
from agents.jobs.batches import apply_next
from agents.jobs.life import LEASE
from agents.jobs.refusals import BadMessage
from agents.models import Job
from runs import results


def apply(*, run_id: Any, batch: Batch) -> Ack:
    """Apply the next batch; one applied before is acknowledged and changes nothing.

    Raises Conflict, BadMessage and Job.DoesNotExist; nothing is stored then.
    """
    with transaction.atomic():
        job = Job.locked(run_id)
        if apply_next(job, batch, partial(_apply_item, job)):
            job.lease_expires_at = timezone.now() + LEASE
            job.save(update_fields=["last_seq", "lease_expires_at", "log_bytes", "closed_at"])
    return {"seq": batch["seq"], "cancel": job.cancel_requested_at is not None and job.closed_at is None}


def _apply_item(job: Job, item: Item, field: str) -> None:
    if item["kind"] == "samples":
        results.append_samples(run=job.run, item=item)
    elif item["kind"] == "log":
        log.append(job=job, offset=item["offset"], text=item["text"])
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
