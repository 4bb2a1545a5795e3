"""How a rate grows with the terminals: the Universal Scalability Law (N. J. Gunther, *Guerrilla Capacity Planning*).

X(N) = λN ⁄ (1 + σ(N − 1) + κN(N − 1)): λ is the rate of one terminal, σ the share of the work that waits for its turn,
κ what each pair of terminals costs, which makes the rate fall again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from runs.stats.curves import Levels
from runs.stats.summaries import ALPHA, CONFIDENCE, MIN_REPEATS, MOST_LOG, Array, Interval, mean, stdev, t_quantile

LEAST_FOR_LAW = 4
# If levels' means lie further off the law, as a root mean square, the law is no description of what was measured.
MOST_OFF = 0.10
# Where levels double one lies no further from a peak, and the law there at most 6 % below it.
NEAR_THE_PEAK = math.sqrt(2)
# What the search leaves of a σ or κ of 0, in units of the most terminals.
_NOTHING = 1e-4


# Why there is no law of some levels.
Unfitted: TypeAlias = Literal["too_few", "below_one", "no_fit"]


@dataclass(frozen=True)
class Parameter:
    value: float
    interval: Interval


@dataclass(frozen=True)
class Scaling:
    """`peak`: the terminals with the highest rate; None where κ may be 0 (no peak is certain) or σ is 1 or more.

    `off`: how far the levels lie from the law, root mean square of logs; `poor` where that is too far to speak of it.
    `scattered`: no further than the scatter of their repeats explains (F of the lack of fit, 5 %).
    """

    rate: Parameter
    contention: Parameter
    coherency: Parameter
    peak: Parameter | None
    off: float
    scattered: bool = False

    @property
    def poor(self) -> bool:
        return self.off > MOST_OFF

    def at(self, terminals: float) -> float:
        pairs = self.coherency.value * terminals * (terminals - 1)
        return self.rate.value * terminals / (1 + self.contention.value * (terminals - 1) + pairs)

    def is_peak_shown(self, levels: Levels) -> bool:
        """Whether a level near its peak was measured, at a rate no further below that of the law than levels may be."""
        if self.peak is None:
            return False
        at = self.peak.value
        near = [
            mean([math.log(value) for value in values])
            for x, values in levels
            if 1 / NEAR_THE_PEAK <= x / at <= NEAR_THE_PEAK
        ]
        return math.log(self.at(at)) - max(near, default=-math.inf) <= MOST_OFF

    def is_peak_exceeded(self, levels: Levels) -> bool:
        """Whether a level outside of the peak's interval lies above the law's highest rate: surely (t, 5 %), or of
        fewer repeats than that takes by more than levels may lie off.
        """
        if self.peak is None:
            return False
        most, near = math.log(self.at(self.peak.value)), self.peak.interval
        outside = [[*map(math.log, values)] for x, values in levels if not near.low <= x <= near.high]
        return any(mean(logs) - _half_width(logs) > most for logs in outside)


def _half_width(logs: Sequence[float]) -> float:
    spread = stdev(logs) if len(logs) >= MIN_REPEATS else None
    return (
        MOST_OFF if spread is None else t_quantile(0.5 + CONFIDENCE / 2, len(logs) - 1) * spread / math.sqrt(len(logs))
    )


def scaling(levels: Levels) -> Scaling | Unfitted:
    """Least squares on logarithms of all repeats, σ and κ at least 0; or why it cannot be fitted.

    Intervals by t from the curvature at the best fit, or from how far each repeat alone pulls the fit where that is
    wider (HC3; J. G. MacKinnon, H. White, Journal of Econometrics 29, 1985), cut off at 0. Of an outlier at the end of
    a curve the former knows too little: it held the peak in 82 to 86 % of curves with one, the wider of the two holds
    it in 93 % or more, with an outlier and without (simulated, tests/runs/stats/test_scaling.py).
    """
    if len(levels) < LEAST_FOR_LAW:
        return "too_few"
    import numpy as np
    from scipy.optimize import least_squares

    n = np.array([x for x, values in levels for _ in values], dtype=float)
    y = np.log([value for _, values in levels for value in values])
    if n.min() < 1:
        return "below_one"
    most = float(n.max())
    # In units of the most terminals, so that all three parameters are of the order of 1.
    waits, pairs = (n - 1) / most, n * (n - 1) / most**2

    def residuals(p: Array) -> Array:
        off: Array = y - p[0] - np.log(n) + np.log1p(p[1] * waits + p[2] * pairs)
        return off

    def slopes(p: Array) -> Array:
        whole = 1 + p[1] * waits + p[2] * pairs
        return np.column_stack([-np.ones_like(n), waits / whole, pairs / whole])

    start = [float((y - np.log(n)).max()), 0.5, 0.5]
    fitted = least_squares(residuals, start, jac=slopes, bounds=([-np.inf, 0, 0], np.inf), xtol=1e-12, ftol=1e-12)
    if abs(fitted.x[0]) > MOST_LOG:
        return "no_fit"
    degrees = len(n) - 3
    scale = np.array([1, most, most**2])
    inverse = np.linalg.pinv(fitted.jac.T @ fitted.jac)
    leverages = np.einsum("ij,jk,ik->i", fitted.jac, inverse, fitted.jac)
    pulls = inverse @ (fitted.jac.T * fitted.fun / np.maximum(1 - leverages, _NOTHING))
    by_curvature = inverse * float(fitted.fun @ fitted.fun) / degrees
    covariances = [each / np.outer(scale, scale) for each in (by_curvature, pulls @ pulls.T)]
    t = t_quantile(0.5 + CONFIDENCE / 2, degrees)
    log_rate, contention, coherency = (np.where(np.abs(fitted.x) < _NOTHING, 0.0, fitted.x) / scale).tolist()
    halves = (t * np.sqrt(np.max([np.diag(each) for each in covariances], axis=0))).tolist()
    means = [float(fitted.fun[n == x].mean()) for x, _ in levels]
    sigma, kappa = (
        Parameter(value, Interval(max(0.0, value - half), value + half))
        for value, half in zip((contention, coherency), halves[1:], strict=True)
    )
    return Scaling(
        Parameter(math.exp(log_rate), Interval(math.exp(log_rate - halves[0]), math.exp(log_rate + halves[0]))),
        sigma, kappa, _peak(sigma, kappa, [each[1:, 1:] for each in covariances], t),
        math.sqrt(sum(mean * mean for mean in means) / len(means)), _is_scatter(levels, fitted.fun.tolist(), means),
    )  # fmt: skip


def _is_scatter(levels: Levels, residuals: Sequence[float], means: Sequence[float]) -> bool:
    """Whether the levels lie off the law by chance: their lack of fit against the spread of their repeats."""
    from scipy import special

    lack = math.fsum(len(values) * mean**2 for (_, values), mean in zip(levels, means, strict=True))
    pure, degrees = math.fsum(rest**2 for rest in residuals) - lack, len(residuals) - len(levels)
    if degrees < 1 or pure <= 0:
        return False
    return float(special.fdtrc(len(levels) - 3, degrees, lack / (len(levels) - 3) / (pure / degrees))) > ALPHA


def _peak(contention: Parameter, coherency: Parameter, covariances: Sequence[Array], t: float) -> Parameter | None:
    """√((1 − σ) ⁄ κ); its interval by error propagation on its logarithm, by the widest of the covariances."""
    if coherency.interval.low <= 0 or contention.value >= 1:
        return None
    import numpy as np

    slopes = np.array([-1 / (2 * (1 - contention.value)), -1 / (2 * coherency.value)])
    variance = max(float(slopes @ each @ slopes) for each in covariances)
    peak, half = math.sqrt((1 - contention.value) / coherency.value), t * math.sqrt(max(0.0, variance))
    return Parameter(peak, Interval(peak * math.exp(-half), peak * math.exp(half)))
