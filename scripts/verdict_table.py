"""Print docs/reference/verdict-simulation.md: how often intervals and verdicts are right, simulated with fixed seeds.

    .venv/bin/python scripts/verdict_table.py > docs/reference/verdict-simulation.md

Each row draws repeats of cells whose true ratio is known, and asks what pages ask (`runs.stats`), all tries at once.
"""

from __future__ import annotations

import math
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import special

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchagent.catalog import METRICS

from runs.stats import (
    ALPHA,
    CELL_CONFIDENCE,
    MOST_REPEATS_ASKED,
    PRACTICAL_THRESHOLD,
    Kind,
    Moments,
    Noise,
    Welch,
    holm,
    judge,
)
from runs.stats.noise import LEAST_POOLED, LEAST_TO_LEAVE_OUT, surely_noisier

Array = NDArray[np.float64]
Truths = NDArray[np.bool_]
# Logs of repeats of this shape (tries, cells, repeats): 0 is what an undisturbed repeat has on average.
Draws = Callable[[np.random.Generator, tuple[int, ...]], Array]
TRIES, TRIES_OF_A_PAGE, TRIES_OF_A_PAIR = 4000, 2000, 50_000
CELLS = (2, 3, 5, 10, 20)
REPEATS = (3, 4, 5, 10)
SMALL_EFFECT, TRUE_EFFECT = math.log(1.05), math.log(1.10)
FIFTH = math.log(0.8)


def normal(share: float) -> Draws:
    """Log-normal noise with this coefficient of variation."""
    sigma = math.sqrt(math.log1p(share**2))
    return lambda draw, shape: draw.normal(0, sigma, shape)


def skewed(draw: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Slow at times and never fast: an exponential loss of 5 % in the mean."""
    return 0.05 - draw.exponential(0.05, shape)


def one_outlier(draw: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """2 % noise, and one repeat of every cell loses a fifth."""
    logs = draw.normal(0, 0.02, shape)
    logs[..., 0] += FIFTH
    return logs


def two_modes(share: float) -> Draws:
    """2 % noise, and so many of the repeats lose a fifth."""
    return lambda draw, shape: draw.normal(0, 0.02, shape) + FIFTH * (draw.random(shape) < share)


def heavy_tails(draw: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """Student's t with three degrees of freedom, 5 % in the standard deviation."""
    return draw.standard_t(3, shape) * (0.05 / math.sqrt(3))


def one_noisy(draw: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """2 % noise, and 15 % of the first cell."""
    logs = draw.normal(0, 0.02, shape)
    logs[:, 0] *= 7.5
    return logs


ONE_NOISY = "2 %, and 15 % of one cell"
NOISES: dict[str, Draws] = {
    "2 %": normal(0.02),
    "5 %": normal(0.05),
    "15 %": normal(0.15),
    "skewed, 5 %": skewed,
    "2 %, one repeat of each cell loses a fifth": one_outlier,
    "2 %, one repeat in ten loses a fifth": two_modes(0.1),
    "2 %, three repeats in ten lose a fifth": two_modes(0.3),
    "2 %, half of the repeats lose a fifth": two_modes(0.5),
    "heavy tails, 5 %": heavy_tails,
    ONE_NOISY: one_noisy,
}
# The truth is the mean of both modes of noise with two; else that of repeats which nothing disturbed.
TRUTHS = {"2 %, three repeats in ten lose a fifth": 0.3 * FIFTH, "2 %, half of the repeats lose a fifth": 0.5 * FIFTH}
COLUMNS = (
    "noise of a repeat", "cells", "repeats", "cell covered", "ratio covered", "false page", "finds 5 %", "finds 10 %",
    "false matrix", "finds 10 % of all pairs",
)  # fmt: skip


def drawn(noise: str, cells: int, repeats: int, tries: int = TRIES_OF_A_PAGE) -> Array:
    seed = zlib.crc32(f"{noise} {cells} {repeats}".encode())
    return NOISES[noise](np.random.default_rng(seed), (tries, cells, repeats))


def noise_of(logs: Array) -> Noise[Array]:
    """As `runs.stats.page_noise`, of pages (tries, cells, repeats)."""
    df = logs.shape[-1] - 1
    spreads = np.sort(logs.var(-1, ddof=1), axis=-1)
    cells = spreads.shape[-1]
    is_pooled = np.ones_like(spreads)
    if cells >= LEAST_TO_LEAVE_OUT:
        is_pooled[:, -1] = 0
    elif cells >= LEAST_POOLED:
        others = spreads[:, :-1].mean(-1)
        is_pooled[:, -1] = spreads[:, -1] <= others * surely_noisier(df, df * (cells - 1))
    pooled = spreads * is_pooled
    freedom = df * pooled.sum(-1, keepdims=True) ** 2 / (pooled**2).sum(-1, keepdims=True)
    return Noise(pooled.sum(-1, keepdims=True) / is_pooled.sum(-1, keepdims=True), freedom, cells)


def compared(logs: Array, base: Array, noise: Noise[Array] | None = None) -> Welch[Array]:
    """Each cell of `logs` against the one in the same try of `base`, with the noise of their page."""
    first, second = (Moments(side.mean(-1), side.var(-1, ddof=1), side.shape[-1]) for side in (logs, base))
    return Welch.of(first, second, noise)


def named(welch: Welch[Array], p: Array, levels: Array | float) -> Truths:
    """Whether a cell is called better or worse at its level: the interval of that level leaves 1 out if p is below."""
    return np.asarray((p < levels) & (abs(welch.centre) >= math.log1p(PRACTICAL_THRESHOLD)))


def family(welch: Welch[Array]) -> Truths:
    """The same for comparisons that a page makes together: the last axis is the page."""
    return named(welch, welch.p, holm(welch.p))


def false_headline(logs: Array, noise: Noise[Array]) -> Truths:
    """Whether the highest of equal cells is said to be better than each other."""
    order = np.argsort(logs.mean(-1), axis=-1)
    ordered = np.take_along_axis(logs, order[..., None], axis=1)
    return np.asarray(family(compared(ordered[:, :-1], ordered[:, -1:], noise)).all(-1))


def cell_covered(logs: Array, noise: Noise[Array], truth: float) -> Truths:
    """Whether the interval at each bar holds the truth: as `runs.stats.geometric_mean_interval`."""
    cells = Moments(logs.mean(-1), logs.var(-1, ddof=1), logs.shape[-1])
    alone = noise.stands_alone(cells)
    half = special.stdtrit(noise.df, 0.5 + CELL_CONFIDENCE / 2) * (noise.variance / cells.n) ** 0.5
    return np.asarray(abs(cells.mean - truth) <= np.where(alone, cells.half_width(CELL_CONFIDENCE), half))


def row(noise: str, cells: int, repeats: int) -> tuple[float, ...]:
    """Shares of the tries, as COLUMNS. One cell of the page, the last, is faster in what is to be found."""
    logs = drawn(noise, cells, repeats, TRIES_OF_A_PAIR if cells == 2 else TRIES_OF_A_PAGE)
    of_page = noise_of(logs)
    first, second = np.triu_indices(cells, 1)
    alike, pairs = compared(logs[:, 1:], logs[:, :1], of_page), compared(logs[:, second], logs[:, first], of_page)

    def found(welch: Welch[Array], effect: float, which: Truths) -> float:
        """The share of the true differences that are named."""
        moved = Welch(welch.centre + effect * which, welch.error, welch.df)
        return float((family(moved) & (moved.centre > 0))[:, which].mean())

    last, last_pairs = np.arange(1, cells) == cells - 1, second == cells - 1
    return (
        float(cell_covered(logs, of_page, TRUTHS.get(noise, 0.0)).mean()),
        float((alike.p >= ALPHA).mean()),
        float((family(alike).any(-1) | false_headline(logs, of_page)).mean()),
        found(alike, SMALL_EFFECT, last),
        found(alike, TRUE_EFFECT, last),
        float(family(pairs).any(-1).mean()),
        found(pairs, TRUE_EFFECT, last_pairs),
    )


# Two series at several levels: the same family, and the ratio over all levels beside it.
NOISES_OF_LEVELS = [noise for noise in NOISES if noise != ONE_NOISY]
LEVELS = (2, 3, 6, 12)
REPEATS_OF_LEVELS = (1, 3, 5, 10)
LEVEL_COLUMNS = (
    "noise of a repeat", "levels", "repeats", "overall covered", "called unlike", "false winner in the family",
    "finds 10 % over all",
)  # fmt: skip


def over_levels(welch: Welch[Array], with_noise: Welch[Array]) -> tuple[Welch[Array], Array]:
    """As `runs.stats.overall_ratio`, with p of the hypothesis that all levels (the last axis) have one ratio."""
    count = welch.centre.shape[-1]
    variance = welch.error**2
    together = variance.sum(-1) / count**2
    df = together**2 / ((variance / count**2) ** 2 / welch.df).sum(-1)
    weights, freedoms = with_noise.error**-2, with_noise.df
    shares = weights / weights.sum(-1, keepdims=True)
    q = (weights * (welch.centre - (shares * welch.centre).sum(-1, keepdims=True)) ** 2).sum(-1)
    doubt = ((1 - shares) ** 2 / freedoms).sum(-1)
    f = q / (count - 1) / (1 + 2 * (count - 2) / (count**2 - 1) * doubt)
    alike = special.fdtrc(count - 1, (count**2 - 1) / (3 * doubt), f)
    return Welch(welch.centre.mean(-1), together**0.5, df), alike


def level_row(noise: str, levels: int, repeats: int) -> tuple[float | None, ...]:
    """Shares of the tries, as LEVEL_COLUMNS; of single repeats what the ratios of the levels alone can tell."""
    seed = zlib.crc32(f"{noise} {levels} levels {repeats}".encode())
    logs = NOISES[noise](np.random.default_rng(seed), (TRIES, 2, levels, repeats))
    if repeats == 1:
        ratios = logs[:, 0, :, 0] - logs[:, 1, :, 0]
        over = Welch(ratios.mean(-1), ratios.std(-1, ddof=1) / levels**0.5, np.full(TRIES, levels - 1.0))
        shifted = Welch(over.centre + TRUE_EFFECT, over.error, over.df)
        # Levels of single repeats that point both ways have no single number.
        limit, verdicts = math.log1p(PRACTICAL_THRESHOLD), []
        for welch, moved in ((over, ratios), (shifted, ratios + TRUE_EFFECT)):
            on_both_sides = (moved.max(-1) >= limit) & (moved.min(-1) <= -limit)
            verdicts.append(named(welch, welch.p, ALPHA) & ~on_both_sides)
        false, right = verdicts
        return float((over.p >= ALPHA).mean()), None, float(false.mean()), float((right & (shifted.centre > 0)).mean())
    each = compared(logs[:, 0], logs[:, 1], noise_of(logs.reshape(TRIES, 2 * levels, repeats)))
    over, alike = over_levels(compared(logs[:, 0], logs[:, 1]), each)
    everything = Welch(*(np.column_stack(of) for of in zip(parts(each), parts(over), strict=True)))
    shifted = Welch(everything.centre + TRUE_EFFECT, everything.error, everything.df)
    wins = family(shifted) & (shifted.centre > 0)
    shares = (over.p >= ALPHA, alike < ALPHA, family(everything).any(-1), wins[:, -1])
    return tuple(float(share.mean()) for share in shares)


# The tail of slow transactions of a percentile of all repeats together, or none.
TAILS = {"none": 0.0, "1.5 %": 0.015}
REPEATS_TOGETHER = (3, 5, 10)
TRANSACTIONS, RANK, TRIES_TOGETHER = 500, 0.99, 200
TOGETHER_COLUMNS = (
    "noise of a repeat", "slow tail", "repeats", "together covered", "false winner, two cells",
)  # fmt: skip


def together(noise: str, tail: str, repeats: int) -> tuple[float, ...]:
    """Shares of the tries, as TOGETHER_COLUMNS: two equal cells by the 99th percentile of all their transactions."""
    draw = np.random.default_rng(zlib.crc32(f"{noise} {tail} {repeats} together".encode()))
    made = latencies(draw, TAILS[tail], -NOISES[noise](draw, (TRIES_TOGETHER, 2, repeats)))
    many = latencies(draw, TAILS[tail], -NOISES[noise](draw, (1, 1, 4_000)))
    truth = np.sort(many, axis=None)[math.ceil(RANK * many.size) - 1]
    each, whole = percentile(made), percentile(made.reshape(TRIES_TOGETHER, 2, -1))
    others = [np.delete(made, repeat, axis=2).reshape(TRIES_TOGETHER, 2, -1) for repeat in range(repeats)]
    values = jackknifed_of(whole, np.stack([percentile(other) for other in others], axis=-1), each)
    sides = Moments(whole, values.var(-1, ddof=1), repeats)
    welch = compared(values[:, :1], values[:, 1:])
    covered = abs(whole - truth) <= sides.half_width(CELL_CONFIDENCE)
    limit = math.log1p(METRICS["latency_p99_ms"].threshold)
    return float(covered.mean()), float(((welch.p < ALPHA) & (abs(welch.centre) >= limit)).mean())


def latencies(draw: np.random.Generator, tail: float, effects: Array) -> Array:
    """Logs of `TRANSACTIONS` of each repeat, along a new last axis."""
    logs = draw.standard_normal((*effects.shape, TRANSACTIONS)) / 2
    if tail:
        slow = draw.random(logs.shape) < tail
        logs = np.where(slow, math.log(20) + 1.2 * logs, logs)
    return np.asarray(logs + effects[..., None])


def percentile(logs: Array) -> Array:
    at = math.ceil(RANK * logs.shape[-1]) - 1
    return np.asarray(np.partition(logs, at, axis=-1)[..., at])


def jackknifed_of(whole: Array, without: Array, each: Array) -> Array:
    """The logs of `runs.stats.jackknifed`, of many cells; the last axis is the repeats."""
    count = each.shape[-1]
    apart = (pseudo := count * whole[..., None] - (count - 1) * without) - pseudo.mean(-1, keepdims=True)
    spread, least = apart.std(-1, ddof=1, keepdims=True), each.std(-1, ddof=1, keepdims=True)
    return np.asarray(whole[..., None] + apart * np.maximum(1.0, least / spread))


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


def parts(welch: Welch[Array]) -> tuple[Array, Array, Array]:
    return welch.centre, welch.error, welch.df


def line(noise: str, *counts: int | str, shares: Sequence[float | None]) -> str:
    cells = ("–" if share is None else f"{share:.1%}" for share in shares)
    return f"| {' | '.join([noise, *map(str, counts), *cells])} |"


def page() -> Iterator[str]:
    yield f"""# Verdicts, simulated

Output of `scripts/verdict_table.py`: fixed seeds, {TRIES_OF_A_PAGE:,} pages a row and
{TRIES_OF_A_PAIR:,} of two cells; a test simulates them again.
What the columns follow from: [how a verdict comes about](../method/verdicts.md).

* *Cell covered*: the interval that is drawn at a bar holds the true value: that of repeats which nothing disturbed, and
  where three repeats in ten or half of them are slow, the mean of both kinds.
* *Ratio covered*: the 95 % interval of the ratio of two equal cells holds 1.
* *False page*: one of several equal cells is called better or worse than the first, or the headline names one of them.
* *Finds 5 %, 10 %*: a cell that is so much better is called better than the first.
* *False matrix*, *finds 10 % of all pairs*: the same where the page compares everything with everything.

| {" | ".join(COLUMNS)} |
|{"---|" * len(COLUMNS)}"""
    for noise in NOISES:
        for cells in CELLS:
            for repeats in REPEATS:
                yield line(noise, cells, repeats, shares=row(noise, cells, repeats))
    yield f"""
## Level by level

Two equal series, set against each other at each of several levels, and over all of them; {TRIES:,} tries a row.

* *Overall covered*: the 95 % interval of the ratio over all levels holds 1.
* *Called unlike*: levels that all have one ratio are said to differ.
* *False winner in the family*: one of the levels, or the ratio over all, is called better or worse.
* *Finds 10 % over all*: a series that is 10 % better at every level is called better over all.

Of one repeat a side, as articles print them, only the ratios of the levels tell how sure their mean is.

| {" | ".join(LEVEL_COLUMNS)} |
|{"---|" * len(LEVEL_COLUMNS)}"""
    for noise in NOISES_OF_LEVELS:
        for levels in LEVELS:
            for repeats in REPEATS_OF_LEVELS:
                if repeats > 1 or levels > 2:
                    yield line(noise, levels, repeats, shares=level_row(noise, levels, repeats))
    yield f"""
## Percentiles of all repeats together

The 99th percentile of all transactions of a cell, {TRANSACTIONS:,} a repeat; {TRIES_TOGETHER} tries a row.

* *Together covered*: the interval that is drawn at a bar holds the percentile of thousands of such repeats, outliers
  included: of these a few repeats cannot know.
* *False winner, two cells*: one of two equal cells is called better or worse.

| {" | ".join(TOGETHER_COLUMNS)} |
|{"---|" * len(TOGETHER_COLUMNS)}"""
    for noise in NOISES_OF_LEVELS:
        for tail in TAILS:
            for repeats in REPEATS_TOGETHER:
                yield line(noise, tail, repeats, shares=together(noise, tail, repeats))
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
    for text in page():
        print(text, flush=True)
