"""Statistics of few repeats. Pure: lists in, numbers out; thresholds are arguments. Imports nothing of ours.

SciPy and NumPy are imported where they are used: they cost 0.4 s and 23 MB (scipy.stats another 0.9 s and 47 MB) at the
start of every process, most of which (broker's workers, commands, a web process that shows lists) compare nothing.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy.typing

# A number, or an array of numbers of many comparisons at once (the simulation of scripts/verdict_table.py).
Array: TypeAlias = "numpy.typing.NDArray[numpy.float64]"
Real = TypeVar("Real", float, "Array")
# Errors that a page may make: a family of comparisons, taken together, names a false winner on so many pages.
ALPHA = 0.05
CONFIDENCE = 1 - ALPHA
# Of t for the interval of one cell: at 0.95 it holds the mean of skewed noise in 88 % of cases only (simulated). A
# difference of two cells needs no such room: what skews both cancels.
CELL_CONFIDENCE = 0.985
# exp() of more, or of less than its negative, is no double, nor has it a log.
MOST_LOG = 700.0
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

    @property
    def centre(self) -> float:
        """What stands for the repeats: the geometric mean, or the median where there is none."""
        return self.median if self.geometric_mean is None else self.geometric_mean

    @property
    def centre_name(self) -> str:
        return "median" if self.geometric_mean is None else "geometric mean"


def summarise(values: Sequence[float]) -> Summary | None:
    """None for no values: there is nothing to say, and certainly not zero. Values are finite."""
    if not values:
        return None
    centre, spread = mean(values), stdev(values)
    return Summary(
        n=len(values),
        median=_median(values),
        mean=centre,
        minimum=min(values),
        maximum=max(values),
        stdev=spread,
        cv=_finite(spread / abs(centre)) if spread is not None and centre else None,
        geometric_mean=geometric_mean(values),
    )


def mean(values: Sequence[float]) -> float:
    """Of one value or more, also where no double holds their sum."""
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


def _median(values: Sequence[float]) -> float:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else mean(ordered[half - 1 : half + 1])


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def geometric_mean(values: Sequence[float]) -> float | None:
    logs = log_values(values)
    # exp() of the mean of logs is off by a last digit, and then beyond the least or the largest of them.
    return min(max(values), max(min(values), math.exp(min(mean(logs), MOST_LOG)))) if logs else None


def log_values(values: Sequence[float]) -> list[float] | None:
    """Natural logs, or None when a value has none. Run-to-run noise of rates and times is multiplicative,
    so logs are nearer to normal than the values themselves."""
    if not values or min(values) <= 0 or not all(math.isfinite(value) for value in values):
        return None
    return [math.log(value) for value in values]


def geometric_mean_interval(
    values: Sequence[float], *, confidence: float = CELL_CONFIDENCE, min_repeats: int = MIN_REPEATS
) -> Interval | None:
    """95 % confidence interval of the geometric mean by t on logs, with room for skewed noise (`CELL_CONFIDENCE`).

    None below `min_repeats` (two repeats give an interval 13 standard errors wide: noise drawn as knowledge),
    for values without logs, and for repeats without any spread, which say nothing about the spread.
    Not a bootstrap: of three repeats that covers 80 % where 95 % is promised (simulated).
    """
    logs = log_values(values)
    if logs is None or len(logs) < min_repeats:
        return None
    moments = Moments(mean(logs), statistics.variance(logs), len(logs))
    return _interval(moments.mean, moments.half_width(confidence)) if moments.variance else None


@dataclass(frozen=True)
class Moments(Generic[Real]):
    """Of the logs of `n` repeats: their mean and the variance of a sample (n - 1)."""

    mean: Real
    variance: Real
    n: int

    def half_width(self, confidence: float) -> Real:
        """Of the interval of the mean by Student's t."""
        half: Real = t_quantile(0.5 + confidence / 2, self.n - 1) * (self.variance / self.n) ** 0.5
        return half


@dataclass(frozen=True)
class Welch(Generic[Real]):
    """Difference of two means of logs: the log of a ratio. `error` is its standard error, above 0."""

    centre: Real
    error: Real
    df: Real

    @classmethod
    def of(cls, a: Moments[Real], b: Moments[Real]) -> Welch[Real]:
        """Two systems rarely vary equally: the degrees of freedom are Welch's and Satterthwaite's."""
        share, base = a.variance / a.n, b.variance / b.n
        df: Real = (share + base) ** 2 / (share**2 / (a.n - 1) + base**2 / (b.n - 1))
        error: Real = (share + base) ** 0.5
        return cls(a.mean - b.mean, error, df)

    @property
    def p(self) -> Real:
        """Of the hypothesis that both are alike, two-sided."""
        from scipy import special

        p: Real = 2 * special.stdtr(self.df, -abs(self.centre) / self.error)
        return p


def _interval(centre: float, half: float) -> Interval | None:
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


@dataclass(frozen=True)
class Ratio:
    """`value` = geometric mean of the first side / of the second.

    `interval` is that of `confidence`; it is None, and `why_no_interval` says why, when the repeats do not carry one.
    `p` is Welch's, of the hypothesis that both are alike; None without interval.
    `log_variance` is the mean of both sides' sample variances on logs, for asking how many repeats would do.
    """

    value: float
    interval: Interval | None
    degrees_of_freedom: float | None
    log_variance: float | None
    why_no_interval: str = ""
    p: float | None = None
    confidence: float = CONFIDENCE


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
    None when a side is empty or has a value without a log, and when the sides are so far apart that no number says it.
    """
    logs, base_logs = log_values(values), log_values(baseline)
    if logs is None or base_logs is None:
        return None
    centre = mean(logs) - mean(base_logs)
    if abs(centre) > MOST_LOG:
        return None
    value = math.exp(centre)
    if min(len(logs), len(base_logs)) < max(2, min_repeats):
        return Ratio(value, None, None, None, f"fewer than {min_repeats} repeats")
    sides = [Moments(mean(side), statistics.variance(side), len(side)) for side in (logs, base_logs)]
    if sides[0].variance + sides[1].variance == 0:
        return Ratio(value, None, None, 0.0, "the repeats do not vary at all")
    welch = Welch.of(*sides)
    interval, log_variance = (
        _interval(centre, t_quantile(0.5 + confidence / 2, welch.df) * welch.error),
        statistics.mean(s.variance for s in sides),
    )
    why = "" if interval else "the repeats vary beyond all measure"
    return Ratio(value, interval, welch.df, log_variance, why, float(welch.p) if interval else None, confidence)


def holm(ps: Sequence[float] | Array, alpha: float = ALPHA) -> Array:
    """The level at which each comparison of a family is judged, so that all together err in at most `alpha` of cases.

    S. Holm, Scandinavian Journal of Statistics 6 (1979): the smallest p of m at alpha / m, the next at alpha / (m - 1)
    and so on; from the first that is above its level on, all are judged at that level. The last axis is the family.
    """
    import numpy as np

    given = np.asarray(ps, dtype=float)
    order = np.argsort(given, axis=-1)
    steps = np.broadcast_to(alpha / np.arange(given.shape[-1], 0, -1), given.shape)
    stopped = np.logical_or.accumulate(np.take_along_axis(given, order, -1) > steps, axis=-1)
    # Levels grow with the steps: of those from the stop on the least is that of the stop.
    reached = np.minimum(steps, np.where(stopped, steps, 1.0).min(-1, initial=1.0, keepdims=True))
    levels = np.empty(given.shape)
    np.put_along_axis(levels, order, reached, -1)
    return levels


MIN_FOR_RANKS = 6
# |δ| from which a difference of ranks is called small, medium, large: Romano et al., 2006.
DELTAS = ((0.474, "large"), (0.33, "medium"), (0.147, "small"))


@dataclass(frozen=True)
class Ranks:
    """A look at the order of the repeats alone, which no outlier can pull: `p` is Mann-Whitney's (exact without ties).

    `delta` is Cliff's: the share of pairs in which the first side is higher less the share in which it is lower.
    """

    p: float
    delta: float

    @property
    def size(self) -> str:
        return next((words for least, words in DELTAS if abs(self.delta) >= least), "negligible")


def ranks(values: Sequence[float], baseline: Sequence[float]) -> Ranks | None:
    """None below six repeats a side: of three the smallest possible p is 0.1."""
    if min(len(values), len(baseline)) < MIN_FOR_RANKS or len({*values, *baseline}) == 1:
        return None
    from scipy.stats import mannwhitneyu

    test = mannwhitneyu(values, baseline)
    return Ranks(float(test.pvalue), 2 * float(test.statistic) / (len(values) * len(baseline)) - 1)


# A difference below this share is real perhaps, but nobody chooses a DBMS for it. Each metric has its own in the
# catalogue: this is that of a rate.
PRACTICAL_THRESHOLD = 0.03
POWER = 0.80
MOST_REPEATS_ASKED = 50


class Kind(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    TOO_SMALL = "too_small"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"
    TOO_FEW = "too_few"
    # Of a descriptive quantity, which has no better side: never of a rate, a time or a latency.
    DIFFERENT = "different"


WINNERS = frozenset({Kind.BETTER, Kind.WORSE, Kind.DIFFERENT})


@dataclass(frozen=True)
class Verdict:
    """`ratio` is of the values as they are; the words already know which direction is better.

    `repeats_needed` counts further repeats per side; None unless undecided, or when even the cap would not do.
    `robustness` says from six repeats on what the ranks say, in words.
    """

    kind: Kind
    words: str
    ratio: Ratio | None
    repeats_needed: int | None = None
    ranks: Ranks | None = None
    robustness: str = ""


def judge_family(
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]], *, better: str, threshold: float = PRACTICAL_THRESHOLD
) -> list[Verdict]:
    """Verdicts of (values, baseline) that a page makes together: with Holm's levels, and intervals as wide as these."""
    estimates = [ratio(*pair) for pair in pairs]
    ps = {at: known.p for at, known in enumerate(estimates) if known and known.p is not None}
    levels = dict(zip(ps, holm(list(ps.values())).tolist(), strict=True))
    return [
        judge(*pair, better=better, threshold=threshold, confidence=1 - levels.get(at, ALPHA))
        for at, pair in enumerate(pairs)
    ]


def judge(
    values: Sequence[float],
    baseline: Sequence[float],
    *,
    better: str,
    threshold: float = PRACTICAL_THRESHOLD,
    confidence: float = CONFIDENCE,
    min_repeats: int = MIN_REPEATS,
    cap: int = MOST_REPEATS_ASKED,
) -> Verdict:
    """One of five: better or worse, different but too small to matter, equivalent, undecided, too few repeats.

    `better` is ``higher``, ``lower`` or ``none`` (then neither side wins: the words say higher or lower).
    Below three repeats a side nothing is said: the test would call noise a difference, or nothing at all. A
    difference counts only when the interval excludes 1 *and* the effect reaches `threshold`: with enough repeats
    any two systems differ significantly. "Too small" and "equivalent" need the whole interval inside the threshold:
    absence of evidence is not evidence of absence.
    """
    estimate = ratio(values, baseline, confidence=confidence, min_repeats=min_repeats)
    fewest = min(len(values), len(baseline))
    if fewest < min_repeats:
        return Verdict(Kind.TOO_FEW, f"too few repeats ({fewest} on one side, {min_repeats} needed)", estimate)
    if estimate is None:
        known = log_values(values) is not None and log_values(baseline) is not None
        why = "the values are too far apart" if known else "a value is zero or negative"
        return Verdict(Kind.UNDECIDED, f"no ratio: {why}", None)
    if estimate.interval is None:
        if estimate.value == 1.0:
            return Verdict(Kind.EQUIVALENT, "equivalent: every repeat is the same number", estimate)
        why = f"undecided: {estimate.why_no_interval}, so no interval can be given"
        return Verdict(Kind.UNDECIDED, why, estimate)
    verdict = _with_interval(estimate, estimate.interval, better=better, threshold=threshold, fewest=fewest, cap=cap)
    by_rank = ranks(values, baseline)
    return replace(verdict, ranks=by_rank, robustness=_robustness(verdict, by_rank)) if by_rank else verdict


def _with_interval(
    estimate: Ratio, interval: Interval, *, better: str, threshold: float, fewest: int, cap: int
) -> Verdict:
    effect, limit = abs(math.log(estimate.value)), math.log1p(threshold)
    share = threshold_words(threshold)
    excludes_one = interval.low > 1 or interval.high < 1
    inside = math.log(interval.high) <= limit and math.log(interval.low) >= -limit
    higher = estimate.value > 1
    side = Kind.BETTER if higher == (better == "higher") else Kind.WORSE
    word = side.value if better != "none" else "higher" if higher else "lower"
    if excludes_one and inside:
        return Verdict(Kind.TOO_SMALL, f"different, but too small to matter (under {share})", estimate)
    if excludes_one and effect >= limit:
        return Verdict(Kind.DIFFERENT if better == "none" else side, word, estimate)
    if inside:
        return Verdict(Kind.EQUIVALENT, f"equivalent (within {share})", estimate)
    missing = limit - effect if excludes_one else max(effect, limit)
    needed = repeats_needed(estimate.log_variance or 0.0, missing, have=fewest, cap=cap, confidence=estimate.confidence)
    more = f"needs about {needed}" if needed else f"needs over {cap}"
    which = f"{word}, but undecided whether by {share}" if excludes_one else "undecided"
    return Verdict(Kind.UNDECIDED, f"{which}: {more} more repeat{'s' * (needed != 1)}", estimate, needed)


def threshold_words(threshold: float) -> str:
    """A share of 1 in per cent, as many digits as it has: 3%, 2.5%."""
    return f"{threshold * 100:.6g}%"


def _robustness(verdict: Verdict, by_rank: Ranks) -> str:
    said = f"Mann-Whitney p = {by_rank.p:.2g}, Cliff's δ = {by_rank.delta:+.2f} ({by_rank.size})".replace("-", "−")
    said = said.replace("Mann−Whitney", "Mann-Whitney")
    named = verdict.kind in WINNERS
    if named and by_rank.p > ALPHA:
        return f"The ranks do not confirm it, a few repeats decide: {said}"
    if verdict.kind == Kind.UNDECIDED and verdict.ratio and by_rank.p < 1 - verdict.ratio.confidence:
        return f"The ranks differ, outliers hide it: {said}"
    return f"Ranks: {said}"


def repeats_needed(
    log_variance: float,
    log_effect: float,
    *,
    have: int,
    cap: int = MOST_REPEATS_ASKED,
    power: float = POWER,
    confidence: float = CONFIDENCE,
) -> int | None:
    """Further repeats per side until a difference of `log_effect` would be found with `power`; None above `cap`.

    The power formula of the two-sample t test, n >= 2 s² (t(0.975) + t(power))² / d², solved by trying n upwards
    because the quantiles depend on n. Capped: a noisy machine must not ask for a thousand repeats.
    """
    for n in range(have + 1, have + cap + 1):
        df = 2 * n - 2
        t = t_quantile(0.5 + confidence / 2, df) + t_quantile(power, df)
        if n * log_effect**2 >= 2 * log_variance * t**2:
            return n - have
    return None


@dataclass(frozen=True)
class Slope:
    """Of the line of least squares, in units of y for each of x. `interval` is None where two points leave no doubt."""

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
