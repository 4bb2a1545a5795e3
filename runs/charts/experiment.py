"""An experiment's runs as a matrix: one row per cell, one column per repeat, with the charts of its numbers.

Where a size or another number varies, also as curves: how a rate falls as the data outgrow the memory.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchagent.catalog import METRICS
from django.http import QueryDict

from runs.answers.ask import answer_of, offered
from runs.answers.places import x_label
from runs.answers.words import headline
from runs.answers.words.drawn import bars_note
from runs.answers.words.gaps import gap_reasons, unsaid_words
from runs.answers.words.questions import question_words
from runs.answers.words.warnings import warnings_of
from runs.charts.base import Figure, Multiples
from runs.charts.compare import apart_figures, bars_figure
from runs.charts.curves import curve_figures
from runs.compare.asked import LOAD_METRICS
from runs.compare.axes import CURVE, ON_AXES, arrange
from runs.compare.compare import compare, with_metric
from runs.compare.comparison import Comparison
from runs.compare.groups import SIZE_METRIC, Group
from runs.compare.panels import COLOURS, SIZE
from runs.formatting import few_listed
from runs.listing.rows import RunRow
from runs.models import Run
from runs.models.choices import ENDED_STATES
from runs.run.number import values_of


def overview(runs: Sequence[Run]) -> dict[str, Any]:
    """Context of an experiment's matrix: `figure` of the groups that are ranked, `apart` of each other class."""
    comparison = compare(runs, QueryDict("order=best"))
    if comparison.axes.view not in ON_AXES and len(comparison.groups) <= COLOURS:
        # An engine keeps its colour while the order changes, and in all charts.
        order = sorted(group.key for group in comparison.groups)
        groups = [replace(group, color=order.index(group.key)) for group in comparison.groups]
        comparison = replace(comparison, groups=groups)
    to_come = [group for group in comparison.groups if group.is_to_come]
    shown = replace(comparison, groups=[group for group in comparison.groups if not group.is_to_come])
    is_open = any(run.is_open for run in runs)
    others = [] if is_open else offered(comparison, answer_of(comparison))
    return {
        "comparison": comparison,
        "headline": headline(comparison),
        "warnings": warnings_of(comparison),
        "figure": _ranked_figure(shown, to_come) if any(group.dots for group in shown.ranked) else None,
        "apart": apart_figures(shown) if comparison.metric else [],
        "curves": curves(shown),
        "why_none": gap_reasons(comparison),
        "commit_groups": commit_group_rows(comparison),
        "matrix": [(group, [RunRow(run) for run in _by_repeat(group)]) for group in comparison.groups],
        "repeats": range(1, max((len(group.all_runs) for group in comparison.groups), default=0) + 1),
        "total": len(runs),
        "ended": sum(run.state in ENDED_STATES for run in runs),
        "is_open": is_open,
        # In words and as a part of an address, as on a page that compares them.
        "questions": [(question_words(other), other.question.query) for other in others],
    }


def fingerprint(runs: Sequence[Run]) -> str:
    """Changes whenever a run enters another state, is marked invalid, appears or goes."""
    text = ",".join(sorted(f"{run.id}:{run.state}:{run.invalid_at is None}" for run in runs))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _ranked_figure(shown: Comparison, to_come: Sequence[Group]) -> Figure:
    title = shown.metric.label if shown.metric else ""
    if not all(group.ranked for group in (*shown.groups, *to_come)):
        title = f"{title}: {', '.join(dict.fromkeys(group.durability_words for group in shown.ranked))}"
    note = bars_note(shown.ranked)
    if to_come:
        to_be = f"Still to come: {few_listed([group.label for group in to_come])}."
        note = " ".join(filter(None, [note, to_be, unsaid_words(shown.unsaid)]))
    return bars_figure(shown, shown.ranked, id="ranked", title=title, note=note)


def _by_repeat(group: Group) -> list[Run]:
    return sorted(group.all_runs, key=lambda run: (run.repeat, run.order_index or 0, run.created_at))


GROUP_COMMIT, COMMITS_PER_FLUSH = "factor:group_commit", "commits_per_flush"


def commit_group_rows(comparison: Comparison) -> list[tuple[str, float | None, float | None]]:
    """(label, median, commits that shared a flush of the log) of each cell; None where no repeat has that number.

    Empty where commit groups do not vary, or no engine of the set counts flushes of its log.
    """
    if not any(fact.field == GROUP_COMMIT for fact in comparison.varying):
        return []
    shown = []
    for group in comparison.groups:
        shared = values_of(group.runs, COMMITS_PER_FLUSH)
        shown.append((group.label, group.median, statistics.median(shared) if shared else None))
    return shown if any(commits is not None for _, _, commits in shown) else []


def curves(comparison: Comparison) -> list[Multiples]:
    """Where a number has three levels the chosen metric over it; over a size as the database came to, and the load."""
    axes, metric = arrange(comparison), comparison.metric
    if axes.view != CURVE or metric is None:
        return []
    over_size = axes.kind == SIZE
    if over_size and all(values_of(group.all_runs, SIZE_METRIC) for group in comparison.drawn if group.dots):
        axes = replace(axes, x_as="size")
    comparison = replace(comparison, axes=axes)
    figures = curve_figures(comparison, id=f"{metric.name}-curve")
    by_name = {metric.name: metric for metric in reversed(comparison.metrics)}
    load = next((by_name[name] for name in LOAD_METRICS if name in by_name), None)
    if over_size and load and load != metric:
        title = f"{METRICS[load.name].label} over {x_label(axes).lower()}"
        figures += curve_figures(with_metric(comparison, load), id="load-curve", title=title)
    return figures
