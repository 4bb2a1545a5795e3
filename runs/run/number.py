"""A run's number, and why it has none: one answer for lists, pages, comparisons and re-runs of articles."""

from __future__ import annotations

from collections.abc import Iterable

from benchagent.catalog import EXTREMES, LATENCIES, METRICS, THROUGHPUTS, factor_label, headline_metrics, refusal
from django.db.models import Case, F, FloatField, OuterRef, QuerySet, Subquery, Value, When

from runs.formatting import telling_line
from runs.models import Batch, Measurement, Metric, Run
from runs.models.choices import OPEN_STATES, RunState
from runs.run.quality import SLOWEST, unfair_words


def primary_number(run: Run) -> Measurement | None:
    """The one that lists show: the workload's primary metric, else, of a run that has finished, TPS, else another
    throughput, else the first with a direction, a maximum last of them, else the first.
    """
    rows = list(run.measurements.all())
    rows = [row for row in rows if row.phase == "run"] or rows
    named = [row for row in rows if row.metric.name == run.workload.primary_metric]
    others = rows if run.state == RunState.FINISHED else []
    directed = [row for row in others if row.metric.better != "none"]
    directed.sort(
        key=lambda row: (row.metric.name != "tps", row.metric.name not in THROUGHPUTS, row.metric.name in EXTREMES)
    )
    chosen = next(iter(named or directed or others), None)
    return chosen if chosen and not _uncounted(run, chosen) else None


def headline_numbers(run: Run) -> list[Measurement]:
    """What a run's result is in one line: the primary number, then those that stand beside it. Empty without one."""
    primary = primary_number(run)
    if primary is None:
        return []
    _, *beside = headline_metrics(run.workload.kind, run.workload.primary_metric)
    numbers = (number_of(run, name) for name in beside if name != primary.metric.name)
    return [primary, *(number for number in numbers if number)]


def number_of(run: Run, metric: str, unit: str | None = None) -> Measurement | None:
    """Its number of this metric, of whatever unit where none is given: that of the run, else of another phase."""
    rows = (row for row in run.measurements.all() if row.metric.name == metric and unit in (None, row.metric.unit))
    chosen = min(rows, key=lambda row: row.phase != "run", default=None)
    return chosen if chosen and not _uncounted(run, chosen) else None


def implausible(row: Measurement) -> str:
    """Why a value that was stored before such values were refused counts nowhere; empty where it counts."""
    return refusal(row.metric.name, row.value, row.metric.unit)


def unfair(run: Run) -> str:
    """Why its latencies count nowhere: a few terminals did the work of all. Empty where they count."""
    metrics = run.metrics
    return unfair_words(metrics, run.factor_values) if SLOWEST in metrics else ""


def _uncounted(run: Run, row: Measurement) -> str:
    """Why this number of a run counts nowhere; empty where it counts."""
    if why := implausible(row):
        return f"{why}: it cannot be, so it counts nowhere"
    if row.metric.name.startswith(LATENCIES) and (why := unfair(run)):
        return f"{why}: its latencies are not ranked"
    return ""


def values_of(runs: Iterable[Run], metric: str) -> list[float]:
    return [row.value for run in runs if (row := number_of(run, metric))]


def why_no_number(run: Run, label: str = "", metric: Metric | None = None) -> str:
    """Why a run has no number, or none of the metric with this label, or of this one."""
    label = metric.label if metric else label
    if run.invalid_at is not None:
        return run.invalid_words
    if run.missing_reason or run.state == RunState.VALUE_MISSING:
        reason = run.missing_reason or "the source does not hold it"
        if metric is None or run.missing_metric in ("", metric.name):
            return reason
        return f"no {label.lower()} in this run, {missing_label(run).lower()} not known ({reason})"
    state = run.get_state_display().lower()
    if run.state in OPEN_STATES:
        return f"not finished yet ({state})"
    if run.state == RunState.FINISHED:
        rows = (row for row in run.measurements.all() if label in ("", row.metric.label))
        wrong = "; ".join(dict.fromkeys(filter(None, (_uncounted(run, row) for row in rows))))
        none = f"no {label.lower()} in this run" if label else "no figure of the whole run, only samples"
        return wrong or _in_another_unit(run, metric) or none
    message = telling_line(run.message)
    # "cancelled before it started" says its state already.
    return message if message.startswith(state) else f"{state}: {message}" if message else state


def missing_label(run: Run) -> str:
    """The metric of which its source does not hold the value; empty of none."""
    name = run.missing_metric
    return METRICS[name].label if name in METRICS else factor_label(name)


def _in_another_unit(run: Run, metric: Metric | None) -> str:
    """That a run without this metric has it in another unit, or another throughput; empty where it has none."""
    if metric is None:
        return ""
    others = [row.metric for row in run.measurements.all() if row.metric.name == metric.name]
    if metric.name in THROUGHPUTS and (primary := primary_number(run)) and primary.metric.name in THROUGHPUTS:
        others.append(primary.metric)
    other = next((each for each in others if each.unit != metric.unit), None)
    return f"not in {metric.unit}, but in {other.unit}" if other else ""


def refresh_primary(runs: QuerySet[Run]) -> None:
    """Bring `Run.primary_value`, what lists sort by, up to their measurements, their workload and whether they count.

    To be called by whatever writes measurements, marks a run invalid or changes a workload's primary metric.
    """
    numbers = Measurement.objects.filter(
        run=OuterRef("pk"), metric__name=F("run__workload__primary_metric"), phase="run"
    )
    first = Subquery(numbers.order_by("metric__unit").values("value")[:1], output_field=FloatField())
    # An invalid run has none: it must not lead a list that is sorted by value.
    runs.update(primary_value=Case(When(invalid_at=None, then=first), default=Value(None), output_field=FloatField()))
    Batch.objects.refile(runs)
