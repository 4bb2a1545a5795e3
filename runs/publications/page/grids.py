"""Grids of cells by two factors: a value where there is one, else a gap with its reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from runs.charts.base import Cell, Column, Table
from runs.models import Run
from runs.publications.page.amounts import Amount, TextCell, Words, computed, number_cell, stored

Key = Callable[[Run], str]


def grid(runs: Sequence[Run], *, row: Key, column: Key, head: str = "") -> Table:
    """One row and column per distinct key, in the order of the runs. Several repeats are joined by spaces."""
    rows, columns = list(dict.fromkeys(map(row, runs))), list(dict.fromkeys(map(column, runs)))
    cells: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        cells.setdefault((row(run), column(run)), []).append(run)
    body = [[Cell(text=name), *(grid_cell(cells.get((name, other), [])) for other in columns)] for name in rows]
    return Table([Column(head, numeric=False), *(Column(name, numeric=False) for name in columns)], body)


def grid_cell(runs: Sequence[Run]) -> Cell:
    numbers = [stored(run.measurements.all()[0]) for run in runs if run.measurements.all()]
    if len(numbers) == 1:
        return number_cell(numbers[0])
    if numbers:
        return TextCell(words=[part for number in numbers for part in (number, " ")][:-1])
    reasons = dict.fromkeys(run.missing_reason for run in runs if run.missing_reason)
    return Cell(gap="; ".join(reasons) or "not measured")


def lost(runs: Sequence[Run]) -> int:
    return sum(not run.measurements.all() for run in runs)


def lost_words(runs: Sequence[Run], why: str) -> Words:
    """How many of the cells have no value, and why."""
    missing: Amount = computed(lost(runs), f"count of {len(runs)} cells whose value is missing", digits=0)
    return (missing, " of ", computed(len(runs), "count of the cells", digits=0), f" cells have no value: {why}")
