"""A published article, with what it holds besides runs. Facts and figures only; the text stays with its author."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Count, Q
from django.urls import reverse

from runs.models.base import UUIDModel
from runs.models.choices import RunState
from runs.models.shapes import PublicationDetails
from runs.models.stored import StoredJSON


class PublicationQuerySet(models.QuerySet["Publication"]):
    def counted(self) -> PublicationQuerySet:
        """With how many of its runs are `valued`, and of how many the source holds no value any more (`lost`)."""
        present = Q(runs__deleted_at=None)
        return self.annotate(
            valued=Count("runs", filter=present & Q(runs__state=RunState.FINISHED, runs__invalid_at=None)),
            lost=Count("runs", filter=present & Q(runs__state=RunState.VALUE_MISSING)),
        ).order_by("published_on", "slug")  # which is not the model's order any more where rows are counted


class Publication(UUIDModel):
    slug = models.SlugField(max_length=120, unique=True)
    title_original = models.CharField(max_length=300)
    title_en = models.CharField(max_length=300)
    author = models.CharField(max_length=200, blank=True)
    publisher = models.CharField(max_length=200, blank=True)
    language = models.CharField(max_length=10)
    published_on = models.DateField(null=True, blank=True)
    details = StoredJSON(shape=PublicationDetails, default=dict, blank=True)
    # What its folder holds: "article" (prose, figures), "page" (what it shows in which order), and what it states
    # beside its runs (runs.publications.document.Statements).
    content = StoredJSON(shape=dict[str, dict[str, Any]], default=dict, blank=True)
    # The consistency checks as computed when it was made.
    checks = StoredJSON(shape=list[dict[str, Any]], default=list, blank=True)

    objects = PublicationQuerySet.as_manager()

    class Meta:
        ordering = ["published_on", "slug"]

    def __str__(self) -> str:
        return self.title_en

    def get_absolute_url(self) -> str:
        return reverse("publication", args=[self.slug])


class PublicationFiles(UUIDModel):
    """What an article was imported from, for whoever takes it along; it outlives the article, which it brings back."""

    slug = models.SlugField(max_length=120, unique=True)
    title_en = models.CharField(max_length=300)
    archive = models.BinaryField()
    deleted_at = models.DateTimeField(null=True, blank=True)
