"""What a ratio shows: better, worse, too small to matter, equivalent, undecided, too few repeats."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from runs.stats.ratios import Lack, Ranks, Ratio, ranks, ratio
from runs.stats.repeats import more_repeats
from runs.stats.summaries import CONFIDENCE, MIN_REPEATS, Interval, log_values

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


def side_of(*, is_rise: bool, better: str) -> Kind:
    """What a rise or a fall is where ``higher`` or ``lower`` is better; of ``none`` it has no better side."""
    if better == "none":
        return Kind.DIFFERENT
    return Kind.BETTER if is_rise == (better == "higher") else Kind.WORSE


@dataclass(frozen=True)
class Verdict:
    """`ratio` is of the values as they are; `side` already knows which direction is better: better or worse, and higher
    or lower of what has no better side.

    `threshold`: a share of 1, below which a difference is too small to matter. `is_sided`: undecided is only whether
    the difference reaches it. `fewest`: repeats of the side that has less, where more of them could decide; of those
    `repeats_needed` further ones per side do in 80 % of cases (`more_repeats`), None where even the most that are asked
    for would not. `lack`: why there is no ratio. `ranks`: what these say, from six repeats on.
    """

    kind: Kind
    ratio: Ratio | None
    side: str = ""
    threshold: float = 0.0
    is_sided: bool = False
    fewest: int | None = None
    repeats_needed: int | None = None
    lack: Lack | None = None
    ranks: Ranks | None = None

    @property
    def turned(self) -> Verdict:
        """The verdict of the second side against the first; without what the ranks say."""
        return replace(
            self, kind=Kind(_OPPOSITE.get(self.kind, self.kind)), side=_OPPOSITE.get(self.side, ""),
            ratio=self.ratio.inverse if self.ratio else None, ranks=None,
        )  # fmt: skip


def judge(
    values: Sequence[float], baseline: Sequence[float], *, better: str, threshold: float = PRACTICAL_THRESHOLD,
    confidence: float = CONFIDENCE,
) -> Verdict:  # fmt: skip
    """One of five: better or worse, different but too small to matter, equivalent, undecided, too few repeats.

    `better` is ``higher``, ``lower`` or ``none`` (then neither side wins: the words say higher or lower).
    Below three repeats a side nothing is said: the test would call noise a difference, or nothing at all. A
    difference counts only when the interval excludes 1 *and* the effect reaches `threshold`: with enough repeats
    any two systems differ significantly. "Too small" and "equivalent" need the whole interval inside the threshold:
    absence of evidence is not evidence of absence.
    """
    estimate = ratio(values, baseline, confidence=confidence)
    return judge_ratio(estimate, values, baseline, better=better, threshold=threshold)


def judge_ratio(
    estimate: Ratio | None, values: Sequence[float], baseline: Sequence[float], *, better: str, threshold: float
) -> Verdict:
    """The same where the ratio of these is known."""
    fewest = min(len(values), len(baseline))
    if fewest < MIN_REPEATS:
        return Verdict(Kind.TOO_FEW, estimate, fewest=fewest)
    if estimate is None:
        has_logs = log_values(values) is not None and log_values(baseline) is not None
        lack = Lack.TOO_FAR_APART if has_logs else Lack.NOT_POSITIVE
        return Verdict(Kind.UNDECIDED, None, fewest=fewest, lack=lack)
    if estimate.interval is None:
        return Verdict(Kind.EQUIVALENT if estimate.value == 1.0 else Kind.UNDECIDED, estimate, fewest=fewest)
    verdict = judge_interval(estimate, estimate.interval, better=better, threshold=threshold, fewest=fewest)
    return replace(verdict, ranks=ranks(values, baseline))


def judge_interval(
    estimate: Ratio, interval: Interval, *, better: str, threshold: float, fewest: int | None
) -> Verdict:
    """`fewest`: the repeats of the side that has less, for asking how many more would do; None where none can."""
    effect, limit = abs(math.log(estimate.value)), math.log1p(threshold)
    excludes_one = interval.low > 1 or interval.high < 1
    inside = math.log(interval.high) <= limit and math.log(interval.low) >= -limit
    winner = side_of(is_rise=estimate.value > 1, better=better)
    side = winner.value if winner != Kind.DIFFERENT else "higher" if estimate.value > 1 else "lower"
    if inside:
        kind = Kind.TOO_SMALL if excludes_one else Kind.EQUIVALENT
    elif excludes_one and effect >= limit:
        kind = winner
    else:
        kind = Kind.UNDECIDED
    verdict = Verdict(kind, estimate, side, threshold, fewest=fewest)
    if kind != Kind.UNDECIDED:
        return verdict
    # Of fewer the interval is of how several ratios differ, of which more repeats of each make no more.
    has_repeats = fewest is not None and fewest >= MIN_REPEATS
    needed = more_repeats(estimate, threshold=threshold, have=fewest) if fewest and has_repeats else None
    return replace(verdict, is_sided=excludes_one, repeats_needed=needed)
