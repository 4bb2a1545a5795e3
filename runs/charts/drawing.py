"""What a comparison shows: the view that its address asks for, or that the rule gives. The same for pages and files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from uuid import UUID

from runs import formatting
from runs.answers.history import day_at
from runs.answers.places import place_of, x_label
from runs.answers.words.curves import CurveWords
from runs.answers.words.drawn import left_out_words
from runs.charts.base import Figure, Multiples
from runs.charts.compare import MOST_BARS, bars_parts, drawn_and_lost, effects_figure, order_figure
from runs.charts.curves import curve_figures
from runs.charts.latency import LatencyTable, latency_parts, with_latencies
from runs.charts.over_time import over_time_figures, with_samples
from runs.charts.pivots import Pivot, pivots
from runs.charts.tradeoff import second_metric, trade_off_figures
from runs.compare.axes import BARS, CURVE, HEAT_MAP, LATENCY, ON_AXES, TABLE, TIME, TRADE_OFF, arrange
from runs.compare.compare import by_each_metric
from runs.compare.comparison import Comparison
from runs.compare.facts import DATE
from runs.compare.groups import Group
from runs.compare.panels import LOOKS, Axes, Curve, Panel, panel_groups, panel_key
from runs.formatting import grouped
from runs.models import Metric, Run
from runs.run.facets import tested_words
from runs.stats import ends_of

# Each has a `template`.
Part = Figure | Multiples | Pivot | LatencyTable
# Which runs hold what a view shows of their inside.
_TELL: dict[str, Callable[[Sequence[Run]], set[UUID]]] = {TIME: with_samples, LATENCY: with_latencies}
# The views that draw each metric by itself: how, and how its id begins.
_OF_EACH_METRIC: dict[str, tuple[Callable[..., Sequence[Part]], str]] = {
    BARS: (bars_parts, "comparison"),
    CURVE: (curve_figures, "curve"),
    HEAT_MAP: (pivots, "heat"),
    TABLE: (pivots, "table"),
}


@dataclass(frozen=True)
class DrawnMetric:
    """The numbers of one metric: `panels` of curves, heat maps, tables and bars; `groups` of all but the first three.

    `curve_words` of curves only.
    """

    metric: Metric | None
    panels: list[Panel]
    groups: list[Group]
    curve_words: list[CurveWords] = field(default_factory=list)


@dataclass(frozen=True)
class LeftOut:
    """Runs of one group that are chosen and not drawn, and why."""

    label: str
    reason: str
    runs: list[UUID]


@dataclass(frozen=True)
class Counted:
    """`drawn`: runs whose numbers the chart shows; `unnumbered`: without one; all three together are `selected`."""

    selected: int
    drawn: int
    unnumbered: int
    left_out: int


@dataclass(frozen=True)
class Drawing:
    """`comparisons`: the same groups by each metric that is shown, `parts` in the order of the page."""

    comparisons: list[Comparison]
    axes: Axes
    parts: list[Part]

    @property
    def by_metric(self) -> list[DrawnMetric]:
        axes = self.axes
        numbers = []
        for comparison in self.comparisons:
            metric = comparison.metric
            if axes.view in ON_AXES:
                drawn = [part for part in self.parts if isinstance(part, Multiples)]
                words = [curve for part in drawn if metric and part.metric == metric.name for curve in part.curve_words]
                numbers.append(DrawnMetric(metric, comparison.shown_panels, [], words))
                continue
            points = {group.key: replace(group, x_words=group.label) for group in comparison.groups}
            panels = [
                Panel(label, panel_key(label), [Curve("", "", 0, [points[group.key] for group in groups])])
                for label, groups in (
                    panel_groups(comparison.groups, axes) if axes.panels and axes.view == BARS else []
                )
            ]
            numbers.append(DrawnMetric(metric, panels, [*points.values()]))
        return numbers

    @cached_property
    def left_out(self) -> list[LeftOut]:
        """What has a number and is not drawn, by group and reason: nothing is missing from a chart without a word."""
        comparison, drawn = self.comparisons[0], self._drawn_runs
        every = [(group, run) for group in (comparison.whole or comparison).groups for run in group.runs]
        missing = [(group, run) for group, run in every if run.id not in drawn]
        tell = _TELL.get(self.axes.view)
        told = tell([run for _, run in missing]) if tell else {run.id for _, run in missing}
        reasons = grouped(
            ((group.label, left_out_words(comparison, group, lacks=run.id not in told)), run.id)
            for group, run in missing
        )
        return [LeftOut(label, reason, runs) for (label, reason), runs in reasons.items()]

    def counts(self, beyond: int = 0) -> Counted:
        """`beyond`: runs that match and are too many to be compared at once."""
        every = (self.comparisons[0].whole or self.comparisons[0]).groups
        numbered, unnumbered = sum(group.n for group in every), sum(len(group.gaps) for group in every)
        missing = sum(len(each.runs) for each in self.left_out)
        return Counted(numbered + unnumbered + beyond, numbered - missing, unnumbered, missing + beyond)

    @property
    def _drawn_runs(self) -> set[UUID]:
        comparison, view = self.comparisons[0], self.axes.view
        groups = comparison.groups
        if view in ON_AXES:
            groups = [point for panel in comparison.panels for point in panel.points]
        elif view == TRADE_OFF:
            across = {group.key for second in self.comparisons[1:2] for group in second.groups if group.dots}
            groups = [group for group in groups if group.key in across]
        elif view in (TIME, LATENCY):
            # Those that a line, or the name of their group, stands for in the tables of the charts.
            tables = [part.table for part in self.parts if not isinstance(part, Pivot)]
            named = [row[0] for table in tables for row in table.rows]
            hrefs, labels = {cell.href for cell in named}, {cell.text for cell in named}
            of_groups = [(group, run) for group in groups for run in group.runs]
            return {run.id for group, run in of_groups if run.get_absolute_url() in hrefs or group.label in labels}
        elif view == BARS:
            groups, _ = drawn_and_lost(groups)
        return {run.id for group in groups for run in group.all_runs}


def draw(comparison: Comparison) -> Drawing:
    comparisons = by_each_metric(comparison)
    if len(comparisons) > 1:
        axes = arrange(comparison, others=comparisons[1:])
        comparisons = [replace(each, axes=axes) for each in comparisons]
    axes = comparisons[0].axes
    parts: list[Part] = [effects_figure(comparison)] if comparison.effects else []
    levels = comparison.levels
    # So many curves show no reader which is the best.
    if axes.view == CURVE and levels and len(levels.names) <= MOST_BARS and len(comparison.curves) > LOOKS:
        parts.append(order_figure(comparison, levels))
    if axes.view == TRADE_OFF:
        if len(comparisons) == 1 and (paid_with := second_metric(comparison)):
            comparisons.append(paid_with)
        parts += trade_off_figures(comparisons)
    elif axes.view == TIME:
        parts += over_time_figures(comparison)
    elif axes.view == LATENCY:
        parts += latency_parts(comparison)
    else:
        parts_of, name = _OF_EACH_METRIC[axes.view]
        for at, each in enumerate(comparisons):
            # Without any value the axis would be one from 0 to 1.
            if any(group.dots for group in each.groups):
                # The first of several metrics has the bare name.
                parts += parts_of(each, id=f"{name}-metric-{at + 1}" if at else name)
    return Drawing(comparisons, axes, parts)


POINT_HEAD = [
    "metric", "unit", "panel", "series", "x_label", "x", "x_unit", "value", "interval_low", "interval_high", "n",
    "median", "values", "gap", "groups", "runs",
    "against_first", "against_first_low", "against_first_high", "said", "x_day", "tested",
]  # fmt: skip


def point_rows(drawing: Drawing) -> Iterator[list[str]]:
    """The head and one row per point, for a CSV file of what is drawn. A day is x as a number of days, 1 of 0001-01-01,
    and `x_day`: of a commit that was measured afterwards that of its place, where `x_label` tells the day it was
    measured.
    """
    yield POINT_HEAD
    axes = drawing.axes
    for comparison, numbers in zip(drawing.comparisons, drawing.by_metric, strict=True):
        metric = comparison.metric
        name, label, unit = (metric.name, metric.label, metric.unit) if metric else ("", "", "%")
        y_unit = unit if axes.y_as == "absolute" else "%"
        place, is_of_days = _places(drawing, comparison), axes.x == DATE and axes.view == CURVE
        words_by_curve = {(curve.panel, curve.series): curve for curve in reversed(numbers.curve_words)}
        of_groups = [Panel("", "", [Curve("", "", 0, numbers.groups)])]
        for panel in numbers.panels or of_groups:
            for curve in panel.curves:
                words = words_by_curve.get((panel.label, curve.label or label))
                losses = {level["x"]: level for level in words.numbers.get("levels", ())} if words else {}
                sentences = " ".join(words.sentences) if words else ""
                for group in curve.points:
                    yield [
                        name, y_unit,
                        panel.label, curve.label, group.x_words or x_label(axes), *place(group),
                        formatting.plain(group.centre), *map(formatting.plain, ends_of(group.interval)), str(group.n),
                        formatting.plain(group.median), " ".join(map(formatting.plain, group.values)),
                        group.gap or "", group.label, " ".join(str(run.id) for run in group.all_runs),
                        *_loss(losses.get(group.x)), sentences, str(day_at(group.x)) if is_of_days else "",
                        tested_words(group.all_runs[0]),
                    ]  # fmt: skip
                    sentences = ""  # once a curve


def _places(drawing: Drawing, comparison: Comparison) -> Callable[[Group], tuple[str, str]]:
    """Where a group stands on x, and the unit of that: of a trade-off the value of the other metric."""
    if drawing.axes.view != TRADE_OFF:
        axes = drawing.axes
        unit = "day" if axes.x == DATE and axes.view == CURVE else place_of(axes, comparison.drawn).unit
        return lambda group: (formatting.plain(group.x), unit)
    other = next((each for each in drawing.comparisons[:2] if each is not comparison), None)
    if other is None or other.metric is None:
        return lambda group: ("", "")
    centres, unit = {group.key: group.centre for group in other.groups}, other.metric.unit
    return lambda group: (formatting.plain(centres.get(group.key)), unit)


def _loss(level: Mapping[str, Any] | None) -> list[str]:
    low, high = (level and level["interval"]) or (None, None)
    return [formatting.plain(level["against_first"] if level else None), formatting.plain(low), formatting.plain(high)]


TABLE_HEAD = ["chart", "row", "column", "unit", "value", "gap"]


def table_rows(drawing: Drawing) -> Iterator[list[str]]:
    """The head and one row per number of the tables under the charts, for views whose charts differ."""
    yield TABLE_HEAD
    for part in drawing.parts:
        if not isinstance(part, Pivot):
            for row in part.table.rows:
                for column, cell in zip(part.table.columns[1:], row[1:], strict=True):
                    value = cell.text if cell.value is None else formatting.plain(cell.value)
                    if value or cell.gap:
                        name = row[0].text or formatting.plain(row[0].value)
                        yield [part.title, name, column.label, column.unit, value, cell.gap or ""]
