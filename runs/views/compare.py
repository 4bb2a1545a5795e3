"""The compare page, its CSV and its JSON: one selection, read from the URL, three ways to show it."""

from __future__ import annotations

from typing import Any

from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from runs.api.comparing import ComparisonSerializer
from runs.charts import compare as charts
from runs.compare.compare import compare_selection
from runs.compare.groups import Comparison
from runs.compare.select import CONTROLS, Selection, select
from runs.formatting import percent
from runs.listing import csv_text
from runs.models import Experiment, Publication, Run
from runs.models.choices import RunState, Visibility
from runs.views.guards import token_may_read


@require_GET
@token_may_read
def compare(request: HttpRequest) -> HttpResponse:
    selection = select(request.GET, request.user)
    comparison = compare_selection(selection, request.GET)
    if request.GET.get("format") == "json":
        if selection.problems:
            return JsonResponse(selection.problems, status=400)
        return JsonResponse(ComparisonSerializer(comparison).data)
    if not selection.runs:
        return _nothing(request, selection)
    context = comparison_context(selection, comparison, request.GET) | {
        "query": request.GET.urlencode(),
        "embed_url": request.build_absolute_uri(f"{reverse('embed-compare')}?{request.GET.urlencode()}"),
        "hidden_runs": any(run.visibility == Visibility.PRIVATE for run in selection.runs),
    }
    return render(request, "compare.html", context)


def comparison_context(selection: Selection, comparison: Comparison, params: QueryDict) -> dict[str, Any]:
    """What _comparison.html shows. `params` are those of the page's own address: its links keep them."""
    palette = charts.colours(comparison)
    return {
        "selection": selection,
        "comparison": comparison,
        "headline": charts.headline(comparison),
        "figures": charts.bars_figures(comparison),
        "over_time": charts.overlay_figures(comparison),
        "rows": [
            {
                "group": group,
                "color": palette[group.key],
                "ratio": charts.ratio_words(group.against),
                "cv": percent(group.summary.cv) if group.summary and group.summary.cv is not None else "",
            }
            for group in comparison.groups
        ],
        "kept": [(name, value) for name, values in params.lists() for value in values if name not in CONTROLS],
        "durability_varies": len({group.durability_words for group in comparison.groups}) > 1
        or any(group.doubt for group in comparison.groups),
        "provenance_varies": len({provenance for group in comparison.groups for provenance in group.provenances}) > 1,
        "order": params.get("order", ""),
        "configs": list(dict.fromkeys(run.config.slug for run in comparison.all_runs if run.config)),
        "machines": list(dict.fromkeys(run.hardware.slug for run in comparison.all_runs if run.hardware)),
    }


@require_GET
@token_may_read
def compare_csv(request: HttpRequest) -> HttpResponse:
    selection = select(request.GET, request.user)
    if selection.problems:
        lines = [f"{name}: {message}" for name, messages in selection.problems.items() for message in messages]
        return HttpResponse("\n".join(lines), status=400, content_type="text/plain; charset=utf-8")
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="compare.csv"'
    response.writelines(csv_text.lines(charts.csv_rows(compare_selection(selection, request.GET))))
    return response


def _nothing(request: HttpRequest, selection: Selection) -> HttpResponse:
    """Says how to choose runs, with what is there to be chosen."""
    finished = Run.objects.present().filter(state=RunState.FINISHED)
    shown, published = finished.filter(experiment=OuterRef("pk")), finished.filter(publication=OuterRef("pk"))
    context = {
        "selection": selection,
        "experiments": Experiment.objects.listed_for(request.user).filter(Exists(shown))[:5],
        "publications": Publication.objects.filter(Exists(published)),
    }
    return render(request, "compare.html", context, status=400 if selection.problems else 200)
