"""What happens to a number along an axis of sizes: losses, the cost of a doubling, where half is left, knees, steps.

A curve is its levels, (x, repeats) in the order of x, all repeats above zero: rates and times fall and spread by
factors, so all is done on logarithms. What is per doubling of x leaves a level of 0 out, as no doubling leads to it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, TypeAlias

from runs.stats.fits import Slope, slope
from runs.stats.noise import geometric_mean_interval
from runs.stats.ratios import Ratio, ratio
from runs.stats.summaries import ALPHA, MOST_LOG, Array, Interval, geometric_mean, log_values

Levels: TypeAlias = Sequence[tuple[float, Sequence[float]]]
# A fit over two points has no doubt, and a knee needs two lines that three levels each could contradict.
LEAST_POINTS, LEAST_FOR_KNEE, LEAST_VALUES_FOR_KNEE = 3, 5, 7
# Two lines have to beat one by so much in AICc: at 7 at most 0.4 % of straight lines with 5 % of noise show a knee
# (simulated for 5 to 20 levels of 1 to 10 repeats; at 3 up to 2.4 % do, at 0 up to 18 %, for the knee is searched, and
# a page has several curves). Of true bends none was lost between 3 and 7.
KNEE_MARGIN = 7.0
# And by how much a smooth curve: an exponential fall of eight levels has none left by that (simulated), a true bend is
# seen in 98 % of cases.
SMOOTH_MARGIN = 2.0
# A smooth curve must be better by so much to be asserted. Simulated, seven levels, 8 and 20 % of noise and two modes:
# of 180 knees 3 are called smooth (at 2.0 it was 20); of 180 exponential falls 102 are told, 68 cannot be told.
SURELY_SMOOTH = 6.0
_KNEES_TRIED = 401
# So large a share of the curves without a step may show one to a test of their levels.
STEP_ALPHA = 0.01
# Repeats that do not differ leave residuals of rounding only, of which no logarithm can be taken.
_LEAST_SPREAD = 1e-12


def measurable(levels: Levels) -> list[tuple[float, Sequence[float]]]:
    """The levels whose repeats have logarithms, in the order of x."""
    return sorted((x, values) for x, values in levels if log_values(values))


def above_zero(levels: Levels) -> list[tuple[float, Sequence[float]]]:
    """Those that a doubling leads to."""
    return [(x, values) for x, values in levels if x > 0]


def against_first(levels: Levels) -> list[Ratio | None]:
    """Each level against the first: a ratio of geometric means with Welch's interval; the first itself is None."""
    return [None, *(ratio(values, levels[0][1]) for _, values in levels[1:])] if levels else []


def per_doubling(levels: Levels) -> Slope | None:
    """The change, a share of 1, with each doubling of x: ln y over log2 x, through all repeats of all levels.

    A step between two neighbours, put out to a doubling, would multiply their noise. None for fewer than two levels or
    three points, and where no number says it.
    """
    points = [(math.log2(x), math.log(value)) for x, values in above_zero(levels) for value in values]
    fitted = slope(points) if len(points) >= LEAST_POINTS else None
    if (
        fitted is None
        or fitted.interval is None
        or max(map(abs, (fitted.interval.low, fitted.interval.high))) > MOST_LOG
    ):
        return None
    return Slope(math.expm1(fitted.value), Interval(math.expm1(fitted.interval.low), math.expm1(fitted.interval.high)))


@dataclass(frozen=True)
class Crossing:
    """Where a curve first reaches a share of its first level: `at` between the levels `after` and `before`.

    `interval` is from where its intervals' lower ends get there to where the upper ends do; None where either has none.
    """

    at: float
    after: float
    before: float
    interval: Interval | None


def crossing(levels: Levels, share: float) -> Crossing | None:
    """Straight between neighbours, on logarithms of both, from a level of 0 on its own scale; None where no level
    reaches `share` of the first (not 1).
    """
    if not levels:
        return None
    first = geometric_mean(levels[0][1]) or 0.0
    goal = first * share
    reached = _reached([(x, geometric_mean(values) or 0.0) for x, values in levels], goal, falling=share < 1)
    if reached is None:
        return None
    intervals = [(x, geometric_mean_interval(values)) for x, values in levels]
    ends = []
    if all(interval for _, interval in intervals):
        for end in ("low", "high"):
            line = [(x, getattr(interval, end)) for x, interval in intervals]
            ends.append(_reached(line, goal, falling=share < 1))
    ends_reached = sorted(end[0] for end in ends if end)
    return Crossing(*reached, Interval(ends_reached[0], ends_reached[1]) if len(ends_reached) == 2 else None)


def _reached(line: Sequence[tuple[float, float]], goal: float, *, falling: bool) -> tuple[float, float, float] | None:
    """(x, level before it, level behind it)."""
    for (x, y), (next_x, next_y) in pairwise(line):
        if (next_y <= goal) if falling else (next_y >= goal):
            if y == next_y:
                return x, x, next_x
            way = min(1.0, max(0.0, math.log(goal / y) / math.log(next_y / y)))
            at = math.exp(math.log(x) + way * math.log(next_x / x)) if x > 0 else x + way * (next_x - x)
            return at, x, next_x
    return None


@dataclass(frozen=True)
class Turn:
    """The level `at` which a curve is surely higher, or lower, than at both its ends: it rises and then falls. `alike`:
    the other levels than which that one is not surely higher, or lower.
    """

    at: float
    kind: Literal["highest", "lowest"]
    alike: tuple[float, ...] = ()


def turn(levels: Levels, *, better: str, threshold: float, curves: int = 1) -> Turn | None:
    """By `threshold` or more, judged together with all levels of so many curves. Where both are so the better one."""
    if len(levels) < LEAST_POINTS:
        return None
    inner = levels[1:-1]
    confidence = 1 - ALPHA / (2 * len(inner) * curves)
    by_mean = sorted(inner, key=lambda level: geometric_mean(level[1]) or 0.0)
    turns = [Turn(by_mean[-1][0], "highest"), Turn(by_mean[0][0], "lowest")]
    values = dict(levels)
    for each in reversed(turns) if better == "lower" else turns:
        own, others = values[each.at], {x: other for x, other in levels if x != each.at}
        pairs = {x: (own, other) if each.kind == "highest" else (other, own) for x, other in others.items()}
        told = {x: found.at(confidence) for x, pair in pairs.items() if (found := ratio(*pair))}
        sure = {x: one.value for x, one in told.items() if one.interval and one.interval.low > 1}
        if all(sure.get(x, 0.0) >= 1 + threshold for x in (levels[0][0], levels[-1][0])):
            return replace(each, alike=tuple(x for x in others if x not in sure))
    return None


# Two lines that meet at a knee fit best; a line with a step; a smooth curve; two lines and it alike; one line does as
# well; or too few to tell.
Bend: TypeAlias = Literal["knee", "step", "smooth", "undecided", "none", "too_few"]


@dataclass(frozen=True)
class Knee:
    """How a curve of so many `levels` and `values` bends: two lines that meet at `at`, in shares of 1 per doubling
    `before` and `after` it, which also tell how a curve without a knee falls at first and at last.

    `interval`: other places that fit nearly as well (F at 95 %), never beyond the second and the last level but one. Of
    a single place it is from the level before it to the level behind it: between those nothing was measured.
    `gain`: by how much AICc prefers two lines; None where it could not be asked. `value`: where they meet.
    `step`: the levels between which the line steps, and by what share of 1 beside its slope.
    """

    bend: Bend
    levels: int
    values: int
    gain: float | None = None
    before: float | None = None
    after: float | None = None
    at: float | None = None
    interval: Interval | None = None
    value: float | None = None
    step: tuple[float, float, float] | None = None

    def fitted(self, x: float) -> float | None:
        """The value of the two lines at `x`; None without a knee."""
        if self.at is None or self.before is None or self.after is None or self.value is None:
            return None
        slope = self.before if x <= self.at else self.after
        return float(self.value * (1 + slope) ** math.log2(x / self.at))


def knee(levels: Levels) -> Knee:
    """A continuous line of two segments against one line, one with a step and smooth curves, on logarithms, by AICc
    (Hurvich & Tsai, 1989).
    """
    points = [(math.log2(x), math.log(value)) for x, values in above_zero(levels) for value in values]
    # Two scale factors may come to one size.
    counts = len({x for x, _ in points}), len(points)
    if counts[0] < LEAST_FOR_KNEE or len(points) < LEAST_VALUES_FOR_KNEE:
        return Knee("too_few", *counts)
    import numpy as np
    from scipy import special

    x, y = np.array(points).T
    ends = np.unique(x)
    tried = np.linspace(ends[1], ends[-2], _KNEES_TRIED)
    one_line, left = _squares(x, y, np.maximum(x[:, None] - tried, 0.0))
    best = int(left.argmin())
    n, two_lines = len(points), float(left[best])
    gain = _aicc(one_line, n, 3) - _aicc(two_lines, n, 5)
    smooth = _smooth_aicc(x, y)
    if stepped := _step(x, y, min(_aicc(two_lines, n, 5), smooth)):
        after, before, share = stepped
        at = {math.log2(size): size for size, _ in above_zero(levels)}
        return Knee("step", *counts, gain, step=(at[after], at[before], share))
    if gain < KNEE_MARGIN:
        return Knee("none", *counts, gain)
    design = np.column_stack([np.ones_like(x), x, np.maximum(x - tried[best], 0.0)])
    (level, before, bend), *_ = np.linalg.lstsq(design, y, rcond=None)
    paces = math.expm1(before), math.expm1(before + bend)
    # Two lines are better than a smooth curve by so much: neither is asserted where they fit alike.
    better = smooth - _aicc(two_lines, n, 5)
    if better < SMOOTH_MARGIN:
        return Knee("smooth" if better <= -SURELY_SMOOTH else "undecided", *counts, gain, *paces)
    quantile = float(special.fdtri(1, n - 4, 1 - ALPHA))
    near = tried[left <= two_lines * (1 + quantile / (n - 4)) + _LEAST_SPREAD]
    low, high, apart = near.min(), near.max(), tried[1] - tried[0]
    if high - low < 2 * apart:
        low, high = max(ends[ends < low - apart], default=ends[0]), min(ends[ends > high + apart], default=ends[-1])
    near_best = Interval(float(2**low), float(2**high))
    value = math.exp(level + before * tried[best])
    return Knee("knee", *counts, gain, *paces, float(2 ** tried[best]), near_best, value)


def _squares(x: Array, y: Array, columns: Array) -> tuple[float, Array]:
    """What a straight line leaves of y, and what it leaves with each of these columns beside it."""
    import numpy as np

    basis, _ = np.linalg.qr(np.column_stack([np.ones_like(x), x]))
    # What the line leaves of the values and of each column: the rest follows from these alone.
    columns = columns - basis @ (basis.T @ columns)
    rest = y - basis @ (basis.T @ y)
    one_line = float(rest @ rest)
    return one_line, np.maximum(one_line - (columns.T @ rest) ** 2 / (columns**2).sum(0), 0.0)


def _step(x: Array, y: Array, bent: float) -> tuple[float, float, float] | None:
    """Between which x a line steps, with two levels or more on each side, and by what share of 1 beside its slope,
    where it beats `bent`, the AICc of what bends, by `SMOOTH_MARGIN`.

    The means of the levels have to show it, too, by F at `STEP_ALPHA` shared out over all places (Bonferroni): levels
    differ by more than their repeats do, and of repeats alone 9 to 23 % of lines and knees whose levels lie 2 % off
    show a step (simulated).
    """
    import numpy as np
    from scipy import special

    at, level = np.unique(x, return_inverse=True)
    _, left = _squares(x, y, (x[:, None] > at[1:-2]).astype(float))
    best = int(left.argmin())
    if bent - _aicc(float(left[best]), len(x), 5) < SMOOTH_MARGIN:
        return None
    after, before = at[best + 1 : best + 3]
    line, (with_step,) = _squares(at, np.bincount(level, y) / np.bincount(level), (at > after)[:, None].astype(float))
    f = (line - with_step) / max(with_step, _LEAST_SPREAD) * (len(at) - 3)
    if float(special.fdtrc(1, len(at) - 3, f)) * len(left) > STEP_ALPHA:
        return None
    (*_, height), *_ = np.linalg.lstsq(np.column_stack([np.ones_like(x), x, x > after]), y, rcond=None)
    return float(after), float(before), math.expm1(height)


def _smooth_aicc(x: Array, y: Array) -> float:
    """AICc of the better smooth curve through (log2 x, ln y): a parabola, or an exponential fall over x itself."""
    import numpy as np

    over = 2 ** (x - x.max())
    fits = []
    for columns in ([x, x**2], [over]):
        design = np.column_stack([np.ones_like(x), *columns])
        rest = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
        fits.append(_aicc(float(rest @ rest), len(x), len(columns) + 2))
    return min(fits)


def _aicc(squares: float, n: int, parameters: int) -> float:
    """AICc of a least-squares fit whose residuals have this sum of squares; the variance is one of the parameters."""
    correction = 2 * parameters * (parameters + 1) / (n - parameters - 1)
    return n * math.log(max(squares, _LEAST_SPREAD) / n) + 2 * parameters + correction
