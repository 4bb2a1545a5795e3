"""Everything against everything: who beats whom, and letters of what is not told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from runs import formatting
from runs.compare.comparison import Comparison
from runs.compare.guard import refusal
from runs.compare.judging import MOST_IN_A_MATRIX
from runs.compare.levels import Levels
from runs.compare.verdicts import by_value
from runs.stats import WINNERS, Kind, Verdict, letters

# By the positions of row and column.
Verdicts = Mapping[tuple[int, int], Verdict | None]


@dataclass(frozen=True)
class Pair:
    """One of a matrix: what the row stands for against what the column does. `ratio` as 1.35 ×."""

    kind: str
    ratio: str
    words: str


@dataclass(frozen=True)
class MatrixRow:
    label: str
    letters: str
    pairs: list[Pair | None]


@dataclass(frozen=True)
class Lettered:
    """A series at one level: its geometric mean, and its letters there."""

    label: str
    value: float | None
    letters: str


@dataclass(frozen=True)
class LetteredLevel:
    """`series` in the order of the rows of the matrix."""

    label: str
    series: list[Lettered]


@dataclass(frozen=True)
class Matrix:
    """Everything against everything, best first. Two share a letter if they are not told apart; there are no letters
    where some may not be compared. Of a sweep `held` says over which levels, and `levels` have letters of their own.
    """

    rows: list[MatrixRow]
    family: int
    levels: list[LetteredLevel]
    held: str = ""

    @property
    def has_letters(self) -> bool:
        return any(row.letters for row in self.rows)


def matrix(comparison: Comparison) -> Matrix | None:
    """Of the series of a sweep over its levels, else of the ranked groups; None of fewer than three, or of too many."""
    if comparison.metric is None:
        return None
    if comparison.levels:
        return _of_series(comparison.levels)
    groups = by_value(comparison.ranked, comparison.metric)
    if not 3 <= len(groups) <= MOST_IN_A_MATRIX:
        return None
    pairs = list(combinations(range(len(groups)), 2))
    by_pair = {(row, column): comparison.verdicts.of(groups[row], groups[column]) for row, column in pairs}
    if not any(by_pair.values()):
        return None
    refused = {
        (row, column): refusal(comparison.verdicts.differences_of(groups[row], groups[column]))
        for row, column in pairs
    }  # fmt: skip
    return _matrix([group.label for group in groups], by_pair, refused, [], comparison.family)


def _of_series(levels: Levels) -> Matrix | None:
    names, keys = levels.names, levels.order
    pairs = list(combinations(range(len(keys)), 2))
    between = {(row, column): levels.between(keys[row], keys[column]) for row, column in pairs}
    judged = {pair: series for pair, series in between.items() if series}
    if len(keys) < 3 or len(judged) < len(pairs):
        return None  # too many pairs: not all were judged
    refused = {
        pair: next((row.against.refused or row.against.missing for row in series.rows if not row.ratio), "")
        or "one level only"
        for pair, series in judged.items()
        if series.overall is None
    }
    kinds: dict[str, dict[tuple[int, int], str]] = {}
    means: dict[str, dict[int, float | None]] = {}
    for pair, of_pair in judged.items():
        for at_level in of_pair.rows:
            kinds.setdefault(at_level.label, {})[pair] = at_level.kind
            means.setdefault(at_level.label, {}).update(zip(pair, (at_level.value, at_level.base_value), strict=True))
    lettered = []
    for label, kind_by_pair in kinds.items():
        if len(kind_by_pair) == len(pairs) and not {"none", "refused", Kind.TOO_FEW} & set(kind_by_pair.values()):
            of_level = letters(len(keys), (pair for pair, kind in kind_by_pair.items() if kind in WINNERS))
            at_level_of = [Lettered(names[key], means[label][at], of_level[at]) for at, key in enumerate(keys)]
            lettered.append(LetteredLevel(label, at_level_of))
    by_pair = {pair: series.overall for pair, series in judged.items()}
    made = _matrix([names[key] for key in keys], by_pair, refused, lettered, levels.family)
    return replace(made, held=levels.held_words)


def _pair(verdict: Verdict) -> Pair:
    ratio = verdict.ratio if verdict.kind != Kind.MIXED else None
    return Pair(verdict.kind, formatting.times(ratio.value) if ratio else "depends", verdict.words)


def _matrix(
    labels: Sequence[str], verdicts: Verdicts, refused: Mapping[tuple[int, int], str], levels: list[LetteredLevel],
    family: int,
) -> Matrix:  # fmt: skip
    cells: dict[tuple[int, int], Pair] = {}
    for (row, column), verdict in verdicts.items():
        if verdict is None:
            words = f"no ratio: {refused[row, column]}"
            cells[row, column] = cells[column, row] = Pair("refused", "", words)
        else:
            cells[row, column], cells[column, row] = _pair(verdict), _pair(verdict.turned)
    sure = all(verdict and verdict.kind != Kind.TOO_FEW for verdict in verdicts.values())
    apart = [pair for pair, verdict in verdicts.items() if verdict and verdict.kind in WINNERS]
    of_rows = letters(len(labels), apart) if sure else [""] * len(labels)
    rows = [
        MatrixRow(label, of_rows[at], [cells.get((at, column)) for column in range(len(labels))])
        for at, label in enumerate(labels)
    ]
    return Matrix(rows, family, levels)
