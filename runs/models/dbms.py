from __future__ import annotations

from benchagent.catalog import Durability
from django.db import models

from runs.models.base import NamedModel
from runs.models.choices import SHORT_DURABILITY


def dbms_name(name: str, durability: str) -> str:
    """With "in memory" where the database is: next to one on a disk it is another thing."""
    return f"{name}, {SHORT_DURABILITY[Durability.MEMORY]}" if durability == Durability.MEMORY else name


class Dbms(NamedModel):
    vendor = models.CharField(max_length=200, blank=True)
    aliases = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["name"]
        verbose_name = "DBMS"
        verbose_name_plural = "DBMSs"


class DbmsVersion(NamedModel):
    """One version of a DBMS in one architecture (Firebird SuperServer, Classic…)."""

    dbms = models.ForeignKey(Dbms, on_delete=models.PROTECT, related_name="versions")
    version = models.CharField(max_length=120)
    architecture = models.CharField(max_length=60, blank=True)
    # Other names of the same version: CUBRID 2008 R3.0 is 8.3.0.
    aliases = models.JSONField(default=list, blank=True)
    source_id = models.CharField(max_length=120, blank=True)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["dbms", "version", "architecture"], name="dbms_version_architecture")
        ]
