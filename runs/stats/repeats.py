"""How many more repeats would decide what is undecided."""

from __future__ import annotations

import math
from bisect import bisect_left

from runs.stats.ratios import Ratio
from runs.stats.summaries import t_quantile

# So that it holds in 80 % of cases of any noise up to 8 %: a spread that seems small by chance is asked too little for.
POWER = 0.82
MOST_REPEATS_ASKED = 20
# Differences of systems that somebody compares: the true one is more likely to be near none than far from it.
USUAL_DIFFERENCE = 0.15
_SPREADS, _DIFFERENCES = 9, 25


def more_repeats(estimate: Ratio, *, threshold: float, have: int) -> int | None:
    """Further repeats a side after which a comparison of `have` repeats is decided in 80 % of cases; None beyond 20.

    Decided is any verdict: better, worse, too small to matter or equivalent. Three repeats hardly know the spread and
    the difference, so the answer is of all spreads and differences that may stand behind them (chi-square and normal),
    and not of the two that were seen: the power formula of textbooks, which takes those, held in half of cases. The
    repeats that are there count among the later ones.
    """
    import numpy as np
    from scipy import special

    if estimate.error is None or not estimate.error or estimate.degrees_of_freedom is None:
        return None
    limit, seen, df = math.log1p(threshold), math.log(estimate.value), estimate.degrees_of_freedom
    shares = (np.arange(_SPREADS) + 0.5) / _SPREADS
    errors = estimate.error * np.sqrt(df / special.chdtri(df, shares))[:, None]
    true = seen + errors * special.ndtri((np.arange(_DIFFERENCES) + 0.5) / _DIFFERENCES)
    weights = 1 / (1 + (true / USUAL_DIFFERENCE) ** 2)

    def is_likely(more: int) -> bool:
        n = have + more
        later = (seen * have + true * more) / n
        scatter = errors * math.sqrt(have * more) / n
        later_df = df * (n - 1) / (have - 1)
        half = t_quantile(0.5 + estimate.confidence / 2, later_df) * errors * math.sqrt(have / n)
        least, most = np.maximum(half, limit), limit - half
        apart = special.ndtr((later - least) / scatter) + special.ndtr((-later - least) / scatter)
        within = special.ndtr((most - later) / scatter) - special.ndtr((-most - later) / scatter)
        return float((weights * (apart + np.maximum(within, 0.0))).sum() / weights.sum()) >= POWER

    if not is_likely(MOST_REPEATS_ASKED):
        return None
    # More repeats never decide less.
    return 1 + bisect_left(range(1, MOST_REPEATS_ASKED), True, key=is_likely)
