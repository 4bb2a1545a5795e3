"""How many times larger: the ratio of two cells' geometric means, with its interval."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from runs.stats.summary import CONFIDENCE, MIN_REPEATS, Interval, log_values, t_quantile


@dataclass(frozen=True)
class Ratio:
    """`value` = geometric mean of the first side / of the second.

    `interval` is None, and `why_no_interval` says why, when the repeats do not carry one.
    `log_variance` is the mean of both sides' sample variances on logs, for asking how many repeats would do.
    """

    value: float
    interval: Interval | None
    degrees_of_freedom: float | None
    log_variance: float | None
    why_no_interval: str = ""


def ratio(
    values: Sequence[float],
    baseline: Sequence[float],
    *,
    confidence: float = CONFIDENCE,
    min_repeats: int = MIN_REPEATS,
) -> Ratio | None:
    """Welch's interval on logs, with the Welch–Satterthwaite degrees of freedom.

    A difference of means on logs is the log of a ratio, so exp() of its t interval is an interval of the ratio
    (the small-sample form of the effect-size interval of Kalibera & Jones, ISMM 2013). Simulated with 3 to 10
    repeats it covers 95–98 % of a nominal 95 %, also with outliers; bootstraps of so few repeats cover 78–91 %.
    Welch, because two systems rarely vary equally. None when a side is empty or has a value without a log.
    """
    logs, base_logs = log_values(values), log_values(baseline)
    if logs is None or base_logs is None:
        return None
    centre = statistics.fmean(logs) - statistics.fmean(base_logs)
    value = math.exp(centre)
    if min(len(logs), len(base_logs)) < max(2, min_repeats):
        return Ratio(value, None, None, None, f"fewer than {min_repeats} repeats")
    variance, base_variance = statistics.variance(logs), statistics.variance(base_logs)
    share, base_share = variance / len(logs), base_variance / len(base_logs)
    if share + base_share == 0:
        return Ratio(value, None, None, 0.0, "the repeats do not vary at all")
    df = (share + base_share) ** 2 / (share**2 / (len(logs) - 1) + base_share**2 / (len(base_logs) - 1))
    half = t_quantile(0.5 + confidence / 2, df) * math.sqrt(share + base_share)
    interval = Interval(math.exp(centre - half), math.exp(centre + half))
    return Ratio(value, interval, df, (variance + base_variance) / 2)
