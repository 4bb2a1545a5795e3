from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from runs.models.base import NamedModel
from runs.models.choices import Provenance


class Config(NamedModel):
    """A DBMS configuration as given: its parameters in order, duplicates and flags kept.

    Immutable once a run has used it: an edit makes the next revision.
    """

    # SHA-256 of DBMS slug and parameters: equal configurations of scheduled runs are one row.
    digest = models.CharField(max_length=64, blank=True, db_index=True)
    publication = models.ForeignKey(
        "runs.Publication", on_delete=models.SET_NULL, null=True, blank=True, related_name="configs"
    )
    source_id = models.CharField(max_length=120, blank=True)
    dbms = models.ForeignKey("runs.Dbms", on_delete=models.PROTECT, null=True, blank=True, related_name="configs")
    revision = models.PositiveIntegerField(default=1)
    revision_of = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="later_revisions"
    )
    created_at = models.DateTimeField(default=timezone.now)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    applies_to = models.ManyToManyField("runs.DbmsVersion", blank=True, related_name="configs")
    file_name = models.CharField(max_length=200, blank=True)
    details = models.JSONField(default=dict, blank=True)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["name"]


class ConfigFile(models.Model):
    """One file of a configuration, byte for byte as given but for its secrets."""

    config = models.ForeignKey(Config, on_delete=models.CASCADE, related_name="files")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    # A name of `benchagent.configfiles`; empty where the format is not known.
    format = models.CharField(max_length=40, blank=True)
    text = models.TextField()

    class Meta:
        ordering = ["config", "position"]
        constraints = [models.UniqueConstraint(fields=["config", "position"], name="config_file_position")]

    def __str__(self) -> str:
        return self.name


class ConfigParameter(models.Model):
    config = models.ForeignKey(Config, on_delete=models.CASCADE, related_name="parameters")
    file = models.ForeignKey(ConfigFile, on_delete=models.CASCADE, null=True, blank=True, related_name="parameters")
    line = models.PositiveIntegerField(null=True, blank=True)
    position = models.PositiveIntegerField()
    section = models.CharField(max_length=120, blank=True)
    name = models.CharField(max_length=200)
    # Null is a flag: a name that stands alone.
    value = models.TextField(null=True, blank=True)
    unit = models.CharField(max_length=40, blank=True)
    comment = models.TextField(blank=True)
    provenance = models.CharField(max_length=20, choices=Provenance.choices, default=Provenance.MEASURED)

    class Meta:
        ordering = ["config", "position"]
        constraints = [models.UniqueConstraint(fields=["config", "position"], name="config_position")]

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name} = {self.value}"
