"""Which runs a page is about, read from its URL: ticked runs, cells, or filters. The URL is the whole state."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q
from django.http import QueryDict

from runs.access.rules import candidates
from runs.listing.filters import FACTOR_PREFIX, RunFilter, without_blanks
from runs.models import Run
from runs.models.visible import Reader, listed, readable

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


def select(params: QueryDict, user: Reader) -> Selection:
    """`run=` (any number) and `cell=` (a cell key or its beginning) add up; the filters of the list of runs narrow.

    Filters find what lists show to `user`. What is named finds unlisted runs too: its address was passed on.
    """
    filters = without_blanks(params)
    for name in (*CONTROLS, *_NAMED, *_IGNORED):
        filters.pop(name, None)
    named = any(params.get(name) for name in _NAMED)
    if not filters and not named:
        return Selection([], given=False)
    wanted, problems = _named(params, user)
    experiments = [slug for slug in filters.getlist("experiment") if slug]
    base = Run.objects.present().filter(wanted) if named else candidates(user, experiments=experiments)
    chosen = RunFilter(filters, queryset=base, user=user)
    for name in filters:
        if name not in chosen.filters and not name.startswith(FACTOR_PREFIX):
            problems[name] = ["there is no such filter"]
    if not chosen.is_valid():
        problems |= {name: [str(message) for message in messages] for name, messages in chosen.errors.items()}
    if problems:
        return Selection([], given=True, problems=problems)
    rows = chosen.qs
    total = rows.count()
    ids = list(rows.order_by("created_at", "id").values_list("pk", flat=True)[:MAX_RUNS])
    runs = list(Run.objects.for_lists().filter(pk__in=ids))
    return Selection(runs, given=True, left_out=max(0, total - len(runs)))


def cell_parameter(run: Run) -> str:
    return run.cell_key[:CELL_PREFIX]


def _named(params: QueryDict, user: Reader) -> tuple[Q, dict[str, list[str]]]:
    ids: list[UUID] = []
    cells = Q()
    problems: dict[str, list[str]] = {}
    for text in filter(None, params.getlist("run")):
        try:
            ids.append(UUID(text))
        except ValueError:
            problems.setdefault("run", []).append(f"“{text}” is not the id of a run")
    for text in filter(None, params.getlist("cell")):
        if _CELL.fullmatch(text):
            cells |= Q(cell_key__startswith=text)
        else:
            problems.setdefault("cell", []).append(f"“{text}” is not the key of a cell")
    opened, shown = readable(user), listed(user)
    wanted = opened & Q(pk__in=ids)
    if cells and shown:
        # Of a cell the listed runs; unlisted ones only where it has no other: its key is that of all its repeats, so
        # that a public one must not lead to somebody's unlisted ones.
        open_cells = Run.objects.present().filter(cells & shown).values("cell_key")
        wanted |= cells & (shown | (opened & ~Q(cell_key__in=open_cells)))
    elif cells:
        wanted |= cells
    return wanted, problems
