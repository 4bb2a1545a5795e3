"""How a ratio and a change are said: the pieces of which sentences are made."""

from __future__ import annotations

from runs import formatting
from runs.stats import Ratio

# From so many times on growth is said as a multiple.
TIMES_FROM = 3.0


def change_words(change: Ratio) -> str:
    """What came or went, with the interval where there is one: −17.5 % (−20.1 % to −15.0 %); what grew far 27.2 ×."""
    ratios = [change.value, *((change.interval.low, change.interval.high) if change.interval else ())]
    is_far = max(ratios) >= TIMES_FROM
    words, *ends = (formatting.times(r) if is_far else formatting.percent(r - 1, signed=True) for r in ratios)
    return f"{words} ({' to '.join(ends)})" if ends else words


def ratio_words(ratio: Ratio | None) -> str:
    """4.74 × (4.37–5.13); without the interval where there is none."""
    if ratio is None:
        return ""
    words, interval = formatting.times(ratio.value), ratio.interval
    if interval is None:
        return words
    return f"{words} ({formatting.three_digits(interval.low)}–{formatting.three_digits(interval.high)})"
