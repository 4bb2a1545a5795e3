"""Curves of a comparison: a metric over what varies, one line per series, one panel per level of another fact.

Every repeat is a dot, geometric means make the line, their intervals a band; what is lost breaks the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain
from typing import Any

from runs import formatting
from runs.answers.curve_words import CHANGES, change_cells, curve_words, in_short
from runs.answers.places import groups_of, place_of, x_label
from runs.charts.base import (
    INTERVAL_WORDS,
    Figure,
    Key,
    LineGap,
    LineSeries,
    Multiples,
    Scale,
    XAxis,
    lines,
)
from runs.charts.compare import centre_label, class_title
from runs.charts.overlays import marks, media_figures, overlays, step_marks, version_marks
from runs.compare.axes import Axes
from runs.compare.comparison import Comparison
from runs.compare.facts import DATE
from runs.compare.groups import Group
from runs.compare.panels import COLOURS, Curve, Panel, kind_of, panels_of
from runs.formatting import mid_sentence
from runs.models import Metric
from runs.stats import ends_of
from runs.tables import Column, Table, TableCell

# From where on an axis is logarithmic, unless a reader says: the largest over the smallest.
X_LOG_FROM, Y_LOG_FROM, PANELS_LOG_FROM = 10.0, 100.0, 10.0
# How far, in lengths of the largest value, the interval of few scattered repeats may stretch the axis.
MOST_OF_A_BAND = 1.5
NOTE = f"Band: {INTERVAL_WORDS}. Dots: every repeat."
MEDIAN_NOTE = ", the median where a value is zero or negative"
LINEAR_NOTE = "Linear: a value is zero or negative."
ZOOMED_NOTE = "The axis of values does not begin at 0."
OPEN_NOTE = "Arrow: an interval that reaches far beyond the chart; the table has its ends."
_RELATIVE = {"first": "% of the first level", "baseline": "% of the baseline series"}


def curve_figures(comparison: Comparison, axes: Axes, *, id: str = "curve", title: str = "") -> list[Multiples]:
    """The ranked groups, and on scales of their own those of each other class."""
    figures = []
    for index, (words, groups) in enumerate(comparison.classes.items()):
        panels = panels_of(replace(comparison, groups=groups), axes)
        if comparison.metric and any(point.dots for point in _points(panels)):
            name = title or f"{comparison.metric.label} over {mid_sentence(x_label(axes))}"
            figures.append(
                _multiples(
                    panels, axes, comparison.metric, comparison, id=f"{id}-{index}" if index else id,
                    title=class_title(words, name),
                )
            )  # fmt: skip
    return figures


def scale_of(values: Iterable[float], wanted: str, log_from: float) -> Scale:
    """Logarithmic by the span of the values, unless a reader says; never where one is not positive."""
    every = list(values)
    if wanted == "linear" or not every or min(every) <= 0:
        return "linear"
    return "log" if wanted == "log" or max(every) / min(every) >= log_from else "linear"


def _multiples(
    panels: Sequence[Panel], axes: Axes, metric: Metric, comparison: Comparison, *, id: str, title: str
) -> Multiples:
    absolute, panels = panels, relative(panels, axes.y_as, comparison.baseline)
    groups = _points(panels)
    xs = [group.x for group in groups]
    values = list(chain(*(group.values for group in groups)))
    unit = "%" if axes.y_as in _RELATIVE else metric.unit
    place = place_of(axes, groups)
    x: XAxis = {
        "label": place.label, "unit": place.unit, "scale": scale_of(xs, axes.x_scale, X_LOG_FROM),
        "even": True, "span": (min(xs), max(xs)),
    }  # fmt: skip
    if ticks := _ticks(groups, axes):
        x |= {"ticks": ticks, "scale": "linear"}
    # On one axis from zero a panel that ends at a tenth of another's shows a line on the floor.
    tops = [max(chain(*(point.values for point in _points([panel]))), default=0.0) for panel in panels]
    far_apart = max(tops) >= PANELS_LOG_FROM * min(tops) > 0
    scale = scale_of(values, axes.y_scale, PANELS_LOG_FROM if far_apart else Y_LOG_FROM)
    # A step of 6 % is not to be seen from 0 on; bars always begin there.
    zoomed = axes.x == DATE or axes.y_as == "first"
    reached = values if zoomed else [*values, *chain(*map(_ends, groups))]
    span = [value for value in reached if scale == "linear" or value > 0]
    specs = [
        lines(
            x=x,
            y={
                "label": _RELATIVE.get(axes.y_as, ""), "unit": "" if axes.y_as in _RELATIVE else unit,
                "zero": scale == "linear" and not zoomed, "scale": scale,
                "better": metric.better if len(panels) == 1 else "none", "span": (min(span), max(span)),
            },
            series=[_series(curve, max(values) * MOST_OF_A_BAND) for curve in panel.curves],
            marks=[
                *marks(groups_of(panel), axes), *step_marks(panel, axes, comparison.threshold),
                *version_marks(panel, axes),
            ],
        ) | {"gaps": _gaps(panel), "panel": len(panels) > 1, "overlays": overlays(panel, axes, metric)}
        for panel in panels
    ]  # fmt: skip
    table = _table(panels, axes, x, comparison, unit)
    better = f", {metric.better} is better" if metric.better in ("higher", "lower") else ""
    is_open = any(series.get("open") for spec in specs for series in spec["series"])
    centre = f"Line: {centre_label(groups).lower()}"
    centre += f"{MEDIAN_NOTE if any(group.centre_name == 'median' for group in groups) else ''}."
    begins = ZOOMED_NOTE if zoomed and scale == "linear" else ""
    not_log = LINEAR_NOTE if axes.y_scale == "log" and scale == "linear" else ""
    parts = (
        f"{_RELATIVE.get(axes.y_as) or unit}{better}.",
        centre,
        NOTE,
        OPEN_NOTE if is_open else "",
        not_log,
        begins,
    )
    note = " ".join(filter(None, parts)).removeprefix(". ")
    figures = [
        Figure(
            id=f"{id}-{panel.key}" if len(panels) > 1 else id, spec=spec, table=table, alt=_alt(panel, metric, unit),
            title=panel.label if len(panels) > 1 else ": ".join(filter(None, (title, panel.label))),
            note="" if len(panels) > 1 else note,
        )
        for panel, spec in zip(panels, specs, strict=True)
    ]  # fmt: skip
    keys = {curve.color: Key(curve.label, curve.color % COLOURS, curve.color >= COLOURS)
            for panel in panels for curve in panel.curves}  # fmt: skip
    words, words_note = curve_words(absolute, axes, place, comparison)
    return Multiples(
        id, title, figures, [keys[color] for color in sorted(keys)], table, note, metric.name, words, words_note,
        in_short=in_short(absolute, axes, place), beneath=media_figures(absolute, axes, x, metric, id=id),
    )  # fmt: skip


def _points(panels: Iterable[Panel]) -> list[Group]:
    return [point for panel in panels for curve in panel.curves for point in curve.points]


def _ends(group: Group) -> list[float]:
    """Of its interval, as far as it leaves the values readable."""
    if group.interval is None or not group.values:
        return []
    return [max(group.interval.low, 0.0), min(group.interval.high, max(group.values) * MOST_OF_A_BAND)]


def _series(curve: Curve, furthest: float) -> LineSeries:
    """`furthest`: where an interval is too wide for a band."""
    intervals = [(point.x, point.interval) for point in curve.points if point.interval]
    return {
        "label": curve.label, "color": curve.color % COLOURS, "dash": curve.color >= COLOURS,
        "points": [(point.x, point.centre) for point in curve.points],
        "dots": [(point.x, value) for point in curve.points if point.n > 1 for value in point.values],
        "band": [(x, interval.low, interval.high) for x, interval in intervals if interval.high <= furthest],
        "open": [(x, interval.low, interval.high) for x, interval in intervals if interval.high > furthest],
    }  # fmt: skip


def _gaps(panel: Panel) -> list[LineGap]:
    """What is lost, by series and reason."""
    gaps: dict[tuple[int, str], LineGap] = {}
    for curve in panel.curves:
        for point in curve.points:
            if reason := point.gap:
                gap = gaps.setdefault(
                    (curve.color, reason),
                    {"label": curve.label, "color": curve.color % COLOURS, "xs": [], "reason": reason},
                )
                gap["xs"].append(point.x)
    return list(gaps.values())


def _ticks(points: Iterable[Group], axes: Axes) -> list[tuple[float, str]]:
    """Of names and dates; numbers have the axis's own."""
    if axes.x_as != "value" or axes.x_fact is None:
        return []
    if axes.x == DATE:
        return [(float(x), str(date.fromordinal(int(x)))) for x in sorted({point.x for point in points})]
    return [] if axes.x_fact.is_number else sorted({(point.x, point.x_words) for point in points})


def relative(panels: Sequence[Panel], y_as: str, base: Group | None) -> list[Panel]:
    """The panels in % of the first level of each curve, or of the series that the baseline belongs to."""
    if y_as not in _RELATIVE:
        return [*panels]
    runs = {run.id for run in base.runs} if base else set()
    color = next(
        (curve.color for panel in panels for curve in panel.curves for point in curve.points
         if any(run.id in runs for run in point.runs)), None,
    )  # fmt: skip
    return [replace(panel, curves=_shares(panel.curves, None if y_as == "first" else color)) for panel in panels]


def _shares(curves: Sequence[Curve], color: int | None) -> list[Curve]:
    """In % of the first value of each; with a color of the values of that series at the same places."""
    of_base = {point.x: point.centre for curve in curves if curve.color == color for point in curve.points}
    shares = []
    for curve in curves:
        first = next((point.centre for point in curve.points if point.dots), None)
        points = [_share(point, first if color is None else of_base.get(point.x)) for point in curve.points]
        shares.append(replace(curve, points=points))
    return shares


def _share(group: Group, of: float | None) -> Group:
    """Its values in % of a fixed number; a gap where there is none."""
    if not of:
        gaps = [replace(dot, value=None, reason="nothing to set it against") for dot in group.dots] or group.gaps
        return replace(group, repeats=gaps, compared=(), summary=None, interval=None)

    def share(value: float) -> float:
        return 100 * (value / of)

    summary, interval = group.summary, group.interval
    if summary:
        names = ("median", "mean", "geometric_mean", "of_all")
        every = {name: getattr(summary, name) for name in names}
        shares: dict[str, Any] = {name: None if value is None else share(value) for name, value in every.items()}
        summary = replace(summary, **shares)
    if interval:
        interval = replace(interval, low=share(interval.low), high=share(interval.high))
    repeats = [each if each.value is None else replace(each, value=share(each.value)) for each in group.repeats]
    compared = [share(value) for value in group.compared]
    return replace(group, repeats=repeats, compared=compared, summary=summary, interval=interval)


def _table(panels: Sequence[Panel], axes: Axes, x: XAxis, comparison: Comparison, unit: str) -> Table:
    """One row per point: panel and series where there are several, geometric mean, interval, and what is lost."""
    panel_fact = axes.facts.get(axes.panels)
    compared = bool(kind_of(axes)) and axes.y_as != "baseline"
    several = len({curve.color for panel in panels for curve in panel.curves}) > 1
    heading = centre_label(_points(panels))
    # A size says its own unit, as it comes to.
    x_unit = "" if x["unit"] == "MB" else x["unit"]
    columns = [
        *([Column(panel_fact.label, numeric=False)] if panel_fact else []),
        *([Column("Series", numeric=False)] if several else []),
        Column(x["label"], x_unit, numeric=not x.get("ticks")), Column(heading, unit),
        Column("Interval from", unit), Column("to", unit), Column("n"),
        *(map(Column, CHANGES) if compared else ()),
    ]  # fmt: skip
    rows = []
    for panel in panels:
        for curve in panel.curves:
            changes = change_cells(curve, comparison.verdicts) if compared else {}
            for group in curve.points:
                rows.append([
                    *([TableCell(text=panel.label)] if panel_fact else []),
                    *([TableCell(text=curve.label)] if several else []),
                    TableCell(text=group.x_words) if x.get("ticks") else _place_cell(group.x, x["unit"]),
                    TableCell(group.centre) if group.dots else TableCell(gap=group.gap or ""),
                    *map(TableCell, ends_of(group.interval)),
                    TableCell(group.n), *(changes.get(group.x, [TableCell(), TableCell()]) if compared else ()),
                ])  # fmt: skip
    return Table(columns, rows)


def _place_cell(x: float, unit: str) -> TableCell:
    return TableCell(x, text=formatting.quantity(x, unit) if unit == "MB" else "")


def _alt(panel: Panel, metric: Metric, unit: str) -> str:
    curves = []
    for curve in panel.curves:
        points = [point for point in curve.points if point.dots]
        if points:
            ends = " to ".join(formatting.quantity(point.centre, unit) for point in (points[0], points[-1]))
            curves.append(f"{curve.label or metric.label} {ends}")
    return f"Lines of {metric.label.lower()}, from the first level to the last: {'; '.join(curves)}."
