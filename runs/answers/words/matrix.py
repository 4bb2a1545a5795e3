"""Everything against everything: who beats whom, and letters of what is not told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

from runs import formatting
from runs.answers.words.verdicts import against_words, is_turning, verdict_words
from runs.compare.comparison import Comparison
from runs.compare.groups import Contrast
from runs.compare.judging import MOST_IN_A_MATRIX
from runs.compare.levels import Levels, LevelSeries
from runs.compare.verdicts import by_value
from runs.formatting import grouped
from runs.stats import WINNERS, Kind, Verdict, letters

# The places of row and column.
Places = tuple[int, int]


@dataclass(frozen=True)
class Pair:
    """One of a matrix: what the row stands for against what the column does. `ratio` as 1.35 ×. `turns`: whether which
    of them is better depends on the level.
    """

    kind: str
    ratio: str
    words: str
    turns: bool = False


@dataclass(frozen=True)
class MatrixRow:
    label: str
    letters: str
    pairs: list[Pair | None]


@dataclass(frozen=True)
class Lettered:
    """A series at one level: its geometric mean, and its letters there, none where it has too few repeats."""

    label: str
    value: float | None
    letters: str
    of_too_few: bool = False


@dataclass(frozen=True)
class LetteredLevel:
    """`series` in the order of the rows of the matrix."""

    label: str
    series: list[Lettered]


@dataclass(frozen=True)
class Matrix:
    """Everything against everything, best first. Two share a letter if they are not told apart; there are no letters
    where some may not be compared, or depend on the level. Of a sweep `held` says over which levels, and
    `levels` have letters of their own; `without_letters` are those where not every pair has a verdict. `apart_from`:
    the series that some have no ratio to, so that they stand last.
    """

    rows: list[MatrixRow]
    family: int
    levels: list[LetteredLevel]
    held: str = ""
    without_letters: int = 0
    apart_from: str = ""

    @property
    def order(self) -> str:
        pairs = [pair for row in self.rows for pair in row.pairs if pair]
        if any(pair.turns for pair in pairs):
            return "which is better depends on the level"
        if any(pair.kind == Kind.MIXED for pair in pairs):
            return "some are better at a part of the levels only"
        # What came to zero has no ratio, and may be the best where less is better.
        among = f"those with a ratio over levels to {self.apart_from}, " if self.apart_from else ""
        return f"{among}best first{', then the others' if among else ''}"


def matrix(comparison: Comparison) -> Matrix | None:
    """The matrix of a sweep's series over its levels, else of ranked groups; None of fewer than three or too many."""
    if comparison.metric is None:
        return None
    if comparison.levels:
        return _of_series(comparison.levels, comparison.metric.better)
    groups, verdicts = by_value(comparison.ranked, comparison.metric), comparison.verdicts
    if not 3 <= len(groups) <= MOST_IN_A_MATRIX:
        return None
    found: dict[Places, Verdict | str] = {}
    for (row, group), (column, base) in combinations(enumerate(groups), 2):
        against = Contrast(verdicts.differences_of(group, base))
        verdict = verdicts.of(group, base)
        if verdict is None and not against.is_refused:
            return None  # the question asks something else: not all were judged
        found[row, column] = verdict or against_words(against)
    if not any(isinstance(each, Verdict) for each in found.values()):
        return None
    return _matrix([group.label for group in groups], found, comparison.verdicts.family, {})


def _of_series(levels: Levels, better: str) -> Matrix | None:
    names = [levels.names[key] for key in levels.order]
    if len(names) < 3 or len(levels.judged) < comb(len(names), 2):
        return None  # too many pairs: not all were judged
    pairs = [*combinations(enumerate(levels.order), 2)]
    judged = {(row, column): series for (row, one), (column, other) in pairs if (series := levels.between(one, other))}
    found: dict[Places, Verdict | str] = {}
    for places, series in judged.items():
        without_ratio = (against_words(row.against) for row in series.rows if not row.ratio)
        found[places] = series.overall or next(without_ratio, "no ratio: one level only")
    by_level = grouped((row.label, (places, row)) for places, series in judged.items() for row in series.rows)
    lettered = []
    for label, rows in by_level.items():
        in_pairs = grouped((row.kind == Kind.TOO_FEW, place) for places, row in rows for place in places)
        few = {*in_pairs.get(True, ())} - {*in_pairs.get(False, ())}
        told = [(places, row) for places, row in rows if few.isdisjoint(places)]
        of_rows = [row.against.verdict for _, row in told]
        if told and len(rows) == len(pairs) and all(verdict and not _is_open(verdict) for verdict in of_rows):
            means = {place: value for places, row in rows
                     for place, value in zip(places, (row.value, row.base_value), strict=True)}  # fmt: skip
            # Of the best of this level, which is not that of all.
            places_told = {*means} - few
            best_first = sorted(places_told, key=lambda place: means[place] or 0.0, reverse=better != "lower")
            apart = [[best_first.index(place) for place in places] for places, row in told if row.kind in WINNERS]
            letter = letters(len(best_first), ((min(each), max(each)) for each in apart))
            of_series = [
                Lettered(name, means[at], "" if at in few else letter[best_first.index(at)], at in few)
                for at, name in enumerate(names)
            ]
            lettered.append(LetteredLevel(label, of_series))
    is_placed = all(levels.overall(key, levels.base) for key in levels.order if key != levels.base)
    return replace(
        _matrix(names, found, levels.family, judged), levels=lettered, held=levels.held_words,
        without_letters=len(by_level) - len(lettered), apart_from="" if is_placed else levels.base_label,
    )  # fmt: skip


def _pair(verdict: Verdict | str, series: LevelSeries | None) -> Pair:
    """Without a single number over its levels: whether it depends on these which is better, or where one is, and how
    often.
    """
    if isinstance(verdict, str):
        return Pair("refused", "", verdict)
    words, ratio = verdict_words(verdict), formatting.times(verdict.ratio.value) if verdict.ratio else "no ratio"
    if verdict.kind != Kind.MIXED or series is None:
        return Pair(verdict.kind, ratio, words)
    if is_turning(series):
        return Pair(verdict.kind, "depends", words, turns=True)
    kinds = [row.kind for row in series.counted]
    kind = next(row.kind for row in series.rows if row.kind in WINNERS)
    return Pair(verdict.kind, f"{kind} at {kinds.count(kind)} of {len(kinds)}", words)


def _is_open(verdict: Verdict) -> bool:
    """Whether nothing is known of the two, as beside a zero, to which there is no ratio."""
    is_bounded = verdict.ratio is not None and verdict.ratio.interval is not None
    return verdict.kind == Kind.TOO_FEW or not (is_bounded or verdict.kind == Kind.EQUIVALENT)


def _matrix(
    labels: Sequence[str], found: Mapping[Places, Verdict | str], family: int, judged: Mapping[Places, LevelSeries]
) -> Matrix:
    """`found`: the verdict of the first against the second, or why there is none; `judged`: of series, by level."""
    pairs: dict[Places, Pair] = {}
    for (row, column), verdict in found.items():
        series = judged.get((row, column))
        pairs[row, column] = _pair(verdict, series)
        turned = verdict if isinstance(verdict, str) else verdict.turned
        pairs[column, row] = _pair(turned, series and series.turned)
    verdicts = {places: verdict for places, verdict in found.items() if isinstance(verdict, Verdict)}
    # A pair that depends on the level is told apart, now this way and now that.
    open_ones = (each for each in verdicts.values() if each.kind == Kind.MIXED or _is_open(each))
    sure = len(verdicts) == len(found) and not any(open_ones)
    apart = [places for places, verdict in verdicts.items() if verdict.kind in WINNERS]
    of_rows = letters(len(labels), apart) if sure else [""] * len(labels)
    rows = [
        MatrixRow(label, of_rows[at], [pairs.get((at, column)) for column in range(len(labels))])
        for at, label in enumerate(labels)
    ]
    return Matrix(rows, family, [])
