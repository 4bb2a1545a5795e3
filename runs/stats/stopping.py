"""When repeats are enough: the interval of a cell's mean, or of its ratio to another cell, has become narrow.

Who looks after each repeat and stops at the first narrow interval stops too often at spreads that are small by chance:
an interval of 95 % would then miss the truth in 9 % of cases. So the interval of `CELL_CONFIDENCE` is looked at, from
the tenth repeat on: from the sixth on noise of two modes would miss in 5.3 %, skewed noise in 9.6 %. Ten repeats of
skewed noise miss in 5.4 % also where nobody looks before (`make bench-stopping`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from runs.stats.ratios import ratio
from runs.stats.summaries import CELL_CONFIDENCE, Interval, interval_of_logs, log_values, mean, t_quantile, variance

LEAST = 10


def interval_after(values: Sequence[float], baseline: Sequence[float] | None = None) -> Interval | None:
    """The interval of the mean of the values, or of its ratio to the baseline's. None below `LEAST` repeats."""
    if min(len(values), len(values if baseline is None else baseline)) < LEAST:
        return None
    if baseline is not None:
        against = ratio(values, baseline, confidence=CELL_CONFIDENCE)
        return against.interval if against else None
    logs = log_values(values)
    if logs is None:
        return None
    half = t_quantile(0.5 + CELL_CONFIDENCE / 2, len(logs) - 1) * math.sqrt(variance(logs) / len(logs))
    return interval_of_logs(mean(logs), half)


def is_enough(interval: Interval | None, *, percent: float) -> bool:
    """Whether it is narrower than so many per cent of its lower end."""
    return interval is not None and interval.high / interval.low - 1 < percent / 100
