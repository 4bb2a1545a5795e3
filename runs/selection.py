"""Which runs a page is about, read from its URL: ticked runs, cells, or filters. The URL is the whole state."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import QueryDict

from runs.filters import FACTOR_PREFIX, RunFilter
from runs.models import Run

MAX_RUNS = 1_000
# Long enough that two cells of one site do not meet, short enough for a URL that people send each other.
CELL_PREFIX = 12
_CELL = re.compile(r"[0-9a-f]{8,64}")
# What the compare page's own controls say; everything else selects.
CONTROLS = ("metric", "baseline", "order", "format")
_NAMED = ("run", "cell")
# Left over from the list of runs, where the ticks were set.
_IGNORED = ("page", "page_size", "ordering")


@dataclass(frozen=True)
class Selection:
    """`given` is false when the URL chooses nothing. `problems`: parameter name -> what was not understood."""

    runs: list[Run]
    given: bool
    problems: dict[str, list[str]] = field(default_factory=dict)
    left_out: int = 0


def select(params: QueryDict) -> Selection:
    """`run=` (any number) and `cell=` (a cell key or its beginning) add up; the filters of the list of runs narrow."""
    filters = params.copy()
    for name in list(filters):
        if name in (*CONTROLS, *_NAMED, *_IGNORED) or not any(filters.getlist(name)):
            del filters[name]
    named = any(params.get(name) for name in _NAMED)
    if not filters and not named:
        return Selection([], given=False)
    wanted, problems = _named(params)
    rows, more = _filtered(filters)
    problems |= more
    if problems:
        return Selection([], given=True, problems=problems)
    rows = rows.filter(wanted) if named else rows
    total = rows.count()
    ids = list(rows.order_by("created_at", "id").values_list("pk", flat=True)[:MAX_RUNS])
    runs = list(Run.objects.for_lists().filter(pk__in=ids))
    return Selection(runs, given=True, left_out=max(0, total - len(runs)))


def cell_parameter(run: Run) -> str:
    return run.cell_key[:CELL_PREFIX]


def _named(params: QueryDict) -> tuple[Q, dict[str, list[str]]]:
    ids: list[UUID] = []
    wanted = Q()
    problems: dict[str, list[str]] = {}
    for text in filter(None, params.getlist("run")):
        try:
            ids.append(UUID(text))
        except ValueError:
            problems.setdefault("run", []).append(f"“{text}” is not the id of a run")
    for text in filter(None, params.getlist("cell")):
        if _CELL.fullmatch(text):
            wanted |= Q(cell_key__startswith=text)
        else:
            problems.setdefault("cell", []).append(f"“{text}” is not the key of a cell")
    return wanted | Q(pk__in=ids) if ids else wanted, problems


def _filtered(params: QueryDict) -> tuple[QuerySet[Run], dict[str, list[str]]]:
    chosen = RunFilter(params, queryset=Run.objects.present())
    problems = {
        name: ["there is no such filter"]
        for name in params
        if name not in chosen.filters and not name.startswith(FACTOR_PREFIX)
    }
    if not chosen.is_valid():
        problems |= {name: [str(message) for message in messages] for name, messages in chosen.errors.items()}
    return (Run.objects.none() if problems else chosen.qs), problems
