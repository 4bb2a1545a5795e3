"""Where what is measured day by day changes for good: steps of its level."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from runs.stats.ratios import Ratio, ratio
from runs.stats.summaries import ALPHA, interval_of_logs, mean, t_quantile, variance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Days on each side of a step: fewer are an accident, as one bad night is.
LEAST_DAYS = 3
# So large a share of the series that have no step may show one.
STEP_ALPHA = 0.01
# Nobody waits for more of them to see a step.
MOST_DAYS = 400
# How alike neighbours are may be more than it seems, by so many of its errors; the errors of more days than so many are
# taken for those of so many.
ERRORS_ALLOWED, MOST_ALLOWED_FOR = 0.5, 60
_LEAST_SPREAD = 1e-12
MOST_KEPT = 128


def near(logs: Sequence[float], begin: int, found: int) -> tuple[int, int]:
    """The first and the last place at which two means leave hardly more squares than at the one that was found, so that
    the true one is among them in 95 of 100 (D. Siegmund, International Statistical Review 56, 1988; simulated 95–99).
    """
    n = len(logs)
    left = {
        begin + cut: sum(variance(part) * (len(part) - 1) for part in (logs[:cut], logs[cut:]))
        for cut in {*range(LEAST_DAYS, n - LEAST_DAYS + 1), found - begin}
    }
    most = left[found] * (1 - 2 * math.log(1 - math.sqrt(1 - ALPHA)) / (n - 3)) + _LEAST_SPREAD
    places = [place for place, squares in left.items() if squares <= most]
    return min(places), max(places)


def steps_of(logs: Sequence[float], threshold: float) -> list[int]:
    """The first day after each step of a series of the logs of the means of days; those below the practical
    `threshold`, a share of 1, are none.

    A series is cut where t of two means is largest, of two parts or of a stretch and what is around it (circular binary
    segmentation; A. B. Olshen and others, Biostatistics 5, 2004), if `STEP_ALPHA` shared out over all places allows it
    (Bonferroni); then each part likewise. Each day counts once, by its geometric mean: what shifts from one day to the
    next is more than the repeats of a day show.
    """
    if len(logs) < 2 * LEAST_DAYS:
        return []
    cuts = sorted(_cuts(logs, 0, len(logs)))
    while passed := next(
        (
            cut for begin, cut, end in zip([0, *cuts], cuts, [*cuts[1:], len(logs)], strict=False)
            if not _stands(logs[begin:end], cut - begin, threshold)
        ), None,
    ):  # fmt: skip
        cuts.remove(passed)
    return cuts


def _stands(logs: Sequence[float], cut: int, threshold: float) -> bool:
    """Whether the level surely changes there, by as much as matters: two bad nights and a good one stand off, too, but
    are not alike. Days that do not vary at all have no interval.
    """
    change = change_of_level(logs, cut)
    is_sure = change and (change.interval is None or not change.interval.low <= 1 <= change.interval.high)
    return bool(change and is_sure and abs(math.log(change.value)) >= math.log1p(threshold))


def autocorrelation(*levels: Sequence[float], errors: float = 0.0, fitted: int = 1) -> float:
    """Of neighbours within levels (lag 1), or so many of its errors above it: it is estimated of few. None is below 0.

    Of n days it is too low by (1 + 3 r) / n (M. G. Kendall, Biometrika 41, 1954), off a line, of which two numbers are
    `fitted`, by (2 + 4 r) / n.
    """
    off = [[log - centre for log in level] for level, centre in ((level, mean(level)) for level in levels if level)]
    squares = math.fsum(value * value for level in off for value in level)
    if not squares:
        return 0.0
    count = sum(map(len, off))
    neighbours = math.fsum(a * b for level in off for a, b in pairwise(level)) / squares
    above = errors / math.sqrt(min(count, MOST_ALLOWED_FOR))
    return max(0.0, min(0.9, neighbours + (fitted + (2 + fitted) * neighbours) / count + above))


def inflation(alike: float) -> float:
    """How many times as large the variance of a mean is where neighbours have this autocorrelation."""
    return (1 + alike) / (1 - alike)


def change_of_level(logs: Sequence[float], cut: int) -> Ratio | None:
    """The days from the cut on against those before it, with room for how the cut was found and for how alike days are.

    What is told of many places is what chance made look large there (the winner's curse). Where Welch's interval
    reaches down to changes that these days would not have shown, it is at least as wide as that of all places together
    (Bonferroni's, with the pooled spread; intervals of what was selected: Y. Benjamini, D. Yekutieli, JASA 100, 2005).
    Simulated, it holds a step of 10 % at 20 % of noise in 96 % of cases, Welch's alone in 62 to 77 %; a step that is
    seen clearly has Welch's (tests/runs/stats/test_steps.py).

    Days whose neighbours are alike tell as much as fewer that stand alone: by that both intervals are wider.
    """
    before, after = logs[:cut], logs[cut:]
    change = ratio([math.exp(log) for log in after], [math.exp(log) for log in before])
    if change is None or change.interval is None:
        return change
    n, shift = len(logs), math.log(change.value)
    wider = math.sqrt(inflation(autocorrelation(before, after, errors=ERRORS_ALLOWED)))
    squares = variance(before) * (cut - 1) + variance(after) * (n - cut - 1)
    error, places = wider * math.sqrt(squares / (n - 2) * (1 / cut + 1 / (n - cut))), max(1, n - 2 * LEAST_DAYS + 1)
    least, half = (error * t_quantile(1 - alpha / places, n - 2) for alpha in (STEP_ALPHA / 4, ALPHA / 2))
    of_welch = wider * (math.log(change.interval.high) - shift)
    # The nearer end lies as far from no change as that of all places has to.
    half = of_welch if abs(shift) - of_welch >= least else max(half, of_welch)
    return replace(change, interval=interval_of_logs(shift, half))


def least_step(logs: Sequence[float], days: int = 0, after: int = LEAST_DAYS) -> float:
    """The least step, as a share of 1, that as many days with this scatter show where it leaves `after` on one side of
    it; of so many `days`, if they are given.

    A step that is too small to be told is a part of the scatter: none that is larger than this hides in it.
    """
    n = days or len(logs)
    t = t_quantile(1 - STEP_ALPHA / (4 * (n - 2 * LEAST_DAYS + 1)), n - 2)
    between = variance(logs) * (n - 1) * t * t / (n - 2 + t * t)
    return math.expm1(math.sqrt(between * n / (after * (n - after))))


def days_to_show(logs: Sequence[float], share: float) -> int | None:
    """How many days with this scatter tell a step of this share; None where even `MOST_DAYS` do not show it."""
    return next((days for days in range(len(logs), MOST_DAYS) if least_step(logs, days) <= share), None)


def days_after_to_show(logs: Sequence[float], share: float) -> int | None:
    """How many days after these show a step of this share at their end; None where even `MOST_DAYS` do not show it."""
    counts = range(LEAST_DAYS, MOST_DAYS)
    return next((after for after in counts if least_step(logs, len(logs) + after, after) <= share), None)


def _stretches(n: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]]:
    """Of so many days the first day of each stretch that may differ from what is around it, the day after its last, and
    what the square of its sum is multiplied by: those from the begin on, which is one step, then those in the midst.
    """
    import numpy as np

    last_cut = n - LEAST_DAYS
    ends = np.arange(LEAST_DAYS, last_cut + 1)
    first, last = (each.ravel() for each in np.meshgrid(ends, ends, indexing="ij"))
    is_long = last - first >= LEAST_DAYS
    pairs = [(np.zeros_like(ends), ends), (first[is_long], last[is_long])]
    return [(begin, end, n / ((end - begin) * (n - end + begin))) for begin, end in pairs if len(begin)]


# Each night looks at the newest once more, of which there are seldom more than so many; those of a thousand take 12 MB.
_kept = lru_cache(maxsize=MOST_KEPT)(_stretches)


def _cuts(logs: Sequence[float], begin: int, end: int) -> Iterator[int]:
    """Between `begin` and `end`, in no order."""
    n = end - begin
    if n < 2 * LEAST_DAYS:
        return
    import numpy as np
    from scipy import special

    off = np.array(logs[begin:end])
    off -= off.mean()
    sums = np.concatenate([[0.0], off.cumsum()])
    candidates = []
    for first, last, weight in _kept(n) if n <= MOST_KEPT else _stretches(n):
        # The share of the squares that the mean of the days from `first` to before `last` takes away.
        between = (sums[last] - sums[first]) ** 2 * weight
        best = int(between.argmax())
        left = max(float(off @ off - between[best]), _LEAST_SPREAD)
        t = math.sqrt(float(between[best]) / left * (n - 2))
        p = 2 * float(special.stdtr(n - 2, -t)) * len(between) * 2
        candidates.append((p, [int(first[best]), int(last[best])]))
    p, stretch = min(candidates)
    if p < STEP_ALPHA:
        cuts = [begin + place for place in stretch if place]
        yield from cuts
        for low, high in pairwise([begin, *cuts, end]):
            yield from _cuts(logs, low, high)
