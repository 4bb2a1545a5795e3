"""How often does an experiment that stops at a narrow interval stop with one that misses the truth?

Simulates cells of known means whose repeats are made until `runs.stats.stopping` says that they are enough, for the
mean of a cell and for its ratio to a baseline, with several noises and widths asked for. Beside it stands how often the
same interval misses after a fixed number of repeats, as many as the rule took on the average: the interval's own error.

Run by `make bench-stopping [ARGS="--cells 4000 --seed 1"]`; ends with 1 when noise that is not skewed misses in more
than 5 % of cases, or when looking after each repeat costs more than 3 % beyond the interval's own error.
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable, Sequence
from statistics import mean

from runs.stats.stopping import LEAST, interval_after, is_enough
from runs.stats.summaries import Interval

MOST = 40
ALLOWED, ALLOWED_BEYOND = 0.05, 0.03
# Of one repeat, as a share; widths are in per cent of the value.
SPREAD = 0.02
WIDTHS = (1.0, 2.0, 3.0, 5.0, 8.0, 12.0)
Noise = Callable[[random.Random], float]
NOISES: dict[str, Noise] = {
    "normal": lambda rng: rng.gauss(0, SPREAD),
    "outliers (t of 3)": lambda rng: SPREAD * rng.gauss(0, 1) / math.sqrt(rng.gammavariate(1.5, 2) / 3),
    "two modes": lambda rng: rng.choice((-SPREAD, SPREAD)),
    "skewed (exponential)": lambda rng: rng.expovariate(1 / SPREAD) - SPREAD,
}
SKEWED = "skewed (exponential)"


def cell(rng: random.Random, noise: Noise, *, of_ratio: bool) -> list[Interval | None]:
    """What the rule looks at after `LEAST` repeats and after each further one; the truth is 1."""
    values = [math.exp(noise(rng)) for _ in range(MOST)]
    baseline = [math.exp(noise(rng)) for _ in range(MOST)]
    return [interval_after(values[:n], baseline[:n] if of_ratio else None) for n in range(LEAST, MOST + 1)]


def missed(intervals: Sequence[Interval | None]) -> float:
    """The share of cells whose interval does not hold the truth."""
    return mean(each is not None and not each.low <= 1 <= each.high for each in intervals)


def end_of(intervals: Sequence[Interval | None], width: float) -> int:
    """The index of the interval at which a cell ends."""
    enough = (index for index, interval in enumerate(intervals) if is_enough(interval, percent=width))
    return next(enough, len(intervals) - 1)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print(f"{given.cells} cells each, repeats of {SPREAD:.0%}, at least {LEAST}, at most {MOST}; seed {given.seed}")
    worst, beyond = dict.fromkeys(NOISES, 0.0), 0.0
    for of_ratio in (False, True):
        for name, noise in NOISES.items():
            rng = random.Random(f"{given.seed} {of_ratio} {name}")
            cells = [cell(rng, noise, of_ratio=of_ratio) for _ in range(given.cells)]
            told = []
            for width in WIDTHS:
                ends = [end_of(intervals, width) for intervals in cells]
                by_rule = missed([intervals[end] for intervals, end in zip(cells, ends, strict=True)])
                fixed = missed([intervals[round(mean(ends))] for intervals in cells])
                worst[name], beyond = max(worst[name], by_rule), max(beyond, by_rule - fixed)
                told.append(f"{width:g} %: {by_rule:.1%} (fixed {fixed:.1%}) of {LEAST + mean(ends):.1f}")
            print(f"{'ratio' if of_ratio else 'mean'}, {name}: {'; '.join(told)}")
    skewed = worst.pop(SKEWED)
    plain = max(worst.values())
    print(
        f"plain noise misses in {plain:.1%} at most, allowed are {ALLOWED:.0%}; skewed noise in {skewed:.1%}; "
        f"at most {beyond:.1%} more than a fixed number of as many repeats, allowed are {ALLOWED_BEYOND:.0%}"
    )
    return int(plain > ALLOWED or beyond > ALLOWED_BEYOND)


if __name__ == "__main__":
    raise SystemExit(main())
