"""How many commits shared a flush of the log, beside the throughput, where the size of commit groups varies."""

from __future__ import annotations

import statistics

from runs.compare.groups import Comparison
from runs.run.number import values_of

FACTOR, METRIC = "factor:group_commit", "commits_per_flush"


def rows(comparison: Comparison) -> list[tuple[str, float | None, float | None]]:
    """(label, median, commits per flush) of each cell; None where no repeat has that number.

    Empty where commit groups do not vary, or no engine of the set counts flushes of its log.
    """
    if not any(fact.field == FACTOR for fact in comparison.varying):
        return []
    shown = []
    for group in comparison.groups:
        shared = values_of(group.runs, METRIC)
        shown.append((group.label, group.median, statistics.median(shared) if shared else None))
    return shown if any(commits is not None for _, _, commits in shown) else []
