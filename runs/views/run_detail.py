"""The page of one run, its CSV, and taking it out of the lists and back."""

from __future__ import annotations

import csv
import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from runs.access import changes
from runs.access.visibility import source_of
from runs.charts.heating import memory_figure
from runs.charts.run import figures, series_rows
from runs.dbms import systems
from runs.models import Change, Run
from runs.results import editing
from runs.run import derived, engine_report, facts, series
from runs.run.artefacts import artefacts_of
from runs.run.facets import factor_facets
from runs.run.number import primary_number, why_no_number
from runs.views.guards import PersonRequest, check_may_change, contributor_required, token_may_read

STOP_POLLING = 286


@require_safe
def run_detail(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    rows = Run.objects.for_lists().select_related("upload", "invalid_by")
    rows = rows.prefetch_related("state_changes", "config__parameters")
    run = get_object_or_404(rows.readable_by(request.user), id=run_id)
    if run.deleted_at is not None:
        return render(request, "run_deleted.html", {"run": run}, status=410)
    if request.GET.get("part") == "state":
        return render(request, "run.html#state", {"run": run}, status=STOP_POLLING if not run.is_open else 200)
    samples = series.read_all(run)
    context = {
        "run": run,
        "figures": figures(run, samples),
        "derived": derived.of_run(run, samples),
        "primary": primary_number(run),
        "gap": "" if run.is_open else why_no_number(run),
        "measurements": facts.ordered_measurements(run),
        "factors": factor_facets(run),
        "settings": facts.setting_rows(run),
        "steps": facts.time_line(run),
        "origin": facts.origin(run),
        "changes": _changes(run),
        "files": artefacts_of(run),
        "told": engine_report.of_run(run),
        "heating": memory_figure(run),
        "unverified": systems.unverified(run.dbms_version.dbms.slug) if run.context.get("connection") else "",
    }
    return render(request, "run.html", context)


def _changes(run: Run) -> list[Change]:
    """Of the run, and of what decides who may see it; newest first."""
    source = source_of(run)
    history = [*changes.history(run), *(changes.history(source) if source and source != run else ())]
    return sorted(history, key=lambda change: change.at, reverse=True)


@require_safe
@token_may_read
def series_csv(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """Every sample of the run: one row per sample."""
    run = get_object_or_404(Run.objects.present().readable_by(request.user), id=run_id)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{run.id}.csv"'
    csv.writer(response).writerows(series_rows(series.read_all(run)))
    return response


@require_POST
@contributor_required
def delete_run(request: PersonRequest, run_id: uuid.UUID) -> HttpResponse:
    run = changeable_run(request, run_id)
    if run.is_open:
        messages.error(request, "This run has not ended. Cancel it first.")
    else:
        editing.delete(run, by=request.user)
    return redirect(run)


@require_POST
@contributor_required
def restore_run(request: PersonRequest, run_id: uuid.UUID) -> HttpResponse:
    run = changeable_run(request, run_id)
    if editing.restore(run, by=request.user):
        messages.success(request, "The run is back.")
    return redirect(run)


@require_POST
@contributor_required
def invalidate_run(request: PersonRequest, run_id: uuid.UUID) -> HttpResponse:
    run = changeable_run(request, run_id)
    try:
        editing.invalidate(run, reason=request.POST.get("reason", ""), by=request.user)
    except editing.NoReason as error:
        messages.error(request, str(error))
    return redirect(run)


@require_POST
@contributor_required
def validate_run(request: PersonRequest, run_id: uuid.UUID) -> HttpResponse:
    run = changeable_run(request, run_id)
    if editing.validate(run, by=request.user):
        messages.success(request, "The run counts again.")
    return redirect(run)


def changeable_run(request: HttpRequest, run_id: uuid.UUID) -> Run:
    """Also a deleted one. Raises Http404 for what the person may not see, PermissionDenied for what is not theirs."""
    rows = Run.objects.readable_by(request.user).select_related("experiment", "upload")
    run = get_object_or_404(rows, id=run_id)
    check_may_change(request, run)
    return run
