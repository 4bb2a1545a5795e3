"""Which runs a page is about, read from its URL: ticked runs, cells, or filters. The URL is the whole state."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q
from django.http import QueryDict

from runs.models import Run
from runs.models.runs import RunQuerySet

MAX_RUNS = 1_000
# Long enough that two cells of one site do not meet, short enough for a URL that people send each other.
CELL_PREFIX = 12
_CELL = re.compile(r"[0-9a-f]{8,64}")
# What the compare page's own controls say; everything else selects.
CONTROLS = ("metric", "baseline", "order", "format")


@dataclass(frozen=True)
class Selection:
    """`given` is false when the URL chooses nothing. `problems` names each parameter that was not understood."""

    runs: list[Run]
    given: bool
    problems: list[str] = field(default_factory=list)
    left_out: int = 0


def select(params: QueryDict) -> Selection:
    """`run=` (any number) and `cell=` (a cell key or its beginning) add up; filters narrow."""
    filters = {name: str(value) for name, value in params.items() if value and name not in (*CONTROLS, "run", "cell")}
    wanted, problems = _named(params)
    given = bool(filters or wanted is not None)
    if not given or problems:
        return Selection([], given, problems)
    rows, problems = _filtered(filters)
    if problems:
        return Selection([], given, problems)
    rows = rows if wanted is None else rows.filter(wanted)
    total = rows.count()
    runs = list(rows.for_lists()[:MAX_RUNS])
    return Selection(runs, given, problems, max(0, total - len(runs)))


def cell_parameter(run: Run) -> str:
    return run.cell_key[:CELL_PREFIX]


def _named(params: QueryDict) -> tuple[Q | None, list[str]]:
    ids, cells = params.getlist("run"), params.getlist("cell")
    if not ids and not cells:
        return None, []
    wanted, problems = Q(pk__in=[]), []
    for text in ids:
        try:
            wanted |= Q(pk=UUID(text))
        except ValueError:
            problems.append(f"run: {text!r} is not the id of a run")
    for text in cells:
        if _CELL.fullmatch(text):
            wanted |= Q(cell_key__startswith=text)
        else:
            problems.append(f"cell: {text!r} is not the key of a cell")
    return wanted, problems


_FILTERS: dict[str, tuple[str, ...]] = {
    "workload": ("workload__slug",),
    "dbms": ("dbms_version__slug", "dbms_version__dbms__slug"),
    "publication": ("publication__slug",),
    "experiment": ("experiment__slug",),
    "provenance": ("provenance",),
    "status": ("state",),
}


def _filtered(filters: Mapping[str, str]) -> tuple[RunQuerySet, list[str]]:
    rows, problems = Run.objects.present(), []
    for name, value in filters.items():
        if name not in _FILTERS:
            problems.append(f"{name}: there is no such filter")
            continue
        matches = Q()
        for column in _FILTERS[name]:
            matches |= Q(**{column: value})
        rows = rows.filter(matches)
    return rows, problems
