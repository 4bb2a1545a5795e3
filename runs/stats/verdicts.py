"""A ratio in words: better, worse, too small to matter, equivalent, undecided, too few repeats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from runs.stats.noise import Noise
from runs.stats.ratios import Ranks, Ratio, holm, ranks, ratio
from runs.stats.repeats import MOST_REPEATS_ASKED, more_repeats
from runs.stats.summaries import ALPHA, CONFIDENCE, MIN_REPEATS, Interval, log_values

# A difference below this share is real perhaps, but nobody chooses a DBMS for it. Each metric has its own in the
# catalogue: this is that of a rate.
PRACTICAL_THRESHOLD = 0.03


class Kind(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    TOO_SMALL = "too_small"
    EQUIVALENT = "equivalent"
    UNDECIDED = "undecided"
    TOO_FEW = "too_few"
    # A descriptive quantity has no better side; a rate, a time or a latency always has.
    DIFFERENT = "different"
    # Better at some of several levels and worse at others.
    MIXED = "mixed"


_OPPOSITE = {"better": "worse", "worse": "better", "higher": "lower", "lower": "higher"}
WINNERS = frozenset({Kind.BETTER, Kind.WORSE, Kind.DIFFERENT})


@dataclass(frozen=True)
class Verdict:
    """`ratio` is of the values as they are; the words already know which direction is better.

    `repeats_needed` counts further repeats per side that decide in 80 % of cases (`more_repeats`); None unless
    undecided, and where even the most that are asked for would not do.
    `robustness` says from six repeats on what the ranks say, in words.
    """

    kind: Kind
    words: str
    ratio: Ratio | None
    repeats_needed: int | None = None
    ranks: Ranks | None = None
    robustness: str = ""

    @property
    def turned(self) -> Verdict:
        """The verdict of the second side against the first; without what the ranks say."""
        side, comma, more = self.words.partition(",")
        kind = Kind(_OPPOSITE.get(self.kind, self.kind))
        inverse = self.ratio.inverse if self.ratio else None
        return Verdict(kind, f"{_OPPOSITE.get(side, side)}{comma}{more}", inverse, self.repeats_needed)


def judge_family(
    pairs: Sequence[tuple[Sequence[float], Sequence[float]]], *, better: str, threshold: float = PRACTICAL_THRESHOLD,
    noise: Noise[float] | None = None,
) -> list[Verdict]:  # fmt: skip
    """Verdicts of (values, baseline) that a page makes together: with Holm's levels, and intervals as wide as these.

    `noise`: that of all cells of the page (`page_noise`), below which few repeats are not believed.
    """
    estimates = [ratio(*pair, noise=noise) for pair in pairs]
    ps = {at: estimate.p for at, estimate in enumerate(estimates) if estimate and estimate.p is not None}
    levels = dict(zip(ps, holm(list(ps.values())).tolist(), strict=True))
    return [
        judge(*pair, better=better, threshold=threshold, confidence=1 - levels.get(at, ALPHA), noise=noise)
        for at, pair in enumerate(pairs)
    ]


def judge(
    values: Sequence[float], baseline: Sequence[float], *, better: str, threshold: float = PRACTICAL_THRESHOLD,
    confidence: float = CONFIDENCE, noise: Noise[float] | None = None,
) -> Verdict:  # fmt: skip
    """One of five: better or worse, different but too small to matter, equivalent, undecided, too few repeats.

    `better` is ``higher``, ``lower`` or ``none`` (then neither side wins: the words say higher or lower).
    Below three repeats a side nothing is said: the test would call noise a difference, or nothing at all. A
    difference counts only when the interval excludes 1 *and* the effect reaches `threshold`: with enough repeats
    any two systems differ significantly. "Too small" and "equivalent" need the whole interval inside the threshold:
    absence of evidence is not evidence of absence.
    """
    estimate = ratio(values, baseline, confidence=confidence, noise=noise)
    fewest = min(len(values), len(baseline))
    if fewest < MIN_REPEATS:
        return Verdict(Kind.TOO_FEW, f"too few repeats ({fewest} on one side, {MIN_REPEATS} needed)", estimate)
    if estimate is None:
        has_logs = log_values(values) is not None and log_values(baseline) is not None
        why = "the values are too far apart" if has_logs else "a value is zero or negative"
        return Verdict(Kind.UNDECIDED, f"no ratio: {why}", None)
    if estimate.interval is None:
        if estimate.value == 1.0:
            return Verdict(Kind.EQUIVALENT, "equivalent: every repeat is the same number", estimate)
        why = f"undecided: {estimate.why_no_interval}, so no interval can be given"
        return Verdict(Kind.UNDECIDED, why, estimate)
    verdict = judge_interval(estimate, estimate.interval, better=better, threshold=threshold, fewest=fewest)
    by_rank = ranks(values, baseline)
    return replace(verdict, ranks=by_rank, robustness=_robustness(verdict, by_rank)) if by_rank else verdict


def judge_interval(
    estimate: Ratio, interval: Interval, *, better: str, threshold: float, fewest: int | None
) -> Verdict:
    """`fewest`: the repeats of the side that has less, for asking how many more would do; None where none can."""
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
    which = f"{word}, but undecided whether by {share}" if excludes_one else "undecided"
    if fewest is None:
        return Verdict(Kind.UNDECIDED, which, estimate)
    needed = more_repeats(estimate, threshold=threshold, have=fewest)
    if needed is None:
        most = max(interval.high, 1 / interval.low) - 1
        more = f"needs over {MOST_REPEATS_ASKED} more repeats; the difference, if any, is below {_bound_words(most)}"
    else:
        more = f"needs about {needed} more repeat{'s' * (needed != 1)}"
    return Verdict(Kind.UNDECIDED, f"{which}: {more}", estimate, needed)


def _bound_words(share: float) -> str:
    """Rounded up, so that it stays a bound: 14%; what is far beyond as a multiple."""
    return f"{math.ceil(share * 100)}%" if share < 2 else f"{math.ceil(share + 1)} times"


def threshold_words(threshold: float) -> str:
    """A share of 1 in per cent, as many digits as it has: 3%, 2.5%."""
    return f"{threshold * 100:.6g}%"


def _robustness(verdict: Verdict, by_rank: Ranks) -> str:
    numbers = f"Mann-Whitney p = {by_rank.p:.2g}, Cliff's δ = {by_rank.delta:+.2f} ({by_rank.size})".replace("-", "−")
    numbers = numbers.replace("Mann−Whitney", "Mann-Whitney")
    named = verdict.kind in WINNERS
    if named and by_rank.p > ALPHA:
        return f"The ranks do not confirm it, a few repeats decide: {numbers}"
    if verdict.kind == Kind.UNDECIDED and verdict.ratio and by_rank.p < 1 - verdict.ratio.confidence:
        return f"The ranks differ, outliers hide it: {numbers}"
    return f"Ranks: {numbers}"
