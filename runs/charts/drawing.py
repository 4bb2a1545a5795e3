"""What a comparison shows: the view that its address asks for, or that the rule gives. The same for pages and files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.http import QueryDict

from runs import formatting
from runs.charts.base import Figure, Multiples, Said
from runs.charts.compare import bars_figures, bars_panels, missing_words
from runs.charts.curves import curve_figures, relative, x_label, x_unit
from runs.charts.latency import LatencyTypes, latency_parts
from runs.charts.over_time import over_time_figures
from runs.charts.pivots import Pivot, heat_maps, table_pivots
from runs.charts.tradeoff import against, trade_off_figures
from runs.compare.axes import (
    BARS,
    CURVE,
    HEAT_MAP,
    LATENCY,
    TABLE,
    TIME,
    TRADE_OFF,
    Axes,
    Curve,
    Panel,
    Point,
    arrange,
    panel_groups,
    panel_key,
    panels_of,
)
from runs.compare.compare import beside
from runs.compare.comparison import Comparison
from runs.models import Metric

# Of views of what happens inside a run: what none of the runs holds, and what brings it.
_INSIDE = {
    TIME: "No run holds samples over time. Runs of an agent do, tools' files with progress, and uploads with series.",
    LATENCY: "No run holds a histogram of its latencies. Runs of an agent do, tools' logs of every transaction, and "
    "uploads with a histogram; percentiles that were stated are metrics of the other views.",
}
# Each has a `template`.
Part = Figure | Multiples | Pivot | LatencyTypes


@dataclass(frozen=True)
class DrawnMetric:
    """The numbers of one metric: `panels` of curves, heat maps, tables and bars; `groups` of all but the first three.

    `said` of curves only.
    """

    metric: Metric | None
    panels: list[Panel]
    groups: list[Point]
    said: list[Said] = field(default_factory=list)


@dataclass(frozen=True)
class Drawing:
    """`comparisons`: the same groups by each metric that is shown, `parts` in the order of the page."""

    comparisons: list[Comparison]
    axes: Axes
    parts: list[Part]

    @property
    def drawn(self) -> list[DrawnMetric]:
        axes = self.axes
        if axes.view in (CURVE, HEAT_MAP, TABLE):
            return [
                DrawnMetric(
                    one.metric, relative(panels_of(one, axes), axes.y_as, one.baseline), [], self._said(one.metric)
                )
                for one in self.comparisons
            ]
        drawn = []
        for one in self.comparisons:
            points = {group.key: Point(0.0, group.label, group) for group in one.groups}
            panels = [
                Panel(label, panel_key(label), [Curve("", "", 0, [points[group.key] for group in groups])])
                for label, groups in (panel_groups(one.groups, axes) if axes.panels and axes.view == BARS else [])
            ]
            drawn.append(DrawnMetric(one.metric, panels, [*points.values()]))
        return drawn

    @property
    def missing(self) -> str:
        """Why there is nothing to draw, and what to do about it; empty where a run has a number."""
        return missing_words(self.comparisons[0]) or _INSIDE.get(self.axes.view, "")

    def _said(self, metric: Metric | None) -> list[Said]:
        curves = (part for part in self.parts if isinstance(part, Multiples) and metric and part.metric == metric.name)
        return [said for part in curves for said in part.said]


def draw(comparison: Comparison, params: QueryDict) -> Drawing:
    comparisons = beside(comparison, params)
    axes = arrange(comparison, params, comparisons[1:])
    if axes.view == TRADE_OFF and len(comparisons) == 1 and (paid_with := against(comparisons)):
        comparisons.append(paid_with)
    return Drawing(comparisons, axes, VIEWS[axes.view][1](comparisons, axes))


def _id(name: str, at: int) -> str:
    """The first of several metrics has the bare name."""
    return f"{name}-metric-{at + 1}" if at else name


def _with_numbers(comparisons: Sequence[Comparison]) -> Iterator[tuple[int, Comparison]]:
    """With their positions: an axis without any value would be one from 0 to 1."""
    return ((at, one) for at, one in enumerate(comparisons) if any(group.dots for group in one.groups))


def _bars(comparisons: Sequence[Comparison], axes: Axes) -> list[Part]:
    drawn = partial(bars_panels, axes=axes) if axes.panels else bars_figures
    return [part for at, one in _with_numbers(comparisons) for part in drawn(one, id=_id("comparison", at))]


def _curves(comparisons: Sequence[Comparison], axes: Axes) -> list[Part]:
    return [part for at, one in _with_numbers(comparisons) for part in curve_figures(one, axes, id=_id("curve", at))]


def _heat_maps(comparisons: Sequence[Comparison], axes: Axes) -> list[Part]:
    return [part for at, one in _with_numbers(comparisons) for part in heat_maps(one, axes, id=_id("heat", at))]


def _tables(comparisons: Sequence[Comparison], axes: Axes) -> list[Part]:
    return [part for at, one in _with_numbers(comparisons) for part in table_pivots(one, axes, id=_id("table", at))]


def _over_time(comparisons: Sequence[Comparison], axes: Axes) -> list[Part]:
    return [*over_time_figures(comparisons[0])]


def _latencies(comparisons: Sequence[Comparison], axes: Axes) -> list[Part]:
    return [*latency_parts(comparisons[0])]


def _trade_off(comparisons: Sequence[Comparison], axes: Axes) -> list[Part]:
    return [*trade_off_figures(comparisons)]


# In the order of the tabs: the name in addresses, what a tab says, and what draws it.
VIEWS: dict[str, tuple[str, Callable[[Sequence[Comparison], Axes], list[Part]]]] = {
    BARS: ("Bars", _bars),
    CURVE: ("Curve", _curves),
    HEAT_MAP: ("Heat map", _heat_maps),
    TABLE: ("Table", _tables),
    TRADE_OFF: ("Trade-off", _trade_off),
    TIME: ("Over time", _over_time),
    LATENCY: ("Latency", _latencies),
}

POINT_HEAD = [
    "metric", "unit", "panel", "series", "x_label", "x", "x_unit", "value", "interval_low", "interval_high", "n",
    "median", "values", "gap", "groups", "runs",
    "against_first", "against_first_low", "against_first_high", "said",
]  # fmt: skip


def point_rows(drawing: Drawing) -> Iterator[list[str]]:
    """The head and one row per point, for a CSV file of what is drawn."""
    yield POINT_HEAD
    axes = drawing.axes
    for comparison, drawn in zip(drawing.comparisons, drawing.drawn, strict=True):
        metric = comparison.metric
        unit = x_unit(axes, axes.drawn(comparison))
        told = {(said.panel, said.series): said for said in reversed(drawn.said)}
        of_groups = [Panel("", "", [Curve("", "", 0, drawn.groups)])]
        for panel in drawn.panels or of_groups:
            for curve in panel.curves:
                said = told.get((panel.label, curve.label or (metric.label if metric else "")))
                losses = {level["x"]: level for level in said.numbers["levels"]} if said else {}
                words = " ".join(said.sentences) if said else ""
                for point in curve.points:
                    group, interval = point.group, point.group.interval
                    yield [
                        metric.name if metric else "", metric.unit if metric and axes.y_as == "absolute" else "%",
                        panel.label, curve.label, point.label or x_label(axes), formatting.plain(point.x), unit,
                        formatting.plain(group.centre), formatting.plain(interval.low if interval else None),
                        formatting.plain(interval.high if interval else None), str(group.n),
                        formatting.plain(group.median), " ".join(map(formatting.plain, group.values)),
                        group.gap or "", group.label, " ".join(str(run.id) for run in group.all_runs),
                        *_loss(losses.get(point.x)), words,
                    ]  # fmt: skip
                    words = ""  # once a curve


def _loss(level: Mapping[str, Any] | None) -> list[str]:
    low, high = (level and level["interval"]) or (None, None)
    return [formatting.plain(level["against_first"] if level else None), formatting.plain(low), formatting.plain(high)]


TABLE_HEAD = ["chart", "row", "column", "unit", "value", "gap"]


def table_rows(drawing: Drawing) -> Iterator[list[str]]:
    """The head and one row per number of the tables under the charts, for views whose charts differ."""
    yield TABLE_HEAD
    for part in drawing.parts:
        if isinstance(part, Figure | Multiples):
            for row in part.table.rows:
                for column, cell in zip(part.table.columns[1:], row[1:], strict=True):
                    value = cell.text if cell.value is None else formatting.plain(cell.value)
                    if value or cell.gap:
                        name = row[0].text or formatting.plain(row[0].value)
                        yield [part.title, name, column.label, column.unit, value, cell.gap or ""]
