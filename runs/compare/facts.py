"""The facts that vary among groups: what each group has of them, and names of as few as tell the groups apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from benchagent.catalog import COUNTED
from django.utils.text import slugify

from runs.compare.groups import Group
from runs.formatting import grouped, listed, mid_sentence
from runs.models.choices import StorageRole
from runs.run.facets import FACTOR, STORAGE, SWITCHED, Facet
from runs.run.likeness import SETTING

DATE = "date"
# Where a group stands on an axis of dates: at its day, and at a time of it where others of its cell have that day too.
MOMENT = "moment"
# Of which of several releases that are measured beside each other a batch is, by the benchmark that holds it.
RELEASE = "release"
# The DBMS without its version: over dates the versions of one are what changed.
SYSTEM = "system"
# Which of the added-up sets a run was chosen by.
SET = "set"
# What a system scales with as it does with its clients: each machine has a number of them.
CORES = ("cpu_cores", "cpu_threads")
# What a group has of a fact that it does not state.
NO_FACT = "–"
# A disk that somebody asked for by the name of its storage: the factor, and the device that it came to.
DISK_OF = {f"{FACTOR}{role}_storage": f"{STORAGE}{role}" for role in StorageRole.values}
# What the groups have of a fact that a reader pools.
POOLED = "pooled"
# Bookkeeping and consequences: offered as axes, never taken by the rule; what they alone tell apart is pooled.
NEVER_TAKEN = frozenset({"durability", "provenance", "publication", "experiment", "label", "tags", "factor:test_no"})
# Factors whose numbers are names; what names by any name; and what numbers them.
_NAMED = frozenset({"query", "seed", "id", "run", "trial", "iteration", "repetition", "statement", "template"})
_NAMING, _NUMBERING = frozenset({"id", "seed"}), frozenset({"no", "nr", "number"})
# Words that are no name.
# Facts that the rule never takes, or that a batch is named by: worth a column, never a part of a label.
_NEVER_IN_LABELS = frozenset({"durability", "provenance", "experiment", "label", "tags", "tested"})
# A cell without a commit group must not let its configuration speak before the others' commit group.
_LABEL_ORDER = (
    "workload",
    "dbms",
    "factor",
    "dataset",
    "hardware",
    "storage",
    "config",
    "context",
    "isolation",
    "batch",
)


def is_name(field: str) -> bool:
    """Whether the numbers of a factor are names, as those of queries and seeds: no curve goes from one to the other."""
    words = field.removeprefix(FACTOR).split("_")
    is_numbered = words[0] in _NAMED and words[-1] in _NUMBERING
    return (words[0] in _NAMED and len(words) == 1) or words[-1] in _NAMING or is_numbered


@dataclass(frozen=True)
class Fact:
    """A fact that varies: its different values as they are stored, and `words` for each as people read it.

    As an axis its values are in order, numbers by size; `numbers` holds those of them that are one, of a setting in its
    `unit`.
    """

    field: str
    label: str
    values: list[str]
    words: Mapping[str, str]
    numbers: Mapping[str, float]
    unit: str = ""

    @property
    def is_number(self) -> bool:
        return not is_name(self.field) and all(value in self.numbers for value in self.values if value != NO_FACT)

    @property
    def is_switch(self) -> bool:
        """Whether it is a factor that turns something on or off."""
        return self.field.startswith(FACTOR) and all(value.lower() in SWITCHED for value in self.values)

    @cached_property
    def ranks(self) -> dict[str, int]:
        """Value -> its position."""
        return {value: rank for rank, value in enumerate(self.values)}

    def number_of(self, text: str) -> float | None:
        """That of the level which is named as it is written: 16GB, 10 GB, 2048GB of what is told as 2,048 GB."""
        words = {number: (value, self.words.get(value, value)) for value, number in self.numbers.items()}

        def plain(written: str) -> str:
            return re.sub("[ ,]", "", written).lower()

        return next((number for number, of in words.items() if plain(text) in map(plain, of)), None)

    def in_legend(self, value: str) -> str:
        """What has a name by its name; a number, or whether something is on, with its heading."""
        words = self.words.get(value, value)
        if value == NO_FACT:
            return f"{mid_sentence(self.label)} not set"
        if words.lower() in SWITCHED:
            return f"{self.label} {words}"
        if self.field.startswith(SETTING):
            return f"{self.label}={words}"
        return with_heading(self.label, [words]) if value in self.numbers else words


def with_heading(label: str, words: Sequence[str]) -> str:
    """Numbers of one fact: "Scale factor 10 and 100", "1 terminal", "1 and 8 terminals", "4 GB and 8 GB". Seconds tell
    least of what they are: "Warm-up 1 s".
    """
    noun, numbers = label.lower(), listed(words)
    if noun in COUNTED:
        return f"{numbers} {COUNTED[noun] if numbers == '1' else noun}"
    is_named = all(each[-1:].isdigit() or each.endswith(" s") for each in words)
    return f"{label} {numbers}" if is_named else numbers


def rank_of_kind(key: str, order: Sequence[str]) -> int:
    """Where the kind of a fact (`factor` of `factor:terminals`) stands in an order of kinds; last where it does not."""
    kind = key.partition(":")[0]
    return order.index(kind) if kind in order else len(order)


def fact_value(group: Group, name: str) -> str:
    return group.facts.get(name, NO_FACT)


def fact_values(group: Group, names: Sequence[str]) -> tuple[str, ...]:
    return tuple([group.facts.get(name, NO_FACT) for name in names])


class Columns(dict[str, list[str]]):
    """The value of each fact in each of the groups, read once: many facts of many groups are asked many times.

    `levels`: what `runs.compare.levels` found in them, for which each question of a page asks anew.
    """

    def __init__(self, groups: Sequence[Group]) -> None:
        super().__init__()
        self.groups = groups
        self.levels: dict[tuple[object, ...], Any] = {}
        self._distinct: dict[frozenset[str], int] = {}

    def __missing__(self, name: str) -> list[str]:
        self[name] = [group.facts.get(name, NO_FACT) for group in self.groups]
        return self[name]

    @cached_property
    def valued(self) -> Columns:
        """Of the groups that have a number."""
        valued = [group for group in self.groups if group.dots]
        return self if len(valued) == len(self.groups) else Columns(valued)

    def known(self, name: str) -> Columns:
        """Of the groups of which that fact is known."""
        return Columns([group for group in self.groups if fact_value(group, name) != NO_FACT])

    def rows(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        """What each group has of these facts."""
        return list(zip(*(self[name] for name in names), strict=True)) if names else [()] * len(self.groups)

    def follow(self, names: Sequence[str], chosen: Sequence[str]) -> bool:
        """Whether the chosen facts determine these: a device that of its factor, a configuration that of its DBMS."""
        return self._count(frozenset((*chosen, *names))) == self._count(frozenset(chosen))

    def alike(self, name: str, other: str) -> bool:
        """Whether each of the two facts determines the other, so that the second says nothing new."""
        return self.follow([name], [other]) and self.follow([other], [name])

    def _count(self, names: frozenset[str]) -> int:
        """How many different rows there are: asked again and again for the same facts."""
        if names not in self._distinct:
            self._distinct[names] = len(set(self.rows([*names])))
        return self._distinct[names]


def measured_alike(columns: Columns, fact: str, places: Iterable[Fact]) -> tuple[list[Group], list[str]]:
    """Those of the groups that were made where something of each value of `fact` was made (on a machine or a disk, in a
    context, of a system, at a size), and these places in words; all of them where there is no such place, or no other.

    What is best of each value would else be chosen by what was measured of one of them alone.
    """
    kept, words = columns, list[str]()
    for place in places:
        pairs = {*zip(kept[fact], kept[place.field], strict=True)}
        of_values = [set(there) for there in grouped(pairs).values()]
        if len(of_values) < 2:
            continue
        every, shared = set[str]().union(*of_values), set[str].intersection(*of_values)
        if shared and shared != every:
            kept = Columns([group for group in kept.groups if fact_value(group, place.field) in shared])
            words.append(listed([place.in_legend(value) for value in place.values if value in shared]))
    return [*kept.groups], words


@dataclass(frozen=True)
class Naming:
    """`labels`, `keys` (URL-safe) and `values` (by fact, as stored) of each cell, labels and keys unique.

    `fields` are the facts that labels name; a cell that has none of them is `unset`. Of one name the first that
    `is_counted` has it without a number.
    """

    labels: list[str]
    keys: list[str]
    values: list[dict[str, str]]
    fields: list[str]
    unset: str
    common: list[Facet]
    varying: list[Fact]
    is_counted: Sequence[bool]


def name_cells(cells: Sequence[Mapping[str, Facet]], is_counted: Sequence[bool] = ()) -> Naming:
    headings: dict[str, str] = {}
    for cell in cells:
        for name, facet in cell.items():
            headings.setdefault(name, facet.label)
    fields = sorted(headings, key=lambda name: rank_of_kind(name, _LABEL_ORDER))
    values = {name: [cell[name].value if name in cell else "" for cell in cells] for name in fields}
    varying = [name for name in fields if len(set(values[name])) > 1]
    # Each DBMS has a configuration of its own; once the DBMS is named, naming the configuration adds nothing.
    speaking = [name for name in varying if name.partition(":")[0] not in _NEVER_IN_LABELS]
    chosen = distinguishing({name: values[name] for name in speaking}) or ["dbms"]
    # The DBMS leads also where the workload varies: it is what people look for.
    chosen.sort(key=lambda name: name != "dbms")
    unset = f"{mid_sentence(headings.get(chosen[0], ''))} not set"
    keys = [" · ".join(cell[name].key for name in chosen if name in cell) or unset for cell in cells]
    distinct = {name: list(dict.fromkeys(value or NO_FACT for value in values[name])) for name in varying}
    naming = Naming(
        labels=[],
        keys=numbered([slugify(key.replace(".", "-")) or "cell" for key in numbered(keys, " #", is_counted)], "-"),
        values=[{name: values[name][at] or NO_FACT for name in varying} for at in range(len(cells))],
        fields=chosen,
        unset=unset,
        # An empty value and none at all are no difference, and nothing that all have in common.
        common=[cells[0][name] for name in fields if name not in varying and all(name in cell for cell in cells)],
        varying=[Fact(name, headings[name], distinct[name], {}, {}) for name in varying],
        is_counted=is_counted,
    )
    return in_words(naming, cells)


def in_words(naming: Naming, cells: Sequence[Mapping[str, Facet]]) -> Naming:
    """The same names in the words that the facets of the cells have now."""
    labels = [" · ".join(cell[name].text for name in naming.fields if name in cell) or naming.unset for cell in cells]
    # One value may have several words: the disk of one obeys a host, that of another is its own.
    common = [
        replace(facet, words="; ".join(dict.fromkeys(cell[facet.field].words for cell in cells)))
        for facet in naming.common
    ]
    varying = []
    for fact in naming.varying:
        facets = [cell[fact.field] for cell in cells if fact.field in cell]
        words = {facet.value or NO_FACT: facet.words or NO_FACT for facet in facets}
        varying.append(replace(fact, words={NO_FACT: NO_FACT} | words))
    return replace(naming, labels=numbered(labels, " #", naming.is_counted), common=common, varying=varying)


def distinguishing(values: Mapping[str, Sequence[str]]) -> list[str]:
    """As few fields as tell apart what has these values, first come first taken."""
    chosen: list[str] = []
    parts = 1
    for name in values:
        finer = len(set(zip(*(values[other] for other in (*chosen, name)), strict=True)))
        if finer > parts:
            chosen, parts = [*chosen, name], finer
    return chosen


def numbered(names: Sequence[str], joint: str = " #", is_first: Sequence[bool] = ()) -> list[str]:
    """The names, all different: the second of one name has its number behind it. Those that are `is_first` are numbered
    before the others.
    """
    seen: Counter[str] = Counter()
    unique = [*names]
    places = range(len(names))
    for at in sorted(places, key=lambda at: not is_first[at]) if is_first else places:
        name = names[at]
        seen[name] += 1
        unique[at] = name if seen[name] == 1 else f"{name}{joint}{seen[name]}"
    return unique
