"""A run's number, and why it has none: one answer for lists, pages, comparisons and re-runs of articles."""

from __future__ import annotations

from collections.abc import Iterable

from runs.models import Measurement, Run
from runs.models.choices import OPEN_STATES, RunState


def primary_number(run: Run) -> Measurement | None:
    """The one that lists show: the workload's primary metric, else the first with a direction, else the first."""
    rows = list(run.measurements.all())
    rows = [row for row in rows if row.phase == "run"] or rows
    named = [row for row in rows if row.metric.name == run.workload.primary_metric]
    directed = [row for row in rows if row.metric.better != "none"]
    return next(iter(named or directed or rows), None)


def number_of(run: Run, metric: str, unit: str | None = None) -> Measurement | None:
    """Its number of this metric, of whatever unit where none is given: that of the run, else of another phase."""
    rows = (row for row in run.measurements.all() if row.metric.name == metric and unit in (None, row.metric.unit))
    return min(rows, key=lambda row: row.phase != "run", default=None)


def values_of(runs: Iterable[Run], metric: str) -> list[float]:
    return [row.value for run in runs if (row := number_of(run, metric))]


def why_no_number(run: Run, label: str = "") -> str:
    """Why a run has no number, or none of the metric with this label."""
    if run.invalid_at is not None:
        return run.invalid_words
    if run.missing_reason:
        return run.missing_reason
    state = run.get_state_display().lower()
    if run.state in OPEN_STATES:
        return f"not finished yet ({state})"
    if run.state == RunState.VALUE_MISSING:
        return "the source does not hold it"
    if run.state == RunState.FINISHED:
        return f"no {label.lower()} in this run" if label else "no figure of the whole run, only samples"
    return f"{state}: {run.message}" if run.message else state
