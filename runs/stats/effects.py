"""What each column of a design does, where rows differ in several columns at once: main effects by least squares."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from runs.stats.ratios import Lack, Ratio
from runs.stats.summaries import CONFIDENCE, interval_of_logs, t_quantile


@dataclass(frozen=True)
class MainEffect:
    """A column at 1 against it at 0. `variance`: of the log of the ratio, in that of one row; a pair of rows has 2."""

    ratio: Ratio
    variance: float


def main_effects(design: Sequence[Sequence[float]], logs: Sequence[float]) -> list[MainEffect | None]:
    """Of each column of a design of 0 and 1, with a constant beside it; `logs` has that of each row.

    The error is of what the effects leave of the rows (t with rows less parameters), so that what columns do together
    makes intervals wider. None of a column that others determine, and of all where no row is left over for the error.
    """
    import numpy as np
    from scipy import special

    if not design or not design[0]:
        return []
    x, y = np.column_stack([np.ones(len(logs)), np.array(design)]), np.array(logs)
    solved, df = np.linalg.pinv(x), len(logs) - int(np.linalg.matrix_rank(x))
    if df < 1:
        return [None] * len(design[0])
    estimates, variances, told = solved @ y, (solved**2).sum(1), solved @ x
    spread = math.sqrt(float(((y - x @ estimates) ** 2).sum()) / df)
    found: list[MainEffect | None] = []
    for at in range(1, x.shape[1]):
        if not math.isclose(float(told[at, at]), 1.0, abs_tol=1e-9):
            found.append(None)
            continue
        centre, variance = float(estimates[at]), float(variances[at])
        error = spread * math.sqrt(variance)
        interval = interval_of_logs(centre, t_quantile(0.5 + CONFIDENCE / 2, df) * error) if error else None
        p = 2 * float(special.stdtr(df, -abs(centre) / error)) if interval else None
        lack = None if interval else Lack.LEVELS_VARY if error else Lack.LEVELS_ALIKE
        ratio = Ratio(math.exp(centre), interval, df, lack, p, CONFIDENCE, error or None)
        found.append(MainEffect(ratio, variance))
    return found
