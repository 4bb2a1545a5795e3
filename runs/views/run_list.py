"""The list of runs: filter, sort, tick, compare."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from runs.filters import FACTOR_PREFIX, RunFilter
from runs.models import Run
from runs.rows import RunRow
from runs.visibility import candidates

PER_PAGE = 50
CONTROLS = ("page", "part")


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    params = filled_in(request.GET)
    rows = candidates(request.user, experiments=params.getlist("experiment")).for_lists()
    found = RunFilter(params, queryset=rows, user=request.user)
    problems = unknown_parameters(params) | (found.errors if not found.is_valid() else {})
    page = Paginator(Run.objects.none() if problems else found.qs, PER_PAGE).get_page(params.get("page"))
    context = {
        "filter": found,
        "params": params,
        "problems": problems,
        "page": page,
        "rows": [RunRow(run) for run in page],
        "ordering": params.get("ordering", ""),
        "filtered": any(name not in (*CONTROLS, "ordering") for name in params),
    }
    template = "runs.html#table" if request.headers.get("HX-Target") == "run-table" else "runs.html"
    response = render(request, template, context, status=400 if problems else 200)
    # The page and its table share an address: without this the back button shows the bare table.
    patch_vary_headers(response, ["HX-Target"])
    response["HX-Push-Url"] = f"{request.path}?{params.urlencode()}" if params else request.path
    return response


def filled_in(params: QueryDict) -> QueryDict:
    """A form sends its empty fields too; they filter nothing and only make the address long."""
    kept = params.copy()
    for name, values in params.lists():
        kept.setlist(name, [value for value in values if value])
        if not kept.getlist(name):
            del kept[name]
    return kept


def unknown_parameters(params: QueryDict) -> dict[str, list[str]]:
    """A misspelt filter that is ignored shows the wrong runs."""
    known = {*RunFilter.base_filters, *CONTROLS}
    return {
        name: ["There is no such filter."]
        for name in params
        if name not in known and not name.startswith(FACTOR_PREFIX)
    }
