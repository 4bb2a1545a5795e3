"""Series of a sweep against each other, level by level: where everything else is equal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import log
from statistics import fmean

from runs import formatting
from runs.compare.facts import Fact, with_heading
from runs.compare.groups import Against, Group
from runs.compare.guard import differences, refusal
from runs.compare.judging import JudgedRows, pairs_to_judge
from runs.compare.sweep import LEAST_LEVELS, Key, LevelRow, Sweep
from runs.compare.verdicts import ratio_words
from runs.formatting import listed, mid_sentence
from runs.models import Metric
from runs.stats import ALPHA, WINNERS, Kind, Ratio, SeriesVerdicts, Verdict

NO_LEVELS = "none"
# So many times as far as either is wide lie two ranges of ratios apart that are told one by one.
APART = 2.0


@dataclass(frozen=True)
class Series:
    """One series against the baseline's."""

    label: str
    rows: list[LevelRow]
    verdicts: SeriesVerdicts

    @property
    def overall(self) -> Verdict | None:
        """None where fewer than two levels have a ratio."""
        return self.verdicts.overall

    @property
    def ratio(self) -> Ratio | None:
        """None where it depends on the level."""
        return self.overall.ratio if self.overall and self.overall.kind != Kind.MIXED else None

    @property
    def ratio_words(self) -> str:
        return ratio_words(self.ratio)

    @property
    def notes(self) -> list[str]:
        """What is not alike at every level; said once."""
        first, *others = [row.notes for row in self.with_ratio] or [[]]
        return [note for note in first if all(note in notes for notes in others)]

    @cached_property
    def words(self) -> str:
        """The ratio over all levels and how alike these are; or that there is no single number, or no ratio at all."""
        overall, verdicts = self.overall, self.verdicts
        if overall is None:
            reasons = {row.against.words for row in self.rows}
            return reasons.pop() if len(reasons) == 1 and not self.with_ratio else ""
        if overall.kind == Kind.MIXED:
            return f"{unlike_words(self.rows)}: no single number"
        if verdicts.p_alike is not None and verdicts.p_alike < ALPHA:
            return f"{overall.words}; the levels differ, {ratios_by_level(self.rows)}"
        if not verdicts.of_repeats:
            sureness = "Too few repeats a level: how sure it is follows from how the levels differ"
            return f"{overall.words}; {ratios_by_level(self.rows)}. {sureness}"
        return overall.words

    @property
    def keys(self) -> list[str]:
        """Of its groups."""
        return [key for row in self.rows for key in row.keys]

    @property
    def with_ratio(self) -> list[LevelRow]:
        return [row for row in self.rows if row.against.ratio]


@dataclass(frozen=True)
class HeatMap:
    """Ratios of one series by the facts that tell the levels apart; `down` names all but the one `across`."""

    series: str
    down: str
    across: str
    columns: list[str]
    rows: list[tuple[str, list[LevelRow | None]]]


@dataclass(frozen=True)
class Levels:
    """`base`: the series that the others are set against. `choices`: facts that may be compared. `order`: the series,
    the best over all levels first. `judged`: pairs of series, the first against the second, level by level.
    """

    sweep: Sweep
    base: Key
    choices: list[Fact]
    order: list[Key]
    judged: Mapping[tuple[Key, Key], JudgedRows]
    family: int = 0

    @property
    def base_label(self) -> str:
        return self.sweep.names[self.base]

    @property
    def headings(self) -> list[Fact]:
        """The facts that tell the levels apart."""
        return self.sweep.headings

    @cached_property
    def series(self) -> list[Series]:
        """All but the baseline's, against it."""
        others = ((key, label) for key, label in self.sweep.names.items() if key != self.base)
        return [Series(label, *self.judged[key, self.base]) for key, label in others]

    @property
    def bases(self) -> list[tuple[str, str]]:
        """(key of a group, label) of each series that may be the baseline."""
        group_by_key = {key: group.key for key, group in reversed(self.sweep.valued)}
        return [(group_by_key[key], label) for key, label in self.sweep.names.items() if key in group_by_key]

    @property
    def compared(self) -> list[Fact]:
        return [self.sweep.facts[field] for field in self.sweep.compared]

    @property
    def held(self) -> list[Fact]:
        return [self.sweep.facts[field] for field in self.sweep.held]

    @property
    def offered(self) -> list[Fact]:
        """All that may be held equal."""
        return [self.sweep.facts[field] for field in self.sweep.offered]

    @property
    def compared_words(self) -> str:
        return " · ".join(fact.label for fact in self.compared)

    @property
    def held_words(self) -> str:
        return listed([mid_sentence(fact.label) for fact in self.headings])

    @property
    def averaged_words(self) -> str:
        """What a reader does not hold equal, and what is averaged over."""
        return listed([mid_sentence(fact.label) for fact in self.offered if fact.field not in self.sweep.held])

    def between(self, one: Key, other: Key) -> JudgedRows | None:
        """The levels of the first series against the second; None of two that were not judged."""
        if (one, other) in self.judged:
            return self.judged[one, other]
        if (other, one) not in self.judged:
            return None
        rows, verdicts = self.judged[other, one]
        overall = verdicts.overall and verdicts.overall.turned
        return [row.turned for row in rows], replace(verdicts, overall=overall)

    @property
    def against(self) -> dict[str, Against]:
        """By key of the group, at its level."""
        return {group.key: row.against for series in self.series for row in series.rows for group in row.groups}

    @property
    def base_keys(self) -> set[str]:
        return {group.key for series in self.series for row in series.rows for group in row.bases}

    @property
    def heat_maps(self) -> list[HeatMap]:
        """One for each series with a ratio, where two facts or more tell the levels apart; across goes the one with the
        most levels, never the first.
        """
        if len(self.headings) < 2:
            return []
        first, *others = (fact.label for fact in self.headings)
        rows = [row for series in self.series for row in series.rows]
        across = max(others, key=lambda label: len({row.words[label] for row in rows}))
        down = [first, *(label for label in others if label != across)]
        maps = []
        for series in self.series:
            if not series.with_ratio:
                continue
            cells: dict[str, dict[str, LevelRow]] = {}
            for row in series.rows:
                cells.setdefault(" · ".join(row.words[label] for label in down), {})[row.words[across]] = row
            columns = list(dict.fromkeys(row.words[across] for row in series.rows))
            lines = [(name, [of_row.get(column) for column in columns]) for name, of_row in cells.items()]
            maps.append(HeatMap(series.label, " · ".join(down), across, columns, lines))
        return maps

    @property
    def row_count(self) -> int:
        return sum(len(series.rows) for series in self.series)


def levels_to_judge(possible: Mapping[str, Sweep], chosen: Group | None, metric: Metric) -> Levels:
    """Of the first of the `possible` sweeps, one at least; without verdicts yet. The baseline is the series of the
    `chosen` group.
    """
    sweep = next(iter(possible.values()))
    keys = [key for key, group in sweep.valued if chosen and group.key == chosen.key]
    base = next(iter([*keys, *(key for key, _ in sweep.valued)]))
    against_base = {key: list(sweep.rows(key, base)) for key in sweep.names if key != base}
    order = _best_first(against_base, base, metric)
    none_yet = SeriesVerdicts([], None)
    judged = {
        (key, other): (against_base[key] if other == base else list(sweep.rows(key, other)), none_yet)
        for key, other in pairs_to_judge(order, base, levels=len(sweep.table))
    }
    return Levels(sweep, base, [sweep.facts[field] for field in possible], order, judged)


def _best_first(against_base: Mapping[Key, Sequence[LevelRow]], base: Key, metric: Metric) -> list[Key]:
    """The series by their ratio to the baseline's over all levels; those without one last."""
    logs = {base: 0.0}
    for key, rows in against_base.items():
        ratios = [
            row.value / row.base_value
            for row in rows
            if row.pairs and not row.against.refused and row.value and row.base_value
        ]
        # Of one level in common there is no verdict over all: what stands first is judged against each other.
        if len(ratios) >= LEAST_LEVELS and min(ratios) > 0:
            logs[key] = fmean(map(log, ratios))
    sign = 1 if metric.better == "lower" else -1
    keys = [base, *against_base]
    return sorted(keys, key=lambda key: (key not in logs, sign * logs.get(key, 0.0)))


def asks_different_questions(levels: Levels) -> bool:
    """Whether groups of different levels may have no ratio, so that one baseline for all would leave some without."""
    first, *others = [group for level in levels.sweep.table.values() for group in level.get(levels.base, [])]
    return any(refusal(differences(first.conditions, other.conditions)) for other in others)


def ratios_by_level(rows: Sequence[LevelRow]) -> str:
    """The ratios by the values of the fact that parts them; else of the levels with the highest and the lowest."""
    if in_two_ranges := _two_ranges(rows):
        return in_two_ranges
    falling = sorted((row for row in rows if row.ratio), key=lambda row: -(row.ratio or 0.0))
    ends = [falling[0], falling[-1]] if len(falling) > 1 else falling
    return ", ".join(f"{formatting.times(row.ratio)} at {mid_sentence(row.label)}" for row in ends if row.ratio)


def _two_ranges(rows: Sequence[LevelRow]) -> str:
    """Two ranges of ratios that lie well apart, each with its values of one fact; else empty."""
    widest, split = 0.0, ("", [""], [""])
    for heading in rows[0].words if rows else ():
        logs: dict[str, list[float]] = {}
        for row in rows:
            if row.ratio:
                logs.setdefault(row.words[heading], []).append(log(row.ratio))
        names = sorted(logs, key=lambda name: fmean(logs[name]))
        for cut in range(1, len(names)):
            low, high = ([value for name in part for value in logs[name]] for part in (names[:cut], names[cut:]))
            gap = min(high) - max(low)
            if gap > max(widest, APART * (max(low) - min(low)), APART * (max(high) - min(high))):
                widest, split = gap, (heading, names[:cut], names[cut:])
    if not widest:
        return ""
    heading, *parts = split
    in_order = [*dict.fromkeys(row.words[heading] for row in rows if row.ratio)]
    parts.sort(key=lambda part: in_order[0] not in part)
    return ", ".join(_range_words(heading, [name for name in in_order if name in part], rows) for part in parts)


def _range_words(heading: str, values: Sequence[str], rows: Iterable[LevelRow]) -> str:
    """From the lowest ratio to the highest at these values of a fact."""
    ratios = [row.ratio for row in rows if row.ratio and row.words[heading] in values]
    ends = dict.fromkeys((formatting.times(min(ratios)), formatting.times(max(ratios))))
    is_number = all(value[:1].isdigit() for value in values)
    where = with_heading(heading, values) if is_number else f"{heading} {listed(values)}"
    return f"{' to '.join(ends)} at {mid_sentence(where)}"


def _ratios_by_winner(rows: Sequence[LevelRow]) -> str:
    """The ratios by the values of the fact that decides which side is better, or where one is at all; empty where no
    single one does.

    Levels without a verdict for one side decide nothing and are counted apart.
    """
    decided = [row for row in rows if row.ratio and row.kind in WINNERS]
    for heading in decided[0].words if decided else ():
        kinds_by_value: dict[str, set[str]] = {}
        for row in decided:
            kinds_by_value.setdefault(row.words[heading], set()).add(row.kind)
        if any(len(kinds) > 1 for kinds in kinds_by_value.values()):
            continue
        # One side only: a fact says where, if the levels that decide are a part of its values.
        one_side = len(set.union(*kinds_by_value.values())) < 2
        if one_side and all(row.words[heading] in kinds_by_value for row in rows if row.ratio):
            continue
        parts = []
        for kind in dict.fromkeys(row.kind for row in decided):
            values = [value for value, kinds in kinds_by_value.items() if kind in kinds]
            parts.append(_range_words(heading, values, decided))
        with_ratio = sum(row.ratio is not None for row in rows)
        if len(decided) < with_ratio:
            parts.append(f"undecided at {with_ratio - len(decided)} of {with_ratio} levels")
        return ", ".join(parts)
    return ""


def unlike_words(rows: Sequence[LevelRow]) -> str:
    """The ratios of levels that have no single number, and that no level is sure where none is."""
    if words := _ratios_by_winner(rows):
        return words
    is_sure = any(row.kind in WINNERS for row in rows)
    return ratios_by_level(rows) + ("" if is_sure else ", undecided at each of them")
