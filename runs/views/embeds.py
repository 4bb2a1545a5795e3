"""Bare charts for frames of other sites. They show what a stranger may see, whoever is logged in.

Only these answers may be framed: `xframe_options_exempt` also tells the content policy (benchsite.middleware).
"""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from runs.charts import compare as charts
from runs.charts.run import figures
from runs.compare import reports
from runs.compare.compare import compare_selection
from runs.compare.groups import Comparison
from runs.compare.select import select
from runs.models import Report, Run
from runs.run import facts, series

STRANGER = AnonymousUser()
ANY_CHART = "throughput"


@require_safe
@xframe_options_exempt
def embed_compare(request: HttpRequest) -> HttpResponse:
    params = request.GET
    selection = select(params, STRANGER)
    comparison = compare_selection(selection, params)
    source = f"{reverse('compare')}?{params.urlencode()}"
    status = 400 if selection.problems else 200 if selection.runs else 404
    return _page(request, comparison, source=source, title=charts.headline(comparison), status=status)


@require_safe
@xframe_options_exempt
def embed_report(request: HttpRequest, slug: str) -> HttpResponse:
    report = get_object_or_404(Report.objects.present().readable_by(STRANGER), slug=slug)
    _, comparison = reports.live(report, STRANGER, request.GET)
    return _page(request, comparison, source=report.get_absolute_url(), title=report.name)


@require_safe
@xframe_options_exempt
def embed_run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """One chart of the run, `?chart=latency` or another one; the first without it."""
    rows = Run.objects.present().readable_by(STRANGER).for_lists()
    run = get_object_or_404(rows, id=run_id)
    drawn = figures(run, series.read_all(run))
    wanted = [figure for figure in drawn if figure.id == request.GET.get("chart", ANY_CHART)] or drawn[:1]
    context = {
        "title": f"{run.dbms_version} · {run.workload}, repeat {run.repeat}",
        "figures": wanted,
        "run": run,
        "measurements": [] if wanted else facts.ordered_measurements(run),
        "source": run.get_absolute_url(),
        "count": 1,
    }
    return render(request, "embed.html", context)


def _page(request: HttpRequest, comparison: Comparison, *, source: str, title: str, status: int = 200) -> HttpResponse:
    drawn = charts.bars_figures(comparison) if comparison.groups else []
    context: dict[str, Any] = {"title": title, "figures": drawn, "source": source, "count": comparison.run_count}
    return render(request, "embed.html", context, status=status)
