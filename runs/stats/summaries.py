"""The repeats of one cell: what stands for them, how far they spread, and the interval of their mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy.typing

# A number, or an array of numbers of many comparisons at once (the simulation of scripts/verdict_table.py).
Array: TypeAlias = "numpy.typing.NDArray[numpy.float64]"
Real = TypeVar("Real", float, "Array")
# Errors that a page may make: a family of comparisons, taken together, names a false winner on so many pages.
ALPHA = 0.05
CONFIDENCE = 1 - ALPHA
# The confidence of one cell's interval by t: at 0.95 it holds the mean of skewed noise in 88 % of cases (simulated). A
# difference of two cells needs no such room: what skews both cancels.
CELL_CONFIDENCE = 0.985
# exp() of more, or of less than its negative, is no double, nor has it a log.
MOST_LOG = 700.0
MIN_REPEATS = 3
OF_ALL = "all repeats together"


@dataclass(frozen=True)
class Interval:
    low: float
    high: float


def ends_of(interval: Interval | None) -> tuple[float, float] | tuple[None, None]:
    return (interval.low, interval.high) if interval else (None, None)


@dataclass(frozen=True)
class Summary:
    """A summary of `n` >= 1 repeats, in the unit of the values.

    `stdev` and `cv` (its share of the mean) are those of a sample (n - 1) and None for one repeat.
    `geometric_mean` is None when a value is zero or negative: logs do not exist then. `centre` stands for the repeats:
    the geometric mean, without one the median, or what is of everything that all of them recorded (`OF_ALL`).
    """

    n: int
    median: float
    mean: float
    minimum: float
    maximum: float
    stdev: float | None
    cv: float | None
    geometric_mean: float | None
    centre: float
    centre_name: str


def summarise(values: Sequence[float]) -> Summary | None:
    """None for no values: there is nothing to say, and certainly not zero. Values are finite."""
    if not values:
        return None
    centre, spread = mean(values), stdev(values)
    ordered, half = sorted(values), len(values) // 2
    median = ordered[half] if len(values) % 2 else mean(ordered[half - 1 : half + 1])
    of_logs = geometric_mean(values)
    return Summary(
        n=len(values),
        median=median,
        mean=centre,
        minimum=ordered[0],
        maximum=ordered[-1],
        stdev=spread,
        cv=_finite(spread / abs(centre)) if spread is not None and centre else None,
        geometric_mean=of_logs,
        centre=median if of_logs is None else of_logs,
        centre_name="median" if of_logs is None else "geometric mean",
    )


def mean(values: Sequence[float]) -> float:
    """The mean of one value or more, even if no double holds their sum."""
    try:
        return math.fsum(values) / len(values)
    except OverflowError:
        largest = max(map(abs, values))
        return math.fsum(value / largest for value in values) / len(values) * largest


def stdev(values: Sequence[float]) -> float | None:
    """That of a sample (n - 1); None for fewer than two values, and where no double holds it."""
    if len(values) < 2:
        return None
    centre = mean(values)
    try:
        return _finite(
            math.sqrt(math.fsum((value - centre) * (value - centre) for value in values) / (len(values) - 1))
        )
    except OverflowError:
        return None


def variance(values: Sequence[float]) -> float:
    """That of a sample (n - 1) of two values or more, each near the others as logs are; 0 for equal ones."""
    if min(values) == max(values):
        return 0.0
    centre = mean(values)
    return math.fsum((value - centre) * (value - centre) for value in values) / (len(values) - 1)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def geometric_mean(values: Sequence[float]) -> float | None:
    logs = log_values(values)
    # exp() of the mean of logs is off by a last digit, and then beyond the least or the largest of them.
    return min(max(values), max(min(values), math.exp(min(mean(logs), MOST_LOG)))) if logs else None


def mean_or_zero(values: Sequence[float]) -> float | None:
    """The geometric mean of a batch, 0 where each of its repeats is; None where only some have a log."""
    return geometric_mean(values) if any(values) else 0.0


def log_values(values: Sequence[float]) -> list[float] | None:
    """Natural logs, or None when a value has none. Run-to-run noise of rates and times is multiplicative,
    so logs are nearer to normal than the values themselves."""
    if not values or min(values) <= 0 or not all(math.isfinite(value) for value in values):
        return None
    return [math.log(value) for value in values]


@dataclass(frozen=True)
class Moments(Generic[Real]):
    """The mean of the logs of `n` repeats, and the variance of a sample (n - 1)."""

    mean: Real
    variance: Real
    n: int

    def half_width(self, confidence: float) -> Real:
        """Half the width of the mean's interval by Student's t."""
        half: Real = t_quantile(0.5 + confidence / 2, self.n - 1) * (self.variance / self.n) ** 0.5
        return half


def jackknifed(of_all: float, without_each: Sequence[float], of_each: Sequence[float]) -> list[float] | None:
    """One value a repeat, so that their geometric mean is `of_all` and their spread that of it: of a statistic of
    everything that all repeats recorded, of the same `without_each` of them in turn, and `of_each` alone.

    Tukey's pseudo-values on logs: J. W. Tukey, Annals of Mathematical Statistics 29 (1958); the delete-one jackknife
    of groups is sound for quantiles as that of single values is not (J. Shao, C. F. J. Wu, Annals of Statistics 17,
    1989). Two slow repeats of five hide each other from it, so the spread is never less than that of the repeats'
    own values: with that a false winner is named in less than 5 % of simulated pairs, without in 7 %.
    None for two or more of which one has no log.
    """
    logs, own = log_values([of_all, *without_each]), log_values(of_each)
    if logs is None or own is None or len(of_each) < 2:
        return None
    count, (whole, *others) = len(of_each), logs
    pseudo = [count * whole - (count - 1) * other for other in others]
    spread, least = math.sqrt(variance(pseudo)), math.sqrt(variance(own))
    apart, wider = (pseudo, max(1.0, least / spread)) if spread else (own, 1.0)
    centre = mean(apart)
    values = [whole + (value - centre) * wider for value in apart]
    return [math.exp(value) for value in values] if max(map(abs, values)) < MOST_LOG else None


def interval_of_logs(centre: float, half: float) -> Interval | None:
    """From logs; None for one that reaches beyond all numbers."""
    if abs(centre) + half > MOST_LOG:
        return None
    return Interval(math.exp(centre - half), math.exp(centre + half))


def t_quantile(p: float, df: float) -> float:
    """The t below which a share `p` (0 < p < 1) of Student's distribution lies; `df` > 0 need not be whole."""
    if not (0.0 < p < 1.0 and df > 0):
        raise ValueError(f"a quantile of t needs 0 < p < 1 and df > 0, not {p} and {df}")
    from scipy import special

    return float(special.stdtrit(df, p))
