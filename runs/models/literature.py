"""What a published article holds besides runs. Facts and figures only; the text stays with its author."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.urls import reverse

from runs.models.base import UUIDModel
from runs.models.choices import Provenance
from runs.models.shapes import PrintedMetric, PublicationDetails, PublishedDetails, Side
from runs.models.stored import StoredJSON
from runs.models.subjects import Workload


class Publication(UUIDModel):
    slug = models.SlugField(max_length=120, unique=True)
    title_original = models.CharField(max_length=300)
    title_en = models.CharField(max_length=300)
    author = models.CharField(max_length=200, blank=True)
    publisher = models.CharField(max_length=200, blank=True)
    language = models.CharField(max_length=10)
    published_on = models.DateField(null=True, blank=True)
    details = StoredJSON(shape=PublicationDetails, default=dict, blank=True)
    # What its folder holds beside the results: "article" (prose, figures), "page" (what it shows in which order),
    # "checks".
    content = StoredJSON(shape=dict[str, dict[str, Any]], default=dict, blank=True)
    # The consistency checks as computed when it was made.
    checks = StoredJSON(shape=list[dict[str, Any]], default=list, blank=True)

    class Meta:
        ordering = ["published_on", "slug"]

    def __str__(self) -> str:
        return self.title_en

    def get_absolute_url(self) -> str:
        return reverse("publication", args=[self.slug])


class PublishedItem(UUIDModel):
    """Base of everything that a publication states outside its runs, in its order."""

    publication = models.ForeignKey(Publication, on_delete=models.CASCADE, related_name="%(class)ss")
    position = models.PositiveIntegerField()
    details = StoredJSON(shape=PublishedDetails, default=dict, blank=True)

    class Meta:
        abstract = True
        ordering = ["publication", "position"]


class Observation(PublishedItem):
    """A value that belongs to no single run ("about 45 % CPU with both methods")."""

    workload = models.ForeignKey(Workload, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    metric = models.CharField(max_length=200)
    unit = models.CharField(max_length=40, blank=True)
    value = models.FloatField(null=True)
    value_text = models.CharField(max_length=200, blank=True)
    qualifier = models.CharField(max_length=200, blank=True)
    factors = StoredJSON(shape=dict[str, Any], default=dict, blank=True)
    provenance = models.CharField(max_length=20, choices=Provenance.choices, default=Provenance.PRINTED)


class Claim(PublishedItem):
    """A relative statement ("26 % faster"): kept as a claim with its baseline, never turned into numbers."""

    source_id = models.CharField(max_length=120)
    metric = models.CharField(max_length=200)
    side_a = StoredJSON(shape=Side, default=dict, blank=True)
    side_b = StoredJSON(shape=Side, default=dict, blank=True)
    percent = models.FloatField(null=True, blank=True)
    ratio = models.FloatField(null=True, blank=True)
    sense = models.TextField(blank=True)
    approximate = models.BooleanField(default=False)
    ambiguous = models.BooleanField(default=False)
    summary = models.TextField(blank=True)


class MissingItem(PublishedItem):
    """A figure or linked document of the article that is lost, and what it held."""

    source_id = models.CharField(max_length=120)
    is_document = models.BooleanField(default=False)
    kind = models.CharField(max_length=120, blank=True)
    content = models.TextField(blank=True)


class TableStat(PublishedItem):
    table = models.CharField(max_length=120)
    records = models.BigIntegerField(null=True)
    record_length_bytes = models.FloatField(null=True)
    data_pages = models.BigIntegerField(null=True)
    table_size_mb = models.FloatField(null=True)
    indices_size_mb = models.FloatField(null=True)
    total_percent = models.FloatField(null=True)
    total_percent_as_printed = models.CharField(max_length=20, blank=True)


class IndexStat(PublishedItem):
    index = models.CharField(max_length=120)
    table = models.CharField(max_length=120)
    depth = models.PositiveIntegerField(null=True)
    keys = models.BigIntegerField(null=True)
    key_length_bytes = models.FloatField(null=True)
    unique_keys = models.BigIntegerField(null=True)
    size_mb = models.FloatField(null=True)


class QueryStat(PublishedItem):
    """One query with its plan. `metrics` is the source's list of {name, unit, value, as_printed, better}."""

    number = models.PositiveIntegerField()
    sql = models.TextField()
    plan = models.TextField(blank=True)
    description = models.TextField(blank=True)
    metrics = StoredJSON(shape=list[PrintedMetric], default=list)
    count_result = models.BigIntegerField(null=True)


class Fact(PublishedItem):
    """Something we know that the article does not print: recovered from another page, or inferred by us."""

    provenance = models.CharField(max_length=20, choices=Provenance.choices)
    title = models.TextField()
    how = models.TextField(blank=True)
