"""An experiment's runs as a matrix: one row per cell, one column per repeat, with the charts of its medians."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from runs.charts import sizes
from runs.charts.base import COLOURS, Figure
from runs.charts.compare import bars_figure
from runs.choices import ENDED_STATES
from runs.compare import Comparison, Group, compare
from runs.models import Run
from runs.rows import RunRow

CHART_NOTE = "Bar: median. Dots: every repeat."


@dataclass(frozen=True)
class MatrixRow:
    group: Group
    cells: list[RunRow]


def overview(runs: Sequence[Run]) -> dict[str, Any]:
    """Context of an experiment's matrix: `figure` of the groups that are ranked, `apart` of those that are not."""
    comparison = compare(runs, order="best")
    return {
        "comparison": comparison,
        "figure": _figure(comparison, ranked=True),
        "apart": _figure(comparison, ranked=False),
        "over_size": sizes.figures(comparison),
        "matrix": [_row(group) for group in comparison.groups],
        "repeats": range(1, max((len(group.all_runs) for group in comparison.groups), default=0) + 1),
        "total": len(runs),
        "ended": sum(run.state in ENDED_STATES for run in runs),
        "is_open": any(run.is_open for run in runs),
    }


def fingerprint(runs: Sequence[Run]) -> str:
    """Changes whenever a run enters another state, is marked invalid, appears or goes."""
    text = ",".join(sorted(f"{run.id}:{run.state}:{run.invalid_at is None}" for run in runs))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _figure(comparison: Comparison, *, ranked: bool) -> Figure | None:
    groups = [group for group in comparison.groups if group.ranked is ranked and not _is_to_come(group)]
    if comparison.metric is None or not groups:
        return None
    title = comparison.metric.label
    if not ranked:
        title = "Does not wait for the disk – not ranked"
    elif any(not group.ranked for group in comparison.groups):
        title = f"{title} of the engines that wait for the disk"
    note = " ".join(filter(None, (CHART_NOTE, _to_come(comparison)))) if ranked else ""
    shown = replace(comparison, groups=groups)
    figure = bars_figure(shown, id="ranked" if ranked else "apart", title=title, note=note)
    if figure.spec["type"] == "bars":
        for bar, group in zip(figure.spec["groups"], groups, strict=True):
            bar["color"] = _colour(comparison, group)
    return figure


def _is_to_come(group: Group) -> bool:
    """No value yet, but a run that may still bring one: that is not a gap."""
    return not group.dots and any(run.is_open for run in group.all_runs)


def _to_come(comparison: Comparison) -> str:
    labels = [group.label for group in comparison.groups if _is_to_come(group)]
    return f"Still to come: {', '.join(labels)}." if labels else ""


def _colour(comparison: Comparison, group: Group) -> int:
    """An engine keeps its colour while the order changes, and in both charts."""
    return sorted(one.key for one in comparison.groups).index(group.key) % COLOURS


def _row(group: Group) -> MatrixRow:
    ordered = sorted(group.all_runs, key=lambda run: (run.repeat, run.order_index or 0, run.created_at))
    return MatrixRow(group, [RunRow(run) for run in ordered])
