"""Values, labels and life cycles that more than one module speaks of."""

from __future__ import annotations

from benchagent.catalog import DURABILITY_WORDS, Durability
from django.db import models


class RunState(models.TextChoices):
    QUEUED = "queued", "Queued"
    ASSIGNED = "assigned", "Assigned"
    PREPARING = "preparing", "Preparing"
    LOADING = "loading", "Loading"
    WARMING_UP = "warming_up", "Warming up"
    MEASURING = "measuring", "Measuring"
    COLLECTING = "collecting", "Collecting"
    FINISHED = "finished", "Finished"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"
    LOST = "lost", "Lost"
    VALUE_MISSING = "value_missing", "Value missing"


ACTIVE_STATES = frozenset(
    {RunState.PREPARING, RunState.LOADING, RunState.WARMING_UP, RunState.MEASURING, RunState.COLLECTING}
)
ON_AGENT_STATES = ACTIVE_STATES | {RunState.ASSIGNED}
OPEN_STATES = ON_AGENT_STATES | {RunState.QUEUED}
ENDED_STATES = frozenset({RunState.FINISHED, RunState.FAILED, RunState.CANCELLED, RunState.LOST})

# The one table of transitions. A phase may be skipped (a workload without load), never gone back to.
# `lost -> ended` is the late result of the same attempt, which is accepted.
TRANSITIONS: dict[str, frozenset[str]] = {
    RunState.QUEUED: frozenset({RunState.ASSIGNED, RunState.CANCELLED, RunState.FAILED}),
    RunState.ASSIGNED: frozenset({RunState.QUEUED, RunState.PREPARING}) | ENDED_STATES,
    RunState.PREPARING: frozenset({RunState.LOADING, RunState.WARMING_UP, RunState.MEASURING, RunState.COLLECTING})
    | ENDED_STATES,
    RunState.LOADING: frozenset({RunState.WARMING_UP, RunState.MEASURING, RunState.COLLECTING}) | ENDED_STATES,
    RunState.WARMING_UP: frozenset({RunState.MEASURING, RunState.COLLECTING}) | ENDED_STATES,
    RunState.MEASURING: frozenset({RunState.COLLECTING}) | ENDED_STATES,
    RunState.COLLECTING: ENDED_STATES,
    RunState.LOST: frozenset({RunState.FINISHED, RunState.FAILED, RunState.CANCELLED}),
    RunState.FINISHED: frozenset(),
    RunState.FAILED: frozenset(),
    RunState.CANCELLED: frozenset(),
    RunState.VALUE_MISSING: frozenset(),
}


class Provenance(models.TextChoices):
    """Where a number comes from."""

    MEASURED = "measured", "Measured"
    UPLOADED = "uploaded", "Uploaded"
    PRINTED = "printed", "Printed"
    RECONSTRUCTED = "reconstructed", "Reconstructed"
    RECOVERED = "recovered", "Recovered from another page"
    INFERRED = "inferred", "Inferred"
    COMPUTED = "computed", "Computed"
    LOST_IN_PICTURE = "lost_in_picture", "Lost in a picture"


class Precision(models.TextChoices):
    """How well is known when a run was measured."""

    TIME = "time", "to the second"
    DAY = "day", "the day"
    STORED = "stored", "only when it was stored"
    UNKNOWN = "", "not stated"


class Better(models.TextChoices):
    HIGHER = "higher", "Higher is better"
    LOWER = "lower", "Lower is better"
    NONE = "none", "Descriptive"


class StorageRole(models.TextChoices):
    DATA = "data", "Data"
    LOG = "log", "Log"
    TEMP = "temp", "Temporary"
    BACKUP = "backup", "Backup"


class ImportState(models.TextChoices):
    """Small files are read at once. Large ones wait for a worker; what it cannot read says why in `problem`."""

    READING = "reading", "Being read"
    DRAFT = "draft", "Draft"
    STORED = "stored", "Stored"
    FAILED = "failed", "Not read"


class Visibility(models.TextChoices):
    """Who may see runs: all, all who have the address, or their owner and administrators."""

    PUBLIC = "public", "Public"
    UNLISTED = "unlisted", "Unlisted"
    PRIVATE = "private", "Private"


class ChangeKind(models.TextChoices):
    """In what a series changes."""

    STEP = "step", "Step"
    DRIFT = "drift", "Slow drift"
    NOISE = "noise", "Noise"
    ZERO = "zero", "From or to zero"


# Changes of the level itself, of which some have a ratio: where one follows, the level that the one before began has
# ended.
OF_RATIO = (ChangeKind.STEP, ChangeKind.DRIFT)
OF_LEVEL = (*OF_RATIO, ChangeKind.ZERO)
BEGIN_WITH_A_BATCH = (ChangeKind.STEP, ChangeKind.ZERO)


class ChangeState(models.TextChoices):
    SUSPECTED = "suspected", "Suspected"
    CONFIRMED = "confirmed", "Confirmed"
    REFUTED = "refuted", "Not confirmed"


class AlertState(models.TextChoices):
    """New until its change is confirmed; from then on what people say of it."""

    NEW = "new", "New"
    CONFIRMED = "confirmed", "Confirmed"
    ACKNOWLEDGED = "acknowledged", "Acknowledged"
    EXPECTED = "expected", "Expected"
    FIXED = "fixed", "Fixed"
    NOISE = "noise", "Noise"
    MACHINE = "machine", "Machine"


# What somebody has to look at.
OPEN_ALERTS = (AlertState.NEW, AlertState.CONFIRMED, AlertState.ACKNOWLEDGED)


class UserRole(models.TextChoices):
    VIEWER = "viewer", "Viewer"
    CONTRIBUTOR = "contributor", "Contributor"
    OPERATOR = "operator", "Operator"
    ADMIN = "admin", "Administrator"


SHORT_DURABILITY = {
    Durability.POWER_LOSS: "survives power loss",
    Durability.DBMS_CRASH: "survives a DBMS crash only",
    Durability.BOUNDED_LOSS: "a crash may lose the last commits",
    Durability.NONE: "not durable",
    Durability.MEMORY: "in memory",
}
DURABILITY_CHOICES = [(durability.value, DURABILITY_WORDS[durability]) for durability in Durability]
