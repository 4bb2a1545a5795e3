from __future__ import annotations

from django.db import models

from runs.models.base import NamedModel, UUIDModel


def versioned(name: str, version: str) -> str:
    """A workload's name with its version, except the first."""
    return name if version in ("", "1") else f"{name}, version {version}"


class Workload(NamedModel):
    """What was run. `version` breaks comparability: another version is another row."""

    version = models.CharField(max_length=40, blank=True)
    kind = models.CharField(max_length=60, blank=True)
    summary = models.TextField(blank=True)
    publication = models.ForeignKey(
        "runs.Publication", on_delete=models.SET_NULL, null=True, blank=True, related_name="workloads"
    )
    source_id = models.CharField(max_length=120, blank=True)
    # Name of the metric that charts show first; empty where none is set.
    primary_metric = models.CharField(max_length=80, blank=True)
    details = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return versioned(self.name, self.version)


class DataSchema(UUIDModel):
    """Tables, columns and indexes of a data set, as a source prints them."""

    publication = models.ForeignKey("runs.Publication", on_delete=models.CASCADE, related_name="schemas")
    position = models.PositiveIntegerField()
    tables = models.JSONField(default=list)
    columns = models.JSONField(default=list)
    primary_key = models.JSONField(default=list)
    indexes = models.JSONField(default=list)
    details = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["publication", "position"]
