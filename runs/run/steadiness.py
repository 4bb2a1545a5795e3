"""Whether a run was in its steady state: its throughput, second by second, before and in the measured window.

Lists in, words out. A second is one value of the series, however long that is. Seconds follow each other closely, so
that no formula here takes them for independent ones; a deviation counts only when it also matters (`MATTERS`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from runs import stats

# Nobody would see a change of less than this share of the window's level.
MATTERS = 0.10
# Values from which on a trend or a change of level can be told, and to which longer series are brought by means.
LEAST_VALUES, MOST_VALUES = 10, 3_600
# Widens what few values tell of their likeness, so that seconds alike by 0.5 raise no more false alarms than promised.
WIDENED = 4.0
# The confidence of a trend, and what one per cent of Kolmogorov's distribution lies above.
CONFIDENCE = 0.99
CUSUM_LIMIT = 1.628
LEAST_OF_WARM_UP = 3
# A stall is a second below this share of the median; below so many transactions a second chance makes such seconds.
STALL_SHARE, LEAST_TRANSACTIONS = 1 / 3, 30


@dataclass(frozen=True)
class Trend:
    """Change over the whole window as a share of its mean, with its 99 % interval."""

    change: float
    low: float
    high: float

    @property
    def words(self) -> str:
        """How far the line ends from where it begins; of one that begins at next to nothing the change of its mean."""
        shares, of = [self.change, self.low, self.high], "of its mean over the window"
        if max(shares) < 1:
            shares, of = [share / (1 - share / 2) for share in shares], "from begin to end of the window"
        change, low, high = (f"{100 * share:+.0f} %" for share in shares)
        return f"{change} {of} (99 % interval {low} to {high})"

    @property
    def matters(self) -> bool:
        return abs(self.change) >= MATTERS and (self.low > 0 or self.high < 0)


@dataclass(frozen=True)
class Step:
    """A change of level: `at` is the index of the first value after it."""

    at: int
    before: float
    after: float


def unsteady(warm_up: Sequence[float], window: Sequence[float], interval_s: float = 1.0) -> list[str]:
    """What speaks against a steady state; empty where nothing does, or where there is too little to tell."""
    level = median(window) if window else 0.0
    flowing = [value for value in window if value >= STALL_SHARE * level]  # stalls are told by themselves
    findings = [words] if (words := rising(warm_up, flowing, interval_s)) else []
    each = -(-len(flowing) // MOST_VALUES) or 1
    # What is left over at the end joins the last.
    ends = [*range(each, len(flowing) - each + 1, each), len(flowing)]
    values = [stats.mean(flowing[begin:end]) for begin, end in pairwise([0, *ends]) if begin < end]
    drift, step = trend(values), change_of_level(values)
    drifts = drift is not None and drift.matters
    if step and not (drifts and _left_by_line(values) <= _left_by_step(values, step)):
        when_s = step.at * each * interval_s
        findings.append(
            f"the level changes {when_s:,.0f} s into the window: {step.before:,.0f} → {step.after:,.0f} TPS"
        )
    elif drift and drifts:
        findings.append(f"throughput drifts by {drift.words}")
    return findings


def rising(warm_up: Sequence[float], window: Sequence[float], interval_s: float = 1.0) -> str:
    """Words where the last half of the warm-up still rose, beyond doubt, and the window began above where it ended.

    Above its mean, which a warm-up that rises to its last second and no further leaves behind, says nothing.
    """
    part = warm_up[-max(LEAST_OF_WARM_UP, len(warm_up) // 2) :]
    begin = window[: max(1, min(len(window) // 3, len(part)))]
    if len(part) < LEAST_OF_WARM_UP or not begin:
        return ""
    fitted = stats.slope([(float(at), value) for at, value in enumerate(part)])
    if fitted is None or fitted.interval is None or fitted.interval.low <= 0:
        return ""
    if stats.mean(begin) < (1 + MATTERS) * (stats.mean(part) + fitted.value * (len(part) - 1) / 2):
        return ""
    rose = f"{part[0]:,.0f} → {part[-1]:,.0f} TPS in the last {len(part) * interval_s:,.0f} s of the warm-up"
    return f"it was still rising when the window began: {rose}, then {stats.mean(begin):,.0f}"


def trend(window: Sequence[float]) -> Trend | None:
    """The line of least squares. None where there are too few values."""
    centre = stats.mean(window) if window else 0.0
    if len(window) < LEAST_VALUES or centre <= 0:
        return None
    fitted = stats.slope([(float(at), value) for at, value in enumerate(window)], confidence=CONFIDENCE)
    if fitted is None or fitted.interval is None:
        return None
    middle = (len(window) - 1) / 2
    left = [value - centre - fitted.value * (at - middle) for at, value in enumerate(window)]
    half = (fitted.interval.high - fitted.value) * _alike(left)
    over = len(window) / centre
    return Trend(fitted.value * over, (fitted.value - half) * over, (fitted.value + half) * over)


def change_of_level(window: Sequence[float]) -> Step | None:
    """A change at the largest cumulated deviation from the mean (CUSUM), against what Kolmogorov's distribution allows.

    None where nothing changes, or by too little to matter.
    """
    count = len(window)
    if count < LEAST_VALUES:
        return None
    centre, sums, total = stats.mean(window), [], 0.0
    for value in window:
        total += value - centre
        sums.append(abs(total))
    at = max(range(2, count - 2), key=lambda index: sums[index - 1])
    step = Step(at, stats.mean(window[:at]), stats.mean(window[at:]))
    left = [value - (step.before if index < at else step.after) for index, value in enumerate(window)]
    spread = math.sqrt(math.fsum(value * value for value in left) / count) * _alike(left)
    changes = sums[at - 1] > CUSUM_LIMIT * spread * math.sqrt(count)
    return step if changes and abs(step.after - step.before) >= MATTERS * centre > 0 else None


def stalls(window: Sequence[float | None], share: float = STALL_SHARE) -> list[range]:
    """Stretches of values below a third, or another share, of the median; gaps are none. Empty where so few
    transactions are chance.
    """
    numbers = [value for value in window if value is not None]
    if not numbers or (level := median(numbers)) < LEAST_TRANSACTIONS:
        return []
    stretches: list[range] = []
    for at, value in enumerate(window):
        if value is None or value >= share * level:
            continue
        if stretches and stretches[-1].stop == at:
            stretches[-1] = range(stretches[-1].start, at + 1)
        else:
            stretches.append(range(at, at + 1))
    return stretches


def _alike(left: Sequence[float]) -> float:
    """How much more means of consecutive values vary than those of independent ones, from what a fit has left.

    The root of the variance of long runs by that of single values: covariances up to the cube root of their number,
    weighted after Bartlett (Newey and West 1987). Few values look less alike than they are, so it is widened for them.
    """
    count, lags = len(left), round(len(left) ** (1 / 3))

    def covariance(lag: int) -> float:
        return math.fsum(left[at] * left[at + lag] for at in range(count - lag)) / count

    single = covariance(0)
    if single <= 0:
        return 1.0
    long_run = single + 2 * math.fsum((1 - lag / (lags + 1)) * covariance(lag) for lag in range(1, lags + 1))
    return math.sqrt(max(1.0, long_run / single)) * (1 + WIDENED / math.sqrt(count))


def _left_by_line(values: Sequence[float]) -> float:
    fitted = stats.slope([(float(at), value) for at, value in enumerate(values)])
    centre, middle = stats.mean(values), (len(values) - 1) / 2
    each = fitted.value if fitted else 0.0
    return math.fsum((value - centre - each * (at - middle)) ** 2 for at, value in enumerate(values))


def _left_by_step(values: Sequence[float], step: Step) -> float:
    return math.fsum((value - (step.before if at < step.at else step.after)) ** 2 for at, value in enumerate(values))
