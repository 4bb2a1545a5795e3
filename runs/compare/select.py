"""What an address selects to be compared: ticked runs, cells, and the filters of the list of runs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q
from django.http import QueryDict

from runs.access.rules import candidates
from runs.listing.filters import RunFilter, unknown, without_blanks
from runs.models import Run
from runs.models.visible import Reader, listed, readable

MAX_RUNS = 1_000
# Long enough that two cells of one site do not meet, short enough for a URL that people send each other.
CELL_PREFIX = 12
_CELL = re.compile(r"[0-9a-f]{8,64}")
# What the compare page's own controls say; everything else selects.
CONTROLS = (
    "metric", "baseline", "order", "group", "threshold", "format", "view", "x", "series", "panels", "fix", "pool",
    "x_as", "y_as", "x_scale", "y_scale",
)  # fmt: skip
_NAMED = ("run", "cell")
# Left over from the list of runs, where the ticks were set.
_IGNORED = ("page", "page_size", "ordering")


@dataclass(frozen=True)
class Selection:
    """Ticked runs, cells or filters of a URL, which is the whole state. `given` is false when it chooses nothing.

    `threshold` is the one that was asked for, as a share of 1. `problems`: parameter name -> what was not understood.
    """

    runs: list[Run]
    given: bool
    problems: dict[str, list[str]] = field(default_factory=dict)
    left_out: int = 0
    threshold: float | None = None


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
    threshold = None
    try:
        threshold = asked_threshold(params)
    except ValueError as error:
        problems["threshold"] = [str(error)]
    experiments = [slug for slug in filters.getlist("experiment") if slug]
    base = Run.objects.present().filter(wanted) if named else candidates(user, experiments=experiments)
    chosen = RunFilter(filters, queryset=base, user=user)
    problems |= {name: ["there is no such filter"] for name in unknown(filters)}
    if not chosen.is_valid():
        problems |= {name: [str(message) for message in messages] for name, messages in chosen.errors.items()}
    if problems:
        return Selection([], given=True, problems=problems)
    rows = chosen.qs
    total = rows.count()
    ids = list(rows.order_by("created_at", "id").values_list("pk", flat=True)[:MAX_RUNS])
    runs = list(Run.objects.for_lists().filter(pk__in=ids))
    return Selection(runs, given=True, left_out=max(0, total - len(runs)), threshold=threshold)


def asked_threshold(params: QueryDict) -> float | None:
    """As a share of 1; None takes that of the metric. Raises ValueError."""
    text = params.get("threshold", "").strip().rstrip("%").strip()
    try:
        share = float(text.replace(",", ".")) / 100 if text else None
    except ValueError:
        share = math.nan
    if share is not None and not 0 <= share <= 1:
        raise ValueError(f"“{text}” is not a number of per cent from 0 to 100")
    return share


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
