"""One function that says in words what two cells' repeats allow to be said. Every page, answer and export uses it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from runs.stats.ratio import Ratio, ratio
from runs.stats.summary import CONFIDENCE, MIN_REPEATS, Interval, t_quantile

# A difference below this share is real perhaps, but nobody chooses a DBMS for it.
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


@dataclass(frozen=True)
class Verdict:
    """`ratio` is of the values as they are; the words already know which direction is better.

    `repeats_needed` counts further repeats per side; None unless undecided, or when even the cap would not do.
    """

    kind: Kind
    words: str
    ratio: Ratio | None
    repeats_needed: int | None = None


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
    any two systems differ significantly. "Equivalent" needs the whole interval inside the threshold: absence of
    evidence is not evidence of absence.
    """
    estimate = ratio(values, baseline, confidence=confidence, min_repeats=min_repeats)
    fewest = min(len(values), len(baseline))
    if fewest < min_repeats:
        return Verdict(Kind.TOO_FEW, f"too few repeats ({fewest} on one side, {min_repeats} needed)", estimate)
    if estimate is None:
        return Verdict(Kind.UNDECIDED, "no ratio: a value is zero or negative", None)
    if estimate.interval is None:
        if estimate.value == 1.0:
            return Verdict(Kind.EQUIVALENT, "equivalent: every repeat is the same number", estimate)
        why = f"undecided: {estimate.why_no_interval}, so no interval can be given"
        return Verdict(Kind.UNDECIDED, why, estimate)
    return _with_interval(estimate, estimate.interval, better=better, threshold=threshold, fewest=fewest, cap=cap)


def _with_interval(
    estimate: Ratio, interval: Interval, *, better: str, threshold: float, fewest: int, cap: int
) -> Verdict:
    effect = abs(math.log(estimate.value))
    limit = math.log1p(threshold)
    excludes_one = interval.low > 1 or interval.high < 1
    if excludes_one and effect >= limit:
        higher = estimate.value > 1
        if better == "none":
            return Verdict(Kind.DIFFERENT, "higher" if higher else "lower", estimate)
        kind = Kind.BETTER if higher == (better == "higher") else Kind.WORSE
        return Verdict(kind, kind.value, estimate)
    if excludes_one:
        return Verdict(Kind.TOO_SMALL, f"different, but too small to matter (under {threshold:.0%})", estimate)
    if math.log(interval.high) <= limit and math.log(interval.low) >= -limit:
        return Verdict(Kind.EQUIVALENT, f"equivalent (within {threshold:.0%})", estimate)
    needed = repeats_needed(estimate.log_variance or 0.0, max(effect, limit), have=fewest, cap=cap)
    more = f"needs about {needed}" if needed else f"needs over {cap}"
    return Verdict(Kind.UNDECIDED, f"undecided: {more} more repeat{'s' * (needed != 1)}", estimate, needed)


def repeats_needed(
    log_variance: float, log_effect: float, *, have: int, cap: int = MOST_REPEATS_ASKED, power: float = POWER
) -> int | None:
    """Further repeats per side until a difference of `log_effect` would be found with `power`; None above `cap`.

    The power formula of the two-sample t test, n >= 2 s² (t(0.975) + t(power))² / d², solved by trying n upwards
    because the quantiles depend on n. Capped: a noisy machine must not ask for a thousand repeats.
    """
    for n in range(have + 1, have + cap + 1):
        df = 2 * n - 2
        if n >= 2 * log_variance * (t_quantile(0.975, df) + t_quantile(power, df)) ** 2 / log_effect**2:
            return n - have
    return None
