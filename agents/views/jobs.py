from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from agents.jobs import life
from agents.jobs.status import experiment_progress, job_status
from agents.plans import schedule
from runs.models import Experiment, Run
from runs.views.guards import operator_required, page_before


def _scheduled(request: HttpRequest, run_id: uuid.UUID) -> Run:
    runs = Run.objects.readable_by(request.user).filter(job__isnull=False)
    rows = runs.select_related("job__agent", "job__requested_agent", "experiment", "dbms_version__dbms", "owner")
    return get_object_or_404(rows, id=run_id)


def _experiment(request: HttpRequest, slug: str) -> Experiment:
    return get_object_or_404(Experiment.objects.readable_by(request.user), slug=slug)


@require_safe
@never_cache
def job(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The state of a run's job, asked for by htmx every few seconds; when it has ended the page is loaded anew."""
    run = _scheduled(request, run_id)
    response = render(request, "agents/_job_status.html", job_status(run, request.user))
    if run.has_ended:
        response["HX-Refresh"] = "true"
    return response


@require_safe
@never_cache
def progress(request: HttpRequest, slug: str) -> HttpResponse:
    """The progress of an experiment, asked for by htmx every few seconds."""
    experiment = _experiment(request, slug)
    return render(request, "agents/_experiment_progress.html", experiment_progress(experiment, request.user))


@require_POST
@operator_required
def cancel_run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    run = _scheduled(request, run_id)
    if not life.cancel(run):
        messages.info(request, "The run had already ended.")
    return redirect(page_before(request, default=run.get_absolute_url()))


@require_POST
@operator_required
def cancel_experiment(request: HttpRequest, slug: str) -> HttpResponse:
    experiment = _experiment(request, slug)
    count = life.cancel_experiment(experiment)
    messages.success(request, f"{count} {'run' if count == 1 else 'runs'} cancelled.")
    return redirect("experiment", slug=experiment.slug)


@require_POST
@operator_required
def repeat_run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """One more repeat of the run's cell."""
    run = _scheduled(request, run_id)
    if reason := schedule.outdated(run):
        messages.error(request, f"Cannot be run once more: {reason}.")
        return redirect(run)
    return redirect(schedule.repeat_cell(run))
