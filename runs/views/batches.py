"""What was measured together, and what people say of it and of single runs."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe
from rest_framework.exceptions import ValidationError

from runs.access import changes
from runs.access.rules import changeable, changeable_run, readable_batch
from runs.charts.experiment import overview
from runs.incoming.forms import LabelFields
from runs.incoming.reading import read
from runs.models import Batch, Run
from runs.results import editing
from runs.run.facets import TESTED
from runs.views.forms import add_errors, changed, form_page, remembering
from runs.views.guards import PersonRequest, contributor_required

# A page of more is no overview: an import may hold 20,000 runs.
MOST_COMPARED = 300
MOST_IN_A_LINE = 5


class DescribeForm(LabelFields):
    note = forms.CharField(required=False, max_length=10_000, widget=forms.Textarea(attrs={"rows": 4}))
    reason = forms.CharField(required=False, max_length=2000, label="Why it is changed")
    field_order: Sequence[str] = ("label", "tags", "build", "commit", "branch", "note", "reason")


class DescribeRunForm(DescribeForm):
    measured_on = forms.DateField(
        required=False, widget=forms.DateInput(attrs={"type": "date"}), help_text="The day; empty: not stated."
    )
    field_order = ("label", "tags", "build", "commit", "branch", "measured_on", "note", "reason")


@require_safe
def batch(request: HttpRequest, batch_id: uuid.UUID) -> HttpResponse:
    shown = readable_batch(request.user, batch_id)
    readable = Run.objects.readable_by(request.user).filter(batch=shown)
    runs = readable.present()
    count = runs.count()
    context = overview(list(runs.for_lists())) if count <= MOST_COMPARED else {}
    # Documents that name their batch say label and tags of their own runs.
    said = list(runs.order_by().values_list("label", "tags").distinct())
    labels = sorted({label or shown.label for label, _ in said} - {""})
    tags = sorted({*shown.tag_list, *(tag for _, of_run in said for tag in of_run.split())})
    context |= {
        "batch": shown,
        "title": labels[0] if len(labels) == 1 else str(shown),
        "label": _few(labels, "labels"),
        "tags": _few(tags, "tags"),
        "deleted": readable.exclude(deleted_at=None).count(),
        "tested": [(heading, shown.tested[name]) for name, heading in TESTED.items() if shown.tested.get(name)],
        "count": count,
        "first": runs.for_lists().order_by("created_at").first(),
        "changes": changes.history(shown),
    }
    return render(request, "batch.html", context)


def _few(names: Sequence[str], thing: str) -> str:
    return ", ".join(names) if len(names) <= MOST_IN_A_LINE else f"{len(names)} {thing}"


@contributor_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit_batch(request: PersonRequest, batch_id: uuid.UUID) -> HttpResponse:
    return _describe(request, changeable(request.user, readable_batch(request.user, batch_id)), editing.BatchEdit)


@contributor_required
@require_http_methods(["GET", "HEAD", "POST"])
def describe_run(request: PersonRequest, run_id: uuid.UUID) -> HttpResponse:
    return _describe(request, changeable_run(request.user, run_id), editing.RunEdit)


def _describe(request: PersonRequest, target: Batch | Run, kind: type[editing.BatchEdit]) -> HttpResponse:
    runs = target.runs.all() if isinstance(target, Batch) else Run.objects.filter(pk=target.pk)
    if runs.exclude(publication=None).exists():
        raise PermissionDenied("This is part of a publication and says what that says.")
    described = {"label": target.label, "tags": target.tags, "note": target.note, **target.tested}
    form_of_kind = DescribeForm if isinstance(target, Batch) else DescribeRunForm
    if isinstance(target, Run):
        described["measured_on"] = target.measured_on
    form = remembering(form_of_kind(request.POST if request.method == "POST" else None, initial=described))
    if form.is_valid():
        given = changed(form)
        tested = target.tested | {name: given.pop(name) for name in ("build", "commit", "branch") if name in given}
        given["tested"] = {name: value for name, value in tested.items() if value != ""}
        if "tags" in given:
            given["tags"] = given["tags"].split()
        if given.get("measured_on"):
            given["measured_on"] = given["measured_on"].isoformat()
        try:
            editing.edit(target, read(kind, given), by=request.user)
            return redirect(target)
        except ValidationError as error:
            add_errors(form, error)
    return form_page(request, "describe.html", form, target=target, is_batch=isinstance(target, Batch))
