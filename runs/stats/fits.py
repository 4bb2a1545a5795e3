"""Lines through points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from runs.stats.summaries import CONFIDENCE, Interval, mean, t_quantile


@dataclass(frozen=True)
class Slope:
    """The slope of the line of least squares, in units of y for each of x. `interval` is None if two points leave no
    doubt.
    """

    value: float
    interval: Interval | None


def slope(points: Sequence[tuple[float, float]], *, confidence: float = CONFIDENCE) -> Slope | None:
    """Through (x, y); its interval by t with n - 2 degrees of freedom. None where the points have one x only."""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    if len(set(xs)) < 2:
        return None
    x_mean, y_mean = mean(xs), mean(ys)
    spread = math.fsum((x - x_mean) ** 2 for x in xs)
    value = math.fsum((x - x_mean) * (y - y_mean) for x, y in points) / spread
    if len(points) < 3:
        return Slope(value, None)
    left = math.fsum((y - y_mean - value * (x - x_mean)) ** 2 for x, y in points)
    half = t_quantile(0.5 + confidence / 2, len(points) - 2) * math.sqrt(left / (len(points) - 2) / spread)
    return Slope(value, Interval(value - half, value + half))
