"""Series at equal levels of all else: which facts may be compared so, and series against each other level by level."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, combinations, pairwise
from operator import itemgetter
from uuid import UUID

from benchagent.catalog import PLACES, Role, factor_role

from runs.compare.facts import (
    DATE,
    DISK_OF,
    NEVER_TAKEN,
    NO_FACT,
    SET,
    SYSTEM,
    Columns,
    Fact,
    distinguishing,
    fact_values,
    rank_of_kind,
)
from runs.compare.groups import Contrast, Group, are_comparable, pooled
from runs.compare.guard import Difference, bare_field, differences, unlike
from runs.compare.panels import CLIENTS, Axes
from runs.compare.verdicts import by_value
from runs.formatting import MOST_IN_A_SENTENCE, few_listed, grouped, listed, mid_sentence
from runs.models import Metric
from runs.run.facets import FACTOR, STORAGE
from runs.stats import Kind, Ratio, SeriesVerdicts, Verdict, geometric_mean, levels_that_count

NO_LEVELS = "none"
# In this order facts are compared where the axes name none.
_COMPARED_FIRST = ("dbms", "hardware", "storage", "config", "tested", "batch", "factor")
# What is of one day, in what names a fact.
OF_ONE_DAY = ("batch", "tested")
# What says that levels are days.
OF_DAYS = ("date", "measured on")
# Series are set against each other over so many levels, of so many groups.
LEAST_IN_COMMON, FEWEST_GROUPS = 2, 4
Key = tuple[str, ...]
# Nothing is to be set against: most levels of many runs have one series.
UNMEASURED = Contrast()


@dataclass(frozen=True)
class LevelRow:
    """One level; `words` by heading.

    `pairs`: groups of the series and of the baseline that are alike in all else; several where a reader does not hold
    equal what tells them apart. `against` says why there is no ratio where there is none.
    """

    label: str
    words: Mapping[str, str]
    groups: Sequence[Group]
    bases: Sequence[Group]
    pairs: Sequence[tuple[Group, Group]]
    against: Contrast

    @property
    def turned(self) -> LevelRow:
        """The baseline's series against this one."""
        against, verdict = self.against, self.against.verdict
        differences = tuple(difference.turned for difference in against.differences)
        return replace(
            self, groups=self.bases, bases=self.groups, pairs=[(base, group) for group, base in self.pairs],
            against=replace(against, differences=differences, verdict=verdict and verdict.turned, base=""),
        )  # fmt: skip

    @property
    def both_sides(self) -> list[Group]:
        return [*self.groups, *self.bases]

    @property
    def run_ids(self) -> list[UUID]:
        return [run for group in self.both_sides for run in group.run_ids]

    @property
    def is_comparable(self) -> bool:
        return bool(self.pairs) and not self.against.is_refused

    @property
    def kind(self) -> str:
        return self.against.kind

    @property
    def ratio(self) -> float | None:
        return self.against.ratio.value if self.against.ratio else None

    @property
    def value(self) -> float | None:
        return _mean(group for group, _ in self.pairs) if self.pairs else _mean(self.groups)

    @property
    def base_value(self) -> float | None:
        return _mean(base for _, base in self.pairs) if self.pairs else _mean(self.bases)

    @property
    def notes(self) -> list[Difference]:
        return [difference for difference in self.against.differences if difference.severity == "note"]


def equal_words(held: str) -> str:
    """At equal terminals and size; in the same batches, on the same days."""
    of_days = {"batch": "in the same batches", **dict.fromkeys(OF_DAYS, "on the same days")}
    return of_days.get(held, f"at equal {held}")


def levels_words(count: int, held: str) -> str:
    """3 levels of size, 20 batches, 5 days."""
    if held in ("batch", *OF_DAYS):
        one, several = ("batch", "batches") if held == "batch" else ("day", "days")
        return f"{count} {one if count == 1 else several}"
    of = f" of {held}" if held != "level" else ""  # a factor of that name
    return f"{count} level{'s' * (count != 1)}{of}"


def _mean(groups: Iterable[Group]) -> float | None:
    centres = [group.centre for group in groups if group.centre is not None]
    return centres[0] if len(centres) == 1 else geometric_mean(centres)


@dataclass(frozen=True)
class LevelSeries:
    """The series `label` against another, level by level. `verdicts` are empty until `runs.compare.judging` has judged
    it.
    """

    label: str
    rows: list[LevelRow]
    verdicts: SeriesVerdicts = field(default_factory=lambda: SeriesVerdicts([], None))

    @property
    def overall(self) -> Verdict | None:
        """None where fewer than two levels have a ratio."""
        return self.verdicts.overall

    @property
    def turned(self) -> LevelSeries:
        """The other against this one, under the same label."""
        verdicts = replace(self.verdicts, overall=self.overall and self.overall.turned)
        return replace(self, rows=[row.turned for row in self.rows], verdicts=verdicts)

    @property
    def ratio(self) -> Ratio | None:
        """None where it depends on the level."""
        return self.overall.ratio if self.overall and self.overall.kind != Kind.MIXED else None

    @property
    def notes(self) -> list[Difference]:
        """What is not alike at every level; said once."""
        first, *others = [row.notes for row in self.with_ratio] or [[]]
        return [note for note in first if all(note in notes for notes in others)]

    @property
    def with_ratio(self) -> list[LevelRow]:
        return [row for row in self.rows if row.against.ratio]

    @property
    def counted(self) -> list[LevelRow]:
        """Those of which the ratio over all is."""
        rows = self.with_ratio
        return [rows[at] for at in levels_that_count([row.against.ratio for row in rows])]

    @property
    def of_too_few(self) -> list[LevelRow]:
        """Those with a ratio that have too few repeats to count among the others."""
        left_out = {*self.left_out}
        return [row for row in self.with_ratio if row.label in left_out]

    @property
    def left_out(self) -> list[str]:
        """The labels of those that the ratio over all is not of."""
        counted = {row.label for row in self.counted}
        return [row.label for row in self.rows if row.label not in counted]

    @property
    def count_words(self) -> str:
        """Of how many of the levels at which one of the two was measured its ratio is: 16 of 19 levels."""
        counted, every = len(self.counted), len(self.rows)
        return f"{counted} levels" if counted == every else f"{counted} of {every} levels"

    def over(self, held: str) -> str:
        """How many levels of what is held equal its ratio is of."""
        return levels_words(len(self.counted), held)


@dataclass(frozen=True)
class Levels:
    """`compared` name a series together, and `held` are equal in each level, of what may be (`offered`).

    Of what is judged `base` is the series that the others are set against, `order` has the best over all levels first,
    and `judged` holds pairs of series, the first against the second. `choices`: all facts that may be compared.
    """

    compared: list[Fact]
    held: list[Fact]
    offered: list[Fact]
    columns: Columns
    choices: Sequence[Fact] = ()
    base: Key = ()
    order: Sequence[Key] = ()
    judged: Mapping[tuple[Key, Key], LevelSeries] = field(default_factory=dict)
    family: int = 0

    @property
    def ranks_nothing(self) -> bool:
        """Whether nothing but numbers of clients, or how long was measured, tells the series apart: nobody asks of one
        system which is best.
        """
        names = [fact.field.removeprefix(FACTOR) for fact in self.compared]
        return all(name in CLIENTS or factor_role(name) == Role.PROCEDURE for name in names)

    @cached_property
    def group_series(self) -> list[tuple[Group, Key]]:
        """Each group with its series."""
        rows = self.columns.rows([fact.field for fact in self.compared])
        return list(zip(self.columns.groups, rows, strict=True))

    def series_of(self, base: Group) -> Key:
        """The series of this group; where it has none, the first with values."""
        valued = [(group.key, key) for group, key in self.group_series if group.dots]
        return next((key for group, key in valued if group == base.key), valued[0][1])

    @cached_property
    def _by_level(self) -> dict[Key, dict[Key, list[Group]]]:
        """Groups by level and series, as they come."""
        levels: dict[Key, dict[Key, list[Group]]] = {}
        held = self.columns.rows([fact.field for fact in self.held])
        for level, (group, series) in zip(held, self.group_series, strict=True):
            levels.setdefault(level, {}).setdefault(series, []).append(group)
        return levels

    def _in_order(self, levels: Iterable[Key]) -> list[Key]:
        ranks = [fact.ranks for fact in self.held]
        return sorted(levels, key=lambda level: [rank[value] for rank, value in zip(ranks, level, strict=True)])

    @cached_property
    def table(self) -> dict[Key, dict[Key, list[Group]]]:
        """Groups by level and series; levels in the order of their values."""
        return {key: self._by_level[key] for key in self._in_order(self._by_level)}

    @cached_property
    def _levels_of(self) -> dict[Key, dict[int, dict[Key, list[Group]]]]:
        """The levels at which each series is, by their position."""
        levels: dict[Key, dict[int, dict[Key, list[Group]]]] = {}
        for at, level in enumerate(self.table.values()):
            for name in level:
                levels.setdefault(name, {})[at] = level
        return levels

    @cached_property
    def names(self) -> dict[Key, str]:
        """The series, each by as few facts as tell them apart: a system of one configuration by its name."""
        keys = list(dict.fromkeys(key for _, key in self.group_series))
        needed = distinguishing({fact.field: [key[at] for key in keys] for at, fact in enumerate(self.compared)})
        shown = [(at, fact) for at, fact in enumerate(self.compared) if fact.field in needed]
        counts = Counter(key[0] for key in keys)
        return {
            key: " · ".join(fact.in_legend(key[at]) for at, fact in shown[: None if counts[key[0]] > 1 else 1])
            for key in keys
        }

    @cached_property
    def headings(self) -> list[Fact]:
        """The facts that tell the levels apart."""
        return self._telling_apart(self.table)

    def _telling_apart(self, levels: Iterable[Key]) -> list[Fact]:
        keys = [*levels]
        # Days and batches that are machines of their own are told as machines.
        in_order = sorted(enumerate(self.held), key=lambda held: held[1].field in ("batch", DATE))
        needed = distinguishing({fact.field: [key[at] for key in keys] for at, fact in in_order})
        return [fact for fact in self.held if fact.field in needed]

    @cached_property
    def level_words(self) -> list[tuple[str, dict[str, str]]]:
        """What each level is called, and its words by heading."""
        shown = [
            (at, fact, {value: fact.in_legend(value) for value in fact.values})
            for at, fact in enumerate(self.held) if fact in self.headings
        ]  # fmt: skip
        # What few of many facts say of a level would drown among all that it has not.
        told = Counter(tuple((at, level[at]) for at, *_ in shown if level[at] != NO_FACT) for level in self.table)
        are_many = len(shown) > MOST_IN_A_SENTENCE and () not in told and max(told.values()) == 1

        def label(level: Key) -> str:
            words = {
                fact.field: in_legend[level[at]]
                for at, fact, in_legend in shown if not are_many or level[at] != NO_FACT
            }  # fmt: skip
            # The name of a batch may say which commit it is of.
            of_batch = words.get("batch", "").split(" · ")
            is_said = {name for name, of in words.items() if name.startswith("tested:") and of in of_batch}
            return " · ".join(of for name, of in words.items() if name not in is_said)

        return [
            (
                label(level),
                {fact.label: fact.words.get(level[at], level[at]) for at, fact, _ in shown},
            )
            for level in self.table
        ]

    def groups_of(self, name: Key) -> list[tuple[str, Group]]:
        """Its groups with the level of each."""
        levels = self._levels_of[name].items()
        return [(self.level_words[at][0], group) for at, level in levels for group in level[name]]

    @property
    def labels(self) -> list[str]:
        return [label for label, _ in self.level_words]

    def leaders(self, metric: Metric) -> list[list[Group]]:
        """At each level the best group of each value of the first fact that is compared, of those that are ranked, the
        best first.
        """
        every = []
        for level in self.table.values():
            best: dict[str, Group] = {}
            of_value = {group.key: key[0] for key, groups in level.items() for group in groups if group.ranked}
            for group in by_value(chain(*level.values()), metric):
                if group.key in of_value:
                    best.setdefault(of_value[group.key], group)
            every.append([*best.values()])
        return every

    @cached_property
    def _shared_of(self) -> dict[Key, list[dict[Key, list[Group]]]]:
        """The levels at which each series is with others: of a thousand runs most have one series."""
        shared = (level for level in self._by_level.values() if len(level) > 1)
        return grouped((name, level) for level in shared for name in level)

    def parting(self, parts: Iterable[Iterable[Key]]) -> list[Fact]:
        """The facts of which no two of these parts of the series have a value in common, and so no level."""
        every = [*self.table]
        levels = [[every[at] for name in part for at in self._levels_of[name]] for part in parts]
        return [
            fact for at, fact in enumerate(self.held) if fact.field != SET
            and all({level[at] for level in one}.isdisjoint(level[at] for level in other)
                   for one, other in combinations(levels, 2))
        ]  # fmt: skip

    def beside(self, name: Key) -> set[Key]:
        """The series with which it has two levels or more in common."""
        shared = self._shared_of.get(name, ())
        counts = Counter(chain.from_iterable(shared)) if len(shared) >= LEAST_IN_COMMON else {}
        return {other for other, count in counts.items() if count >= LEAST_IN_COMMON and other != name}

    def rows(self, name: Key, base: Key) -> Iterator[LevelRow]:
        """Each level at which one of the two series is, not yet judged."""
        for at, level in sorted({**self._levels_of[name], **self._levels_of[base]}.items(), key=itemgetter(0)):
            groups, bases = level.get(name, ()), level.get(base, ())
            yield LevelRow(*self.level_words[at], groups, bases, *self._set_against(groups, bases))

    def _set_against(
        self, groups: Sequence[Group], bases: Sequence[Group]
    ) -> tuple[Sequence[tuple[Group, Group]], Contrast]:
        """The pairs of one level; without any the reason."""
        here = [group for group in groups if group.dots]
        there = [group for group in bases if group.dots]
        if not here or not there:
            lost = next((group for group in (bases if here else groups) if group.gap), None)
            return (), Contrast(lost=lost) if lost else UNMEASURED
        pairs = [(here[0], there[0])] if len(here) == len(there) == 1 else self._pairs(here, there)
        if not pairs:
            return (), Contrast(several=True)
        # As differences name them. A disk is what somebody asked for by the name of its storage.
        compared = {bare_field(fact.field) for fact in self.compared}
        compared |= {f"{field.removeprefix(STORAGE)}_storage" for field in compared if field.startswith(STORAGE)}
        differing = dict.fromkeys(
            difference
            for group, base in pairs
            for difference in differences(group.conditions, base.conditions)
            if difference.field not in compared or difference.severity == "blocks"
        )
        return pairs, Contrast([*differing], base=there[0].key)

    def _pairs(self, here: Sequence[Group], there: Sequence[Group]) -> list[tuple[Group, Group]]:
        """Groups that have the same of what may be held equal but is not; none where that does not tell them apart, but
        for the batches of a day, where days are held: all repeats of it together.
        """
        loose = [fact.field for fact in self.offered if fact not in self.held]
        by_values, bases = (grouped((fact_values(group, loose), group) for group in side) for side in (here, there))
        several = [alike for alike in (*by_values.values(), *bases.values()) if len(alike) > 1]
        are_days = self.has_held(DATE)
        if several and not (are_days and all(map(are_comparable, several))):
            return []
        return [(pooled(by_values[key]), pooled(bases[key])) for key in by_values if key in bases]

    def compares(self, field: str) -> bool:
        return any(fact.field == field for fact in self.compared)

    def has_held(self, field: str) -> bool:
        return any(fact.field == field for fact in self.held)

    @cached_property
    def have_two_in_common(self) -> bool:
        """Whether some two series do, so that they have a ratio over levels; a version that has one day has none."""
        return any(map(self.beside, self._shared_of))

    @cached_property
    def is_possible(self) -> bool:
        """Whether at two levels some two series may be set against each other; neighbours are asked, and the first."""
        compared, comparable = {bare_field(fact.field) for fact in self.compared}, 0
        # Hardly any level has two series in a thousand runs that have little in common.
        shared = (level for level, series in self._by_level.items() if len(series) > 1)
        for level in self._in_order(shared):
            first, *others = self._by_level[level].values()
            for groups, bases in [*((first, other) for other in others), *pairwise(others)]:
                pairs, against = self._set_against(groups, bases)
                if any(each.severity == "blocks" and each.field in compared for each in against.differences):
                    return False  # Another value of what is compared is another question, at every level.
                if pairs and not against.is_refused:
                    comparable += 1
                    break
            if comparable >= LEAST_IN_COMMON:
                return True
        return False

    # What is judged

    @property
    def base_label(self) -> str:
        return self.names[self.base]

    @cached_property
    def series(self) -> list[LevelSeries]:
        """All but the baseline's, against it."""
        return [self.judged[key, self.base] for key in self.names if key != self.base]

    @property
    def bases(self) -> list[tuple[str, str]]:
        """(key of a group, label) of each series that may be the baseline."""
        group_by_key = {key: group.key for group, key in reversed(self.group_series) if group.dots}
        return [(group_by_key[key], label) for key, label in self.names.items() if key in group_by_key]

    def unlike(self, against: Mapping[Key, LevelSeries]) -> dict[str, list[Difference]]:
        """In what each of these series is not like what it is set against, by its name, but for what is compared and
        held.
        """
        named = {bare_field(each.field) for each in (*self.compared, *self.held)}
        differing = {key: chain(*(row.against.differences for row in of.with_ratio)) for key, of in against.items()}
        return {self.names[key]: unlike(each, named) for key, each in differing.items()}

    @property
    def compared_words(self) -> str:
        return " · ".join(fact.label for fact in self.compared)

    @property
    def are_of_times(self) -> bool:
        """Whether the levels at which series are set against each other are of several batches or days."""
        times = [at for at, fact in enumerate(self.held) if fact.field.startswith((*OF_ONE_DAY, DATE))]
        shared = (
            level for level, of in self.table.items()
            if sum(any(group.dots for group in groups) for groups in of.values()) > 1
        )  # fmt: skip
        return len({tuple(level[at] for at in times) for level in shared}) > 1

    @property
    def held_words(self) -> str:
        """What tells the levels apart at which series may be set against each other."""
        shared = self._telling_apart(key for key, level in self.table.items() if len(level) > 1)
        return few_listed([mid_sentence(fact.label) for fact in shared or self.headings])

    @property
    def averaged_words(self) -> str:
        """What a reader does not hold equal, and what is averaged over."""
        return listed([mid_sentence(fact.label) for fact in self.offered if fact not in self.held])

    def overall(self, one: Key, other: Key) -> Verdict | None:
        """The first series against the second; None of two that were not judged, or have fewer than two levels in
        common.
        """
        if (one, other) in self.judged:
            return self.judged[one, other].overall
        turned = self.judged[other, one].overall if (other, one) in self.judged else None
        return turned.turned if turned else None

    def between(self, one: Key, other: Key) -> LevelSeries | None:
        """The first series against the second; None of two that were not judged."""
        if (one, other) in self.judged:
            return self.judged[one, other]
        if (other, one) not in self.judged:
            return None
        return replace(self.judged[other, one].turned, label=self.names[one])

    @cached_property
    def level_rows(self) -> list[LevelRow]:
        return [row for series in self.series for row in series.rows]

    @property
    def ratio_count(self) -> int:
        return sum(len(series.with_ratio) for series in self.series)


def possible_levels(
    columns: Columns, axes: Axes, wanted: Sequence[str], held: Sequence[str] | None, *, by_day: bool = False
) -> Iterator[Levels]:
    """One for each fact that may be compared, the best first: all that have two levels with a ratio. Most ask for the
    first alone.

    What is `wanted` comes first, then the DBMS and other things with a name, then factors, those of the chart's series
    before the others; a number on x comes last. `held`: fields that are equal in each level; None holds what occurs
    with several series. `by_day`: the day is held too.
    """
    # A batch of one group, as of results that were sent one by one, has no other with which to be held equal.
    left_out = {*NEVER_TAKEN.difference(wanted), SYSTEM, *([] if by_day else [DATE])}
    left_out |= {"batch"} if len(set(columns["batch"])) == len(columns.groups) else set()
    # What has no value, as rows whose numbers are lost, is told at its level and chooses none.
    valued = columns.valued
    # There only the name of the disk is known of what failed.
    left_out |= {
        disk for name, disk in DISK_OF.items() if NO_FACT in columns[disk] and columns.known(disk).alike(name, disk)
    }
    facts = [fact for name, fact in axes.facts.items() if name not in left_out and len(set(valued[name])) > 1]
    order = sorted(
        facts,
        key=lambda fact: (
            bool(axes.kind) and fact.field == axes.x, rank_of_kind(fact.field, _COMPARED_FIRST),
            fact.field not in axes.series,
        ),
    )  # fmt: skip
    order.sort(key=lambda fact: wanted.index(fact.field) if fact.field in wanted else len(wanted))
    possible: list[Levels] = []
    for fact in order if len(columns.groups) >= FEWEST_GROUPS else ():
        if fact.field == DATE:
            continue
        # A configuration says nothing beside its DBMS, where each has one.
        if any(valued.alike(fact.field, levels.compared[0].field) for levels in possible):
            continue
        asked = (fact.field, *(each.field for each in facts), None if held is None else (*held,))
        if asked not in columns.levels:
            levels = _levels_of(valued, facts, fact, held)
            columns.levels[asked] = levels and replace(levels, columns=columns)
        levels = columns.levels[asked]
        if levels and levels.is_possible:
            possible.append(levels)
            yield levels


def _levels_of(columns: Columns, facts: Sequence[Fact], fact: Fact, held: Sequence[str] | None) -> Levels | None:
    others = [other for other in facts if other != fact and not _holds_nothing(other, fact, facts, columns)]
    # What goes with one series only at each of its values cannot be held equal: a configuration of its DBMS.
    asked = held or ()
    offered = [
        other for other in others
        if not columns.follow([fact.field], [other.field])
        and (other.field in asked or not any(rule(fact, other, columns) for rule in _NO_LEVEL))
    ]  # fmt: skip
    if not offered:
        return None
    offered.sort(key=lambda other: not other.is_number)
    compared = [fact]
    for other in others:
        # Two configurations of one DBMS are two series.
        if other not in offered and not columns.follow([other.field], [each.field for each in (*compared, *offered)]):
            compared.append(other)
    chosen = [
        other for other in offered
        if (other.field in held if held is not None else not _is_of_versions(fact, other, columns))
    ]  # fmt: skip
    return Levels(compared, chosen, offered, columns)


def _is_procedure_of(fact: Fact, other: Fact, columns: Columns) -> bool:
    """Whether it is how each value of what is compared was measured, as the window of a machine: that says by itself in
    what it is not alike, or that there is no ratio, where a level of its own would only leave the value out.
    """
    is_procedure = factor_role(other.field.removeprefix(FACTOR)) == Role.PROCEDURE
    return is_procedure and other.field.startswith(FACTOR) and columns.follow([other.field], [fact.field])


def _is_of_versions(fact: Fact, other: Fact, columns: Columns) -> bool:
    """Whether batches are those of versions, where systems were measured again as newer ones came: none is held equal,
    and what was measured in both is set against each version in its batch.
    """
    if (fact.field, other.field) != ("dbms", "batch"):
        return False
    batches_by_version = grouped(dict.fromkeys(zip(columns["dbms"], columns["batch"], strict=True)))
    systems = dict(zip(columns["dbms"], columns[SYSTEM], strict=True))
    of_one = {(systems[version], *batches) for version, batches in batches_by_version.items() if len(batches) == 1}
    return len({system for system, _ in of_one}) < len(of_one)


def _names_again(fact: Fact, other: Fact, columns: Columns) -> bool:
    """Whether a factor says of the disks that are compared what kind they are: two that have one kind on two machines
    do not make it a level, at which no disk of another kind would be.
    """
    is_kind = other.field.startswith(FACTOR) and other.field.removeprefix(FACTOR) in PLACES
    return is_kind and fact.field.startswith(STORAGE) and columns.follow([other.field], [fact.field])


def _is_chosen_with(fact: Fact, other: Fact, columns: Columns) -> bool:
    """Whether it is chosen with the system: a configuration, which stands for its better one, where one that a single
    system has is equal to that of no other; or how a system works and is spoken to, where each has one way of it, as
    the driver that MySQL and MariaDB share. Amounts and places are what people vary.
    """
    if fact.field != "dbms":
        return False
    if other.field == "config":
        systems_by_config = grouped(dict.fromkeys(zip(columns["config"], columns["dbms"], strict=True)))
        return any(len(systems) == 1 for systems in systems_by_config.values())
    name = other.field.removeprefix(FACTOR)
    is_amount = other.is_number and len({*other.values} - {NO_FACT}) > 1
    if name == other.field or name in PLACES or is_amount:
        return False
    declared = {group.conditions.declared[name] for group in columns.groups if name in group.conditions.declared}
    # A version is no system: of one system two versions may have been spoken to in two ways.
    systems = (group.all_runs[0].dbms_version.dbms_id for group in columns.groups)
    told = [*zip(columns["workload"], systems, columns[other.field], strict=True)]
    # Another workload has no such thing.
    workloads = {workload for workload, _, way in told if way != NO_FACT}
    ways = {(of, way) for workload, of, way in told if workload in workloads}
    is_one_each = len(ways) == len({of for of, _ in ways})
    return is_one_each and factor_role(name, *declared) == Role.CONDITION


# Why a fact is no level, unless a reader holds it equal.
_NO_LEVEL = (_is_procedure_of, _names_again, _is_chosen_with)


def _holds_nothing(fact: Fact, compared: Fact, facts: Sequence[Fact], columns: Columns) -> bool:
    """Whether it parts levels by nothing that was varied, where all else determines it: a configuration that each
    system has of its own on a machine, or a window that some state and others do not.
    """
    is_procedure = factor_role(fact.field.removeprefix(FACTOR)) == Role.PROCEDURE
    is_stated_once = is_procedure and sum(value != NO_FACT for value in set(columns[fact.field])) < 2
    rest = [other.field for other in facts if other not in (fact, compared)]
    return (fact.field == "config" or is_stated_once) and columns.follow([fact.field], [compared.field, *rest])
