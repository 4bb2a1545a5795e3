"""Latencies of one run that have to rise with their rank: minimum, percentiles, maximum."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

# Steps of a histogram are so wide: a percentile that is told by the end of its step lies above the greatest latency.
STEP = 0.05
LEAST, GREATEST = -1.0, math.inf
_RANKED = re.compile(r"(latency|service)_(?:p(\d{1,6})|(min)|(max))_ms")


def resolution(value: float) -> float:
    """The last written place of a figure: 1 of 42, 0.1 of 42.5."""
    text = repr(value)
    if "e" in text:
        return 0.0
    decimals = text.partition(".")[2]
    return 1.0 if decimals in ("", "0") else 10.0 ** -len(decimals)


def ranks(metrics: Mapping[str, float]) -> list[list[tuple[float, str]]]:
    """(rank in %, name) of each kind of latency among these, in their order: `LEAST`, percentiles, `GREATEST`."""
    kinds: dict[str, list[tuple[float, str]]] = {}
    for name in metrics:
        if match := _RANKED.fullmatch(name):
            kind, digits, least, most = match.groups()
            rank = LEAST if least else GREATEST if most or digits == "100" else float(f"{digits[:2]}.{digits[2:]}")
            kinds.setdefault(kind, []).append((rank, name))
    return [sorted(ranked) for ranked in kinds.values()]


def is_rounding(low: float, high: float) -> bool:
    """Whether the first is not above the second but for the last place of either."""
    return low - max(resolution(low), resolution(high)) <= high


def is_above(low: float, high: float) -> bool:
    """By more than a step of a histogram and than is rounded."""
    return low > high * (1 + STEP) and not is_rounding(low, high)
