"""Series of a sweep against each other, level by level: where everything else is equal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from statistics import fmean

from runs import formatting
from runs.compare.facts import Fact, key_of, listed, with_heading
from runs.compare.groups import Against, Group
from runs.compare.guard import bare_field, condition_words, differences, refusal
from runs.compare.sweep import Key, LevelRow, Sweep
from runs.compare.verdicts import in_sentence, ratio_words
from runs.models import Metric
from runs.stats import ALPHA, MIN_REPEATS, WINNERS, Kind, Ratio, SeriesVerdicts, Verdict, judge_levels

NO_LEVELS = "none"
# So many times as far as either is wide lie two ranges of ratios apart that are told one by one.
APART = 2.0


@dataclass(frozen=True)
class Series:
    """One series against the baseline's. `overall` is None where fewer than two levels have a ratio.

    `of_repeats`, `p_alike`: as of `runs.stats.Overall`. `words` say the ratio over all levels, or that there is none.
    """

    key: Key
    label: str
    rows: list[LevelRow]
    overall: Verdict | None
    of_repeats: bool
    p_alike: float | None
    words: str

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

    @property
    def keys(self) -> list[str]:
        """Of its groups."""
        return [key for row in self.rows for key in row.keys]

    @property
    def with_ratio(self) -> list[LevelRow]:
        return [row for row in self.rows if row.against.ratio]


@dataclass(frozen=True)
class HeatCell:
    """`shade`: −3 to 3, how far the ratio lies to the worse and to the better side, 0 where no verdict names one.

    None without a ratio.
    """

    row: LevelRow | None
    shade: int | None


@dataclass(frozen=True)
class HeatMap:
    """Ratios of one series by the facts that tell the levels apart; `down` names all but the one `across`."""

    series: str
    down: str
    across: str
    columns: list[str]
    rows: list[tuple[str, list[HeatCell]]]


@dataclass(frozen=True)
class Levels:
    """`base_label`: the series that the others are set against; `bases`: (key of a group, label) of all that may be.

    `headings`: facts that tell the levels apart. `choices`: facts that may be compared.
    """

    sweep: Sweep
    base: Key
    base_label: str
    headings: list[Fact]
    series: list[Series]
    bases: list[tuple[str, str]]
    choices: list[Fact]
    headline: str
    family: int

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
        return listed([in_sentence(fact.label) for fact in self.headings])

    @property
    def averaged_words(self) -> str:
        """What a reader does not hold equal, and what is averaged over."""
        return listed([in_sentence(fact.label) for fact in self.offered if fact.field not in self.sweep.held])

    @property
    def against(self) -> dict[str, Against]:
        """By key of the group, at its level."""
        return {group.key: row.against for series in self.series for row in series.rows for group in row.groups}

    @property
    def base_keys(self) -> set[str]:
        return {group.key for series in self.series for row in series.rows for group in row.bases}

    def heat_maps(self, better: str) -> list[HeatMap]:
        """One for each series, where two facts or more tell the levels apart; across goes that with the most levels,
        the first one never.
        """
        if len(self.headings) < 2:
            return []
        first, *others = (fact.label for fact in self.headings)
        rows = [row for series in self.series for row in series.rows]
        across = max(others, key=lambda label: len({row.words[label] for row in rows}))
        down = [first, *(label for label in others if label != across)]
        maps = []
        for series in self.series:
            cells: dict[str, dict[str, HeatCell]] = {}
            for row in series.rows:
                line = cells.setdefault(" · ".join(row.words[label] for label in down), {})
                line[row.words[across]] = HeatCell(row, _shade(row, better))
            columns = list(dict.fromkeys(row.words[across] for row in series.rows))
            lines = [(name, [line.get(at, HeatCell(None, None)) for at in columns]) for name, line in cells.items()]
            maps.append(HeatMap(series.label, " · ".join(down), across, columns, lines))
        return maps

    @property
    def row_count(self) -> int:
        return sum(len(series.rows) for series in self.series)


def _shade(row: LevelRow, better: str) -> int | None:
    """Steps at 1.05, 1.25 and 2 times."""
    ratio = row.ratio
    if ratio is None or row.kind not in WINNERS:
        return None if ratio is None else 0
    far = sum(max(ratio, 1 / ratio) >= step for step in (1.05, 1.25, 2.0))
    return far if (ratio > 1) == (better != "lower") else -far


def level_by_level(
    possible: Mapping[str, Sweep], chosen: Group | None, metric: Metric, threshold: float
) -> Levels | None:
    """The first of the `possible` sweeps; None where there are no two levels at which two series can be set against
    each other. The baseline is the series of the `chosen` group.
    """
    if not possible:
        return None
    sweep = next(iter(possible.values()))
    names = sweep.names
    drawn = {group.key: key_of(group, sweep.compared) for group in sweep.groups if group.dots}
    base = drawn.get(chosen.key if chosen else "", next(iter(drawn.values())))
    others = [name for name in names if name != base]
    judged = judge_rows([list(sweep.rows(name, base)) for name in others], metric, threshold)
    series = [
        Series(name, names[name], rows, told.overall, told.of_repeats, told.p_alike, _over_all_words(rows, told))
        for name, (rows, told) in zip(others, judged, strict=True)
    ]
    ratios = [row.against.ratio for one in series for row in one.rows]
    ratios += [one.overall.ratio for one in series if one.overall]
    keys = {series: key for key, series in reversed(drawn.items())}
    levels = Levels(
        sweep, base, names[base], sweep.headings, series, [(keys[name], names[name]) for name in names if name in keys],
        [sweep.facts[field] for field in possible], headline="",
        family=sum(ratio is not None and ratio.p is not None for ratio in ratios),
    )  # fmt: skip
    return replace(levels, headline=_headline(levels, metric, threshold))


def asks_different_questions(levels: Levels) -> bool:
    """Whether groups of different levels may have no ratio, so that one baseline for all would leave some without."""
    bases = {group.key: group for series in levels.series for row in series.rows for group in row.bases}
    first, *others = bases.values()
    return any(refusal(differences(first.stated, other.stated)) for other in others)


JudgedRows = tuple[list[LevelRow], SeriesVerdicts]


def judge_rows(series: Sequence[list[LevelRow]], metric: Metric, threshold: float) -> list[JudgedRows]:
    """The rows with their verdicts, all of them one family."""
    asked = [[row for row in rows if row.pairs and not row.against.refused] for rows in series]
    pairs = [[[(group.judged, base.judged) for group, base in row.pairs] for row in rows] for rows in asked]
    judged = judge_levels(pairs, better=metric.better, threshold=threshold)
    told = []
    for rows, verdicts in zip(series, judged, strict=True):
        each = iter(verdicts.levels)
        told.append(
            ([_with(row, next(each)) if row.pairs and not row.against.refused else row for row in rows], verdicts)
        )
    return told


def _with(row: LevelRow, verdict: Verdict) -> LevelRow:
    return replace(row, against=replace(row.against, ratio=verdict.ratio, verdict=verdict, words=verdict.words))


def _spread(rows: Sequence[LevelRow]) -> str:
    """The ratios by the values of the fact that parts them; else of the levels with the highest and the lowest."""
    if parted := _parted(rows):
        return parted
    known = sorted((row for row in rows if row.ratio), key=lambda row: -(row.ratio or 0.0))
    ends = [known[0], known[-1]] if len(known) > 1 else known
    return ", ".join(f"{formatting.times(row.ratio)} at {in_sentence(row.label)}" for row in ends if row.ratio)


def _parted(rows: Sequence[LevelRow]) -> str:
    """Two ranges of ratios that lie well apart, each with its values of one fact; else empty."""
    widest, split = 0.0, ("", [""], [""])
    for heading in rows[0].words if rows else ():
        logs: dict[str, list[float]] = {}
        for row in rows:
            if row.ratio:
                logs.setdefault(row.words[heading], []).append(log(row.ratio))
        names = sorted(logs, key=lambda name: fmean(logs[name]))
        for cut in range(1, len(names)):
            low, high = ([at for name in part for at in logs[name]] for part in (names[:cut], names[cut:]))
            gap = min(high) - max(low)
            if gap > max(widest, APART * (max(low) - min(low)), APART * (max(high) - min(high))):
                widest, split = gap, (heading, names[:cut], names[cut:])
    if not widest:
        return ""
    heading, *parts = split
    in_order = [*dict.fromkeys(row.words[heading] for row in rows if row.ratio)]
    parts.sort(key=lambda part: in_order[0] not in part)
    return ", ".join(_at(heading, [name for name in in_order if name in part], rows) for part in parts)


def _at(heading: str, values: Sequence[str], rows: Iterable[LevelRow]) -> str:
    """From the lowest ratio to the highest at these values of a fact."""
    ratios = [row.ratio for row in rows if row.ratio and row.words[heading] in values]
    ends = dict.fromkeys((formatting.times(min(ratios)), formatting.times(max(ratios))))
    is_number = all(value[:1].isdigit() for value in values)
    where = with_heading(heading, values) if is_number else f"{heading} {listed(values)}"
    return f"{' to '.join(ends)} at {in_sentence(where)}"


def _turns(rows: Sequence[LevelRow]) -> str:
    """The ratios by the values of the fact that decides which side is better, or where one is at all; empty where no
    single one does.

    Levels without a verdict for one side decide nothing and are counted apart.
    """
    decided = [row for row in rows if row.ratio and row.kind in WINNERS]
    for heading in decided[0].words if decided else ():
        sides: dict[str, set[str]] = {}
        for row in decided:
            sides.setdefault(row.words[heading], set()).add(row.kind)
        if any(len(kinds) > 1 for kinds in sides.values()):
            continue
        # One side only: a fact says where, if the levels that decide are a part of its values.
        if len(set.union(*sides.values())) < 2 and all(row.words[heading] in sides for row in rows if row.ratio):
            continue
        said = []
        for kind in dict.fromkeys(row.kind for row in decided):
            said.append(_at(heading, [value for value, kinds in sides.items() if kind in kinds], decided))
        known = sum(row.ratio is not None for row in rows)
        if len(decided) < known:
            said.append(f"undecided at {known - len(decided)} of {known} levels")
        return ", ".join(said)
    return ""


def _over_all_words(rows: Sequence[LevelRow], told: SeriesVerdicts) -> str:
    """The ratio over all levels and how alike these are; or that there is no single number."""
    if told.overall is None:
        return ""
    if told.overall.kind == Kind.MIXED:
        return f"{_turns(rows) or _spread(rows)}: no single number"
    said = told.overall.words
    if told.p_alike is not None and told.p_alike < ALPHA:
        return f"{said}; the levels differ, {_spread(rows)}"
    if not told.of_repeats:
        return f"{said}; {_spread(rows)}. Too few repeats a level: how sure it is follows from how the levels differ"
    return said


def _headline(levels: Levels, metric: Metric, threshold: float) -> str:
    """The best series against each other over all levels, or that there is no single number; then what is not alike."""
    rows = [row for series in levels.series for row in series.rows]
    if any(group.demonstration for row in rows for group in (*row.groups, *row.bases)) or metric.better == "none":
        return ""
    values = {levels.base: 1.0} | {
        one.key: one.overall.ratio.value for one in levels.series if one.overall and one.overall.ratio
    }
    if len(values) < 2:
        return ""
    best, *others = sorted(values, key=lambda name: values[name], reverse=metric.better == "higher")
    judged: list[tuple[Key, list[LevelRow], Series | SeriesVerdicts]]
    if best == levels.base:
        # The section says the same ratios: they are not turned round.
        of = {one.key: one for one in levels.series}
        judged = [(other, of[other].rows, of[other]) for other in others]
    else:
        told = judge_rows([list(levels.sweep.rows(best, other)) for other in others], metric, threshold)
        judged = [(other, *each) for other, each in zip(others, told, strict=True)]
    said = _best_words(best, judged, levels, metric)
    named = {bare_field(field) for field in (*levels.sweep.compared, *levels.sweep.held)}
    conditions = condition_words((d for row in rows for d in row.against.differences if row.ratio), named)
    return f"{said} Not alike: {conditions}." if conditions else said


def values_over_all(levels: Levels) -> dict[Key, float]:
    """Of each series its ratio over all levels to the baseline's."""
    told = {series.key: series.overall.ratio for series in levels.series if series.overall}
    return {levels.base: 1.0} | {key: ratio.value for key, ratio in told.items() if ratio}


def _best_words(
    best: Key, judged: Sequence[tuple[Key, list[LevelRow], Series | SeriesVerdicts]], levels: Levels, metric: Metric
) -> str:
    """Of the baseline, where that is best, the others' ratios to it are said, as everywhere on the page."""
    open_ones = [one for one in judged if one[2].overall and one[2].overall.kind not in WINNERS]
    other, rows, told = (open_ones or judged)[0]
    over = told.overall
    of_best, of_other = levels.sweep.names[best], levels.sweep.names[other]
    pair = f"{of_other} against {of_best}" if best == levels.base else f"{of_best} against {of_other}"
    where = f"over {sum(row.ratio is not None for row in rows)} levels of {levels.held_words}"
    if over is None:
        return ""
    if over.kind == Kind.MIXED:
        return f"No single number {where}: {pair} is {_turns(rows) or _spread(rows)}."
    if over.kind == Kind.TOO_FEW:
        return f"No winner is named, with fewer than {MIN_REPEATS} repeats a group: {of_best}, {of_other}."
    if open_ones:
        return f"No winner {where}: {pair} {ratio_words(over.ratio)}, {over.words}."
    unlike = not told.of_repeats or (told.p_alike is not None and told.p_alike < ALPHA)
    what, the_next = in_sentence(metric.label), ", the next," if len(judged) > 1 else ""
    spread = f": {_spread(rows)}" if unlike else ""
    if best == levels.base:
        extreme = "highest" if metric.better == "higher" else "lowest"
        others = f"{of_other}{the_next} has {ratio_words(over.ratio)} of it{spread}"
        return f"{of_best} has the {extreme} {what} {where}; {others}."
    return f"{of_best} has {ratio_words(over.ratio)} the {what} of {of_other}{the_next} {where}{spread}."
