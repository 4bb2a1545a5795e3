"""What was measured together, and what people say of it and of its runs."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from runs.models.base import UUIDModel
from runs.models.stored import StoredJSON


class Labelled(models.Model):
    """What people say of a batch, and of a run where it differs from what its batch says."""

    label = models.CharField(max_length=120, blank=True)
    # Words in lower case, sorted, a blank between two: filters find one of them on both databases.
    tags = models.TextField(blank=True)
    note = models.TextField(blank=True)
    # What was tested: `build`, `commit`, `branch`, and `dbms_build`, which the DBMS reports itself.
    tested = StoredJSON(shape=dict[str, str], default=dict, blank=True)

    class Meta:
        abstract = True

    @property
    def tag_list(self) -> list[str]:
        return self.tags.split()


class BatchQuerySet(models.QuerySet["Batch"]):
    def refile(self, runs: models.QuerySet[Any]) -> None:
        """These runs came, changed or go: their batches are filed into the series of their benchmarks once more.

        Also where a batch waits already: it may be filed at this moment, from how its runs were.
        """
        self.filter(pk__in=runs.order_by().values("batch")).update(is_filed=False)


class Batch(UUIDModel, Labelled):
    """What was measured together: an experiment, an upload, an import, a publication. Repeats are pooled within one.

    It has the id of what made it, so that whatever is added later joins it; an upload may name another one of its
    owner's. It has no visibility: it is seen with its runs.
    """

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="batches"
    )
    created_at = models.DateTimeField(default=timezone.now)
    # Whether the series of benchmarks hold it as it is now (`runs.history.filing`).
    is_filed = models.BooleanField(default=False, editable=False)

    objects = BatchQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["tags"], name="batch_tags"),
            models.Index(fields=["label"], name="batch_label"),
            models.Index(fields=["created_at"], condition=models.Q(is_filed=False), name="batch_unfiled"),
        ]

    def __str__(self) -> str:
        return self.label or f"{self.created_at:%Y-%m-%d %H:%M}"

    def get_absolute_url(self) -> str:
        return reverse("batch", args=[self.id])
