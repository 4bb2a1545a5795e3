"""What is measured again and again: machines above their profiles, benchmarks with their batches, changes and alerts.

A benchmark is what stays the same; the batches of it in their order are its series. Public runs make one benchmark for
everybody; what is unlisted or private makes another one of its owner's, so that nothing of it shows to, or changes
anything for, anybody else. All rows here but what people decided about alerts follow from the runs
(`runs.history.filing`, `runs.history.watching`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import chain
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import models, transaction
from django.urls import reverse
from django.utils import timezone

from runs.models.base import UUIDModel
from runs.models.batches import Batch
from runs.models.choices import OF_LEVEL, OPEN_ALERTS, AlertState, ChangeKind, ChangeState, Visibility
from runs.models.measurements import Metric
from runs.models.runs import Run
from runs.models.shapes import ChangeAmount, Ident, RecentBatch
from runs.models.stored import StoredJSON
from runs.models.subjects import Config, Dbms, DbmsVersion, HardwareProfile, Machine, Workload
from runs.models.visible import VisibleQuerySet
from runs.stats.watch import WINDOW


class Conditions(models.Model):
    """What was recorded of a batch beside what stays the same: versions, kernel, disks, settings, driver, data.

    Batches that agree in all of it share a row; where two neighbours do not, something happened.
    """

    digest = models.CharField(primary_key=True, max_length=64)
    facts = StoredJSON(shape=dict[str, str], default=dict)

    def __str__(self) -> str:
        return self.digest[:12]


class BenchmarkQuerySet(VisibleQuerySet["Benchmark"]):
    def watched(self) -> BenchmarkQuerySet:
        """Those of the main branch and of older releases beside it: other branches are drawn there and never alarm."""
        return self.filter(models.Q(branch="") | models.Q(release_of__isnull=False))

    def of_main_metric(self) -> BenchmarkQuerySet:
        """One of what was measured together, whatever other metrics of it are watched."""
        return self.filter(is_beside=False)


class Benchmark(UUIDModel):
    """`key`: hash of all that stays the same; `line`: the same without the branch, which siblings share.

    `procedure`: how its first batches were measured, times in seconds. What is of one line and branch and was measured
    beyond the span that a comparison allows is a sibling, too.
    `owner` of what is not public; null for what is. `branch` is empty for the main one. `release_of`: the main one of
    a release that is measured on beside a newer one (`runs.history.releases`), whose line is called as a branch is.
    `is_beside`: its metric stands beside the main one of its batches, which have a benchmark of that, too.
    `hardware`, `config`: those of the newest batch.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="benchmarks"
    )
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.PUBLIC)
    key = models.CharField(max_length=64, unique=True)
    line = models.CharField(max_length=64, db_index=True)
    name = models.CharField(max_length=400)
    branch = models.CharField(max_length=120, blank=True)
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="benchmarks")
    dbms = models.ForeignKey(Dbms, on_delete=models.PROTECT, related_name="benchmarks")
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="benchmarks")
    is_beside = models.BooleanField(default=False)
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, null=True, blank=True, related_name="benchmarks")
    hardware = models.ForeignKey(
        HardwareProfile, on_delete=models.SET_NULL, null=True, blank=True, related_name="benchmarks"
    )
    config = models.ForeignKey(Config, on_delete=models.SET_NULL, null=True, blank=True, related_name="benchmarks")
    procedure = StoredJSON(shape=dict[str, float], default=dict)
    # What a person says it goes on: its batches are filed there.
    joined_to = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="joined")
    release_of = models.ForeignKey("self", on_delete=models.CASCADE, null=True, blank=True, related_name="releases")
    created_at = models.DateTimeField(default=timezone.now)

    # What lists show, of the whole series.
    batches = models.PositiveIntegerField(default=0)
    newest_at = models.DateTimeField(null=True, blank=True)
    recent = StoredJSON(shape=list[RecentBatch], default=list)
    # How far the newest batch lies off those before it, as a share of 1, and whether surely.
    moved = models.FloatField(default=0)
    verdict = models.CharField(max_length=20, blank=True)
    # Beside others of its name, where a list has asked (`runs.history.joining.tell_apart`).
    told_apart = ""

    objects = BenchmarkQuerySet.as_manager()

    class Meta:
        ordering = ["name", "id"]
        indexes = [models.Index(fields=["-moved", "id"], name="benchmark_moved")]

    def __str__(self) -> str:
        return self.name if self.is_watched else f"{self.name}, {self.line_words}"

    @property
    def line_words(self) -> str:
        """What it is among those that are drawn beside it."""
        if not self.branch:
            return "the main branch"
        return f"release {self.branch}" if self.release_of_id else f"branch {self.branch}"

    @property
    def is_watched(self) -> bool:
        """As `watched` of all."""
        return not self.branch or self.release_of_id is not None

    def get_absolute_url(self) -> str:
        return reverse("benchmark", args=[self.id])

    @property
    def on_machine(self) -> str:
        """As lists call it that may hold it once for each of several machines."""
        return f"{self} on {self.hardware.name}" if self.hardware else str(self)

    @property
    def is_kept(self) -> bool:
        """Whether it stays where it has no batch any more: others belong to it, or it to another."""
        return self.joined_to_id is not None or self.joined.exists() or self.releases.exists()

    def show(self, count: int, newest: Sequence[SeriesBatch]) -> None:
        """What lists show of a series of so many batches. Does not save."""
        self.batches = count
        self.recent = [{"at": row.measured_at.isoformat(), "centre": row.centre} for row in newest]
        self.newest_at = newest[-1].measured_at if newest else self.newest_at


class SeriesBatchQuerySet(models.QuerySet["SeriesBatch"]):
    def in_order(self) -> SeriesBatchQuerySet:
        """In order of commit where its number is given, else of version, else of when it was measured; never of when it
        came.
        """
        return self.order_by("commit_number", "version_order", "measured_at", "pk")

    def newest_first(self) -> SeriesBatchQuerySet:
        return self.order_by("-commit_number", "-version_order", "-measured_at", "-pk")

    def of_all_releases(self, benchmark: Benchmark) -> SeriesBatchQuerySet:
        """Those of a main benchmark and of the older releases beside it."""
        # By ids: of an "or" over two tables a database reads all batches.
        return self.filter(benchmark__in=[benchmark.pk, *benchmark.releases.values_list("pk", flat=True)])

    def doubts(self, by: str) -> dict[Any, str]:
        """What speaks against the numbers of these, by a field that tells them apart: "disturbed (2 of 3)", of all of
        its runs "disturbed".
        """
        runs_of = dict(self.order_by().values_list(by, "runs"))
        runs = Run.objects.filter(pk__in={run for of in runs_of.values() for run in of})
        runs = runs.only("checks", "state", "invalid_at", "deleted_at")
        words = {str(run.pk): [word for word, _ in run.doubts] for run in runs}
        found = {}
        for key, of in runs_of.items():
            counted = Counter(chain.from_iterable(words.get(str(run), ()) for run in of))
            found[key] = ", ".join(
                word if count == len(of) else f"{word} ({count} of {len(of)})" for word, count in counted.items()
            )
        return found

    def take_out(self) -> None:
        """Delete these: their series are looked at again from there on, and from what they may have shown before."""
        firsts = list(self.order_by().values_list("benchmark").annotate(at=models.Min("measured_at")))
        self.delete()
        for benchmark, at in firsts:
            self.model.objects.filter(benchmark=benchmark).look_again(at)

    def look_again(self, at: datetime) -> None:
        """One of this series changes: it is looked at again from then on, and from what that may have shown before."""
        before = self.filter(measured_at__lt=at).newest_first().values_list("pk", flat=True)[:WINDOW]
        self.filter(models.Q(measured_at__gte=at) | models.Q(pk__in=list(before))).update(is_watched=False)


class SeriesBatch(models.Model):
    """One batch of a benchmark: the repeats that were measured together, alike in all that is known.

    `part` tells several of one batch apart. `centre`: geometric mean, 0 where each value is 0; null where
    only some have a log.
    """

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="series", db_index=False)
    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="series")
    part = models.CharField(max_length=64)
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="series_batches")
    runs = StoredJSON(shape=list[Ident], default=list)
    values = StoredJSON(shape=list[float], default=list)
    centre = models.FloatField(null=True)
    measured_at = models.DateTimeField()
    commit_number = models.BigIntegerField(default=0)
    version_order = models.CharField(max_length=200, blank=True)
    version = models.ForeignKey(DbmsVersion, on_delete=models.PROTECT, related_name="+")
    commit = models.CharField(max_length=120, blank=True)
    build = models.CharField(max_length=120, blank=True)
    label = models.CharField(max_length=120, blank=True)
    conditions = models.ForeignKey(Conditions, on_delete=models.PROTECT, related_name="+")
    # Whether the series has been looked at with it as it is (`runs.history.watching`).
    is_watched = models.BooleanField(default=False)

    objects = SeriesBatchQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(
                fields=["benchmark", "commit_number", "version_order", "measured_at", "id"], name="series_order"
            )
        ]
        constraints = [
            models.UniqueConstraint(fields=["benchmark", "batch", "part"], name="series_batch_per_benchmark")
        ]

    def __str__(self) -> str:
        return f"{self.measured_at:%Y-%m-%d}: {self.centre}"

    @property
    def place(self) -> tuple[int, str, object, int]:
        """Its place in the series."""
        return (self.commit_number, self.version_order, self.measured_at, self.pk)


@transaction.atomic
def take_out(batches: Iterable[UUID]) -> None:
    """What nobody may see of these any more leaves the series and the lists at once, an alert with its last change.

    The worker files the rest of them as it is now, and judges what is left of their series.
    """
    ids = list(batches)
    Batch.objects.filter(pk__in=ids).update(is_filed=False)
    seen = {str(pk): shown for pk, shown in Run.objects.present().filter(batch__in=ids).values_list("pk", "visibility")}
    rows = list(SeriesBatch.objects.filter(batch__in=ids).select_related("benchmark"))
    gone = [row for row in rows if row.benchmark.visibility not in {seen.get(run) for run in row.runs}]
    alerts = list(Alert.objects.filter(changes__at__in=gone).values_list("pk", flat=True).distinct())
    SeriesBatch.objects.filter(pk__in=[row.pk for row in gone]).take_out()
    Alert.objects.filter(pk__in=alerts, changes=None).delete()
    for benchmark in {row.benchmark_id: row.benchmark for row in gone}.values():
        newest = list(benchmark.series.newest_first()[: len(benchmark.recent)])[::-1]
        if benchmark.series.exists() or benchmark.is_kept:
            before = benchmark.newest_at
            benchmark.show(benchmark.series.count(), newest)
            if benchmark.newest_at != before:  # the worker says it anew
                benchmark.verdict, benchmark.moved = "", 0
            benchmark.save()
            # Of a batch that is filed once more the worker judges the series.
            Batch.objects.filter(pk__in=[row.batch_id for row in newest[-1:]]).update(is_filed=False)
        else:
            benchmark.delete()


class AlertQuerySet(VisibleQuerySet["Alert"]):
    def open(self) -> AlertQuerySet:
        """What somebody has to look at."""
        return self.filter(state__in=OPEN_ALERTS)


class Alert(UUIDModel):
    """Changes at the same place on one machine, or with the same cause on several: one cause, one alert.

    `owner` and `visibility` are those of its benchmarks; `assignee` is who takes care. Its state changes in
    `runs.history.alerts.move` alone.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, blank=True, related_name="+"
    )
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.PUBLIC)
    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, null=True, blank=True, related_name="alerts")
    state = models.CharField(max_length=12, choices=AlertState.choices, default=AlertState.NEW)
    # Between the last batch before it and the last that may be the first after it, likeliest since, of all its changes.
    after = models.DateTimeField()
    since = models.DateTimeField()
    latest = models.DateTimeField()
    fixed_by = models.CharField(max_length=200, blank=True)
    assignee = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="alerts"
    )
    note = models.TextField(blank=True)
    links = StoredJSON(shape=list[str], default=list, blank=True)
    # What it was given anew, the likeliest first, as other machines may be (`runs.history.causes.given_anew`).
    causes = StoredJSON(shape=list[str], default=list, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    state_changed_at = models.DateTimeField(default=timezone.now)

    objects = AlertQuerySet.as_manager()

    class Meta:
        ordering = ["-since", "id"]
        indexes = [models.Index(fields=["machine", "since"], name="alert_place")]

    def __str__(self) -> str:
        return f"alert of {self.since:%Y-%m-%d}"

    def get_absolute_url(self) -> str:
        return reverse("alert", args=[self.id])

    @property
    def is_judged(self) -> bool:
        """Whether somebody said what it is, and not only that they have seen it."""
        return self.state not in OPEN_ALERTS

    def standing(self) -> list[ChangePoint]:
        """Its changes that may be so; all where none is left."""
        changed = list(self.changes.all())
        return [point for point in changed if point.state != ChangeState.REFUTED] or changed


class ChangePoint(models.Model):
    """Where a series changes: suspected by one batch, confirmed by further ones, or refuted by them.

    `at`: the first batch after it. `change`: as a share of 1 with its interval; of noise, of the spread; empty of one
    from zero or to it. `earliest`, `latest`: when the first and the last batch were measured that a confirmed step may
    have begun with, as they fit nearly as well.
    """

    benchmark = models.ForeignKey(Benchmark, on_delete=models.CASCADE, related_name="changes")
    at = models.ForeignKey(SeriesBatch, on_delete=models.CASCADE, related_name="changes")
    alert = models.ForeignKey(Alert, on_delete=models.SET_NULL, null=True, blank=True, related_name="changes")
    kind = models.CharField(max_length=8, choices=ChangeKind.choices, default=ChangeKind.STEP)
    state = models.CharField(max_length=10, choices=ChangeState.choices, default=ChangeState.SUSPECTED)
    # better, worse or different
    side = models.CharField(max_length=10, blank=True)
    change = StoredJSON(shape=ChangeAmount, default=dict)
    batches_before = models.PositiveIntegerField(default=0)
    batches_after = models.PositiveIntegerField(default=0)
    earliest = models.DateTimeField(null=True, blank=True)
    latest = models.DateTimeField(null=True, blank=True)
    found_at = models.DateTimeField(default=timezone.now)
    confirmed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["at__measured_at", "id"]
        indexes = [models.Index(fields=["benchmark", "state"], name="change_of_benchmark")]

    def __str__(self) -> str:
        return f"{self.kind} at {self.at_id}"

    @property
    def is_unsure(self) -> bool:
        """Whether it is a step that three batches have confirmed and that all up to now do not show surely, or not by
        as much as matters.
        """
        if self.state != ChangeState.CONFIRMED or self.kind != ChangeKind.STEP:
            return False
        ends = self.change.get("low"), self.change.get("high")
        value = self.change.get("value", 0.0)
        is_small = value > -1 and abs(math.log1p(value)) < math.log1p(self.benchmark.metric.threshold)
        return is_small or (None not in ends and ends[0] <= 0 <= ends[1])

    @property
    def is_judged(self) -> bool:
        """What people have judged stays as it is."""
        return self.alert is not None and self.alert.is_judged

    @property
    def size(self) -> float:
        """How far it goes, as a share of 1: all of it from zero or to it."""
        return 1.0 if self.kind == ChangeKind.ZERO else abs(self.change.get("value", 0.0))

    @property
    def begins_level(self) -> bool:
        """Whether the newest batch is set against those from it on: it is confirmed and nobody says that it means
        nothing, or people expect it.
        """
        judged = self.alert.state if self.alert else ""
        is_confirmed = self.state == ChangeState.CONFIRMED and self.kind in OF_LEVEL and judged != AlertState.NOISE
        return is_confirmed or judged == AlertState.EXPECTED
