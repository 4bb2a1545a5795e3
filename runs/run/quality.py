"""Runs that look good and are not: what their own numbers say against them, judged once, when they are stored.

What is judged is a check of the run (`Run.checks`), and a warning where it does not hold. Numbers in, words out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from benchagent.protocol import Check

# Of a terminal on average: with fewer transactions chance alone makes terminals differ.
LEAST_EACH = 100
# Below either of them a few terminals did the work of all, and the waiting of the others is in no percentile.
LEAST_SHARE_PERCENT, LEAST_INDEX = 50.0, 0.9
OF_TERMINALS = "computed from the transactions of each terminal"
SLOWEST, INDEX = "slowest_terminal_percent", "jain_index"


@dataclass(frozen=True)
class Told:
    """What a run says of itself. `metrics`: those of the measured window."""

    factors: Mapping[str, float | str]
    metrics: Mapping[str, float]


def judged(told: Told) -> list[Check]:
    """Of a run that has finished. What cannot be told of it is left out."""
    return [check for check in (terminals_fair(told),) if check]


def warnings(checks: Sequence[Check]) -> list[str]:
    return [check["detail"] for check in checks if not check["ok"]]


# Starvation


def fairness(per_terminal: Sequence[float]) -> dict[str, float]:
    """The slowest terminal's share in % of an equal one, and Jain's index: (Σx)² ⁄ (n Σx²), 1 when all are alike.

    By the names of the metrics; empty where there are too few terminals or transactions to tell.
    Source: R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness, DEC-TR-301 (1984).
    """
    total = sum(per_terminal)
    if len(per_terminal) < 2 or total < LEAST_EACH * len(per_terminal):
        return {}
    squares = sum(count * count for count in per_terminal)
    share = 100 * min(per_terminal) * len(per_terminal) / total
    return {SLOWEST: share, INDEX: total * total / (len(per_terminal) * squares)}


def unfair_words(metrics: Mapping[str, float], factors: Mapping[str, float | str]) -> str:
    """Why the latencies of a run say nothing of what all terminals met; empty where they do, or it is not known.

    At a fixed rate whatever waits was due, so its waiting is in the percentiles, whoever does it at last.
    """
    share, index = metrics.get(SLOWEST), metrics.get(INDEX)
    if share is None or index is None or factors.get("rate_per_s"):
        return ""
    if share >= LEAST_SHARE_PERCENT and index >= LEAST_INDEX:
        return ""
    return f"unfair: {_shares(share, index)} (least: {LEAST_SHARE_PERCENT:.0f} % and {LEAST_INDEX:g})"


def terminals_fair(told: Told) -> Check | None:
    if SLOWEST not in told.metrics or INDEX not in told.metrics:
        return None
    words = unfair_words(told.metrics, told.factors)
    detail = f"{words}. Its latencies are not ranked: the others' waiting is not in them" if words else ""
    good = _shares(told.metrics[SLOWEST], told.metrics[INDEX])
    return {"name": "terminals_fair", "ok": not words, "detail": detail or good}


def _shares(share: float, index: float) -> str:
    return f"the slowest terminal made {share:.0f} % of an equal share, Jain's index {index:.2f}"
