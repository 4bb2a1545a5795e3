"""Print the last sections of docs/reference/verdict-simulation.md: the rules that were weighed for few repeats, and how
often the number of repeats decides that is asked for.

    (scripts/verdict_table.py; scripts/few_repeats.py) > docs/reference/verdict-simulation.md

Each rule says how far a cell of few repeats spreads, and compares every cell of a page with every other.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from runs.stats import ALPHA, MOST_REPEATS_ASKED, PRACTICAL_THRESHOLD, Kind, Noise, Welch, judge
from scripts.verdict_table import (
    CELLS,
    NOISES,
    SMALL_EFFECT,
    TRUE_EFFECT,
    Array,
    Truths,
    compared,
    drawn,
    family,
    line,
    noise_of,
)

TRIES_OF_A_RULE = 1000
PAGES_OF_A_RULE = [*((cells, repeats) for cells in CELLS for repeats in (3, 4)), (20, 10)]
KINDS = {
    "5 %": "5 %",
    "skewed": "skewed, 5 %",
    "heavy tails": "heavy tails, 5 %",
    "three in ten slow": "2 %, three repeats in ten lose a fifth",
    "half slow": "2 %, half of the repeats lose a fifth",
    "one noisy cell": "2 %, and 15 % of one cell",
}
HISTORY, SHRUNKEN_DF, HIGHER_BAR = 30, 4, 5
# Degrees of freedom at which the range is computed, and those of what is known for sure.
FREEDOMS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0, 40.0, 100.0, 1000.0)
SURE = 1000.0
# Indices of cells: the first or the second of each pair.
Indices: TypeAlias = NDArray[Any]
# Which comparisons of a page name a winner.
Naming = Callable[[Welch[Array]], Truths]
# From pages (tries, cells, repeats), whose cells `second` are set against `first`, the comparisons and who is named.
Rule = Callable[[Array, Indices, Indices, str], tuple[Welch[Array], Naming]]


def of_spreads(logs: Array, spreads: Array, freedoms: Array, first: Indices, second: Indices) -> Welch[Array]:
    """Welch's, of cells with these variances and degrees of freedom."""
    means, n = logs.mean(-1), logs.shape[-1]
    shares = [spreads[:, side] / n for side in (second, first)]
    error = sum(shares) ** 0.5
    df = error**4 / sum(share**2 / freedoms[:, side] for share, side in zip(shares, (second, first), strict=True))
    return Welch(means[:, second] - means[:, first], error, df)


def own(logs: Array, first: Indices, second: Indices, noise: str) -> tuple[Welch[Array], Naming]:
    return compared(logs[:, second], logs[:, first]), family


def one_spread(logs: Array, first: Indices, second: Indices, noise: str) -> tuple[Welch[Array], Naming]:
    spreads = logs.var(-1, ddof=1)
    pooled = np.broadcast_to(spreads.mean(-1, keepdims=True), spreads.shape)
    # As many degrees of freedom in both sides as in one: Welch's formula would count them twice.
    freedoms = np.full(spreads.shape, spreads.shape[1] * (logs.shape[-1] - 1) / 2)
    return of_spreads(logs, pooled, freedoms, first, second), family


def shrunken(logs: Array, first: Indices, second: Indices, noise: str) -> tuple[Welch[Array], Naming]:
    spreads, df = logs.var(-1, ddof=1), logs.shape[-1] - 1
    drawn_in = (df * spreads + SHRUNKEN_DF * spreads.mean(-1, keepdims=True)) / (df + SHRUNKEN_DF)
    return of_spreads(logs, drawn_in, np.full(spreads.shape, df + SHRUNKEN_DF), first, second), family


def history(logs: Array, first: Indices, second: Indices, noise: str) -> tuple[Welch[Array], Naming]:
    """As if the machine had measured some cell of each page thirty times before."""
    past = NOISES[noise](np.random.default_rng(1), (len(logs), 2, HISTORY))[:, 1:].var(-1, ddof=1)
    spreads, df = logs.var(-1, ddof=1), logs.shape[-1] - 1
    freedoms = np.where(spreads < past, HISTORY - 1, df)
    return of_spreads(logs, np.maximum(spreads, past), freedoms, first, second), family


def higher_bar(logs: Array, first: Indices, second: Indices, noise: str) -> tuple[Welch[Array], Naming]:
    return compared(logs[:, second], logs[:, first]), lambda welch: family(welch, np.minimum(HIGHER_BAR * welch.p, 1.0))


def five_repeats(logs: Array, first: Indices, second: Indices, noise: str) -> tuple[Welch[Array], Naming]:
    """Two more, or one, before anything is said: the page is drawn anew with five."""
    longer = drawn(noise, logs.shape[1], 5, len(logs))
    return compared(longer[:, second], longer[:, first]), family


def unbiased_freedom(logs: Array, first: Indices, second: Indices, noise: str) -> tuple[Welch[Array], Naming]:
    """The page's, with degrees of freedom that do not take the scatter of few spreads for a difference of them."""
    of_page, df = noise_of(logs), logs.shape[-1] - 1
    freer = Noise(of_page.variance, of_page.df * (1 + 2 / df), of_page.cells)
    return compared(logs[:, second], logs[:, first], freer), family


def range_of_means(logs: Array, first: Indices, second: Indices, noise: str) -> tuple[Welch[Array], Naming]:
    """The page's, by Tukey's range of all means in place of Holm's levels: P. A. Games, J. F. Howell, Journal of
    Educational Statistics 1 (1976).
    """
    return compared(logs[:, second], logs[:, first], noise_of(logs)), in_range(logs.shape[1])


def known_noise(logs: Array, first: Indices, second: Indices, noise: str) -> tuple[Welch[Array], Naming]:
    """As if all cells had one noise and somebody knew it: no rule can find more."""
    spread = NOISES[noise](np.random.default_rng(1), (1000, 1, HISTORY)).var()
    spreads = np.full(logs.shape[:2], spread)
    return of_spreads(logs, spreads, np.full(spreads.shape, SURE), first, second), in_range(logs.shape[1])


def in_range(cells: int) -> Naming:
    bars = [math.log(float(stats.studentized_range.isf(ALPHA, cells, df)) / math.sqrt(2)) for df in FREEDOMS]

    def told(welch: Welch[Array]) -> Truths:
        bar = np.exp(np.interp(np.log(welch.df), np.log(FREEDOMS), bars))
        return np.asarray(
            (abs(welch.centre) > bar * welch.error) & (abs(welch.centre) >= math.log1p(PRACTICAL_THRESHOLD))
        )

    return told


def page(logs: Array, first: Indices, second: Indices, noise: str) -> tuple[Welch[Array], Naming]:
    return compared(logs[:, second], logs[:, first], noise_of(logs)), family


RULES: dict[str, Rule] = {
    "each cell's own spread": own,
    "one spread for all": one_spread,
    "shrunken to that of the page": shrunken,
    "not below the machine's history": history,
    "1 % instead of 5 %": higher_bar,
    "repeat to five": five_repeats,
    "the page's, freer": unbiased_freedom,
    "the page's, by the range of means": range_of_means,
    "noise that is known": known_noise,
    "not below that of the page": page,
}
RULE_COLUMNS = ("rule", "cells", "repeats", *(f"false: {kind}" for kind in KINDS), "finds 5 %", "finds 10 %")


def rule_row(name: str, cells: int, repeats: int) -> tuple[float, ...]:
    """Shares, as RULE_COLUMNS; what is found is of 5 % noise: the last cell against each other."""
    first, second = np.triu_indices(cells, 1)
    false = []
    for noise in KINDS.values():
        logs = drawn(noise, cells, repeats, TRIES_OF_A_RULE)
        welch, named = RULES[name](logs, first, second, noise)
        false.append(float(named(welch).any(-1).mean()))
    welch, named = RULES[name](drawn("5 %", cells, repeats, TRIES_OF_A_RULE), first, second, "5 %")
    faster, found = second == cells - 1, []
    for effect in (SMALL_EFFECT, TRUE_EFFECT):
        moved = Welch(welch.centre + effect * faster, welch.error, welch.df)
        found.append(float((named(moved) & (moved.centre > 0))[:, faster].mean()))
    return (*false, *found)


def section() -> Iterator[str]:
    yield f"""
## Rules for few repeats

What was weighed; {TRIES_OF_A_RULE:,} pages a row, everything against everything.

* *False*: a page of equal cells tells some of them apart, by the noise of their repeats.
* *Finds 5 %, 10 %*: a cell that is so much better is told from each other; noise of 5 %.

In force is the last: a cell is never taken to be quieter than its page. One spread for all, and a spread shrunken to
that of the page, fail where one cell is noisier than the others; a higher bar and two more repeats fail with two modes;
a history of the machine would do as well, and is not always there. Degrees of freedom without bias, and Tukey's range
in place of Holm's levels, find up to twice as much of three repeats; of twenty cells of ten repeats in two modes
the range names a false winner on 5.7 % of pages (of 20,000), and it knows nothing of levels and losses, which are of
the same family.
*Noise that is known* is no rule but a ceiling: were the noise of all cells one number that somebody
knew for sure, ten cells of three repeats would show a difference of 10 % in one case of five. No rule can find more;
more repeats can, and fewer cells.

| {" | ".join(RULE_COLUMNS)} |
|{"---|" * len(RULE_COLUMNS)}"""
    for name in RULES:
        for cells, repeats in PAGES_OF_A_RULE:
            yield line(name, cells, repeats, shares=rule_row(name, cells, repeats))


NOISES_ASKED, REPEATS_ASKED, PAIRS_ASKED = (0.02, 0.05, 0.08, 0.15), (3, 4, 5), 1000
DIFFERENCES = (0.0, 0.05, 0.10, 0.20, 0.30)
ASKED_COLUMNS = ("noise of a repeat", "repeats", "undecided", "with a number", "decided by that number")


def asked_row(share: float, repeats: int) -> tuple[float, float | None, float | None]:
    """Shares of all pairs, of the undecided, and of those with a number."""
    draw = np.random.default_rng(7)
    undecided = numbers = decided = 0
    for difference in DIFFERENCES:
        for _ in range(PAIRS_ASKED):
            logs = draw.normal(0, share, (2, repeats + MOST_REPEATS_ASKED))
            logs[0] += math.log1p(difference)
            a, b = np.exp(logs).tolist()
            verdict = judge(a[:repeats], b[:repeats], better="higher")
            undecided += verdict.kind == Kind.UNDECIDED
            if verdict.repeats_needed:
                numbers += 1
                n = repeats + verdict.repeats_needed
                decided += judge(a[:n], b[:n], better="higher").kind != Kind.UNDECIDED
    pairs = len(DIFFERENCES) * PAIRS_ASKED
    return (
        undecided / pairs,
        numbers / undecided if undecided else None,
        decided / numbers if numbers else None,
    )


def asked_section() -> Iterator[str]:
    yield f"""
## Repeats that are asked for

Pairs whose true difference is {", ".join(f"{difference:.0%}" for difference in DIFFERENCES)}, {PAIRS_ASKED:,} of each a
row.

* *Undecided*: so many of all pairs; *with a number*: of these, where more repeats are asked for, and not said that more
  than {MOST_REPEATS_ASKED} would be needed.
* *Decided by that number*: of those, where the verdict after so many more repeats is another than undecided.

Of noise of 15 % the few that get a number are those whose repeats seem quiet by chance, and nothing tells them from
quiet ones.

| {" | ".join(ASKED_COLUMNS)} |
|{"---|" * len(ASKED_COLUMNS)}"""
    for share in NOISES_ASKED:
        for repeats in REPEATS_ASKED:
            yield line(f"{share * 100:g} %", repeats, shares=asked_row(share, repeats))


if __name__ == "__main__":
    for text in (*section(), *asked_section()):
        print(text, flush=True)
