"""Agents, the codes that enrol them, and the job that ties a run to the agent that makes it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict

from benchagent import __version__
from benchagent.catalog.factors import KNOBS
from benchagent.protocol import (
    ClockFacts,
    ConfinementFacts,
    EngineFacts,
    HardwareFacts,
    JobSpec,
    NamedStorageFacts,
    ObservationFacts,
)
from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from runs.access.rules import may_operate
from runs.models import Batch, ChangePoint, Experiment, HardwareProfile, Run, digest_secret
from runs.models.base import NamedModel, UUIDModel
from runs.models.shapes import Facts, PlanDocument
from runs.models.stored import StoredJSON
from runs.models.visible import Reader

ONLINE_WITHIN = timedelta(seconds=30)
CODE_VALID_FOR = timedelta(hours=1)
MAX_LOG_BYTES = 8 * 1024 * 1024
# Stands for an order that cannot be read any more: nothing is to be done.
NO_JOB: JobSpec = {
    "run_id": "", "workload": "", "workload_version": "", "dbms": "", "dbms_version": "", "settings": [],
    "factors": {}, "seed": 0,
}  # fmt: skip
LOG_TRUNCATED = "\n[the log is longer than 8 MB; the rest is on the agent's machine]\n"


# What a repeat has of its own in the spec of its job.
OF_ONE_REPEAT = ("run_id", "seed", "repeat", "verified_in_repeat")


def cell_of(spec: Mapping[str, Any]) -> dict[str, Any]:
    """What all repeats of a cell have in common."""
    return {name: value for name, value in spec.items() if name not in OF_ONE_REPEAT}


class AgentStatus(models.TextChoices):
    PENDING = "pending", "Waiting for approval"
    APPROVED = "approved", "Approved"
    DISABLED = "disabled", "Disabled"
    RETIRED = "retired", "Retired"


class AgentQuerySet(models.QuerySet["Agent"]):
    def online(self) -> AgentQuerySet:
        return self.filter(status=AgentStatus.APPROVED, last_seen_at__gt=timezone.now() - ONLINE_WITHIN)

    def by_token(self, secret: str) -> Agent | None:
        """With whether it is reserved now and asked for something, which every poll wants to know."""
        held = Reservation.objects.standing(timezone.now()).filter(agent=models.OuterRef("pk"))
        asked = Errand.objects.open().filter(agent=models.OuterRef("pk"))
        rows = self.annotate(is_held=models.Exists(held), is_asked=models.Exists(asked))  # type: ignore[no-redef]  # declared for who reads them
        return rows.filter(token_digest=digest_secret(secret)).first() if secret else None

    def not_paused(self, now: datetime) -> AgentQuerySet:
        return self.exclude(pk__in=Reservation.objects.standing(now).filter(agent__isnull=False).values("agent"))

    def with_reservations(self) -> AgentQuerySet:
        return self.prefetch_related(
            models.Prefetch("reservations", Reservation.objects.ahead(timezone.now()).select_related("by"))
        )


class EnrolmentCode(UUIDModel):
    """A one-time code: whoever registers with it is approved. Stored hashed, shown once.

    One that is made for an agent gives this agent another token, and the old one opens nothing any more.
    """

    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    agent = models.ForeignKey("Agent", on_delete=models.CASCADE, null=True, blank=True, related_name="codes")

    def __str__(self) -> str:
        return f"code of {self.created_at:%Y-%m-%d %H:%M}"

    @classmethod
    def issue(cls, *, agent: Agent | None = None, valid_for: timedelta = CODE_VALID_FOR) -> str:
        secret = "bsc_" + secrets.token_urlsafe(24)
        cls.objects.create(digest=digest_secret(secret), expires_at=timezone.now() + valid_for, agent=agent)
        return secret

    @classmethod
    def redeem(cls, secret: str) -> EnrolmentCode | None:
        """The code, once, and only before it expires (a conditional update)."""
        now, digest = timezone.now(), digest_secret(secret)
        if cls.objects.filter(digest=digest, used_at=None, expires_at__gt=now).update(used_at=now) != 1:
            return None
        return cls.objects.select_related("agent").get(digest=digest)


class Agent(NamedModel):
    """A registered benchmark machine. Its token is stored as a digest."""

    status = models.CharField(max_length=10, choices=AgentStatus.choices, default=AgentStatus.PENDING)
    token_digest = models.CharField(max_length=64, unique=True)
    hardware = models.ForeignKey(
        HardwareProfile, on_delete=models.PROTECT, null=True, blank=True, related_name="agents"
    )
    # What it reports at registration and with polls: list of benchagent.protocol.EngineFacts.
    engines = StoredJSON(shape=list[EngineFacts], default=list, blank=True)
    # Its named storages: list of benchagent.protocol.NamedStorageFacts.
    places = StoredJSON(shape=list[NamedStorageFacts], default=list, blank=True)
    # What it can sample for runs of others: list of benchagent.protocol.ObservationFacts.
    observations = StoredJSON(shape=list[ObservationFacts], default=list, blank=True)
    # Commands that it may be asked to do, with the names that each takes; empty of an agent that is too old.
    errands = StoredJSON(shape=dict[str, list[str]], default=dict, blank=True)
    # What its jobs may reach: benchagent.protocol.ConfinementFacts; empty of an agent that does not tell.
    confinement = StoredJSON(shape=ConfinementFacts, default=dict, blank=True)
    # Its HardwareFacts as reported. They become a hardware profile when the agent is approved: registering needs no
    # login, and a stranger must not write into the machines that results refer to.
    facts = StoredJSON(shape=HardwareFacts, default=dict, blank=True)
    agent_version = models.CharField(max_length=40, blank=True)
    registered_at = models.DateTimeField(default=timezone.now)
    last_seen_at = models.DateTimeField(null=True, blank=True)
    # Words by which people choose among machines: "nvme", "rack-2".
    labels = StoredJSON(shape=list[str], default=list, blank=True)
    # Whether it measures by itself again what is suspected to have changed (`agents.plans.again`): so long after what
    # was measured before, and for so long a day.
    measures_again = models.BooleanField(default=False)
    again_after_s = models.PositiveIntegerField(default=3600)
    again_daily_s = models.PositiveIntegerField(default=7200)

    # Set on an agent that was found by its token.
    is_held: bool
    is_asked: bool

    objects = AgentQuerySet.as_manager()

    class Meta:
        ordering = ["name"]

    def shares_machine_with(self, other: Agent) -> bool:
        """Whether what one of them does the other one feels: it is the same agent, or on the same machine."""
        if self.pk == other.pk:
            return True
        return settings.EXCLUSIVE_MACHINES and self.hardware_id is not None and self.hardware_id == other.hardware_id

    @property
    def is_online(self) -> bool:
        return self.last_seen_at is not None and timezone.now() - self.last_seen_at < ONLINE_WITHIN

    @property
    def reservation(self) -> Reservation | None:
        """The one that stands now: while there is one it gets no new run, and the one that it is making goes on."""
        now = timezone.now()
        return next((each for each in self.reservations.all() if each.stands(now)), None)

    @property
    def is_paused(self) -> bool:
        return self.reservation is not None

    @property
    def pause_words(self) -> str:
        """Until when it is reserved, by whom and why; empty while it is not."""
        return str(self.reservation or "")

    @property
    def version_words(self) -> str:
        """Its program's version; where it is not this server's, what to do."""
        words = f"benchagent {self.agent_version}"
        if self.agent_version == __version__:
            return words
        how = "it updates itself where it is asked to" if "update" in self.errands else "install it anew"
        return f"{words}, this server has {__version__}: {how}"

    def offers(self, dbms: str, version: str, connection: str = "") -> bool:
        """Whether runs of this engine can be planned: it can be used, or will be by itself."""
        return any(engine["available"] or engine.get("pending") for engine in self._listed(dbms, version, connection))

    def has_ready(self, dbms: str, version: str, connection: str = "") -> bool:
        return any(engine["available"] for engine in self._listed(dbms, version, connection))

    def _listed(self, dbms: str, version: str, connection: str) -> list[dict[str, Any]]:
        wanted = dbms, version, connection
        return [
            engine
            for engine in self.engines
            if (engine["dbms"], engine["version"], engine.get("connection", "")) == wanted
        ]


class ErrandState(models.TextChoices):
    WAITING = "waiting", "Waits until the agent has no run"
    RUNNING = "running", "Going on"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"
    CANCELLED = "cancelled", "Cancelled"


class ErrandQuerySet(models.QuerySet["Errand"]):
    def open(self) -> ErrandQuerySet:
        return self.filter(state__in=(ErrandState.WAITING, ErrandState.RUNNING))


class Errand(UUIDModel):
    """A command of the agent's own program that a person asked for. While there is one its agent gets no run."""

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="asked")
    command = models.CharField(max_length=40)
    words = StoredJSON(shape=list[str], default=list)
    state = models.CharField(max_length=10, choices=ErrandState.choices, default=ErrandState.WAITING)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    asked_at = models.DateTimeField(default=timezone.now)
    begun_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    log = models.TextField(blank=True)

    objects = ErrandQuerySet.as_manager()

    class Meta:
        ordering = ["-asked_at"]

    def __str__(self) -> str:
        """What everybody may read: without folders."""
        return " ".join([self.command, *self._told[:1]])

    @property
    def line(self) -> str:
        return " ".join([self.command, *self._told])

    @property
    def _told(self) -> list[str]:
        return [] if self.command == "update" else self.words  # the wheel and its checksum

    @property
    def reason(self) -> str:
        """The last line of what it said, where it failed."""
        return self.log.strip().rpartition("\n")[2] if self.state == ErrandState.FAILED else ""

    @property
    def is_open(self) -> bool:
        return self.state in (ErrandState.WAITING, ErrandState.RUNNING)


class ReservationQuerySet(models.QuerySet["Reservation"]):
    def ahead(self, now: datetime) -> ReservationQuerySet:
        """What stands and what comes."""
        return self.filter(models.Q(ends_at=None) | models.Q(ends_at__gt=now))

    def standing(self, now: datetime) -> ReservationQuerySet:
        return self.ahead(now).filter(begins_at__lte=now)


class Reservation(UUIDModel):
    """A time before which an agent begins only what ends before: a person's own use of the machine, or maintenance.

    Without an end it stands until somebody ends it: the agent is paused. Without an agent it is of the whole queue.
    """

    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, null=True, blank=True, related_name="reservations")
    begins_at = models.DateTimeField(default=timezone.now)
    ends_at = models.DateTimeField(null=True, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    reason = models.CharField(max_length=200, blank=True)

    objects = ReservationQuerySet.as_manager()

    class Meta:
        ordering = ["begins_at"]

    def __str__(self) -> str:
        begins, ends = (f"{at.astimezone(UTC):%Y-%m-%d %H:%M}" if at else "" for at in (self.begins_at, self.ends_at))
        if self.stands(timezone.now()):
            when = f"reserved until {ends} UTC" if ends else "paused"
        else:
            when = f"reserved from {begins}" + (f" to {ends} UTC" if ends else " UTC on")
        by = f" by {self.by.get_username()}" if self.by else ""
        return f"{when}{by}" + (f": {self.reason}" if self.reason else "")

    def holds(self, agent: Agent) -> bool:
        """A pause is of its agent alone; a time with an end is of the machine, whichever agents are on it."""
        if self.agent is None or self.agent_id == agent.pk:
            return True
        return self.ends_at is not None and self.agent.shares_machine_with(agent)

    def stands(self, now: datetime) -> bool:
        return self.begins_at <= now and (self.ends_at is None or self.ends_at > now)


class Job(models.Model):
    """The one attempt at a run: what to do, who does it, and what has arrived. Never restarted by itself."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="job")
    # A JobSpec of benchagent.protocol.
    spec = StoredJSON(shape=JobSpec, damaged=NO_JOB)
    requested_agent = models.ForeignKey(
        Agent, on_delete=models.SET_NULL, null=True, blank=True, related_name="requested_jobs"
    )
    agent = models.ForeignKey(Agent, on_delete=models.SET_NULL, null=True, blank=True, related_name="jobs")
    # Waiting runs with more of it begin first.
    priority = models.IntegerField(default=0)
    # A run that has not begun by then is cancelled; None: it waits as long as it must.
    not_after = models.DateTimeField(null=True, blank=True)
    # Its cell is the one to whose repeats others are compared until they are enough.
    is_baseline = models.BooleanField(default=False)
    assigned_at = models.DateTimeField(null=True, blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    token_digest = models.CharField(max_length=64, blank=True, db_index=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)
    # Sequence number of the last batch applied.
    last_seq = models.PositiveIntegerField(default=0)
    # When its `finish` arrived: afterwards nothing more is taken.
    closed_at = models.DateTimeField(null=True, blank=True)
    log_bytes = models.PositiveBigIntegerField(default=0)

    def __str__(self) -> str:
        return f"job of {self.run_id}"

    @property
    def cell(self) -> str:
        """The same for all repeats of a cell on one machine."""
        return json.dumps([cell_of(self.spec), str(self.requested_agent_id)], sort_keys=True)

    @property
    def configuration(self) -> list[Any]:
        """All that its engine is set to, also by factors."""
        knobs = [self.spec["factors"].get(knob.name) for knob in KNOBS]
        return [*(self.spec[name] for name in ("dbms", "dbms_version", "settings")), *knobs]

    @classmethod
    def locked(cls, run_id: Any) -> Job:
        """The job's row, held until the end of the transaction. Raises Job.DoesNotExist.

        Its run is read afterwards: joined to this query it would be as old as the wait for the lock was long.
        """
        return cls.objects.select_for_update().get(pk=run_id)

    def append_log(self, *, offset: int, text: str) -> None:
        """Add the part of `text` that is not there yet; the caller saves `log_bytes`, the new length.

        `offset` is in bytes (UTF-8), so that a piece sent twice is stored once. A piece that begins beyond the end is
        stored at its offset: what is missing between was lost on the agent.
        """
        data = text.encode()
        present_bytes = max(0, self.log_bytes - offset)
        if present_bytes >= len(data) or self.log_bytes >= MAX_LOG_BYTES:
            return
        at = offset + present_bytes
        fresh = data[present_bytes:].decode("utf-8", "replace")
        end = offset + len(data)
        if end >= MAX_LOG_BYTES:
            fresh = fresh[: max(0, MAX_LOG_BYTES - at)] + LOG_TRUNCATED
        JobLogChunk.objects.create(job=self, offset=at, text=fresh)
        self.log_bytes = end

    def log_tail(self, *, max_chars: int = 4_000) -> str:
        """The last lines of the log, at most `max_chars`; whole lines where the log has them."""
        parts: list[str] = []
        length = 0
        for text in self.log_chunks.order_by("-offset").values_list("text", flat=True)[:200]:
            parts.append(text)
            length += len(text)
            if length >= max_chars:
                break
        joined = "".join(reversed(parts))
        if len(joined) <= max_chars:
            return joined
        cut = joined[-max_chars:]
        return cut.split("\n", 1)[1] if "\n" in cut.rstrip("\n") else cut


class Confirmation(models.Model):
    """A batch that measures again what was suspected, so that it is confirmed or refuted."""

    point = models.ForeignKey(ChangePoint, on_delete=models.CASCADE, related_name="confirmations")
    batch = models.OneToOneField(Batch, on_delete=models.CASCADE, related_name="confirmation")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="confirmations")
    made_at = models.DateTimeField(default=timezone.now)

    class Meta:
        indexes = [models.Index(fields=["agent", "made_at"], name="confirmation_of_day")]

    def __str__(self) -> str:
        return f"batch {self.batch_id} of suspicion {self.point_id}"


class BisectionPoint(TypedDict):
    """A version with settings, between two others."""

    version: str
    settings: dict[str, str]


class BisectionStep(TypedDict):
    """Points by their index. `first`, `second`: by how much each half moved, as a share of 1."""

    experiment: str
    low: int
    middle: int
    high: int
    first: float
    second: float


class BisectionPlan(TypedDict):
    """What is the same at all points."""

    workload: str
    factors: Facts
    dbms: str
    visibility: str


class Bisection(UUIDModel):
    """Where between two points of a benchmark it moved: measured in steps, each of which halves what is left.

    The change lies between the points `low` and `high`; `experiment` measures both and the middle. `outcome`: in words,
    empty while it goes on.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="bisections")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="bisections")
    name = models.CharField(max_length=100)
    plan = StoredJSON(shape=BisectionPlan, default=dict)
    points = StoredJSON(shape=list[BisectionPoint], default=list)
    low = models.PositiveSmallIntegerField()
    high = models.PositiveSmallIntegerField()
    experiment = models.ForeignKey(
        Experiment, on_delete=models.SET_NULL, null=True, blank=True, related_name="bisections"
    )
    steps = StoredJSON(shape=list[BisectionStep], default=list)
    outcome = models.CharField(max_length=1000, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('schedule-between')}#b-{self.pk}"

    @property
    def middle(self) -> int:
        return (self.low + self.high) // 2

    @property
    def steps_left(self) -> int:
        """The present step and those after it, where none has to be measured again."""
        return 0 if self.outcome else (self.high - self.low - 1).bit_length()

    @property
    def is_found(self) -> bool:
        """Whether it ended with two neighbours, not before."""
        return bool(self.outcome) and self.high - self.low == 1


class ObserverOrder(models.Model):
    """The order to sample the machine of a job's server, given to another agent than the job's.

    `problem`: why there are no samples, or not all. Clocks are ClockFacts of benchagent.protocol; `begun_at` is
    second 0 of the run in seconds since 1970 by this server's clock.
    """

    job = models.OneToOneField(Job, on_delete=models.CASCADE, primary_key=True, related_name="observation")
    agent = models.ForeignKey(Agent, on_delete=models.SET_NULL, null=True, blank=True, related_name="observed")
    agent_name = models.CharField(max_length=200)
    name = models.CharField(max_length=40)
    problem = models.CharField(max_length=500, blank=True)
    claimed_at = models.DateTimeField(null=True, blank=True)
    token_digest = models.CharField(max_length=64, blank=True)
    begun_at = models.FloatField(null=True, blank=True)
    load_clock = StoredJSON(shape=ClockFacts, default=dict, blank=True)
    clock = StoredJSON(shape=ClockFacts, default=dict, blank=True)
    last_seq = models.PositiveIntegerField(default=0)
    # When its last item arrived, or nothing more is waited for.
    closed_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.agent_name}/{self.name} on {self.job_id}"


class JobLogChunk(models.Model):
    """A piece of a job's log at its byte offset."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="log_chunks")
    offset = models.PositiveBigIntegerField()
    text = models.TextField()

    class Meta:
        ordering = ["job", "offset"]
        constraints = [models.UniqueConstraint(fields=["job", "offset"], name="log_chunk_offset")]

    def __str__(self) -> str:
        return f"{self.job_id} from byte {self.offset}"


class ScheduleQuerySet(models.QuerySet["Schedule"]):
    def present(self) -> ScheduleQuerySet:
        return self.filter(deleted_at=None)


class Schedule(NamedModel):
    """A plan that becomes an experiment at set times. `due_at`: the next of them; None when there is none any more."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="schedules"
    )
    plan = StoredJSON(shape=PlanDocument, default=dict)
    # Five fields of cron, read in the time zone; empty: once, at `due_at`.
    cron = models.CharField(max_length=100, blank=True)
    zone = models.CharField(max_length=64, default="UTC")
    due_at = models.DateTimeField(null=True, blank=True, db_index=True)
    ends_at = models.DateTimeField(null=True, blank=True)
    is_paused = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = ScheduleQuerySet.as_manager()

    class Meta:
        ordering = ["name", "created_at"]


class Occurrence(models.Model):
    """A time at which a schedule was due, once each, and what came of it. `note`: why nothing was started."""

    schedule = models.ForeignKey(Schedule, on_delete=models.CASCADE, related_name="occurrences")
    due_at = models.DateTimeField()
    begun_at = models.DateTimeField(default=timezone.now)
    experiment = models.ForeignKey(
        Experiment, on_delete=models.SET_NULL, null=True, blank=True, related_name="occurrences"
    )
    note = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-due_at"]
        constraints = [models.UniqueConstraint(fields=["schedule", "due_at"], name="occurrence_once")]

    def __str__(self) -> str:
        return f"{self.schedule} at {self.due_at:%Y-%m-%d %H:%M} UTC"


class TemplateQuerySet(models.QuerySet["Template"]):
    def visible_to(self, user: Reader) -> TemplateQuerySet:
        """To operators those that are shared, and their own."""
        shown = models.Q(is_shared=True) | models.Q(owner=user.pk)
        return self.filter(shown) if may_operate(user) else self.none()


class Template(NamedModel):
    """A plan to start from. One that is not shared is its owner's alone."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="plan_templates"
    )
    note = models.CharField(max_length=500, blank=True)
    is_shared = models.BooleanField(default=True)
    plan = StoredJSON(shape=PlanDocument, default=dict)
    created_at = models.DateTimeField(default=timezone.now)

    objects = TemplateQuerySet.as_manager()

    class Meta:
        ordering = ["name", "created_at"]
