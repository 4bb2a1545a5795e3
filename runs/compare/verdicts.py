"""How a ratio, a change and a step are said: the pieces of which sentences are made."""

from __future__ import annotations

from datetime import date

from runs import formatting
from runs.stats import Ratio
from runs.stats.steps import Step

# From so many times on growth is said as a multiple.
TIMES_FROM = 3.0


def change_words(change: Ratio) -> str:
    """What came or went, with the interval where there is one: −17.5 % (−20.1 % to −15.0 %); what grew far 27.2 ×."""
    ratios = [change.value, *((change.interval.low, change.interval.high) if change.interval else ())]
    is_far = max(ratios) >= TIMES_FROM
    words, *ends = (formatting.times(r) if is_far else formatting.percent(r - 1, signed=True) for r in ratios)
    return f"{words} ({' to '.join(ends)})" if ends else words


def day_at(x: float) -> date:
    """At a position on an axis of dates."""
    return date.fromordinal(int(x))


def step_words(step: Step, tested: str, better: str) -> str:
    """−10.1 % (−10.7 % to −9.5 %) since 2026-11-01 (0dfa28901d), against the 42 days before: worse.

    `tested`: the version on that day, where one is said.
    """
    day = f"{day_at(step.at)} ({tested})" if tested else str(day_at(step.at))
    since = f"since {day}" if step.is_last else f"from {day} on"
    change = f"{change_words(step.change)} {since}, against the {step.days_before} days before"
    if better not in ("higher", "lower"):
        return f"{change}."
    return f"{change}: {'better' if (step.change.value > 1) == (better == 'higher') else 'worse'}."


def no_step_words(days: int) -> str:
    return f"No lasting change in {days} days."


def ratio_words(ratio: Ratio | None) -> str:
    """4.74 × (4.37–5.13); without the interval where there is none."""
    if ratio is None:
        return ""
    words, interval = formatting.times(ratio.value), ratio.interval
    if interval is None:
        return words
    return f"{words} ({formatting.three_digits(interval.low)}–{formatting.three_digits(interval.high)})"
