"""What puts runs together: experiments, which plan them, reports, which compare them, and long selections of them."""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.urls import reverse
from django.utils import timezone

from runs.models.base import NamedModel
from runs.models.choices import Visibility
from runs.models.shapes import Frozen, PlanDocument
from runs.models.stored import StoredJSON
from runs.models.visible import VisibleQuerySet


class ExperimentQuerySet(VisibleQuerySet["Experiment"]):
    owner_field = "created_by"


class Experiment(NamedModel):
    """A matrix of runs that belong together: engines x repeats, in a recorded order, each repeat after the other."""

    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="experiments"
    )
    created_at = models.DateTimeField(default=timezone.now)
    # Short windows made to show the product at work: marked everywhere, never ranked as best.
    demonstration = models.BooleanField(default=False)
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.PUBLIC)
    note = models.TextField(blank=True)
    # It came with a bundle, and no operator has accepted it yet: no article or home page shows it as measured here.
    brought = models.BooleanField(default=False)
    # The form as filled in, so that it can be shown, repeated and changed.
    plan = StoredJSON(shape=PlanDocument, default=dict, blank=True)

    objects = ExperimentQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def get_absolute_url(self) -> str:
        return reverse("experiment", args=[self.slug])


class ReportQuerySet(VisibleQuerySet["Report"]):
    def present(self) -> ReportQuerySet:
        return self.filter(deleted_at=None)

    def thaw(self, runs: Iterable[str]) -> None:
        """Runs that are purged leave the frozen numbers too: these reports show what stands now."""
        gone = set(runs)
        for key, frozen in self.exclude(frozen=None).values_list("pk", "frozen"):
            if frozen and not gone.isdisjoint(frozen["runs"]):
                self.filter(pk=key).update(frozen=None)


class Report(NamedModel):
    """A saved comparison with a title and words: the query of the compare page under a short address."""

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="reports"
    )
    visibility = models.CharField(max_length=10, choices=Visibility.choices, default=Visibility.PUBLIC)
    # The compare page's query string: runs, cells or filters, metric, baseline.
    query = models.TextField()
    note = models.TextField(blank=True)
    # The comparison as it stood on one day (Frozen); without it the numbers are those of now.
    frozen = StoredJSON(shape=Frozen, null=True, blank=True, encoder=DjangoJSONEncoder)
    created_at = models.DateTimeField(default=timezone.now)
    deleted_at = models.DateTimeField(null=True, blank=True)

    objects = ReportQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]

    def get_absolute_url(self) -> str:
        return reverse("report", args=[self.slug])


class StoredSelectionQuerySet(models.QuerySet["StoredSelection"]):
    def store(self, key: str, query: str, *, kept: bool, most_passing: int) -> None:
        """Once, however often. Of those that are not kept, the newest `most_passing` stay."""
        row, is_new = self.get_or_create(pk=key, defaults={"query": query, "kept": kept})
        if kept and not row.kept:
            self.filter(pk=key).update(kept=True)
        if is_new and not kept:
            passing = self.filter(kept=False).order_by("-created_at")
            self.filter(pk__in=list(passing.values_list("pk", flat=True)[most_passing:]), kept=False).delete()


class StoredSelection(models.Model):
    """Runs and cells as an address names them, under an id short enough for one; it shows nobody more than they see."""

    id = models.CharField(primary_key=True, max_length=12)
    query = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)
    # Made or read by somebody who was logged in. What strangers make is bounded: they only look at pages.
    kept = models.BooleanField(default=True)

    objects = StoredSelectionQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["created_at"], condition=models.Q(kept=False), name="selection_passing")]

    def __str__(self) -> str:
        return self.id
