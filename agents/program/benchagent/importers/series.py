"""What was measured over time: samples as a tool printed them, and series on the grid of their interval."""

from __future__ import annotations

import itertools
import math
import operator
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchagent.importers.report import Series
from benchagent.importers.source import NotUnderstood


class Samples:
    """What a tool printed of intervals; a figure is None where it had nothing to divide by.

    Held as columns, at eight bytes a figure: a run of a day prints one a second.
    """

    def __init__(self) -> None:
        self.lines, self.times_s = array("L"), array("d")
        self._columns: dict[str, array[float]] = {}

    def add(self, line: int, time_s: float, figures: Mapping[str, float | None]) -> None:
        if len(self) >= MAX_PRINTED:
            raise NotUnderstood(f"more than {MAX_PRINTED:,} samples")
        for name in figures:
            if name not in self._columns:
                self._columns[name] = array("d", [_MISSING]) * len(self.times_s)
        self.lines.append(line)
        self.times_s.append(time_s)
        for name, column in self._columns.items():
            value = figures.get(name, _MISSING)
            column.append(math.nan if value is None else value)

    def column(self, name: str) -> list[float | None] | None:
        """One figure of each sample; None where one of them lacks it."""
        column = self._columns.get(name, ())
        return None if len(column) < len(self) or _MISSING in column else self.figures(name)

    def figures(self, name: str) -> list[float | None]:
        """One figure of each sample, None also where one of them lacks it."""
        return [value if value > _MISSING else None for value in self._columns.get(name, ())]

    @property
    def names(self) -> list[str]:
        return [*self._columns]

    def __len__(self) -> int:
        return len(self.times_s)


_MISSING = -math.inf
# One run prints so many at most: more than a week has seconds.
MAX_PRINTED = 700_000
MAX_SAMPLES = 10_000_000
# Missing samples for each that is there.
MAX_GAPS = 20
MAX_SECONDS = 7 * 24 * 3600


@dataclass(frozen=True)
class Grid:
    """Where samples lie on the grid of their interval, which begins at `t0_s`: the number of each one's interval."""

    t0_s: float
    interval_s: float
    positions: array[int]

    def values(self, values: Iterable[float | None]) -> tuple[float | None, ...]:
        """One for each interval: None where no sample is of it."""
        given = tuple(values)
        if not given or len(given) == self.positions[-1] + 1:
            return given
        grid: list[float | None] = [None] * (self.positions[-1] + 1)
        for position, value in zip(self.positions, given, strict=True):
            grid[position] = value
        return tuple(grid)


def grid_of(times_s: Sequence[float], *, tolerance: float = 0.25, interval_s: float | None = None) -> Grid:
    """Where samples lie that are stamped with the end of their interval, which is the usual step unless it is given.

    Raises NotUnderstood when the times do not rise, repeat, or lie on no grid (within `tolerance` of an interval).
    """
    if len(times_s) < 2 and interval_s is None:
        interval = times_s[0] if times_s and times_s[0] > 0 else 1.0
        return Grid((times_s[0] - interval if times_s else 0.0), interval, array("q", range(len(times_s))))
    steps = array("d", map(operator.sub, itertools.islice(times_s, 1, None), times_s))
    least = min(steps, default=1.0)
    if least <= 0:
        raise NotUnderstood("the times of the samples do not rise: lines are doubled or out of order")
    interval = interval_s or sorted(steps)[len(steps) // 2]
    # Two lines a year apart are no series: a small file would become a large one.
    longest = min(MAX_SAMPLES, MAX_GAPS * len(times_s) + 3600)
    if least == max(steps, default=1.0) == interval and len(times_s) <= longest:
        return Grid(times_s[0] - interval, interval, array("q", range(len(times_s))))
    first_s, last, positions = times_s[0], -1, array("q")
    for time_s in times_s:
        exact = (time_s - first_s) / interval
        position = round(exact)
        if abs(exact - position) > tolerance or position <= last or position > longest:
            raise NotUnderstood(f"the sample at {time_s:g} s does not lie on a grid of {interval:g} s")
        positions.append(position)
        last = position
    return Grid(first_s - interval, interval, positions)


def drifting(
    times_s: Sequence[float],
    values: Sequence[float | None],
    interval_of: Callable[[float], float] = float,
    slack_s: float = 0.0,
) -> tuple[float, list[float | None]]:
    """(interval, values with None for missing ones) of samples that come a little late each: every step counts from the
    one before it. `interval_of` the usual step, `slack_s`: how far a step may be off in any case.

    Raises NotUnderstood when the times do not rise or follow no interval.
    """
    if len(times_s) < 2:
        raise NotUnderstood("a single sample has no interval")
    steps = [later - earlier for earlier, later in itertools.pairwise(times_s)]
    if min(steps) <= 0:
        raise NotUnderstood("the times of the samples do not rise: lines are doubled or out of order")
    interval_s = interval_of(sorted(steps)[len(steps) // 2])
    spread: list[float | None] = [values[0]]
    for time_s, step, value in zip(times_s[1:], steps, values[1:], strict=True):
        count = round(step / interval_s)
        off_s = max(slack_s * count**0.5, 0.25 * interval_s)
        if not 1 <= count <= 100_000 or len(spread) > MAX_SECONDS or abs(step - count * interval_s) > off_s:
            raise NotUnderstood(f"the sample at {time_s:g} s follows no interval of {interval_s:g} s")
        spread += [*[None] * (count - 1), value]
    return interval_s, spread


def sampled(
    times_s: Sequence[float], columns: Mapping[str, Sequence[float | None]], interval_s: float
) -> tuple[Series, ...]:
    """A series of each column, which is called as its metric."""
    grid = grid_of(times_s, interval_s=interval_s)
    return tuple(Series.called(name, interval_s, grid.values(each), grid.t0_s) for name, each in columns.items())


def check_sum(rates: Iterable[float | None], interval_s: float, done: float, what: str) -> None:
    """Raises NotUnderstood where samples hold more than the report counts."""
    known = [rate for rate in rates if rate is not None]
    if (seen := sum(known) * interval_s) > done * 1.05 + 2 * interval_s * max(known, default=0) + 2:
        raise NotUnderstood(f"it holds {seen:.0f} {what}, the report {done:.0f}")
