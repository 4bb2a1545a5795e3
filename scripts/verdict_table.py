"""Print docs/reference/verdict-simulation.md: how often intervals and verdicts are right, simulated with fixed seeds.

    .venv/bin/python scripts/verdict_table.py > docs/reference/verdict-simulation.md

Each row draws repeats of cells whose true ratio is known, and asks the functions that pages use (`runs.stats`).
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from runs.stats import Kind, geometric_mean_interval, judge

Noise = Callable[[random.Random], float]
TRIES = 1000
CELLS_OF_A_PAGE = 10
REPEATS = (3, 4, 5, 6, 8, 10)
TRUE_EFFECT = 0.10


def normal(share: float) -> Noise:
    """Log-normal noise with this coefficient of variation; its geometric mean is 1."""
    sigma = math.sqrt(math.log1p(share**2))
    return lambda draw: math.exp(draw.gauss(0, sigma))


def skewed(draw: random.Random) -> float:
    """Slow at times and never fast: an exponential loss of 5 % in the mean, centred so that its log has mean 0."""
    return math.exp(0.05 - draw.expovariate(1 / 0.05))


def with_outlier(draw: random.Random) -> float:
    """2 % noise, and one repeat in ten loses a fifth; centred."""
    loss = math.log(0.8)
    return math.exp(draw.gauss(0, 0.02) + (loss if draw.random() < 0.1 else 0) - 0.1 * loss)


NOISES: dict[str, Noise] = {
    "2 %": normal(0.02),
    "5 %": normal(0.05),
    "15 %": normal(0.15),
    "skewed, 5 %": skewed,
    "2 %, one in ten loses a fifth": with_outlier,
}


def row(noise: str, repeats: int, tries: int = TRIES) -> tuple[float, float, float, float]:
    """Shares of `tries`: the interval holds the truth; a winner of two alike; of ten alike; a true 10 % found."""
    draw = random.Random(f"{noise} {repeats}")
    cell = NOISES[noise]

    def drawn(centre: float = 1.0) -> list[float]:
        return [centre * cell(draw) for _ in range(repeats)]

    covered = winners = pages = told = 0
    for _ in range(tries):
        page = [drawn() for _ in range(CELLS_OF_A_PAGE)]
        interval = geometric_mean_interval(page[0])
        covered += interval is not None and interval.low <= 1 <= interval.high
        verdicts = [judge(other, page[0], better="higher").kind for other in page[1:]]
        named = [kind in (Kind.BETTER, Kind.WORSE) for kind in verdicts]
        winners += named[0]
        pages += any(named)
        told += judge(drawn(1 + TRUE_EFFECT), page[0], better="higher").kind == Kind.BETTER
    return covered / tries, winners / tries, pages / tries, told / tries


def line(noise: str, repeats: int) -> str:
    return f"| {noise} | {repeats} | {' | '.join(f'{share:.1%}' for share in row(noise, repeats))} |"


def page() -> Iterator[str]:
    tries = f"{TRIES:,}"
    yield f"""# Verdicts, simulated

Output of `scripts/verdict_table.py`: {tries} tries a row with fixed seeds; a test recomputes rows of it. *Covered*: the
95 % interval of a cell's geometric mean holds the true one. *False winner, two cells*: one of two equal cells is called
better or worse. *On a page of ten*: at least one of nine equal cells is, against a tenth. *Finds 10 %*: a cell that is
10 % better is called better. What the columns follow from: [how a verdict comes about](../method/verdicts.md).

| noise of a repeat | repeats | covered | false winner, two cells | on a page of ten | finds 10 % |
|---|---|---|---|---|---|"""
    for noise in NOISES:
        for repeats in REPEATS:
            yield line(noise, repeats)


if __name__ == "__main__":
    for text in page():
        print(text, flush=True)
