from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db.models import Count, Q
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs.charts import matrix
from runs.listing.rows import RunRow
from runs.models import Experiment, Publication, Run
from runs.models.choices import RunState

RECENT = 8
PRESENT = Q(runs__deleted_at=None)
NOTHING_NEW = 204


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What there is to see: the demonstration filling up, the latest runs, the published results."""
    experiments = Experiment.objects.listed_for(request.user)
    demonstration = experiments.filter(demonstration=True).first()
    present = Run.objects.present().listed_for(request.user).for_lists()
    runs = list(present.filter(experiment=demonstration).order_by("order_index")) if demonstration else []
    seen = matrix.fingerprint(runs)
    if request.GET.get("seen") == seen:
        return HttpResponse(status=NOTHING_NEW)
    context: dict[str, Any] = {
        "demonstration": demonstration,
        "runs": runs,
        "seen": seen,
        "first_run": settings.FIRST_RUN,
    }
    context |= matrix.overview(runs)
    if "seen" in request.GET:
        return render(request, "home.html#demonstration", context)
    # What was measured or uploaded last; what still waits in the queue is shown by its experiment.
    begun = present.filter(publication=None).exclude(state=RunState.QUEUED)
    latest = begun.order_by(Coalesce("started_at", "created_at").desc(), "id")[:RECENT]
    context["recent"] = [RunRow(run) for run in latest]
    context["publications"] = Publication.objects.annotate(
        values=Count("runs", filter=PRESENT & Q(runs__state=RunState.FINISHED, runs__invalid_at=None)),
        gaps=Count("runs", filter=PRESENT & Q(runs__state=RunState.VALUE_MISSING)),
    )
    context["experiments"] = experiments.filter(demonstration=False)[:5]
    return render(request, "home.html", context)
