"""How a verdict is said."""

from __future__ import annotations

import math

from runs.stats import ALPHA, MIN_REPEATS, MOST_REPEATS_ASKED, WINNERS, Interval, Kind, Lack, Verdict

_LACKS = {
    Lack.NOT_POSITIVE: "a value is zero or negative",
    Lack.TOO_FAR_APART: "the values are too far apart",
    Lack.TOO_FEW_REPEATS: f"fewer than {MIN_REPEATS} repeats",
    Lack.REPEATS_ALIKE: "the repeats do not vary at all",
    Lack.REPEATS_VARY: "the repeats vary beyond all measure",
    Lack.TOO_FEW_LEVELS: "too few repeats, and too few levels",
    Lack.LEVELS_ALIKE: "the levels do not differ at all",
    Lack.LEVELS_VARY: "the levels vary beyond all measure",
}


def verdict_words(verdict: Verdict) -> str:
    """One of better, worse, higher, lower; or that it is too small, equivalent, undecided, and what would decide."""
    if verdict.kind == Kind.MIXED:
        return "no single number: it depends on the level"
    interval = verdict.ratio.interval if verdict.ratio else None
    if interval is None or verdict.kind == Kind.TOO_FEW:
        return _without_interval(verdict)
    share = f"{verdict.threshold * 100:.6g}%"
    if verdict.kind == Kind.TOO_SMALL:
        return f"different, but too small to matter (under {share})"
    if verdict.kind == Kind.EQUIVALENT:
        return f"equivalent (within {share})"
    if verdict.kind in WINNERS:
        return verdict.side
    words = f"{verdict.side}, but undecided whether by {share}" if verdict.is_sided else "undecided"
    return words if verdict.fewest is None else f"{words}: {_more_words(verdict.repeats_needed, interval)}"


def _more_words(repeats: int | None, interval: Interval) -> str:
    """What would decide it. The bound of the difference is rounded up, so that it stays one."""
    if repeats is not None:
        return f"needs about {repeats} more repeat{'s' * (repeats != 1)}"
    most = max(interval.high, 1 / interval.low) - 1
    bound = f"{math.ceil(most * 100)}%" if most < 2 else f"{math.ceil(most + 1)} times"
    return f"needs over {MOST_REPEATS_ASKED} more repeats; the difference, if any, is below {bound}"


def _without_interval(verdict: Verdict) -> str:
    """Why two groups have no interval; several levels have no `fewest`."""
    lack, of_pair = verdict.ratio.lack if verdict.ratio else verdict.lack, verdict.fewest is not None
    why = _LACKS[lack] if lack else ""
    if of_pair and verdict.kind == Kind.TOO_FEW:
        return f"too few repeats ({verdict.fewest} on one side, {MIN_REPEATS} needed)"
    if of_pair and verdict.kind == Kind.EQUIVALENT:
        return "equivalent: every repeat is the same number"
    if verdict.ratio is None:
        return f"no ratio: {why}" if why else "no ratio"
    return f"undecided: {why}, so no interval can be given" if of_pair else why


def robustness_words(verdict: Verdict | None) -> str:
    """What the ranks say, from six repeats a side on; else empty."""
    if verdict is None or verdict.ranks is None:
        return ""
    ranks, delta = verdict.ranks, f"{verdict.ranks.delta:+.2f}".replace("-", "−")
    numbers = f"Mann-Whitney p = {ranks.p:.2g}, Cliff's δ = {delta} ({ranks.size})".replace("e-", "e−")
    if verdict.kind in WINNERS and ranks.p > ALPHA:
        return f"The ranks do not confirm it, a few repeats decide: {numbers}"
    if verdict.kind == Kind.UNDECIDED and verdict.ratio and ranks.p < 1 - verdict.ratio.confidence:
        return f"The ranks differ, outliers hide it: {numbers}"
    return f"Ranks: {numbers}"
