"""What an address selects to be compared: ticked runs, cells, and the filters of the list of runs."""

from __future__ import annotations

import base64
import hashlib
import math
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import cast
from urllib.parse import parse_qsl
from uuid import UUID

from django.db import OperationalError
from django.db.models import Q
from django.http import QueryDict

from runs.access.rules import candidates
from runs.compare.asked import PARAMETERS
from runs.compare.facts import DATE, MOMENT, RELEASE, SYSTEM
from runs.formatting import grouped
from runs.listing.cursor import Column, bounded_count, first_ids
from runs.listing.filters import RunFilter, unknown, without_blanks
from runs.machines.facts import MACHINE_LABELS
from runs.models import Run, StoredSelection
from runs.models.runs import RunQuerySet
from runs.models.visible import Reader, listed, readable
from runs.run.facets import FACTOR, RECORDED, TESTED

# So many runs are compared, and others of their batches, where these are not more than as many again.
MAX_RUNS = 1_000
# Of more the newest are compared, by when they were measured: an old history that was imported last is not newer.
_NEWEST = (
    Column("measured_at", falling=True, nullable=True), Column("created_at", falling=True), Column("id"),
)  # fmt: skip
# Long enough that two cells of one site do not meet, short enough for a URL that people send each other.
CELL_PREFIX = 12
_CELL = re.compile(r"[0-9a-f]{8,64}")
# What the compare page's own controls say; everything else selects.
CONTROLS = (
    "metric", "baseline", "order", "group", "threshold", "format", "view", "x", "series", "panels", "fix", "pool",
    "x_as", "y_as", "x_scale", "y_scale", "compared", "held", "edit", "rows", *PARAMETERS,
)  # fmt: skip
# Those of them that name facts.
_OF_FACTS = ("x", "series", "panels", "pool", "compared", "held", "fact")
# Facts that have no kind before their names.
_NO_FACTORS = {
    "workload", "dbms", "hardware", "config", "durability", "provenance", "experiment", "batch", "label", "tags",
    DATE, MOMENT, "set", SYSTEM, RELEASE, *TESTED, *RECORDED, *MACHINE_LABELS,
}  # fmt: skip
# What names runs.
_NAMED = ("run", "cell")
SET, BASE_SET, STORED = "set", "base_set", "s"
MAX_SETS = 12
# Characters of a set's words in a legend.
MOST_LETTERS = 60
MAX_QUERY = 50_000
# The newest selections stay of people who are not logged in: of `MAX_QUERY` characters each.
MOST_OF_STRANGERS = 1_000
# Characters of an address beyond which programs and people cut it.
LONG_ADDRESS = 2_000
MAX_ID = 12
# Left over from the list of runs, where the ticks were set.
_IGNORED = ("page", "page_size", "ordering")


@dataclass(frozen=True)
class Choice:
    """What one query chooses, or what was not understood in it.

    `filters`: (parameter, value, in words) of each; `named`: how many it names by run and cell, in words; `run_ids`:
    those that it names and no filter narrows.
    """

    problems: dict[str, list[str]]
    chosen: RunFilter
    filters: list[tuple[str, str, str]] = field(default_factory=list)
    named: str = ""
    run_ids: frozenset[UUID] = frozenset()

    def rows(self, without: Collection[str] = ()) -> RunQuerySet:
        """In no order; none where there is a problem. `without`: what they would be without these filters."""
        return Run.objects.none() if self.problems else cast(RunQuerySet, self.chosen.without(without))


@dataclass(frozen=True)
class RunSet:
    """One of the sets that a comparison adds up, numbered from 1. `ids`: of its runs that are compared.

    `query` selects it alone.
    """

    number: int
    query: QueryDict
    choice: Choice
    ids: frozenset[UUID]
    is_base: bool

    @property
    def label(self) -> str:
        words = ", ".join([*(words for *_, words in self.choice.filters), *filter(None, [self.choice.named])])
        return f"Set {self.number}: {words}" if len(words) <= MOST_LETTERS else f"Set {self.number}"


@dataclass(frozen=True)
class Selection:
    """What the `address` of a page chooses: it is the whole state. `given` is false when it chooses nothing.

    `threshold` is the one that was asked for, as a share of 1. `problems`: parameter name -> what was not understood.
    `left_out` is counted to `COUNT_LIMIT` runs of a set.
    """

    address: QueryDict
    runs: list[Run]
    given: bool
    problems: dict[str, list[str]] = field(default_factory=dict)
    left_out: int = 0
    threshold: float | None = None
    sets: list[RunSet] = field(default_factory=list)

    @property
    def problem_lines(self) -> list[str]:
        return [f"{name}: {message}" for name, messages in self.problems.items() for message in messages]

    @property
    def not_here(self) -> int:
        """How many runs the address names that are deleted or not for this person."""
        named = frozenset[UUID]().union(*(each.choice.run_ids for each in self.sets))
        return 0 if self.left_out else len(named - {run.id for run in self.runs})

    @property
    def base(self) -> frozenset[UUID]:
        """Runs of the set whose groups are the baseline side; empty where none is named."""
        return next((each.ids for each in self.sets if each.is_base), frozenset())

    @property
    def set_of(self) -> dict[UUID, tuple[str, str]]:
        """Number and words of the set of each run: of several the baseline's, else the first. Empty of one set."""
        if len(self.sets) < 2:
            return {}
        last_first = sorted(self.sets, key=lambda each: (each.is_base, -each.number))
        return {run: (str(each.number), each.label) for each in last_first for run in each.ids}


def set_queries(params: QueryDict) -> list[QueryDict]:
    """A query for each set: what the address itself selects, where it does, then each `set`."""
    own = QueryDict(mutable=True)
    for name, values in without_blanks(params).lists():
        if name not in (*CONTROLS, *_IGNORED, SET, BASE_SET):
            own.setlist(name, values)
    return [*([own] if own else []), *(read_query(text) for text in params.getlist(SET) if text.strip())]


def with_sets(params: QueryDict, queries: Iterable[QueryDict]) -> QueryDict:
    """The address with these sets instead of its own, and its controls: one set stands there plainly."""
    queries = [query for query in queries if query]
    kept = queries[0].copy() if len(queries) == 1 else QueryDict(mutable=True)
    if len(queries) > 1:
        kept.setlist(SET, [query.urlencode() for query in queries])
    for name, values in params.lists():
        if name in CONTROLS or (name == BASE_SET and len(queries) > 1):
            kept.setlist(name, values)
    return kept


def list_query(params: QueryDict) -> str:
    """The query of the list of runs with the same filters; "" if runs are named, or several sets."""
    queries = set_queries(params)
    return queries[0].urlencode() if len(queries) == 1 and not {*_NAMED, STORED} & set(queries[0]) else ""


def read_query(text: str) -> QueryDict:
    """Without Django's limit of fields: a stored selection has as many runs as can be compared."""
    query = QueryDict(mutable=True)
    for name, value in parse_qsl(text if len(text) <= MAX_QUERY else text[:MAX_QUERY].rpartition("&")[0]):
        query.appendlist(name, value)
    for name in (*CONTROLS, *_IGNORED):
        query.pop(name, None)
    return query


def select(params: QueryDict, user: Reader) -> Selection:
    """Sets add up. In each `run=` (any number) and `cell=` (a cell key or its beginning) add up too, filters narrow.

    Filters find what lists show to `user`. What is named finds unlisted runs too: its address was passed on.
    """
    queries = set_queries(params)
    if not queries:
        return Selection(params, [], given=False)
    problems: dict[str, list[str]] = {}
    if len(queries) > MAX_SETS:
        problems[SET] = [f"a comparison has at most {MAX_SETS} sets"]
    elif without_filter := next((at for at, query in enumerate(queries, start=1) if not query), 0):
        problems[SET] = [f"set {without_filter} has no filter: write it as dbms=h2&label=nightly, encoded"]
    threshold, base = None, params.get(BASE_SET, "")
    try:
        threshold = read_threshold(params)
    except ValueError as error:
        problems["threshold"] = [str(error)]
    if base and base not in map(str, range(1, len(queries) + 1)):
        problems[BASE_SET] = [f"“{base}” is not the number of a set: there are {len(queries)}"]
    chosen = [choose(query, user) for query in queries[:MAX_SETS]]
    own = len(queries) - len([text for text in params.getlist(SET) if text.strip()])
    for number, choice in enumerate(chosen, start=1):
        for name, messages in choice.problems.items():
            if number <= own:
                problems.setdefault(name, []).extend(messages)
            else:
                problems.setdefault(SET, []).extend(f"set {number}, {name}: {message}" for message in messages)
    if problems:
        return Selection(params, [], given=True, problems=problems)
    ids: dict[UUID, None] = {}
    sets, left_out = [], 0
    for number, choice in enumerate(chosen, start=1):
        rows = choice.rows()
        room = max(MAX_RUNS - len(ids), 0)
        newest = [*rows.order_by().values_list("pk", flat=True)[: room + 1]]
        if len(newest) > room:
            newest = _whole(rows, first_ids(rows, _NEWEST, room))
            left_out += bounded_count(rows)[0] - len(newest)
        ids |= dict.fromkeys(newest)
        sets.append(RunSet(number, queries[number - 1], choice, frozenset(newest), is_base=base == str(number)))
    runs = list(Run.objects.filter(pk__in=ids).for_comparisons())
    return Selection(
        _with_whole_names(params, runs), runs, True, left_out=left_out, threshold=threshold, sets=sets
    )  # fmt: skip


def _with_whole_names(params: QueryDict, runs: Iterable[Run]) -> QueryDict:
    """The address with factors by their whole names: people write `x=nodes` for `x=factor:nodes`. What a fact is called
    that is none stays that.
    """
    factors = {factor.name for run in runs for factor in run.factor_rows} - _NO_FACTORS
    bare = {name: values for name in _OF_FACTS if factors & {*(values := params.getlist(name))}}
    if not bare:
        return params
    whole = params.copy()
    for name, values in bare.items():
        whole.setlist(name, [f"{FACTOR}{value}" if value in factors else value for value in values])
    return whole


def _whole(rows: RunQuerySet, newest: Sequence[UUID]) -> list[UUID]:
    """These runs with all others of their batches; of larger batches as many, with all repeats of each cell. A repeat
    that the limit left out would be one too few, and a cell that it left out one that was not measured.
    """
    cells = {pk: cell for pk, *cell in rows.filter(pk__in=newest).values_list("pk", "batch_id", "cell_key").order_by()}
    of_batches = rows.filter(batch_id__in={batch for batch, _ in cells.values()}).order_by()
    whole = [*of_batches.values_list("pk", flat=True)[: 2 * MAX_RUNS + 1]]
    if len(whole) <= 2 * MAX_RUNS:
        return whole
    of_cells = of_batches.filter(cell_key__in={cell for _, cell in cells.values()})
    repeats = grouped(((*cell,), pk) for pk, *cell in of_cells.values_list("pk", "batch_id", "cell_key"))
    whole = []
    for cell in dict.fromkeys((*cells[pk],) for pk in newest):
        if whole and len(whole) + len(repeats[cell]) > len(newest):
            break
        whole += repeats[cell]
    return whole[: 2 * MAX_RUNS]


def choose(query: QueryDict, user: Reader) -> Choice:
    """The runs of one set."""
    filters, problems = _with_stored(query, user)
    wanted, not_named = _named(filters, user)
    problems |= not_named
    names = {name: filters.pop(name, []) for name in _NAMED}
    count = {name: len(values) for name, values in names.items()}
    experiments = [slug for slug in filters.getlist("experiment") if slug]
    base = Run.objects.present().filter(wanted) if any(count.values()) else candidates(user, experiments=experiments)
    chosen = RunFilter(filters, queryset=base, user=user)
    problems |= {name: ["there is no such filter"] for name in unknown(filters)}
    if not chosen.is_valid():
        problems |= {name: [str(message) for message in messages] for name, messages in chosen.errors.items()}
    if problems:
        return Choice(problems, chosen)
    named = [f"{count[name]} {name}{'s' * (count[name] > 1)}" for name in _NAMED if count[name]]
    run_ids = frozenset() if filters else frozenset(UUID(text) for text in names["run"] if text)
    return Choice({}, chosen, chosen.in_words(), ", ".join(named), run_ids)


def _with_stored(query: QueryDict, user: Reader) -> tuple[QueryDict, dict[str, list[str]]]:
    """The query with what its stored selection names instead of the short id; problems where there is none.

    What somebody reads who is logged in stays: a report or a note of theirs may name it from now on.
    """
    filters = query.copy()
    ids = filters.pop(STORED, [])
    stored = StoredSelection.objects.in_bulk([text[:MAX_ID] for text in ids])
    if missing := [text for text in ids if text not in stored]:
        return filters, {STORED: [f"there is no stored selection “{missing[0][:MAX_ID]}”"]}
    if user.is_authenticated and (passing := [key for key, row in stored.items() if not row.kept]):
        with suppress(OperationalError):
            StoredSelection.objects.filter(pk__in=passing).update(kept=True)
    for row in stored.values():
        for name, values in read_query(row.query).lists():
            filters.setlist(name, list(dict.fromkeys([*filters.getlist(name), *values])))
    return filters, {}


def shortened(params: QueryDict, user: Reader) -> QueryDict:
    """The address itself; where it is too long to be passed on, one with a short id for each long list of runs.

    Stores the lists. The id is made of the list: the same list always has the same one. It holds the question only:
    who reads it sees of its runs what they may.
    """
    if len(params.urlencode()) <= LONG_ADDRESS:
        return params
    queries = set_queries(params)
    short = [_stored(query, user) for query in queries]
    return params if short == queries else with_sets(params, short)


def _stored(query: QueryDict, user: Reader) -> QueryDict:
    """With an id instead of what it names; itself where that is short, or nothing that names runs."""
    named, rest = QueryDict(mutable=True), query.copy()
    for name in _NAMED:
        named.setlist(name, sorted(set(rest.pop(name, []))))
    text = named.urlencode()
    if not LONG_ADDRESS // MAX_SETS < len(text) <= MAX_QUERY or _named(named, user)[1]:
        return query
    key = base64.b32encode(hashlib.sha256(text.encode()).digest()).decode().lower()[:MAX_ID]
    try:
        StoredSelection.objects.store(key, text, kept=user.is_authenticated, most_passing=MOST_OF_STRANGERS)
    except OperationalError:
        # A full disk, or others who write all the while: a page is shown all the same, with its long address.
        return query
    rest.appendlist(STORED, key)
    return rest


def read_threshold(params: QueryDict) -> float | None:
    """As a share of 1; None takes that of the metric. Raises ValueError."""
    text = params.get("threshold", "").strip().rstrip("%").strip()
    try:
        share = float(text.replace(",", ".")) / 100 if text else None
    except ValueError:
        share = math.nan
    if share is not None and not 0 <= share <= 1:
        raise ValueError(f"“{text}” is not a number of per cent from 0 to 100")
    return share


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
            # A range, as `startswith` uses no index on SQLite: keys are hexadecimal.
            cells |= Q(cell_key__gte=text, cell_key__lt=f"{text}g")
        else:
            problems.setdefault("cell", []).append(f"“{text}” is not the key of a cell")
    opened, shown = readable(user), listed(user)
    wanted = opened & Q(pk__in=ids)
    if cells and shown:
        # The listed runs of a cell; unlisted ones only if it has no other: its key is that of all its repeats, so
        # that a public one must not lead to somebody's unlisted ones.
        open_cells = Run.objects.present().filter(cells & shown).values("cell_key")
        wanted |= cells & (shown | (opened & ~Q(cell_key__in=open_cells)))
    elif cells:
        wanted |= cells
    return wanted, problems
