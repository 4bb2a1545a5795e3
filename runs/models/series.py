from __future__ import annotations

from django.db import models

from runs.models.measurements import Metric
from runs.models.runs import Run


class SeriesChunk(models.Model):
    """Consecutive samples of one metric of one run, compressed (`runs.run.series`).

    While a run is going on there is a chunk per delivery; when it has ended they are merged into chunk 0.
    `t0_s` counts from the start of the warm-up. `count` includes gaps (NaN); the summary columns leave them out.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="series")
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

    def __str__(self) -> str:
        return f"{self.metric.name}: {self.count} samples from {self.t0_s:g} s"
