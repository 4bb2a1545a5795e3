"""Numbered batches of items: each is applied once and as a whole, whoever sends it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchagent.protocol import Batch
from benchagent.protocol.observed import ObservedBatch

from agents.jobs.refusals import BadMessage, Conflict
from agents.models import Job, ObserverOrder


def apply_next(to: Job | ObserverOrder, batch: Batch | ObservedBatch, apply_item: Callable[[Any, str], None]) -> bool:
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
