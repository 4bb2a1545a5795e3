"""Curves over the size of the data: how a rate falls as the data outgrow the memory, one line per storage."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from runs.charts.base import Column, Figure, LineSeries, Mark, Scale, Table, TableCell, lines
from runs.compare.groups import Comparison, Group, VaryingFact, telling
from runs.formatting import percent
from runs.models import Metric, Run
from runs.run.derived import SizeStep, size_steps
from runs.run.number import values_of

# As the memory limit is given: 1 MB is 1,000,000 bytes.
MB = 1_000_000
SIZE_METRIC = "db_size_bytes"
# What a size is asked for by; the axis is the size that came of it.
SIZE_FACTORS = ("warehouses", "target_size_mb", "scale_factor", "rows_per_table", "dataset_mb")
LOAD_METRICS = ("load_size_mb_per_s", "load_mb_per_s")
LEAST_SIZES = 3
LOG_FROM = 10.0


@dataclass(frozen=True)
class Curve:
    label: str
    points: list[tuple[float, float]]

    @property
    def loss(self) -> str:
        """From the smallest size to the largest, in words."""
        (small, first), (large, last) = self.points[0], self.points[-1]
        change = percent(last / first - 1, signed=True) if first else "not known"
        return f"{self.label + ': ' if self.label else ''}{change} from {small:,.0f} to {large:,.0f} MB"


def figures(comparison: Comparison) -> list[Figure]:
    """The chosen metric over size, and the load rate; empty where fewer than three sizes were measured."""
    size = next((fact for fact in comparison.varying if fact.field.removeprefix("factor:") in SIZE_FACTORS), None)
    if size is None or comparison.metric is None:
        return []
    metrics = {metric.name: metric for metric in reversed(comparison.metrics)}
    load = next((metrics[name] for name in LOAD_METRICS if name in metrics), None)
    primary = comparison.metric
    wanted = [(f"{primary.name}-over-size", f"{primary.label} over size", primary)]
    wanted += [("load-over-size", "Load rate over size", load)] if load and load != primary else []
    drawn = (_figure(comparison, size, id, title, metric) for id, title, metric in wanted)
    return [figure for figure in drawn if figure]


def _figure(comparison: Comparison, size: VaryingFact, id: str, title: str, metric: Metric) -> Figure | None:
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
        y={"label": "Median", "unit": metric.unit, "zero": True},
        series=series, marks=_memory([run for group in comparison.groups for run in group.all_runs]),
    )  # fmt: skip
    said = "; ".join(curve.loss for curve in curves if len(curve.points) > 1)
    return Figure(
        id=id, title=title, spec=spec, table=_table(curves, metric), alt=f"Lines: {said}.",
        note=f"Medians of the repeats. {said}.",
    )  # fmt: skip


def _table(curves: Sequence[Curve], metric: Metric) -> Table:
    """One row per size of each curve: its rate, and how that changed."""
    named = [Column("Curve", numeric=False)] if any(curve.label for curve in curves) else []
    changes = ("Against the smallest", "Step", "Step per doubling", "Against the largest but one")
    columns = [Column("Size of the database", "MB"), *named, Column("Median", metric.unit), *map(Column, changes)]
    return Table(columns, [_step(curve, step, bool(named)) for curve in curves for step in size_steps(curve.points)])


def _step(curve: Curve, step: SizeStep, named: bool) -> list[TableCell]:
    shares = (step.from_smallest, step.step, step.per_doubling, step.from_last_but_one)
    changes = [TableCell() if share is None else TableCell(share, percent(share, signed=True)) for share in shares]
    return [TableCell(step.size), *([TableCell(text=curve.label)] if named else []), TableCell(step.value), *changes]


def _curves(comparison: Comparison, size: VaryingFact, metric: Metric) -> list[Curve]:
    """One for each combination of what varies besides the size."""
    facts = _telling(comparison.varying, size)
    sizes_mb = _sizes_mb(comparison.groups, size)
    points: dict[str, list[tuple[float, float]]] = {}
    for group in comparison.groups:
        x, values = sizes_mb.get(group.factors[size.label]), values_of(group.runs, metric.name)
        if x is not None and values:
            label = ", ".join(fact.words[group.factors[fact.label]] for fact in facts)
            points.setdefault(label, []).append((x, statistics.median(values)))
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
        return [{"axis": "x", "value": only, "label": f"memory limit {only:,.0f} MB"}]
    machines = {run.hardware.ram_bytes for run in runs if run.hardware and run.hardware.ram_bytes}
    if limits or len(machines) != 1:
        return []
    memory = machines.pop() / MB
    return [{"axis": "x", "value": memory, "label": f"RAM {memory:,.0f} MB"}]
