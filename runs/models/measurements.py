from __future__ import annotations

from typing import Any

from benchagent.catalog import threshold_of
from django.db import models

from runs.models.base import UUIDModel
from runs.models.choices import Better, Provenance
from runs.models.runs import Run
from runs.models.stored import StoredJSON
from runs.models.subjects import DbmsVersion, Workload


class Metric(models.Model):
    """A quantity with its unit and direction. The same name in another unit is another metric."""

    name = models.CharField(max_length=120)
    unit = models.CharField(max_length=40, blank=True)
    label = models.CharField(max_length=200)
    better = models.CharField(max_length=8, choices=Better.choices, default=Better.NONE)

    class Meta:
        ordering = ["name", "unit"]
        constraints = [models.UniqueConstraint(fields=["name", "unit"], name="metric_name_unit")]

    def __str__(self) -> str:
        return f"{self.label} ({self.unit})" if self.unit else self.label

    @property
    def threshold(self) -> float:
        """The share of 1 from which a difference matters."""
        return threshold_of(self.name, self.unit)


class Measurement(models.Model):
    """One number of one run. `as_printed` keeps a source's spelling."""

    # Each begins an index that is declared below.
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="measurements", db_index=False)
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="measurements", db_index=False)
    phase = models.CharField(max_length=20, default="run")
    value = models.FloatField()
    as_printed = models.CharField(max_length=60, blank=True)
    provenance = models.CharField(max_length=20, choices=Provenance.choices, default=Provenance.MEASURED)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["metric__name", "phase"]
        constraints = [models.UniqueConstraint(fields=["run", "metric", "phase"], name="measurement_per_run")]
        indexes = [models.Index(fields=["metric", "value"], name="measurement_value")]

    def __str__(self) -> str:
        return f"{self.metric.name} = {self.value:g} {self.metric.unit}"

    @property
    def phase_words(self) -> str:
        return self.phase.replace("_", "-")


class Aggregate(UUIDModel):
    """A printed statistic of several runs (a median): never a run, never a dot."""

    publication = models.ForeignKey("runs.Publication", on_delete=models.CASCADE, related_name="aggregates")
    source_id = models.CharField(max_length=120)
    statistic = models.CharField(max_length=40)
    of = models.ManyToManyField(Run, related_name="aggregates")
    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, related_name="+")
    dbms_version = models.ForeignKey(DbmsVersion, on_delete=models.PROTECT, null=True, related_name="+")
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="+")
    value = models.FloatField()
    as_printed = models.CharField(max_length=60, blank=True)
    provenance = models.CharField(max_length=20, choices=Provenance.choices, default=Provenance.PRINTED)
    details = StoredJSON(shape=dict[str, Any], default=dict, blank=True)

    class Meta:
        ordering = ["publication", "source_id"]
        constraints = [models.UniqueConstraint(fields=["publication", "source_id"], name="aggregate_source_id")]

    @property
    def factors(self) -> dict[str, Any]:
        """Name -> value, as far as the article says what it was measured at."""
        stated = self.details.get("factors")
        return stated if isinstance(stated, dict) else {}

    def __str__(self) -> str:
        return f"{self.statistic} {self.value:g}"


class SeriesChunk(models.Model):
    """Consecutive samples of one metric of one run, compressed (`runs.run.series`).

    While a run is going on there is a chunk per delivery; when it has ended they are merged into chunk 0.
    `t0_s` counts from the start of the warm-up. `count` includes gaps (NaN); the summary columns leave them out.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="series", db_index=False)
    metric = models.ForeignKey(Metric, on_delete=models.PROTECT, related_name="+")
    chunk = models.PositiveIntegerField()
    t0_s = models.FloatField()
    interval_s = models.FloatField()
    count = models.PositiveIntegerField()
    minimum = models.FloatField(null=True)
    maximum = models.FloatField(null=True)
    total = models.FloatField(null=True)
    codec = models.PositiveSmallIntegerField(default=1)
    data = models.BinaryField()

    class Meta:
        ordering = ["run", "metric", "chunk"]
        constraints = [models.UniqueConstraint(fields=["run", "metric", "chunk"], name="series_chunk")]
        # Equal series have equal totals: by them copies are found.
        indexes = [models.Index(fields=["metric", "total"], name="series_total")]

    def __str__(self) -> str:
        return f"{self.metric.name}: {self.count} samples from {self.t0_s:g} s"
