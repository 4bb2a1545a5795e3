"""What an agent delivers about a job: numbered batches, each applied once and as a whole."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from benchagent.protocol import AGENT_STATES, OUTCOMES, Ack, Batch, FinishItem, Item, StateItem
from django.db import transaction
from django.utils import timezone

from agents import hints
from agents.jobs import log, observers
from agents.jobs.life import LEASE, JobClosed, locked
from agents.models import Job
from runs import results


class OutOfSequence(Exception):
    """A batch is missing: the server waits for number `expected`."""

    def __init__(self, expected: int) -> None:
        super().__init__(f"batch {expected} is expected next")
        self.expected = expected


class BadItem(ValueError):
    """An item of a batch cannot be stored; `field` names it."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


def apply(*, run_id: Any, batch: Batch) -> Ack:
    """Apply the next batch; one applied before is acknowledged and changes nothing.

    Raises OutOfSequence, JobClosed, BadItem and Job.DoesNotExist; nothing is stored then.
    """
    with transaction.atomic():
        job = locked(run_id)
        if batch["seq"] > job.last_seq:
            if job.closed_at is not None:
                raise JobClosed
            if batch["seq"] != job.last_seq + 1:
                raise OutOfSequence(job.last_seq + 1)
            _apply_items(job, batch["items"])
            job.last_seq = batch["seq"]
            job.lease_expires_at = timezone.now() + LEASE
            job.save(update_fields=["last_seq", "lease_expires_at", "log_bytes", "closed_at"])
    return {"seq": batch["seq"], "cancel": job.cancel_requested_at is not None and job.closed_at is None}


def _apply_items(job: Job, items: list[Item]) -> None:
    for index, item in enumerate(items):
        if job.closed_at is not None:
            raise BadItem(f"items[{index}]", "nothing may follow the finish")
        try:
            _apply_item(job, item)
        except BadItem as error:
            raise BadItem(f"items[{index}].{error.field}", str(error)) from error
        except ValueError as error:
            raise BadItem(f"items[{index}]", str(error)) from error


def _apply_item(job: Job, item: Item) -> None:
    if item["kind"] == "samples":
        results.append_samples(run=job.run, item=item)
    elif item["kind"] == "log":
        log.append(job=job, offset=item["offset"], text=item["text"])
    elif item["kind"] == "state":
        _change_state(job, item)
    else:
        _finish(job, item)


def _change_state(job: Job, item: StateItem) -> None:
    """Note the new state; one that the run cannot enter from where it is (given up as lost) is passed over."""
    if item["state"] not in AGENT_STATES:
        raise BadItem("state", f"must be one of {', '.join(AGENT_STATES)}")
    if results.record_state(run_id=job.run_id, state=item["state"], at=_time_of(job, item["at"])):
        job.run.refresh_from_db(fields=["state", "state_changed_at"])
    observers.begin(job, item)


def _finish(job: Job, item: FinishItem) -> None:
    if item["outcome"] not in OUTCOMES:
        raise BadItem("outcome", f"must be one of {', '.join(OUTCOMES)}")
    results.finish_run(
        run=job.run, outcome=item["outcome"], message=item["message"], at=_time_of(job, item["at"]),
        result=item["result"],
    )  # fmt: skip
    job.closed_at = timezone.now()
    observers.settle(job)
    hints.hint(hints.DISPATCH)


def _time_of(job: Job, at_s: float) -> datetime:
    """The agent's time of an event, kept between the run's last change and now: its clock may be wrong."""
    now = timezone.now()
    try:
        at = datetime.fromtimestamp(at_s, UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise BadItem("at", "must be seconds since 1970") from error
    return min(max(at, job.run.state_changed_at), now)
