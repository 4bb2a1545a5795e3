"""The list of runs: filter, sort, tick, compare."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.http import require_safe

from runs.filters import FACTOR_PREFIX, RunFilter
from runs.models import Run
from runs.rows import RunRow

PER_PAGE = 50
CONTROLS = ("page", "part")


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    found = RunFilter(request.GET, queryset=Run.objects.present().for_lists())
    problems = unknown_parameters(request.GET) | (found.errors if not found.is_valid() else {})
    page = Paginator(Run.objects.none() if problems else found.qs, PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "filter": found,
        "problems": problems,
        "page": page,
        "rows": [RunRow(run) for run in page],
        "ordering": request.GET.get("ordering", ""),
        "filtered": any(value for name, value in request.GET.items() if name not in (*CONTROLS, "ordering")),
    }
    template = "runs.html#table" if request.headers.get("HX-Target") == "run-table" else "runs.html"
    return render(request, template, context, status=400 if problems else 200)


def unknown_parameters(params: QueryDict) -> dict[str, list[str]]:
    """A misspelt filter that is ignored shows the wrong runs."""
    known = {*RunFilter.base_filters, *CONTROLS}
    return {
        name: ["There is no such filter."]
        for name in params
        if name not in known and not name.startswith(FACTOR_PREFIX)
    }
