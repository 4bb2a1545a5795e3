"""Where what is measured day by day changes for good: steps of its level."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from runs.stats.curves import Levels
from runs.stats.ratios import Ratio, ratio
from runs.stats.summaries import geometric_mean

# Days on each side of a step: fewer are an accident, as one bad night is.
LEAST_DAYS = 3
# Of a series that has no step, how many in 100 may show one.
STEP_ALPHA = 0.01
_LEAST_SPREAD = 1e-12


@dataclass(frozen=True)
class Step:
    """`at`: x of the first day after it. `change`: of the `days` up to the next step to the `days_before` it."""

    at: float
    change: Ratio
    days: int
    days_before: int


def steps(levels: Levels, threshold: float) -> list[Step]:
    """The steps of a series, in order; those below the practical `threshold`, a share of 1, are none.

    A series is cut in two where the t statistic of the parts' means is largest, if it is above that of `STEP_ALPHA`
    shared out over all places (Bonferroni; D. M. Hawkins, JASA 72, 1977); then each part likewise (binary
    segmentation; L. J. Vostrikova, Soviet Math. Dokl. 24, 1981). Each day counts once, by its geometric mean: what
    shifts from one day to the next is more than the repeats of a day show.
    """
    centres = [geometric_mean(values) for _, values in levels]
    known = [centre for centre in centres if centre is not None]
    if len(known) < max(len(levels), 2 * LEAST_DAYS):
        return []
    cuts = [0, *sorted(_cuts([math.log(centre) for centre in known], 0, len(known))), len(known)]
    kept = [0]
    for cut, end in pairwise(cuts[1:]):
        change = ratio(known[cut:end], known[kept[-1] : cut])
        if change and abs(math.log(change.value)) >= math.log1p(threshold):
            kept.append(cut)
    told = []
    for before, cut, end in zip(kept, kept[1:], [*kept[2:], len(known)], strict=False):
        if change := ratio(known[cut:end], known[before:cut]):
            told.append(Step(levels[cut][0], change, end - cut, cut - before))
    return told


def _cuts(logs: Sequence[float], begin: int, end: int) -> Iterator[int]:
    """Between `begin` and `end`, in no order."""
    from scipy import special

    n, places = end - begin, range(begin + LEAST_DAYS, end - LEAST_DAYS + 1)
    if not places:
        return
    centre = math.fsum(logs[begin:end]) / n
    off = [each - centre for each in logs[begin:end]]
    spread = math.fsum(each * each for each in off)
    sums = [0.0, *accumulate(off)]
    between, best = max((sums[at - begin] ** 2 * n / ((at - begin) * (end - at)), at) for at in places)
    t = math.sqrt(between / max(spread - between, _LEAST_SPREAD) * (n - 2))
    if 2 * float(special.stdtr(n - 2, -t)) * len(places) < STEP_ALPHA:
        yield best
        yield from _cuts(logs, begin, best)
        yield from _cuts(logs, best, end)
