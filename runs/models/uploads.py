from __future__ import annotations

from django.db import models
from django.utils import timezone

from runs.models.accounts import ApiToken
from runs.models.base import UUIDModel


class Upload(UUIDModel):
    """One document taken by POST /api/v1/results/. The client makes the id; `digest` tells a repeat from a conflict."""

    digest = models.CharField(max_length=64)
    schema_version = models.PositiveIntegerField()
    token = models.ForeignKey(ApiToken, on_delete=models.SET_NULL, null=True, blank=True, related_name="uploads")
    received_at = models.DateTimeField(default=timezone.now)
    document = models.JSONField(default=dict)

    class Meta:
        ordering = ["-received_at"]

    def __str__(self) -> str:
        return str(self.id)
