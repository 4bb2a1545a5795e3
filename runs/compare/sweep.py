"""A sweep: groups by level, where everything but what is compared is equal, and by series."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from operator import itemgetter

from runs.compare.facts import DATE, NEVER_TAKEN, Columns, Fact, distinguishing, fact_values, rank_of_kind
from runs.compare.groups import Against, Group
from runs.compare.guard import Difference, bare_field, differences, refusal
from runs.compare.verdicts import ratio_words
from runs.run.facets import STORAGE
from runs.stats import WINNERS, Kind, geometric_mean

# In this order facts are compared where the axes name none.
_COMPARED_FIRST = ("dbms", "storage", "hardware", "config", "tested", "batch", "factor")
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
    def turned(self) -> LevelRow:
        """The baseline's series against this one."""
        verdict = self.against.verdict
        return replace(
            self, groups=self.bases, bases=self.groups, pairs=[(base, group) for group, base in self.pairs],
            against=replace(self.against, verdict=verdict and verdict.turned, base=""),
        )  # fmt: skip

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
    def shade(self) -> int | None:
        """−3 to 3: how far the ratio lies to the worse and to the better side, 0 where no verdict names one; None
        without a ratio. Steps at 1.05, 1.25 and 2 times.
        """
        if self.ratio is None or self.kind not in WINNERS:
            return None if self.ratio is None else 0
        steps = sum(max(self.ratio, 1 / self.ratio) >= step for step in (1.05, 1.25, 2.0))
        return -steps if self.kind == Kind.WORSE or (self.kind == Kind.DIFFERENT and self.ratio < 1) else steps

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
    def _by_level(self) -> dict[Key, dict[Key, list[Group]]]:
        """Groups by level and series, as they come."""
        levels: dict[Key, dict[Key, list[Group]]] = {}
        rows = zip(self.columns.rows(self.held), self.columns.rows(self.compared), self.groups, strict=True)
        for level, series, group in rows:
            levels.setdefault(level, {}).setdefault(series, []).append(group)
        return levels

    @cached_property
    def valued(self) -> list[tuple[Key, Group]]:
        """The groups that have values, each with its series."""
        rows = zip(self.columns.rows(self.compared), self.groups, strict=True)
        return [(key, group) for key, group in rows if group.dots]

    def _in_order(self, levels: Iterable[Key]) -> list[Key]:
        ranks = [self.facts[field].ranks for field in self.held]
        return sorted(levels, key=lambda level: [rank[value] for rank, value in zip(ranks, level, strict=True)])

    @cached_property
    def table(self) -> dict[Key, dict[Key, list[Group]]]:
        """Groups by level and series; levels in the order of their values."""
        return {key: self._by_level[key] for key in self._in_order(self._by_level)}

    @cached_property
    def _levels_of(self) -> dict[Key, dict[int, dict[Key, list[Group]]]]:
        """Of each series the levels at which it is, by their position."""
        levels: dict[Key, dict[int, dict[Key, list[Group]]]] = {}
        for at, level in enumerate(self.table.values()):
            for name in level:
                levels.setdefault(name, {})[at] = level
        return levels

    @cached_property
    def names(self) -> dict[Key, str]:
        """The series, each by as few facts as tell them apart."""
        keys = list(dict.fromkeys(self.columns.rows(self.compared)))
        needed = distinguishing({field: [key[at] for key in keys] for at, field in enumerate(self.compared)})
        shown = [(at, self.facts[field]) for at, field in enumerate(self.compared) if field in needed]
        return {key: " · ".join(fact.in_legend(key[at]) for at, fact in shown) for key in keys}

    @cached_property
    def headings(self) -> list[Fact]:
        """The facts that tell the levels apart."""
        values = {field: [key[at] for key in self.table] for at, field in enumerate(self.held)}
        return [self.facts[field] for field in distinguishing(values)]

    def rows(self, name: Key, base: Key) -> Iterator[LevelRow]:
        """Each level at which one of the two series is, not yet judged."""
        headings = self.headings
        for _, level in sorted({**self._levels_of[name], **self._levels_of[base]}.items(), key=itemgetter(0)):
            groups, bases = level.get(name, []), level.get(base, [])
            values = [(fact, (groups or bases)[0].facts[fact.field]) for fact in headings]
            pairs, against = self._set_against(groups, bases)
            yield LevelRow(
                " · ".join(fact.in_legend(value) for fact, value in values),
                {fact.label: fact.words.get(value, value) for fact, value in values}, groups, bases, pairs, against,
            )  # fmt: skip

    def _set_against(
        self, groups: Sequence[Group], bases: Sequence[Group]
    ) -> tuple[list[tuple[Group, Group]], Against]:
        """The pairs of one level; without any the reason."""
        here = [group for group in groups if group.dots]
        there = [group for group in bases if group.dots]
        if not here or not there:
            missing = next((group.gap for group in (bases if here else groups) if group.gap), "not measured here")
            return [], Against(why=f"no ratio: {missing}")
        pairs = [(here[0], there[0])] if len(here) == len(there) == 1 else self._pairs(here, there)
        if not pairs:
            return [], Against(why="no ratio: several groups here; hold equal what tells them apart")
        compared = {bare_field(field) for field in self.compared}
        # A disk is what somebody asked for by the name of its storage.
        compared |= {f"{field.removeprefix(STORAGE)}_storage" for field in compared if field.startswith(STORAGE)}
        by_words: dict[str, Difference] = {
            difference.words: difference
            for group, base in pairs
            for difference in differences(group.conditions, base.conditions)
            if difference.field not in compared or difference.severity == "blocks"
        }
        refused = refusal(by_words.values())
        why = f"no ratio: {refused}" if refused else ""
        return pairs, Against([*by_words.values()], why=why, refused=refused, base=there[0].key)

    def _pairs(self, here: Sequence[Group], there: Sequence[Group]) -> list[tuple[Group, Group]]:
        """Groups that have the same of what may be held equal but is not; none where that does not tell them apart."""
        loose = [field for field in self.offered if field not in self.held]
        by_values = {fact_values(group, loose): group for group in here}
        bases = {fact_values(group, loose): group for group in there}
        if len(by_values) < len(here) or len(bases) < len(there):
            return []
        return [(group, bases[values]) for values, group in by_values.items() if values in bases]

    @property
    def is_possible(self) -> bool:
        """Whether at two levels some two series may be set against each other; neighbours are asked, and the first."""
        compared, comparable = {bare_field(field) for field in self.compared}, 0
        # Of a thousand runs that have little in common hardly any level has two series.
        shared = (level for level, series in self._by_level.items() if len(series) > 1)
        for level in self._in_order(shared):
            first, *others = self._by_level[level].values()
            for groups, bases in [*((first, other) for other in others), *pairwise(others)]:
                pairs, against = self._set_against(groups, bases)
                if any(each.severity == "blocks" and each.field in compared for each in against.differences):
                    return False  # Another value of what is compared is another question, at every level.
                if pairs and not against.refused:
                    comparable += 1
                    break
            if comparable >= LEAST_LEVELS:
                return True
        return False


def sweeps(
    groups: Sequence[Group], varying: Mapping[str, Fact], series: Sequence[str], wanted: Sequence[str],
    held: Sequence[str] | None,
) -> dict[str, Sweep]:  # fmt: skip
    """By the fact that is compared, the best first: all that have two levels with a ratio.

    What is `wanted` comes first, then the DBMS and other things with a name, then factors, those of the chart's
    `series` before the others. `held`: fields that are equal in each level; None holds what occurs with several series.
    """
    columns = Columns(groups)
    facts = {
        field: fact
        for field, fact in varying.items()
        if field not in NEVER_TAKEN and field != DATE and len(set(columns[field])) > 1
    }
    possible: dict[str, Sweep] = {}
    order = sorted(facts, key=lambda field: (rank_of_kind(field, _COMPARED_FIRST), field not in series))
    for field in dict.fromkeys([*wanted, *order]):
        if field not in facts or len(groups) < FEWEST_GROUPS:
            continue
        # A configuration says nothing beside its DBMS, where each has one.
        if any(columns.follow([field], [other]) and columns.follow([other], [field]) for other in possible):
            continue
        sweep = _sweep(columns, facts, field, held)
        if sweep and sweep.is_possible:
            possible[field] = sweep
    return possible


def _sweep(columns: Columns, facts: Mapping[str, Fact], field: str, held: Sequence[str] | None) -> Sweep | None:
    others = [name for name in facts if name != field]
    # What goes with one series only at each of its values cannot be held equal: a configuration of its DBMS.
    offered = [name for name in others if not columns.follow([field], [name])]
    if not offered:
        return None
    offered.sort(key=lambda name: not facts[name].is_number)
    compared = [field]
    for name in others:
        # Two configurations of one DBMS are two series.
        if name not in offered and not columns.follow([name], [*compared, *offered]):
            compared.append(name)
    chosen = offered if held is None else [name for name in offered if name in held]
    return Sweep(compared, chosen, offered, columns, facts)
