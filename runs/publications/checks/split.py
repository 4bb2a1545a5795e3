"""A table printed without spaces, cut back into cells: every way to cut each row, kept where the medians fit.

The rows are independent given the medians: in a column with n values the median is printed, so per column only the
number of cells below, at and above it counts. All combinations of cuts are walked row by row, and a combination is
left as soon as a column has more cells on one side than its median allows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

from runs.publications.checks.formula import FormulaError

Cells = tuple[int | None, ...]
LENGTHS = range(2, 5)
MOST_DIGITS, MOST_STEPS = 24, 200_000
SPREAD = 1.5


@dataclass(frozen=True)
class Solution:
    medians: tuple[int, ...]
    rows: tuple[Cells, ...]

    def column(self, index: int) -> list[int]:
        return [value for row in self.rows if (value := row[index]) is not None]


def cuts(digits: str, columns: int, lengths: Sequence[int] = LENGTHS) -> list[tuple[int, ...]]:
    """Every way to cut digits into so many numbers of these lengths, none with a leading zero."""
    if columns == 0:
        return [()] if not digits else []
    found = []
    for length in lengths:
        head = digits[:length]
        if len(head) == length and head[0] != "0":
            found += [(int(head), *rest) for rest in cuts(digits[length:], columns - 1, lengths)]
    return found


def row_cuts(digits: str, columns: int, lengths: Sequence[int] = LENGTHS) -> list[Cells]:
    """All cells filled, or one of them empty, at any place."""
    partly = cuts(digits, columns - 1, lengths)
    with_a_gap: list[Cells] = [(*cut[:at], None, *cut[at:]) for cut in partly for at in range(columns)]
    return [*cuts(digits, columns, lengths), *with_a_gap]


def ways(digits: str, columns: float) -> int:
    """In how many ways a row can be cut."""
    return len(row_cuts(_limited(digits), int(columns)))


def _limited(digits: str) -> str:
    if not digits.isdigit() or len(digits) > MOST_DIGITS:
        raise FormulaError(f"no row of at most {MOST_DIGITS} digits: {digits[:MOST_DIGITS]}")
    return digits


@lru_cache(maxsize=8)
def solutions(rows: tuple[str, ...], medians: str, columns: int, spread: float = SPREAD) -> tuple[Solution, ...]:
    """Tables whose every column has the printed median and repeats within `spread` times of it.

    Cached by the digits themselves: the same rows have the same solutions.
    """
    candidates = [row_cuts(_limited(row), columns) for row in rows]
    found = []
    for median in cuts(_limited(medians), columns):
        near = [[cut for cut in row if _is_near(cut, median, spread)] for row in candidates]
        if all(near):
            found += [Solution(median, chosen) for chosen in _walk(near, median) if _fits(chosen, median)]
    return tuple(found)


def _is_near(cut: Cells, medians: Sequence[int], spread: float) -> bool:
    return all(
        value is None or median / spread <= value <= median * spread
        for value, median in zip(cut, medians, strict=True)
    )  # fmt: skip


def _walk(rows: Sequence[Sequence[Cells]], medians: Sequence[int]) -> Iterator[tuple[Cells, ...]]:
    """Combinations of one cut per row, without those that have too many cells above or below a median already."""
    half, steps = len(rows) // 2, count()

    def balanced(chosen: Sequence[Cells]) -> bool:
        for index, median in enumerate(medians):
            column = [value for row in chosen if (value := row[index]) is not None]
            if sum(value < median for value in column) > half or sum(value > median for value in column) > half:
                return False
        return True

    def extend(chosen: tuple[Cells, ...]) -> Iterator[tuple[Cells, ...]]:
        if len(chosen) == len(rows):
            yield chosen
            return
        for cut in rows[len(chosen)]:
            if next(steps) > MOST_STEPS:
                raise FormulaError("too many tables have these medians")
            longer = (*chosen, cut)
            if balanced(longer):
                yield from extend(longer)

    yield from extend(())


def _fits(rows: Sequence[Cells], medians: Sequence[int]) -> bool:
    for index, median in enumerate(medians):
        column = sorted(value for row in rows if (value := row[index]) is not None)
        if not column or len(column) % 2 == 0 or column[len(column) // 2] != median:
            return False
    return True
