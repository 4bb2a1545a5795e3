"""Reports: comparisons with the words of their authors, live, or frozen as they stood on one day."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from runs.access import changes
from runs.access.rules import changeable, default_visibility
from runs.api.compare import answer
from runs.charts.drawing import Drawing
from runs.compare import reports
from runs.compare.select import MAX_QUERY, list_query
from runs.models import Report
from runs.models.choices import Visibility
from runs.views.compare import comparison_context, frozen_context
from runs.views.forms import changed, form_page, remembering
from runs.views.guards import PersonRequest, contributor_required

PER_PAGE = 50
GONE = 410
# In the address of a frozen report: the numbers of now.
LIVE = "live"


class ReportForm(forms.Form):
    title = forms.CharField(max_length=200)
    note = forms.CharField(
        required=False, max_length=20_000, label="Words", widget=forms.Textarea(attrs={"rows": 8, "class": "prose"}),
        help_text="what was asked, what the numbers say, what to be careful about; Markdown: **bold**, lists, links",
    )  # fmt: skip


class NewReportForm(ReportForm):
    query = forms.CharField(widget=forms.HiddenInput, max_length=MAX_QUERY)
    visibility = forms.ChoiceField(choices=Visibility.choices, initial=default_visibility, label="Who may see it")


@require_safe
def report_list(request: HttpRequest) -> HttpResponse:
    rows = Report.objects.present().listed_for(request.user).select_related("owner")
    mine = request.user.is_authenticated and request.GET.get("mine") == "1"
    rows = rows.filter(owner=request.user.pk) if mine else rows
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "reports/list.html", {"page": page, "mine": mine})


@require_safe
def report(request: HttpRequest, slug: str) -> HttpResponse:
    """The words, and beneath them the comparison as it stands now, or as it was frozen."""
    kept = get_object_or_404(Report.objects.readable_by(request.user).select_related("owner"), slug=slug)
    if kept.deleted_at is not None:
        return render(request, "reports/deleted.html", {"report": kept}, status=GONE)
    context = {
        "report": kept,
        "query": reports.params_of(kept, request.GET).urlencode(),
        "list_query": list_query(reports.params_of(kept)),
        "address": request.build_absolute_uri(),
        "embed_url": request.build_absolute_uri(reverse("embed-report", args=[kept.slug])),
        "changes": changes.history(kept),
        "now": timezone.now(),
    }
    if kept.frozen and LIVE not in request.GET:
        return render(request, "reports/report.html", context | frozen_context(kept, request.user))
    selection, comparison = reports.live(kept, request.user, request.GET)
    context |= comparison_context(selection, comparison) | {
        "kept": QueryDict(f"{LIVE}=1" if kept.frozen else ""),
        "parameters": request.GET,
        "before_batches": reports.pools_as_before_batches(kept) and not request.GET.get("group"),
    }
    context["hidden"] = any(run.visibility == Visibility.PRIVATE for run in selection.runs)
    return render(request, "reports/report.html", context)


@require_POST
@contributor_required
def freeze_report(request: PersonRequest, slug: str) -> HttpResponse:
    """Keeps the comparison as its page shows it now, with all its levels, of the runs that this person may see."""
    kept = _changeable(request, slug)
    if request.POST.get("thaw"):
        reports.thaw(kept, by=request.user)
        return redirect(kept)
    selection, comparison = reports.live(kept, request.user)
    if not selection.runs:
        messages.error(request, "No run of this report can be shown: there is nothing to freeze.")
        return redirect(kept)
    shown = comparison_context(selection, comparison)
    drawing: Drawing = shown["drawing"]
    parts = drawing.parts
    names = ("part", "figure", "multiples", "pivot")
    drawn = [str(render_to_string(part.template, dict.fromkeys(names, part))) for part in parts]
    if comparison.levels:
        drawn.append(str(render_to_string("_levels.html", shown | {"is_kept": True, "few_levels": 0})))
    if shown["matrix"]:
        drawn.append(str(render_to_string("_matrix_of_verdicts.html", shown)))
    numbers = answer(comparison, drawing)
    question = shown["question"]
    reports.freeze(kept, comparison.all_runs, question=question, comparison=numbers, drawn=drawn, by=request.user)
    return redirect(kept)


@contributor_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_report(request: PersonRequest) -> HttpResponse:
    """The address of the form carries the query of the comparison."""
    form = NewReportForm(request.POST if request.method == "POST" else None, initial={"query": request.GET.urlencode()})
    if form.is_valid():
        given = form.cleaned_data
        try:
            made = reports.create(
                title=given["title"], note=given["note"], query=given["query"], visibility=given["visibility"],
                owner=request.user,
            )  # fmt: skip
            return redirect(made)
        except reports.BadQuery as error:
            form.add_error(None, str(error))
    return form_page(request, "reports/form.html", form, query=form["query"].value() or "")


@contributor_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit_report(request: PersonRequest, slug: str) -> HttpResponse:
    kept = _changeable(request, slug)
    shown = {"title": kept.name, "note": kept.note}
    form = remembering(ReportForm(request.POST if request.method == "POST" else None, initial=shown))
    if form.is_valid():
        reports.edit(kept, **(shown | changed(form)), by=request.user)
        return redirect(kept)
    return form_page(request, "reports/form.html", form, report=kept, query=kept.query)


@require_POST
@contributor_required
def delete_report(request: PersonRequest, slug: str) -> HttpResponse:
    kept = _changeable(request, slug)
    reports.delete(kept)
    return redirect(kept)


@require_POST
@contributor_required
def restore_report(request: PersonRequest, slug: str) -> HttpResponse:
    kept = _changeable(request, slug, deleted=True)
    if reports.restore(kept):
        messages.success(request, "The report is back.")
    return redirect(kept)


def _changeable(request: HttpRequest, slug: str, *, deleted: bool = False) -> Report:
    rows = Report.objects.readable_by(request.user)
    return changeable(request.user, get_object_or_404(rows if deleted else rows.present(), slug=slug))
