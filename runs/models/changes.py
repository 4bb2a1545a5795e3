from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone


class Change(models.Model):
    """One edited field of one object: who, when, the old value and the new. Never edited, never deleted."""

    target_type = models.CharField(max_length=40)
    target_id = models.CharField(max_length=40)
    field = models.CharField(max_length=80)
    old = models.JSONField(null=True)
    new = models.JSONField(null=True)
    reason = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["target_type", "target_id"])]

    def __str__(self) -> str:
        return f"{self.target_type} {self.target_id}: {self.field}"
