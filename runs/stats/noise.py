"""How far repeats spread on a page as a whole: three repeats that agree may have met one mode of the noise only.

Of noise with two modes (a third of the repeats loses a fifth) three repeats of a cell meet the same mode in a third of
cases. Their own spread is then that within a mode, and two equal cells, one in each mode, differ "for sure". So a cell
of few repeats is never taken to be quieter than its page. The rules that were weighed against this one stand in
docs/decisions/0014.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from runs.stats.summaries import (
    CELL_CONFIDENCE,
    MIN_REPEATS,
    Interval,
    Moments,
    Real,
    interval_of_logs,
    log_values,
    mean,
    t_quantile,
    variance,
)

# From so many cells on the noisiest says nothing of the others: one broken cell would else hide all differences. Of
# fewer it is left out if it is surely noisier than they are together; two are no page.
LEAST_TO_LEAVE_OUT, SURELY_NOISIER_ALPHA = 5, 1e-4
# Two cells have told their spread to Welch's interval already.
LEAST_POOLED = 3
# From so many repeats on all of them hardly ever meet one mode, and a cell may show that it is quieter than its page.
LEAST_ALONE, ALONE_ALPHA = 10, 0.001


@dataclass(frozen=True)
class Noise(Generic[Real]):
    """`variance`: of the logs of a repeat, pooled over `cells` cells; `df`: its degrees of freedom."""

    variance: Real
    df: Real
    cells: int

    def stands_alone(self, cell: Moments[Real]) -> Any:
        """Whether the spread of a cell is its own (a bool; of arrays one of each): where it is no less than the
        noise, and where ten repeats or more show that it is less.
        """
        alone = cell.variance >= self.variance
        if cell.n < LEAST_ALONE:
            return alone
        from scipy import special

        least = special.chdtri(cell.n - 1, 1 - ALONE_ALPHA) / (cell.n - 1)
        return alone | (cell.variance < self.variance * least)


def page_noise(cells: Iterable[Sequence[float]]) -> Noise[float] | None:
    """The noise of the repeats of a page's cells. None without a cell of three repeats or more, or if none varies.

    The degrees of freedom are Satterthwaite's, of spreads that differ: one noisy cell among quiet ones makes them few.
    """
    spreads = []
    for cell in cells:
        logs = log_values(cell)
        if logs and len(logs) >= MIN_REPEATS:
            spreads.append((variance(logs), len(logs) - 1))
    spreads.sort()
    pooled = spreads[:-1] if _is_without_noisiest(spreads) else spreads
    squares = math.fsum(spread * df for spread, df in pooled)
    if not squares:
        return None
    freedom = squares**2 / math.fsum(spread**2 * df for spread, df in pooled)
    return Noise(squares / sum(df for _, df in pooled), freedom, len(spreads))


def _is_without_noisiest(spreads: Sequence[tuple[float, int]]) -> bool:
    """Whether the last of these variances, each with its degrees of freedom, is left out."""
    if not LEAST_POOLED <= len(spreads) < LEAST_TO_LEAVE_OUT:
        return len(spreads) >= LEAST_TO_LEAVE_OUT
    *others, (noisiest, df) = spreads
    freedom = sum(df for _, df in others)
    return noisiest > surely_noisier(df, freedom) * math.fsum(spread * df for spread, df in others) / freedom > 0


def surely_noisier(df: int, freedom: int) -> float:
    """How many times the variance of all others, with `freedom`, that of one cell with `df` has to be (Fisher's F)."""
    from scipy import special

    return float(special.fdtri(df, freedom, 1 - SURELY_NOISIER_ALPHA))


def geometric_mean_interval(values: Sequence[float], noise: Noise[float] | None = None) -> Interval | None:
    """95 % confidence interval of the geometric mean by t on logs, with room for skewed noise (`CELL_CONFIDENCE`).

    None below three repeats (two give an interval 13 standard errors wide: noise drawn as knowledge),
    for values without logs, and for repeats without any spread, which say nothing about the spread. With the `noise` of
    a page it is never narrower than that of few repeats can be.
    Not a bootstrap: of three repeats that covers 80 % where 95 % is promised (simulated).
    """
    logs = log_values(values)
    if logs is None or len(logs) < MIN_REPEATS:
        return None
    cell = Moments(mean(logs), variance(logs), len(logs))
    if noise is not None and not noise.stands_alone(cell):
        half = t_quantile(0.5 + CELL_CONFIDENCE / 2, noise.df) * math.sqrt(noise.variance / cell.n)
        return interval_of_logs(cell.mean, half)
    return interval_of_logs(cell.mean, cell.half_width(CELL_CONFIDENCE)) if cell.variance else None
