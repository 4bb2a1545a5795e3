"""The list of runs: filter, sort, tick, compare."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from runs.access.visibility import candidates
from runs.listing import cursor
from runs.listing.cursor import WrongCursor
from runs.listing.filters import FACTOR_PREFIX, RunFilter, columns_of, without_blanks
from runs.listing.rows import RunRow
from runs.models import Run

PER_PAGE = 50
# Pages have numbers while there are few of them; beyond, older and newer rows follow each other.
NUMBERED_PAGES = 20
CONTROLS = ("page", "part", "cursor")


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    params = without_blanks(request.GET)
    rows = candidates(request.user, experiments=params.getlist("experiment")).for_rows()
    chosen = RunFilter(params, queryset=rows, user=request.user)
    problems = unknown_parameters(params) | (chosen.errors if not chosen.is_valid() else {})
    page: dict[str, Any] = {}
    if not problems:
        try:
            page = _page(chosen.qs, params)
        except WrongCursor as error:
            problems["cursor"] = [str(error)]
    chosen_by = without(params, *CONTROLS)
    context = {
        "filter": chosen,
        "params": chosen_by,
        "problems": problems,
        "page": page,
        "ordering": params.get("ordering", ""),
        "newest_first": params.get("ordering", "") in ("", "-created_at"),
        "filtered": any(name not in (*CONTROLS, "ordering") for name in params),
        "export_query": chosen_by.urlencode(),
    }
    template = "runs.html#table" if request.headers.get("HX-Target") == "run-table" else "runs.html"
    response = render(request, template, context, status=400 if problems else 200)
    # The page and its table share an address: without this the back button shows the bare table.
    patch_vary_headers(response, ["HX-Target"])
    response["HX-Push-Url"] = f"{request.path}?{params.urlencode()}" if params else request.path
    return response


def _page(runs: QuerySet[Run], params: QueryDict) -> dict[str, Any]:
    """What the table and its links show. `number` is 0 where pages have none; queries are "" where there is no page.

    Raises WrongCursor.
    """
    previous: int | str | None
    following: int | str | None
    count, exact = cursor.bounded_count(runs)
    total = max(1, -(-count // PER_PAGE))
    if exact and total <= NUMBERED_PAGES and "cursor" not in params:
        text = params.get("page", "1")
        number = min(max(int(text), 1), total) if text.isascii() and text.isdecimal() and len(text) < 10 else 1
        rows, control = list(runs[(number - 1) * PER_PAGE : number * PER_PAGE]), "page"
        previous, following = number - 1 or None, number + 1 if number < total else None
    else:
        number, total, ordering = 0, 0, params.get("ordering", "")
        at = params.get("cursor", "")
        shown = cursor.page(runs, columns=columns_of(ordering), name=ordering, cursor=at, size=PER_PAGE)
        rows, control, previous, following = shown.rows, "cursor", shown.previous, shown.next
    return {
        "rows": [RunRow(run) for run in rows], "count": count, "count_is_exact": exact, "number": number,
        "total": total, "previous_query": _at(params, control, previous),
        "next_query": _at(params, control, following),
    }  # fmt: skip


def _at(params: QueryDict, control: str, value: int | str | None) -> str:
    """The query of another page of the same list; "" for none."""
    if value is None:
        return ""
    changed = without(params, *CONTROLS)
    changed[control] = str(value)
    return changed.urlencode()


def without(params: QueryDict, *names: str) -> QueryDict:
    kept = params.copy()
    for name in names:
        kept.pop(name, None)
    return kept


def unknown_parameters(params: QueryDict) -> dict[str, list[str]]:
    """A misspelt filter that is ignored shows the wrong runs."""
    known = {*RunFilter.base_filters, *CONTROLS}
    return {
        name: ["There is no such filter."]
        for name in params
        if name not in known and not name.startswith(FACTOR_PREFIX)
    }
