"""How many commits shared a flush of the log, beside the throughput, where the size of commit groups varies."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from runs.compare.groups import Comparison
from runs.run.number import values_of

FACTOR, METRIC = "factor:group_commit", "commits_per_flush"


@dataclass(frozen=True)
class CommitGroupsRow:
    """Medians of the repeats; None where no repeat has that number."""

    label: str
    median: float | None
    commits_per_flush: float | None


def rows(comparison: Comparison) -> list[CommitGroupsRow]:
    """One for each cell; empty where commit groups do not vary, or no engine of the set counts flushes of its log."""
    if not any(fact.field == FACTOR for fact in comparison.varying):
        return []
    shown = []
    for group in comparison.groups:
        shared = values_of(group.runs, METRIC)
        shown.append(CommitGroupsRow(group.label, group.median, statistics.median(shared) if shared else None))
    return shown if any(row.commits_per_flush is not None for row in shown) else []
