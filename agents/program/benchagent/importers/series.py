"""Samples on the grid of their interval; a missing one is a gap."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from benchagent.importers.report import Series, unit_of
from benchagent.importers.source import NotUnderstood

MAX_SAMPLES = 10_000_000
MAX_SECONDS = 7 * 24 * 3600
Row = TypeVar("Row")
Grid = tuple[float, float, tuple[float | None, ...]]


def evenly(
    times_s: Sequence[float],
    values: Sequence[float | None],
    *,
    tolerance: float = 0.25,
    interval_s: float | None = None,
    longest: int = MAX_SAMPLES,
) -> Grid:
    """Samples stamped with the end of their interval -> (t0_s, interval_s, values), missing intervals as None.

    The interval is the usual step where it is not given. Raises NotUnderstood when the times do not rise, repeat, or
    lie on no grid (within `tolerance` of an interval).
    """
    if len(times_s) < 2 and interval_s is None:
        interval = times_s[0] if times_s and times_s[0] > 0 else 1.0
        return (times_s[0] - interval if times_s else 0.0), interval, tuple(values)
    steps = [later - earlier for earlier, later in itertools.pairwise(times_s)]
    if min(steps, default=1.0) <= 0:
        raise NotUnderstood("the times of the samples do not rise: lines are doubled or out of order")
    interval = interval_s or sorted(steps)[len(steps) // 2]
    grid: list[float | None] = []
    for time_s, value in zip(times_s, values, strict=True):
        exact = (time_s - times_s[0]) / interval
        position = round(exact)
        if abs(exact - position) > tolerance or position < len(grid) or position > longest:
            raise NotUnderstood(f"the sample at {time_s:g} s does not lie on a grid of {interval:g} s")
        grid += [None] * (position - len(grid))
        grid.append(value)
    return times_s[0] - interval, interval, tuple(grid)


def by_second(rows: Iterable[tuple[float, Row]]) -> list[list[Row]]:
    """What was stamped within each second since 0, without the unfinished last one."""
    buckets: list[list[Row]] = []
    for time_s, row in rows:
        if time_s > MAX_SECONDS:
            raise NotUnderstood("longer than a week")
        buckets += [[] for _ in range(int(time_s) + 1 - len(buckets))]
        buckets[int(time_s)].append(row)
    return buckets[:-1]


def sampled(
    times_s: Sequence[float], columns: Mapping[str, Sequence[float | None]], interval_s: float
) -> tuple[Series, ...]:
    """A series of each column, which is called as its metric."""
    grids = {name: evenly(times_s, values, interval_s=interval_s) for name, values in columns.items()}
    return tuple(Series(name, unit_of(name)[0], interval_s, grid, t0_s) for name, (t0_s, _, grid) in grids.items())
