"""What an agent may not do with a job, or an observer with its order. Each says why in words that the agent shows."""

from __future__ import annotations

from agents.models import Job, ObserverOrder


class BadMessage(ValueError):
    """`field` is the path of what is wrong: `items[0].values[3]`; empty for the whole body."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


class Conflict(Exception):
    """What is asked for does not fit to how far the job is."""


class NotAssigned(Conflict):
    """The run is not assigned to this agent (any more)."""


class JobClosed(Conflict):
    """The job has ended; nothing more is taken."""


class OutOfSequence(Conflict):
    """A batch is missing: the server waits for number `expected`."""

    def __init__(self, expected: int) -> None:
        super().__init__(f"batch {expected} is expected next")
        self.expected = expected


def is_new(seq: int, to: Job | ObserverOrder) -> bool:
    """False for a batch that was applied before. Raises JobClosed, OutOfSequence."""
    if seq <= to.last_seq:
        return False
    if to.closed_at is not None:
        raise JobClosed(f"the {'job' if isinstance(to, Job) else 'observation'} has ended")
    if seq != to.last_seq + 1:
        raise OutOfSequence(to.last_seq + 1)
    return True
