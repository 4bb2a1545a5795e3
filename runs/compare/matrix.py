"""Everything against everything: who beats whom, and letters of what is not told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from runs import formatting
from runs.compare.comparison import Comparison
from runs.compare.guard import differences, refusal
from runs.compare.levels import Levels, judge_rows, ratios_to_base
from runs.compare.verdicts import family_size
from runs.models import Metric
from runs.stats import WINNERS, Kind, Verdict, judge_family, letters

# A matrix of more is no picture, and no family of so many finds anything.
MOST_IN_A_MATRIX, MOST_COMPARISONS = 20, 600
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
        return _of_series(comparison.levels, comparison.metric, comparison.threshold)
    groups = [group for group in comparison.ranked if group.dots]
    if not _fits(len(groups), 1):
        return None
    groups.sort(key=lambda group: group.centre or 0.0, reverse=comparison.metric.better != "lower")
    pairs = list(combinations(range(len(groups)), 2))
    refused = {
        (row, column): refusal(differences(groups[row].conditions, groups[column].conditions)) for row, column in pairs
    }
    judged = [pair for pair in pairs if not refused[pair]]
    if not judged:
        return None
    verdicts = judge_family(
        [(groups[row].judged, groups[column].judged) for row, column in judged], better=comparison.metric.better,
        threshold=comparison.threshold,
    )  # fmt: skip
    by_pair: Verdicts = {**dict.fromkeys(pairs), **dict(zip(judged, verdicts, strict=True))}
    return _matrix([group.label for group in groups], by_pair, refused, [])


def _of_series(levels: Levels, metric: Metric, threshold: float) -> Matrix | None:
    sweep = levels.sweep
    names = sweep.names
    if not _fits(len(names), len(sweep.table)):
        return None
    ratios = ratios_to_base(levels)
    keys = sorted(names, key=lambda key: ratios.get(key, 1.0), reverse=metric.better != "lower")
    pairs = list(combinations(range(len(keys)), 2))
    level_rows = [list(sweep.rows(keys[row], keys[column])) for row, column in pairs]
    judged = dict(zip(pairs, judge_rows(level_rows, metric, threshold), strict=True))
    refused = {
        pair: next((row.against.words for row in rows if not row.ratio), "") or "one level only"
        for pair, (rows, verdicts) in judged.items()
        if verdicts.overall is None
    }
    kinds: dict[str, dict[tuple[int, int], str]] = {}
    means: dict[str, dict[int, float | None]] = {}
    for (at, base_at), (rows, _) in judged.items():
        for row in rows:
            kinds.setdefault(row.label, {})[at, base_at] = row.kind
            means.setdefault(row.label, {}).update({at: row.value, base_at: row.base_value})
    lettered = []
    for label, kind_by_pair in kinds.items():
        if len(kind_by_pair) == len(pairs) and not {"none", "refused", Kind.TOO_FEW} & set(kind_by_pair.values()):
            of_level = letters(len(keys), (pair for pair, kind in kind_by_pair.items() if kind in WINNERS))
            series = [Lettered(names[key], means[label][at], of_level[at]) for at, key in enumerate(keys)]
            lettered.append(LetteredLevel(label, series))
    by_pair = {pair: verdicts.overall for pair, (_, verdicts) in judged.items()}
    return replace(_matrix([names[key] for key in keys], by_pair, refused, lettered), held=levels.held_words)


def _fits(count: int, levels: int) -> bool:
    return 3 <= count <= MOST_IN_A_MATRIX and count * (count - 1) // 2 * levels <= MOST_COMPARISONS


def _pair(verdict: Verdict) -> Pair:
    ratio = verdict.ratio if verdict.kind != Kind.MIXED else None
    return Pair(verdict.kind, formatting.times(ratio.value) if ratio else "depends", verdict.words)


def _matrix(
    labels: Sequence[str], verdicts: Verdicts, refused: Mapping[tuple[int, int], str], levels: list[LetteredLevel],
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
    family = family_size(verdict.ratio for verdict in verdicts.values() if verdict)
    return Matrix(rows, family, levels)
