"""Who is told of which alerts, by which way; what was told and what came of it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from runs.models.base import UUIDModel
from runs.models.choices import AlertState
from runs.models.experiments import Experiment
from runs.models.history import Alert, Benchmark
from runs.models.measurements import Metric
from runs.models.subjects import Dbms, Machine, Workload
from runs.models.visible import Reader


class TellingWay(models.TextChoices):
    MAIL = "mail", "E-mail"
    WEBHOOK = "webhook", "Webhook"
    CHAT = "chat", "Chat service"


class TellingRule(UUIDModel):
    """Alerts that its owner sees and that it fits are told to `target`: an address of e-mail, a URL, or for a chat
    service an address of Apprise, which holds its secrets and is never shown.

    `secret` signs what is posted. `site_url`: where its owner reaches this site, for the links.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="telling_rules")
    name = models.CharField(max_length=120)
    way = models.CharField(max_length=10, choices=TellingWay.choices)
    target = models.CharField(max_length=500)
    secret = models.CharField(max_length=100, blank=True)
    site_url = models.CharField(max_length=300)
    # Left out: of whichever.
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    workload = models.ForeignKey(Workload, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    dbms = models.ForeignKey(Dbms, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    metric = models.ForeignKey(Metric, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    # Suspicions as well, before further batches have confirmed them.
    tells_new = models.BooleanField(default=False)
    worse_only = models.BooleanField(default=True)
    # Also what becomes of experiments, lost agents, a queue that stands still.
    tells_lab = models.BooleanField(default=False)
    least_percent = models.FloatField(default=0)
    daily = models.BooleanField(default=False)
    is_paused = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["name", "created_at"]

    def __str__(self) -> str:
        return self.name


class NoticeQuerySet(models.QuerySet["Notice"]):
    def visible_to(self, user: Reader) -> NoticeQuerySet:
        """That of an experiment to whom it is listed."""
        return self.filter(Q(experiment=None) | Q(experiment__in=Experiment.objects.listed_for(user)))


class Notice(UUIDModel):
    """What happened in the lab, once each by its key: an experiment has begun, ended or waits, an agent is lost."""

    # How the key of an experiment begins that is in progress, and of one that has ended.
    BEGUN, ENDED = "begun", "ended"

    key = models.CharField(max_length=200, unique=True)
    title = models.CharField(max_length=400)
    path = models.CharField(max_length=300)
    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, null=True, blank=True, related_name="notices")
    at = models.DateTimeField(default=timezone.now)

    objects = NoticeQuerySet.as_manager()

    class Meta:
        ordering = ["-at"]

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return self.path

    @property
    def status(self) -> str:
        """The status of its experiment, for a pipeline; empty if it tells of something else."""
        return {self.BEGUN: "in progress", self.ENDED: "ended"}.get(self.key.partition(" ")[0], "")


class Telling(models.Model):
    """An alert in a state, or a notice, told by a rule once. `problem`: why the last try failed.

    `message`: the one that it was first tried in. What is tried again is that message, joined by nothing newer, so that
    a receiver knows by its id what it has had.
    """

    rule = models.ForeignKey(TellingRule, on_delete=models.CASCADE, related_name="tellings")
    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, null=True, blank=True, related_name="tellings")
    notice = models.ForeignKey(Notice, on_delete=models.CASCADE, null=True, blank=True, related_name="tellings")
    state = models.CharField(max_length=12, choices=AlertState.choices, blank=True)
    due_at = models.DateTimeField(db_index=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    message = models.UUIDField(null=True, blank=True)
    told_at = models.DateTimeField(null=True, blank=True)
    given_up_at = models.DateTimeField(null=True, blank=True)
    problem = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-due_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["rule", "alert", "state"], name="told_once"),
            models.UniqueConstraint(fields=["rule", "notice"], name="notice_told_once"),
        ]

    def __str__(self) -> str:
        return f"{self.rule}: {self.alert or self.notice}"
