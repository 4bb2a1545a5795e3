"""An experiment's runs as a matrix: one row per cell, one column per repeat, with the charts of its numbers.

Where sizes of the data vary, also as curves: how a rate falls as the data outgrow the memory, one line per storage.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from benchagent.catalog import METRICS

from runs.charts.base import COLOURS, Figure, LineSeries, Mark, Scale, lines
from runs.charts.compare import BARS_NOTE, apart_figures, bars_figure
from runs.compare.compare import compare
from runs.compare.groups import Comparison, Group, VaryingFact, telling
from runs.formatting import percent, size_words
from runs.listing.rows import RunRow
from runs.models import Metric, Run
from runs.models.choices import ENDED_STATES
from runs.run.derived import LEAST_SIZES, SizeStep, per_doubling, size_steps
from runs.run.number import values_of
from runs.stats import summarise
from runs.tables import Column, Table, TableCell


def overview(runs: Sequence[Run]) -> dict[str, Any]:
    """Context of an experiment's matrix: `figure` of the groups that are ranked, `apart` of each other class."""
    comparison = compare(runs, order="best")
    to_come = [group for group in comparison.groups if _is_to_come(group)]
    shown = replace(comparison, groups=[group for group in comparison.groups if not _is_to_come(group)])
    # An engine keeps its colour while the order changes, and in all charts.
    palette = {key: at % COLOURS for at, key in enumerate(sorted(group.key for group in comparison.groups))}
    return {
        "comparison": comparison,
        "figure": _ranked_figure(shown, palette, to_come) if comparison.metric and shown.ranked else None,
        "apart": apart_figures(shown, palette) if comparison.metric else [],
        "over_size": size_figures(comparison),
        "commit_groups": commit_group_rows(comparison),
        "matrix": [(group, [RunRow(run) for run in _by_repeat(group)]) for group in comparison.groups],
        "repeats": range(1, max((len(group.all_runs) for group in comparison.groups), default=0) + 1),
        "total": len(runs),
        "ended": sum(run.state in ENDED_STATES for run in runs),
        "is_open": any(run.is_open for run in runs),
    }


def fingerprint(runs: Sequence[Run]) -> str:
    """Changes whenever a run enters another state, is marked invalid, appears or goes."""
    text = ",".join(sorted(f"{run.id}:{run.state}:{run.invalid_at is None}" for run in runs))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _ranked_figure(shown: Comparison, palette: Mapping[str, int], to_come: Sequence[Group]) -> Figure:
    title = shown.metric.label if shown.metric else ""
    if shown.apart or not all(group.ranked for group in to_come):
        title = f"{title}: {', '.join(dict.fromkeys(group.durability_words for group in shown.ranked))}"
    note = f"{BARS_NOTE} Still to come: {', '.join(group.label for group in to_come)}." if to_come else BARS_NOTE
    return bars_figure(shown, shown.ranked, palette, id="ranked", title=title, note=note)


def _is_to_come(group: Group) -> bool:
    """No value yet, but a run that may still bring one: that is not a gap."""
    return not group.dots and any(run.is_open for run in group.all_runs)


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


# Curves over the size of the data

# As the memory limit is given: 1 MB is 1,000,000 bytes.
MB = 1_000_000
SIZE_METRIC = "db_size_bytes"
# What a size is asked for by; the axis is the size that came of it.
SIZE_FACTORS = ("warehouses", "target_size_mb", "scale_factor", "rows_per_table", "dataset_mb")
LOAD_METRICS = ("load_size_mb_per_s", "load_mb_per_s")
LOG_FROM = 10.0
# An interval that reaches from a loss to twice the rate says nothing.
MOST_OF_A_DOUBLING = 1.0


@dataclass(frozen=True)
class Curve:
    label: str
    points: list[tuple[float, float]]

    @property
    def loss(self) -> str:
        """From the smallest size to the largest, and with each doubling, in words."""
        (small, first), (large, last) = self.points[0], self.points[-1]
        change = percent(last / first - 1, signed=True) if first else "not known"
        words = f"{self.label + ': ' if self.label else ''}{change} from {small:,.0f} to {large:,.0f} MB"
        fitted = per_doubling(self.points)
        if fitted is None or fitted.interval is None:
            return words
        if fitted.interval.high > MOST_OF_A_DOUBLING:
            return f"{words}; {len(self.points)} sizes do not tell what a doubling takes"
        told = (fitted.value, fitted.interval.low, fitted.interval.high)
        each, low, high = (percent(value, signed=True) for value in told)
        return f"{words}, {each} per doubling ({low} to {high}, fit over {len(self.points)} sizes)"


def size_figures(comparison: Comparison) -> list[Figure]:
    """The chosen metric over size, and the load rate; empty where fewer than three sizes were measured."""
    size = next((fact for fact in comparison.varying if fact.field.removeprefix("factor:") in SIZE_FACTORS), None)
    if size is None or comparison.metric is None:
        return []
    metrics = {metric.name: metric for metric in reversed(comparison.metrics)}
    load = next((metrics[name] for name in LOAD_METRICS if name in metrics), None)
    primary = comparison.metric
    wanted = [(f"{primary.name}-over-size", f"{primary.label} over size", primary)]
    # Which bytes a load rate counts is in its name, that of the catalogue.
    wanted += [("load-over-size", f"{METRICS[load.name].label} over size", load)] if load and load != primary else []
    drawn = (_size_figure(comparison, size, id, title, metric) for id, title, metric in wanted)
    return [figure for figure in drawn if figure]


def _size_figure(comparison: Comparison, size: VaryingFact, id: str, title: str, metric: Metric) -> Figure | None:
    curves = _curves(comparison, size, metric)
    if max((len(curve.points) for curve in curves), default=0) < LEAST_SIZES:
        return None
    xs = [x for curve in curves for x, _ in curve.points]
    scale: Scale = "log" if min(xs) > 0 and max(xs) / min(xs) >= LOG_FROM else "linear"
    series: list[LineSeries] = [
        {"label": curve.label or metric.label, "color": index, "dash": False, "points": list(curve.points)}
        for index, curve in enumerate(curves)
    ]
    spec = lines(
        x={"label": "Size of the database", "unit": "MB", "scale": scale, "even": True},
        y={"label": "Geometric mean", "unit": metric.unit, "zero": True},
        series=series, marks=_memory([run for group in comparison.groups for run in group.all_runs]),
    )  # fmt: skip
    said = "; ".join(curve.loss for curve in curves if len(curve.points) > 1)
    return Figure(
        id=id, title=title, spec=spec, table=_table(curves, metric), alt=f"Lines: {said}.",
        note=f"Geometric means of the repeats. {said}.",
    )  # fmt: skip


def _table(curves: Sequence[Curve], metric: Metric) -> Table:
    """One row per size of each curve: its rate, and how that changed."""
    named = [Column("Curve", numeric=False)] if any(curve.label for curve in curves) else []
    changes = ("Against the smallest", "Step", "Against the largest but one")
    columns = [
        Column("Size of the database", "MB"),
        *named,
        Column("Geometric mean", metric.unit),
        *map(Column, changes),
    ]
    return Table(columns, [_step(curve, step, bool(named)) for curve in curves for step in size_steps(curve.points)])


def _step(curve: Curve, step: SizeStep, named: bool) -> list[TableCell]:
    shares = (step.from_smallest, step.step, step.from_last_but_one)
    changes = [TableCell() if share is None else TableCell(share, percent(share, signed=True)) for share in shares]
    return [TableCell(step.size), *([TableCell(text=curve.label)] if named else []), TableCell(step.value), *changes]


def _curves(comparison: Comparison, size: VaryingFact, metric: Metric) -> list[Curve]:
    """One for each combination of what varies besides the size."""
    facts = _telling(comparison.varying, size)
    sizes_mb = _sizes_mb(comparison.groups, size)
    points: dict[str, list[tuple[float, float]]] = {}
    for group in comparison.groups:
        x, values = sizes_mb.get(group.factors[size.label]), values_of(group.runs, metric.name)
        if x is not None and (summary := summarise(values)):
            label = ", ".join(fact.words[group.factors[fact.label]] for fact in facts)
            points.setdefault(label, []).append((x, summary.centre))
    return [Curve(label, sorted(curve)) for label, curve in points.items()]


def _telling(varying: Sequence[VaryingFact], size: VaryingFact) -> list[VaryingFact]:
    """As few facts as tell the curves apart: a device by what it is, before the name that it was asked for by.

    What follows from the size, as queries that are put to the largest database only, tells none apart; only a factor
    can follow from it: another DBMS or device at each size is no curve over size.
    """
    facts = {}
    for kind in ("dbms", "storage", "factor", "hardware", "config"):
        for fact in varying:
            pairs = set(zip(size.values, fact.values, strict=True))
            follows = kind == "factor" and len(pairs) == len(set(size.values))
            if fact.field.partition(":")[0] == kind and not follows:
                facts[fact.field] = fact
    return [facts[field] for field in telling({field: fact.values for field, fact in facts.items()})]


def _sizes_mb(groups: Sequence[Group], size: VaryingFact) -> dict[str, float]:
    """MB by the value of the size factor: the median over all that were loaded of it, so that curves share them."""
    loaded: dict[str, list[float]] = {}
    for group in groups:
        loaded.setdefault(group.factors[size.label], []).extend(values_of(group.runs, SIZE_METRIC))
    return {
        value: round(statistics.median(sizes_bytes) / MB, 1) for value, sizes_bytes in loaded.items() if sizes_bytes
    }


def _memory(runs: Sequence[Run]) -> list[Mark]:
    """The memory limit that all runs share, or else the memory of their machine."""
    limits = {run.factor("memory_limit_mb") for run in runs}
    only = limits.pop() if len(limits) == 1 else None
    if isinstance(only, float | int) and only > 0:
        return [{"axis": "x", "value": only, "label": f"memory limit {size_words(only, 2)}"}]
    machines = {run.hardware.ram_bytes for run in runs if run.hardware and run.hardware.ram_bytes}
    if limits or len(machines) != 1:
        return []
    memory = machines.pop() / MB
    return [{"axis": "x", "value": memory, "label": f"RAM {size_words(memory, 2)}"}]
