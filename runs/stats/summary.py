"""What a few repeats of one cell look like in numbers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
MIN_REPEATS = 3


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


@dataclass(frozen=True)
class Summary:
    """Of `n` >= 1 repeats, in the unit of the values.

    `stdev` and `cv` (its share of the mean) are those of a sample (n - 1) and None for one repeat.
    `geometric_mean` is None when a value is zero or negative: logs do not exist then.
    """

    n: int
    median: float
    mean: float
    minimum: float
    maximum: float
    stdev: float | None
    cv: float | None
    geometric_mean: float | None


def summarise(values: Sequence[float]) -> Summary | None:
    """None for no values: there is nothing to say, and certainly not zero."""
    if not values:
        return None
    mean = statistics.fmean(values)
    stdev = statistics.stdev(values) if len(values) > 1 else None
    return Summary(
        n=len(values),
        median=statistics.median(values),
        mean=mean,
        minimum=min(values),
        maximum=max(values),
        stdev=stdev,
        cv=stdev / abs(mean) if stdev is not None and mean else None,
        geometric_mean=geometric_mean(values),
    )


def geometric_mean(values: Sequence[float]) -> float | None:
    logs = log_values(values)
    return math.exp(statistics.fmean(logs)) if logs else None


def log_values(values: Sequence[float]) -> list[float] | None:
    """Natural logs, or None when a value has none. Run-to-run noise of rates and times is multiplicative,
    so logs are nearer to normal than the values themselves."""
    if not values or min(values) <= 0 or not all(math.isfinite(value) for value in values):
        return None
    return [math.log(value) for value in values]


def geometric_mean_interval(
    values: Sequence[float], *, confidence: float = CONFIDENCE, min_repeats: int = MIN_REPEATS
) -> Interval | None:
    """Confidence interval of the geometric mean by t on logs.

    None below `min_repeats` (two repeats give an interval 13 standard errors wide: noise drawn as knowledge),
    for values without logs, and for repeats without any spread, which say nothing about the spread.
    Not a bootstrap: of three repeats that covers 80 % where 95 % is promised (simulated).
    """
    logs = log_values(values)
    if logs is None or len(logs) < min_repeats:
        return None
    stdev = statistics.stdev(logs)
    if stdev == 0:
        return None
    centre = statistics.fmean(logs)
    half = t_quantile(0.5 + confidence / 2, len(logs) - 1) * stdev / math.sqrt(len(logs))
    return Interval(math.exp(centre - half), math.exp(centre + half))


def t_quantile(p: float, df: float) -> float:
    """The t below which a share `p` (0 < p < 1) of Student's distribution lies; `df` > 0 need not be whole."""
    if not (0.0 < p < 1.0 and df > 0):
        raise ValueError(f"a quantile of t needs 0 < p < 1 and df > 0, not {p} and {df}")
    from scipy import special  # late: every process of the server would wait for it at its start

    return float(special.stdtrit(df, p))
