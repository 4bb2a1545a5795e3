"""A sweep: groups by level, where everything but what is compared is equal, and by series."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import itemgetter

from runs.compare.facts import DATE, NEVER_TAKEN, Columns, Fact, key_of
from runs.compare.groups import Against, Group, telling
from runs.compare.guard import Difference, bare_field, differences, refusal
from runs.compare.verdicts import ratio_words
from runs.stats import geometric_mean

# In this order facts are compared where the axes name none.
_KINDS = ("dbms", "storage", "hardware", "config", "tested", "batch", "factor")
LEAST_LEVELS, FEWEST_GROUPS = 2, 4
Key = tuple[str, ...]


@dataclass(frozen=True)
class LevelRow:
    """One level; `words` by heading.

    `pairs`: groups of the series and of the baseline that are alike in all else; several where a reader does not hold
    equal what tells them apart. `against` says why there is no ratio where there is none.
    """

    label: str
    words: Mapping[str, str]
    groups: list[Group]
    bases: list[Group]
    pairs: list[tuple[Group, Group]]
    against: Against

    @property
    def keys(self) -> list[str]:
        return [group.key for group in self.groups]

    @property
    def base_keys(self) -> list[str]:
        return [group.key for group in self.bases]

    @property
    def kind(self) -> str:
        return self.against.kind

    @property
    def ratio(self) -> float | None:
        return self.against.ratio.value if self.against.ratio else None

    @property
    def ratio_words(self) -> str:
        return ratio_words(self.against.ratio)

    @property
    def value(self) -> float | None:
        return _mean(group for group, _ in self.pairs) if self.pairs else _mean(self.groups)

    @property
    def base_value(self) -> float | None:
        return _mean(base for _, base in self.pairs) if self.pairs else _mean(self.bases)

    @property
    def notes(self) -> list[str]:
        return [difference.words for difference in self.against.differences if difference.severity == "note"]


def _mean(groups: Iterable[Group]) -> float | None:
    centres = [group.centre for group in groups if group.centre is not None]
    return centres[0] if len(centres) == 1 else geometric_mean(centres)


@dataclass(frozen=True)
class Sweep:
    """What is compared (fields that name a series together), and what is held equal of what may be (`offered`)."""

    compared: list[str]
    held: list[str]
    offered: list[str]
    columns: Columns
    facts: Mapping[str, Fact]

    @property
    def groups(self) -> Sequence[Group]:
        return self.columns.groups

    @cached_property
    def _found(self) -> dict[Key, dict[Key, list[Group]]]:
        """Groups by level and series, as they come."""
        levels: dict[Key, dict[Key, list[Group]]] = {}
        both = zip(self.columns.rows(self.held), self.columns.rows(self.compared), strict=True)
        for (level, series), group in zip(both, self.groups, strict=True):
            levels.setdefault(level, {}).setdefault(series, []).append(group)
        return levels

    def _in_order(self, levels: Iterable[Key]) -> list[Key]:
        ranks = [self.facts[field].ranks for field in self.held]
        return sorted(levels, key=lambda level: [rank[value] for rank, value in zip(ranks, level, strict=True)])

    @cached_property
    def table(self) -> dict[Key, dict[Key, list[Group]]]:
        """Groups by level and series; levels in the order of their values."""
        return {key: self._found[key] for key in self._in_order(self._found)}

    @cached_property
    def _levels(self) -> dict[Key, dict[int, dict[Key, list[Group]]]]:
        """Of each series the levels at which it is, by their position."""
        of: dict[Key, dict[int, dict[Key, list[Group]]]] = {}
        for at, level in enumerate(self.table.values()):
            for name in level:
                of.setdefault(name, {})[at] = level
        return of

    @cached_property
    def names(self) -> dict[Key, str]:
        """The series, each by as few facts as tell them apart."""
        keys = list(dict.fromkeys(self.columns.rows(self.compared)))
        shown = telling({field: [key[at] for key in keys] for at, field in enumerate(self.compared)})
        said = [(at, self.facts[field]) for at, field in enumerate(self.compared) if field in shown]
        return {key: " · ".join(fact.said(key[at]) for at, fact in said) for key in keys}

    @cached_property
    def headings(self) -> list[Fact]:
        keys = list(self.table)
        return [self.facts[name] for name in telling({f: [key[at] for key in keys] for at, f in enumerate(self.held)})]

    def rows(self, name: Key, base: Key) -> Iterator[LevelRow]:
        """Each level at which one of the two series is, not yet judged."""
        headings = self.headings
        for _, level in sorted({**self._levels[name], **self._levels[base]}.items(), key=itemgetter(0)):
            groups, bases = level.get(name, []), level.get(base, [])
            values = [(fact, (groups or bases)[0].facts[fact.field]) for fact in headings]
            pairs, against = self._set_against(groups, bases)
            yield LevelRow(
                " · ".join(fact.said(value) for fact, value in values),
                {fact.label: fact.words.get(value, value) for fact, value in values}, groups, bases, pairs, against,
            )  # fmt: skip

    def _set_against(
        self, groups: Sequence[Group], bases: Sequence[Group]
    ) -> tuple[list[tuple[Group, Group]], Against]:
        """The pairs of one level; without any the reason."""
        here, there = ([group for group in side if group.dots] for side in (groups, bases))
        if not here or not there:
            lost = next((group.gap for group in (groups if not here else bases) if group.gap), "not measured here")
            return [], Against(None, None, [], f"no ratio: {lost}")
        pairs = [(here[0], there[0])] if len(here) == len(there) == 1 else self._alike(here, there)
        if not pairs:
            return [], Against(None, None, [], "no ratio: several groups here; hold equal what tells them apart")
        compared = {bare_field(field) for field in self.compared}
        # A disk is what somebody asked for by the name of its storage.
        compared |= {f"{field.removeprefix('storage:')}_storage" for field in compared if field.startswith("storage:")}
        told: dict[str, Difference] = {
            difference.words: difference
            for group, base in pairs
            for difference in differences(group.stated, base.stated)
            if difference.field not in compared or difference.severity == "blocks"
        }
        refused = refusal(told.values())
        words = f"no ratio: {refused}" if refused else ""
        return pairs, Against(None, None, list(told.values()), words, refused, there[0].key)

    def _alike(self, here: Sequence[Group], there: Sequence[Group]) -> list[tuple[Group, Group]]:
        """Groups that are alike in what may be held equal but is not."""
        loose = [field for field in self.offered if field not in self.held]
        sides = [{key_of(group, loose): group for group in side} for side in (here, there)]
        if any(len(side) < len(of) for side, of in zip(sides, (here, there), strict=True)):
            return []
        return [(group, sides[1][key]) for key, group in sides[0].items() if key in sides[1]]

    @property
    def is_possible(self) -> bool:
        """Whether at two levels some two series may be set against each other; neighbours are asked, and the first."""
        compared, known = {bare_field(field) for field in self.compared}, 0
        # Of a thousand runs that have little in common hardly any level has two series.
        shared = (level for level, series in self._found.items() if len(series) > 1)
        for level in self._in_order(shared):
            first, *others = self._found[level].values()
            for one, other in [*((first, other) for other in others), *pairwise(others)]:
                pairs, against = self._set_against(one, other)
                if any(told.severity == "blocks" and told.field in compared for told in against.differences):
                    return False  # Another value of what is compared is another question, at every level.
                if pairs and not against.refused:
                    known += 1
                    break
            if known >= LEAST_LEVELS:
                return True
        return False


def sweeps(
    groups: Sequence[Group], known: Mapping[str, Fact], series: Sequence[str], wanted: Sequence[str],
    held: Sequence[str] | None,
) -> dict[str, Sweep]:  # fmt: skip
    """By the fact that is compared, the best first: all that have two levels with a ratio.

    What is `wanted` comes first, then the DBMS and other things with a name, then factors, those of the chart's
    `series` before the others. `held`: fields that are equal in each level; None holds what occurs with several series.
    """
    columns = Columns(groups)
    facts = {
        field: fact
        for field, fact in known.items()
        if field not in NEVER_TAKEN and field != DATE and len(set(columns[field])) > 1
    }
    possible: dict[str, Sweep] = {}
    order = sorted(facts, key=lambda field: (_kind(field), field not in series))
    for field in dict.fromkeys([*wanted, *order]):
        if field not in facts or len(groups) < FEWEST_GROUPS:
            continue
        # A configuration says nothing beside its DBMS, where each has one.
        said = any(columns.follow([field], [other]) and columns.follow([other], [field]) for other in possible)
        sweep = None if said else _sweep(columns, facts, field, held)
        if sweep and sweep.is_possible:
            possible[field] = sweep
    return possible


def _sweep(columns: Columns, facts: Mapping[str, Fact], field: str, held: Sequence[str] | None) -> Sweep | None:
    others = [name for name in facts if name != field]
    # What goes with one series only at each of its values cannot be held equal: a configuration of its DBMS.
    offered = [name for name in others if not columns.follow([field], [name])]
    if not offered:
        return None
    compared = [field]
    for name in others:
        # Two configurations of one DBMS are two series.
        if name not in offered and not columns.follow([name], [*compared, *offered]):
            compared.append(name)
    chosen = offered if held is None else [name for name in offered if name in held]
    chosen.sort(key=lambda name: not facts[name].is_number)
    return Sweep(compared, chosen, offered, columns, facts)


def _kind(field: str) -> int:
    kind = field.partition(":")[0]
    return _KINDS.index(kind) if kind in _KINDS else len(_KINDS)
