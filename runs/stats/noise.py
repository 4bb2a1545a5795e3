"""How far repeats spread on a page as a whole: three repeats that agree may have met one mode of the noise only.

Of noise with two modes (a third of the repeats loses a fifth) three repeats of a cell meet the same mode in a third of
cases. Their own spread is then that within a mode, and two equal cells, one in each mode, differ "for sure". So a cell
of few repeats is never taken to be quieter than its page; a machine that is surely noisier than all others has a noise
of its own. The rules that were weighed against these stand in docs/decisions/0014.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Generic, TypeAlias

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
# The variances of cells of enough repeats, each with its degrees of freedom.
Spreads: TypeAlias = Sequence[tuple[float, int]]


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
    return _noise_of(_spreads(cells))


def noise_by_machine(cells: Iterable[tuple[str, Sequence[float]]]) -> dict[str, Noise[float] | None]:
    """The noise of a page by the machine that each of its cells was measured on: one for all, but for a machine that
    is surely noisier than all others together. Pooled with these it would hide what differs on each of them.
    """
    by_machine: dict[str, list[Sequence[float]]] = {}
    for machine, cell in cells:
        by_machine.setdefault(machine, []).append(cell)
    left, own = {machine: _spreads(of) for machine, of in by_machine.items()}, {}
    while (noisy := _surely_noisier_machine(left)) is not None:
        own[noisy] = _noise_of(left.pop(noisy))
    return dict.fromkeys(left, _noise_of(sorted(chain(*left.values())))) | own


def _surely_noisier_machine(spreads: Mapping[str, Spreads]) -> str | None:
    """Three cells or more have to say it of each side: two may have met one mode of the noise by chance."""
    of_many = [machine for machine, of in spreads.items() if len(of) >= LEAST_POOLED]
    noisiest = max(of_many, key=lambda machine: _pooled(spreads[machine]), default=None)
    if noisiest is None:
        return None
    others = [*chain(*(of for machine, of in spreads.items() if machine != noisiest))]
    is_sure = len(others) >= LEAST_POOLED and _are_surely_noisier(spreads[noisiest], others)
    return noisiest if is_sure else None


def _spreads(cells: Iterable[Sequence[float]]) -> Spreads:
    """The least first."""
    of_cells = (logs for logs in map(log_values, cells) if logs and len(logs) >= MIN_REPEATS)
    return sorted((variance(logs), len(logs) - 1) for logs in of_cells)


def _noise_of(spreads: Spreads) -> Noise[float] | None:
    """Of those in order."""
    pooled = spreads[:-1] if _is_without_noisiest(spreads) else spreads
    squares = math.fsum(spread * df for spread, df in pooled)
    if not squares:
        return None
    freedom = squares**2 / math.fsum(spread**2 * df for spread, df in pooled)
    return Noise(squares / sum(df for _, df in pooled), freedom, len(spreads))


def _is_without_noisiest(spreads: Spreads) -> bool:
    """Whether the last is left out."""
    if not LEAST_POOLED <= len(spreads) < LEAST_TO_LEAVE_OUT:
        return len(spreads) >= LEAST_TO_LEAVE_OUT
    return _are_surely_noisier(spreads[-1:], spreads[:-1])


def _are_surely_noisier(noisy: Spreads, others: Spreads) -> bool:
    """Whether these cells together are surely noisier than the others together, which are not without any noise."""
    df, freedom = (sum(df for _, df in of) for of in (noisy, others))
    return _pooled(noisy) > surely_noisier(df, freedom) * _pooled(others) > 0


def _pooled(spreads: Spreads) -> float:
    return math.fsum(spread * df for spread, df in spreads) / sum(df for _, df in spreads)


def surely_noisier(df: int, freedom: int) -> float:
    """How many times the variance of all others, with `freedom`, one with `df` has to be (Fisher's F)."""
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
