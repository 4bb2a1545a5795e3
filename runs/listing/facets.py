"""What a choice of runs can be narrowed by: values of each filter with how many runs they leave.

The counts of a filter are those of all other filters. They are taken from the newest `COUNTED` runs that match: a site
may have millions, and beyond some thousands "at least" is all that a reader can use.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchagent.catalog import factor_label, factor_words
from django.db.models import Count, Model
from django.http import QueryDict

from runs.formatting import natural
from runs.incoming.values import int_if_whole
from runs.listing.filters import FACTOR_PREFIX
from runs.machines.facts import names_apart
from runs.models import (
    Config,
    Dbms,
    DbmsVersion,
    Experiment,
    HardwareProfile,
    Publication,
    Run,
    RunFactor,
    RunStorage,
    StorageDevice,
    Workload,
)
from runs.models.choices import SHORT_DURABILITY, Provenance, RunState, StorageRole
from runs.models.runs import RunQuerySet

COUNTED = 5_000
# Values of a filter that are shown, the most common ones, and those that are chosen.
MOST_SHOWN = 8
# A factor with more values than this is a measurement, not a level; of a DBMS no more versions are offered.
MOST_LEVELS = 40
# Windows and running numbers tell nobody what to compare.
_NO_FACETS = frozenset({"duration_s", "warm_up_s", "test_no", "batch"})

# The runs of a set whose query has these parameters taken out.
Matching = Callable[[Collection[str]], RunQuerySet]


@dataclass(frozen=True)
class Option:
    """`count` runs of the newest ones that match the other filters. `adds`: the values of the parameter after a click.

    `inside` marks a version under its DBMS.
    """

    text: str
    count: int
    chosen: bool
    adds: tuple[str, ...]
    inside: bool = False


@dataclass(frozen=True)
class Facet:
    """`name` is the parameter of the filter; `left_out` values are rarer than those shown."""

    name: str
    label: str
    options: list[Option]
    left_out: int = 0

    @property
    def is_used(self) -> bool:
        return any(option.chosen for option in self.options)


@dataclass(frozen=True)
class Facets:
    """`is_whole`: every run that matches was counted, so that counts are exact."""

    shown: list[Facet]
    is_whole: bool


# Filter -> column of a run, heading, model of what the column refers to.
_LINKS: dict[str, tuple[str, str, type[Model]]] = {
    "workload": ("workload", "Workload", Workload),
    "dbms": ("dbms_version", "DBMS", DbmsVersion),
    "hardware": ("hardware", "Machine", HardwareProfile),
    "config": ("config", "Configuration", Config),
    "experiment": ("experiment", "Experiment", Experiment),
    "publication": ("publication", "Publication", Publication),
}
_WORDS: dict[str, tuple[str, str, dict[str, str]]] = {
    "provenance": ("provenance", "Provenance", {str(value): str(label) for value, label in Provenance.choices}),
    "durability": ("durability", "Durability", {str(value): words for value, words in SHORT_DURABILITY.items()}),
    "status": ("state", "State", {str(value): str(label) for value, label in RunState.choices}),
}
_COLUMNS = [*(link[0] for link in _LINKS.values()), *(worded[0] for worded in _WORDS.values()), "tags", "batch__tags"]
# Values of some columns, and how many runs have them.
Row = tuple[tuple[Any, ...], int]


def facets_of(query: QueryDict, matching: Matching) -> Facets:
    """In the order in which people narrow: what was run, on what, how, by whom. Without those that would not narrow."""
    base = _counted(matching(()))
    rows = _grouped(base, _COLUMNS)

    def counts_of(name: str, column: str) -> Counter[Any]:
        """Without the filter itself, so that its other values can be added."""
        if name in query:
            return _column(_grouped(_counted(matching((name,))), [column]), 0)
        return _column(rows, _COLUMNS.index(column))

    facets: list[Facet] = []
    for name, (column, label, model) in _LINKS.items():
        counts = counts_of(name, column)
        named: dict[Any, Any] = model._default_manager.in_bulk([key for key in counts if key])
        if name == "dbms":
            facets.append(_systems(query.getlist(name), {named[key]: counts[key] for key in named}))
            continue
        names = {row.slug: str(row) for row in named.values()}
        names = names_apart(names) if name == "hardware" else names
        values = {row.slug: (names[row.slug], counts[key]) for key, row in named.items()}
        facets.append(_facet(query, name, label, values))
    facets[2:2] = _factors(query, base, matching)
    on = RunStorage.objects.filter(run__in=_counted(matching(("medium",))) if "medium" in query else base)
    on = on.filter(role=StorageRole.DATA).exclude(device__medium="").order_by()
    counted = on.values("device__medium").annotate(runs=Count("pk")).values_list("device__medium", "runs")
    media = {medium: (StorageDevice(medium=medium).medium_label, count) for medium, count in counted}
    facets.insert(-3, _facet(query, "medium", "Storage", media))
    facets.append(_facet(query, "tag", "Tag", _tags(rows), several=False))
    for name, (column, label, words) in _WORDS.items():
        values = {key: (words.get(key, key), count) for key, count in counts_of(name, column).items() if key}
        facets.append(_facet(query, name, label, values))
    total = sum(count for _, count in rows)
    # One value that all have narrows nothing.
    shown = [facet for facet in facets if facet.is_used or any(option.count < total for option in facet.options)]
    return Facets(shown, is_whole=total < COUNTED)


def _counted(rows: RunQuerySet) -> RunQuerySet:
    """The newest of them, looked up once: several questions are asked of them, and what is sliced cannot be grouped."""
    newest = rows.order_by("-created_at", "id").values_list("pk", flat=True)[:COUNTED]
    return Run.objects.filter(pk__in=list(newest)).order_by()


def _grouped(rows: RunQuerySet, columns: list[str]) -> list[Row]:
    grouped = rows.values(*columns).annotate(runs=Count("pk")).values_list(*columns, "runs")
    return [(tuple(values), count) for *values, count in grouped]


def _column(rows: Iterable[Row], at: int) -> Counter[Any]:
    counts: Counter[Any] = Counter()
    for values, count in rows:
        counts[values[at]] += count
    return counts


def _facet(
    query: QueryDict, name: str, label: str, values: Mapping[str, tuple[str, int]], *, several: bool = True
) -> Facet:
    """`values`: value -> (text, runs). Without `several` a click replaces the value."""
    given = query.getlist(name)
    ordered = sorted(values, key=lambda value: (value not in given, -values[value][1], natural(values[value][0])))
    kept = ordered[: max(MOST_SHOWN, sum(value in given for value in ordered))]
    options = []
    for value in sorted(kept, key=lambda value: natural(values[value][0])):
        text, count = values[value]
        adds = _toggled(given if several or value in given else [], value)
        options.append(Option(text, count, value in given, adds))
    return Facet(name, label, options, left_out=len(ordered) - len(kept))


def _toggled(given: Iterable[str], value: str, *instead_of: str) -> tuple[str, ...]:
    values = [each for each in given if each not in instead_of]
    return tuple(each for each in values if each != value) if value in values else (*values, value)


def _systems(given: list[str], counts: Mapping[DbmsVersion, int]) -> Facet:
    """DBMSs, and under the chosen ones their versions: a version narrows what its DBMS has chosen."""
    products = Dbms.objects.in_bulk({version.dbms_id for version in counts})
    of: dict[Any, list[DbmsVersion]] = defaultdict(list)
    for version in counts:
        of[version.dbms_id].append(version)
    ordered = sorted(of, key=lambda key: -sum(counts[version] for version in of[key]))
    options, left_out = list[Option](), max(0, len(ordered) - 2 * MOST_SHOWN)
    for key in sorted(ordered[: 2 * MOST_SHOWN], key=lambda key: natural(products[key].name)):
        product, versions = products[key], of[key]
        chosen = [version.slug for version in versions if version.slug in given]
        total = sum(counts[version] for version in versions)
        adds = tuple(slug for slug in given if slug not in chosen) if chosen else _toggled(given, product.slug)
        options.append(Option(product.name, total, product.slug in given or bool(chosen), adds))
        if not options[-1].chosen:
            continue
        newest_first = sorted(versions, key=lambda version: version.place, reverse=True)
        by_runs = sorted(newest_first, key=lambda version: (version.slug not in given, -counts[version]))
        shown = by_runs[: max(MOST_LEVELS, len(chosen))]
        left_out += len(versions) - len(shown)
        for version in sorted(shown, key=lambda version: version.place):
            adds = _toggled(given, version.slug, product.slug)
            options.append(Option(version.name, counts[version], version.slug in given, adds, inside=True))
    return Facet("dbms", "DBMS", options, left_out=left_out)


def _factors(query: QueryDict, base: RunQuerySet, matching: Matching) -> list[Facet]:
    """Those with several levels, such as scale factor and terminals."""
    by_name = _levels(base)
    for name in [name for name in query if name.startswith(FACTOR_PREFIX)]:
        factor = name.removeprefix(FACTOR_PREFIX)
        by_name[factor] = _levels(_counted(matching((name,)))).get(factor, {})
    facets = [
        _facet(query, f"{FACTOR_PREFIX}{name}", factor_label(name), values)
        for name, values in by_name.items()
        if name not in _NO_FACETS and len(values) <= MOST_LEVELS
    ]
    return sorted(facets, key=lambda facet: facet.label)


def _levels(rows: RunQuerySet) -> dict[str, dict[str, tuple[str, int]]]:
    """Factor -> value -> (words, runs)."""
    levels: dict[str, dict[str, tuple[str, int]]] = defaultdict(dict)
    grouped = RunFactor.objects.filter(run__in=rows).order_by().values("name", "number", "text", "unit")
    for row in grouped.annotate(runs=Count("pk")):
        value = row["text"] if row["number"] is None else int_if_whole(row["number"])
        levels[row["name"]][str(value)] = (factor_words(row["name"], value, row["unit"]), row["runs"])
    return levels


def _tags(rows: Iterable[Row]) -> dict[str, tuple[str, int]]:
    """A run has its own and its batch's."""
    counts: Counter[str] = Counter()
    for (*_, own, of_batch), count in rows:
        for tag in {*own.split(), *(of_batch or "").split()}:
            counts[tag] += count
    return {tag: (f"#{tag}", count) for tag, count in counts.items()}
