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

from runs.stats import ALPHA, CELL_CONFIDENCE, PRACTICAL_THRESHOLD, Moments, Welch, holm

Array = NDArray[np.float64]
Truths = NDArray[np.bool_]
# Logs of repeats of this shape (tries, cells, repeats): 0 is what an undisturbed repeat has on average.
Noise = Callable[[np.random.Generator, tuple[int, ...]], Array]
TRIES = 4000
CELLS_OF_A_PAGE = 10
REPEATS = range(3, 11)
TRUE_EFFECT = math.log(1.10)
FIFTH = math.log(0.8)


def normal(share: float) -> Noise:
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


def some_outliers(draw: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """2 % noise, and one repeat in ten loses a fifth."""
    return draw.normal(0, 0.02, shape) + FIFTH * (draw.random(shape) < 0.1)


NOISES: dict[str, Noise] = {
    "2 %": normal(0.02),
    "5 %": normal(0.05),
    "15 %": normal(0.15),
    "skewed, 5 %": skewed,
    "2 %, one repeat of each cell loses a fifth": one_outlier,
    "2 %, one repeat in ten loses a fifth": some_outliers,
}
COLUMNS = (
    "noise of a repeat", "repeats", "cell covered", "ratio covered", "false winner, two cells", "false page of ten",
    "finds 10 %", "finds 10 % on a page of ten",
)  # fmt: skip


def drawn(noise: str, repeats: int, tries: int = TRIES) -> Array:
    seed = zlib.crc32(f"{noise} {repeats}".encode())
    return NOISES[noise](np.random.default_rng(seed), (tries, CELLS_OF_A_PAGE, repeats))


def compared(logs: Array, base: Array) -> Welch[Array]:
    """Each cell of `logs` against the one in the same try of `base`."""
    sides = [Moments(side.mean(-1), side.var(-1, ddof=1), side.shape[-1]) for side in (logs, base)]
    return Welch.of(*sides)


def named(welch: Welch[Array], p: Array, levels: Array | float) -> Truths:
    """Whether a cell is called better or worse at its level: the interval of that level leaves 1 out if p is below."""
    return np.asarray((p < levels) & (abs(welch.centre) >= math.log1p(PRACTICAL_THRESHOLD)))


def family(welch: Welch[Array], p: Array | None = None) -> Truths:
    """The same for comparisons that a page makes together: the last axis is the page."""
    p = welch.p if p is None else p
    return named(welch, p, holm(p))


def false_headline(logs: Array) -> Truths:
    """Whether the highest of equal cells is said to be better than each other."""
    order = np.argsort(logs.mean(-1), axis=-1)
    ordered = np.take_along_axis(logs, order[..., None], axis=1)
    return np.asarray(family(compared(ordered[:, :-1], ordered[:, -1:])).all(-1))


def row(noise: str, repeats: int, tries: int = TRIES) -> tuple[float, ...]:
    """Shares of the tries, as COLUMNS."""
    logs = drawn(noise, repeats, tries)
    cells = Moments(logs.mean(-1), logs.var(-1, ddof=1), repeats)
    alike = compared(logs[:, 1:], logs[:, :1])
    # One cell of the page is faster.
    faster = compared(logs[:, 1:] + np.eye(CELLS_OF_A_PAGE - 1)[0][:, None] * TRUE_EFFECT, logs[:, :1])
    p, p_found = alike.p, faster.p
    shares = (
        abs(cells.mean) <= cells.half_width(CELL_CONFIDENCE),
        p >= ALPHA,
        named(alike, p, ALPHA),
        family(alike, p).any(-1) | false_headline(logs),
        (named(faster, p_found, ALPHA) & (faster.centre > 0))[:, 0],
        (family(faster, p_found) & (faster.centre > 0))[:, 0],
    )
    return tuple(float(share.mean()) for share in shares)


# Of two series at several levels: the same family, and the ratio over all levels beside it.
LEVELS = (2, 3, 6, 12)
REPEATS_OF_LEVELS = (1, 3, 5, 10)
LEVEL_COLUMNS = (
    "noise of a repeat", "levels", "repeats", "overall covered", "called unlike", "false winner in the family",
    "finds 10 % over all",
)  # fmt: skip


def over_levels(welch: Welch[Array]) -> tuple[Welch[Array], Array]:
    """As `runs.stats.overall_ratio`, with p of the hypothesis that all levels (the last axis) have one ratio."""
    count, freedoms = welch.centre.shape[-1], welch.df
    variance = welch.error**2
    together = variance.sum(-1) / count**2
    df = together**2 / ((variance / count**2) ** 2 / freedoms).sum(-1)
    weights = 1 / variance
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
        # Of single repeats, levels that point both ways have no single number.
        limit, verdicts = math.log1p(PRACTICAL_THRESHOLD), []
        for welch, moved in ((over, ratios), (shifted, ratios + TRUE_EFFECT)):
            on_both_sides = (moved.max(-1) >= limit) & (moved.min(-1) <= -limit)
            verdicts.append(named(welch, welch.p, ALPHA) & ~on_both_sides)
        false, right = verdicts
        return float((over.p >= ALPHA).mean()), None, float(false.mean()), float((right & (shifted.centre > 0)).mean())
    each = compared(logs[:, 0], logs[:, 1])
    over, alike = over_levels(each)
    everything = Welch(*(np.column_stack(of) for of in zip(parts(each), parts(over), strict=True)))
    shifted = Welch(everything.centre + TRUE_EFFECT, everything.error, everything.df)
    wins = family(shifted) & (shifted.centre > 0)
    shares = (over.p >= ALPHA, alike < ALPHA, family(everything).any(-1), wins[:, -1])
    return tuple(float(share.mean()) for share in shares)


GROUPS_OF_A_MATRIX = (3, 6, 12)
MATRIX_COLUMNS = ("noise of a repeat", "groups", "repeats", "false matrix")


def false_matrix(noise: str, groups: int, repeats: int) -> tuple[float]:
    """The share of matrices of equal groups in which some group is told apart from another."""
    seed = zlib.crc32(f"{noise} {groups} groups {repeats}".encode())
    logs = NOISES[noise](np.random.default_rng(seed), (TRIES, groups, repeats))
    first, second = np.triu_indices(groups, 1)
    return (float(family(compared(logs[:, first], logs[:, second])).any(-1).mean()),)


# Of a percentile of all repeats together: a tail of slow transactions, or none.
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


def parts(welch: Welch[Array]) -> tuple[Array, Array, Array]:
    return welch.centre, welch.error, welch.df


def line(noise: str, *counts: int | str, shares: Sequence[float | None]) -> str:
    cells = ("–" if share is None else f"{share:.1%}" for share in shares)
    return f"| {' | '.join([noise, *map(str, counts), *cells])} |"


def page() -> Iterator[str]:
    yield f"""# Verdicts, simulated

Output of `scripts/verdict_table.py`: {TRIES:,} tries a row with fixed seeds; a test simulates them all again.
What the columns follow from: [how a verdict comes about](../method/verdicts.md).

* *Cell covered*: the interval that is drawn at a bar holds the true value, that of repeats which nothing disturbed.
* *Ratio covered*: the 95 % interval of the ratio of two equal cells holds 1.
* *False winner, two cells*: one of two equal cells is called better or worse.
* *False page of ten*: one of nine equal cells is called so against a tenth, or the headline names one of them.
* *Finds 10 %*: a cell that is 10 % better is called better, alone against another, and among nine on a page of ten.

| {" | ".join(COLUMNS)} |
|{"---|" * len(COLUMNS)}"""
    for noise in NOISES:
        for repeats in REPEATS:
            yield line(noise, repeats, shares=row(noise, repeats))
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
    for noise in NOISES:
        for levels in LEVELS:
            for repeats in REPEATS_OF_LEVELS:
                if repeats > 1 or levels > 2:
                    yield line(noise, levels, repeats, shares=level_row(noise, levels, repeats))
    yield f"""
## All pairs

Equal groups, each against each other, all pairs judged as one family; {TRIES:,} tries a row.

* *False matrix*: some group is told apart from another.

| {" | ".join(MATRIX_COLUMNS)} |
|{"---|" * len(MATRIX_COLUMNS)}"""
    for noise in NOISES:
        for groups in GROUPS_OF_A_MATRIX:
            for repeats in REPEATS_OF_LEVELS[1:]:
                yield line(noise, groups, repeats, shares=false_matrix(noise, groups, repeats))
    yield f"""
## Percentiles of all repeats together

The 99th percentile of all transactions of a cell, {TRANSACTIONS:,} a repeat; {TRIES_TOGETHER} tries a row.

* *Together covered*: the interval that is drawn at a bar holds the percentile of thousands of such repeats, outliers
  included: of these a few repeats cannot know.
* *False winner, two cells*: one of two equal cells is called better or worse.

| {" | ".join(TOGETHER_COLUMNS)} |
|{"---|" * len(TOGETHER_COLUMNS)}"""
    for noise in NOISES:
        for tail in TAILS:
            for repeats in REPEATS_TOGETHER:
                yield line(noise, tail, repeats, shares=together(noise, tail, repeats))


if __name__ == "__main__":
    for text in page():
        print(text, flush=True)
