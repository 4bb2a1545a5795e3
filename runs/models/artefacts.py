from __future__ import annotations

from django.db import models
from django.utils import timezone

from runs.models.base import UUIDModel
from runs.models.runs import Run
from runs.models.uploads import FileImport, Upload


class Artefact(UUIDModel):
    """A file kept beside results: raw output of a tool, a log, a plan. Belongs to a run, an upload or an import."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, null=True, blank=True, related_name="artefacts")
    upload = models.ForeignKey(Upload, on_delete=models.CASCADE, null=True, blank=True, related_name="artefacts")
    file_import = models.ForeignKey(
        FileImport, on_delete=models.CASCADE, null=True, blank=True, related_name="artefacts"
    )
    position = models.PositiveIntegerField(default=0)
    name = models.CharField(max_length=255)
    media_type = models.CharField(max_length=100, blank=True)
    # Of the content as kept (secrets redacted, not compressed).
    size_bytes = models.BigIntegerField()
    sha256 = models.CharField(max_length=64)
    # gzip on disk, under STATE/artefacts.
    file = models.FileField(upload_to="results/%Y/%m/", max_length=300)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["position", "name"]

    def __str__(self) -> str:
        return self.name
