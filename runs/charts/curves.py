"""Curves of a comparison: a metric over what varies, one line per series, one panel per level of another fact.

Every repeat is a dot, geometric means make the line, their intervals a band; what is lost breaks the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date
from itertools import chain, pairwise

from runs import formatting
from runs.answers.curves import Along, curves_along
from runs.answers.history import day_at, unsure_verdict
from runs.answers.places import Place, memory_places, place_of, x_label
from runs.answers.words.curves import MOST_SAID, curve_words
from runs.answers.words.drawn import INTERVAL_WORDS, centre_label, centre_words
from runs.answers.words.gaps import by_class, change_words
from runs.answers.words.history import UNSETTLED, to_or_from_zero
from runs.charts.base import (
    LEAP_NOTE,
    Axis,
    Figure,
    Key,
    LineGap,
    LineSeries,
    Mark,
    Multiples,
    Point,
    leaps_of,
    lines,
    scale_of,
)
from runs.charts.compare import class_title, repeat_cells, repeat_columns
from runs.compare.axes import LEAST_OF_A_CURVE
from runs.compare.comparison import Comparison
from runs.compare.facts import DATE, Fact, fact_value
from runs.compare.groups import Group
from runs.compare.panels import CLIENT, COLOURS, LOOKS, RELATIVE, Axes, Curve, Panel, told_by_color
from runs.formatting import few_listed, mid_sentence, percent
from runs.models import Metric
from runs.stats import Ratio, ends_of
from runs.stats.curves import above_zero
from runs.stats.scaling import Scaling
from runs.stats.watch import watched
from runs.tables import Column, Table, TableCell

# From where on an axis is logarithmic, unless a reader says: the largest over the smallest.
X_LOG_FROM, Y_LOG_FROM, TOPS_LOG_FROM = 10.0, 100.0, 10.0
# How far, in lengths of the largest value, the interval of few scattered repeats may stretch the axis.
MOST_OF_A_BAND = 1.5
WHOLE = 100.0
# So many straight parts make a line that is drawn over the points.
_STEPS = 40
NOTE = f"Band: {INTERVAL_WORDS}, from three repeats on. Dots: every repeat."
LINEAR_NOTE = "Linear: a value is zero or negative."
LINEAR_X_NOTE = "The axis of {x} is linear: a level is zero or negative."
ZOOMED_NOTE = "The axis of values does not begin at 0."
CHANGES = ("Against the first level", "Against the level before")
ALIKE_NOTE = "{lines} lines are more than can be told apart, so {look}; the page names one that is pointed at."
OPEN_NOTE = "Arrow: an interval that reaches far beyond the chart; the table has its ends."
# Of what is drawn thin over the curves.
IDEAL_NOTE = "Thin and dotted: in proportion to the first level."
LAW_NOTE = "Thin and dashed: scaling law."
KNEE_NOTE = "Thin and dashed: two lines that meet at the knee."


def curve_figures(comparison: Comparison, *, id: str = "curve", title: str = "") -> list[Multiples]:
    """The ranked groups, and on scales of their own those of each other class."""
    figures = []
    for index, (words, groups) in enumerate(by_class(comparison).items()):
        if not any(group.dots for group in groups):
            continue
        of_class = replace(comparison, groups=groups) if len(groups) < len(comparison.groups) else comparison
        if comparison.metric and any(curve.valued for panel in of_class.panels for curve in panel.curves):
            over = f" over {mid_sentence(x_label(comparison.axes))}" if comparison.axes.x else ""
            name = title or f"{comparison.metric.label}{over}"
            named = class_title(words, name)
            figures.append(_multiples(of_class, comparison.metric, id=f"{id}-{index}" if index else id, title=named))
    return figures


def _multiples(comparison: Comparison, metric: Metric, *, id: str, title: str) -> Multiples:
    axes, panels = comparison.axes, comparison.shown_panels
    groups = [point for panel in panels for point in panel.points]
    place, unit = place_of(axes, groups), "%" if axes.y_as in RELATIVE else metric.unit
    curves = [curve for panel in panels for curve in panel.curves]
    x = _x_axis(axes, groups, place)
    y = _y_axis(axes, groups, panels, metric)
    furthest = MOST_OF_A_BAND * max(value for group in groups for value in group.values)
    drawn = [curves_along(comparison, place, panel.curves) for panel in panels]
    colors = {curve.color for curve in curves}
    alike = len(colors) > LOOKS
    told = axes.facts.get(told_by_color(comparison.drawn, axes, comparison.question.fact)) if alike else None
    over = [[] if alike else overlays(along) for along in drawn]
    every = [*chain(*drawn)]
    rows = {point.key: row for row, point in enumerate(point for along in every for point in along.curve.points)}
    specs = [
        lines(
            x=x, y=y,
            series=[
                _series(curve, x, furthest, alike=alike, told=told) | {"row": rows[curve.points[0].key]}
                for curve in panel.curves
            ],
            marks=marks(panel, comparison),
        ) | {"gaps": _gaps(panel), "panel": len(panels) > 1, "overlays": [line for _, line in thin], "alike": alike}
        for panel, thin in zip(panels, over, strict=True)
    ]  # fmt: skip
    table = _table(every, x, comparison, unit)
    note = _note(comparison, metric, groups, x, y, is_open=any(s.get("open") for spec in specs for s in spec["series"]))
    leap_note = LEAP_NOTE if any(series["leaps"] for spec in specs for series in spec["series"]) else ""
    look = f"their colour tells the {mid_sentence(told.label)}" if told else "all look alike"
    alike_note = ALIKE_NOTE.format(lines=len(colors), look=look) if alike else ""
    note = " ".join(filter(None, [note, alike_note, leap_note, *dict.fromkeys(words for words, _ in chain(*over))]))
    figures = [
        Figure(
            id=f"{id}-{panel.key}" if len(panels) > 1 else id, spec=spec, table=table, alt=_alt(panel, metric, unit),
            title=panel.label if len(panels) > 1 else ": ".join(filter(None, (title, panel.label))),
            note="" if len(panels) > 1 else note,
        )
        for panel, spec in zip(panels, specs, strict=True)
    ]  # fmt: skip
    keys = _keys([along.curve for along in every], told) if told or not alike else {}
    # Words are of values, whatever is drawn.
    of_values = curves_along(comparison, place, comparison.curves) if axes.y_as in RELATIVE else every
    words, words_note = curve_words(comparison, of_values)
    return Multiples(
        id, title, figures, [keys[color] for color in sorted(keys)], table, note, metric.name, words, words_note
    )


def _keys(curves: Iterable[Curve], told: Fact | None) -> dict[int, Key]:
    """By color: of each line, or of each value of what the colors of many lines tell."""
    if told is None:
        return {each.color: Key(each.label, each.color % COLOURS, each.color >= COLOURS) for each in curves}
    values = {each.color % COLOURS: fact_value(each.points[0], told.field) for each in curves}
    return {color: Key(told.in_legend(value), color, dash=False) for color, value in values.items()}


def _x_axis(axes: Axes, groups: Sequence[Group], place: Place) -> Axis:
    xs = [group.x for group in groups]
    x: Axis = {"label": place.label, "unit": place.unit, "even": True, "span": (min(xs), max(xs))}
    if ticks := _ticks(groups, axes):
        return x | {"scale": "linear", "ticks": ticks}
    return x | {"scale": scale_of(xs, axes.x_scale, X_LOG_FROM)}


def _y_axis(axes: Axes, groups: Sequence[Group], panels: Sequence[Panel], metric: Metric) -> Axis:
    """One for all panels."""
    values = list(chain(*(group.values for group in groups)))
    # On one axis from zero a curve whose highest value is a tenth of another's is a line on the floor.
    curves = [curve for panel in panels for curve in panel.curves if curve.valued]
    tops = [max(chain(*(point.values for point in curve.points))) for curve in curves]
    far_apart = max(tops) >= TOPS_LOG_FROM * min(tops) > 0
    scale = scale_of(values, axes.y_scale, TOPS_LOG_FROM if far_apart else Y_LOG_FROM)
    # A step of 6 % is not to be seen from 0 on; bars always begin there, and what nearly reaches it.
    zoomed = (axes.x == DATE or axes.y_as == "first") and min(values, default=0.0) > max(values, default=0.0) / 4
    reached = values if zoomed else [*values, *chain(*map(_ends, groups))]
    span = [value for value in reached if scale == "linear" or value > 0]
    unit = "" if axes.y_as in RELATIVE else metric.unit
    if unit == "%" and max(values, default=0.0) <= WHOLE:  # no share is where its interval ends beyond that
        span = [min(value, WHOLE) for value in span]
    return {
        "label": RELATIVE.get(axes.y_as, ""), "unit": unit,
        "zero": scale == "linear" and not zoomed, "scale": scale,
        "better": metric.better if len(panels) == 1 else "none", "span": (min(span), max(span) or 1.0),
    }  # fmt: skip


def _note(
    comparison: Comparison, metric: Metric, groups: Sequence[Group], x: Axis, y: Axis, *, is_open: bool
) -> str:  # fmt: skip
    """What is drawn, and what a reader might overlook. `is_open`: whether an interval leaves the chart."""
    axes, is_linear = comparison.axes, y["scale"] == "linear"
    is_x_linear = x["scale"] == "linear" and not x.get("ticks")
    better = f", {metric.better} is better" if metric.better in ("higher", "lower") else ""
    notes = [
        f"{RELATIVE.get(axes.y_as) or metric.unit}{better}.", f"Line: {centre_words(groups)}.", NOTE,
        OPEN_NOTE if is_open else "",
        LINEAR_NOTE if axes.y_scale == "log" and is_linear else "",
        LINEAR_X_NOTE.format(x=mid_sentence(x["label"])) if is_x_linear and axes.x_scale == "log" else "",
        ZOOMED_NOTE if is_linear and not y["zero"] else "",
        _afterwards(groups) if axes.x == DATE else "",
    ]  # fmt: skip
    return " ".join(filter(None, notes)).removeprefix(". ")


def _afterwards(groups: Iterable[Group]) -> str:
    """Which batches do not stand at the day on which they were measured, but at that of their commit."""
    days = sorted({(fact_value(group, DATE), str(day_at(group.x))) for group in groups})
    names = [f"{measured} at {place}" for measured, place in days if measured != place]
    return f"Measured afterwards, drawn at the place of its commit: {few_listed(names)}." if names else ""


def _ends(group: Group) -> list[float]:
    """The ends of its interval, as far as it leaves the values readable."""
    if group.interval is None or not group.values:
        return []
    return [max(group.interval.low, 0.0), min(group.interval.high, max(group.values) * MOST_OF_A_BAND)]


def _series(curve: Curve, x: Axis, furthest: float, *, alike: bool, told: Fact | None) -> LineSeries:
    """`furthest`: where an interval is too wide for a band. `alike`: whether it looks as others do, all of them or,
    where colors tell a fact, those of its value.
    """
    color = (curve.color % COLOURS if told else COLOURS - 1) if alike else curve.color
    points: list[Point] = [(point.x, point.centre) for point in curve.points]
    intervals = [(point.x, point.interval) for point in curve.points if point.interval]
    return {
        "label": curve.label, "color": color % COLOURS, "dash": color >= COLOURS,
        "points": points, "leaps": leaps_of(x, points),
        "dots": [(point.x, value) for point in curve.points if point.n > 1 for value in point.values],
        "band": [(x, interval.low, interval.high) for x, interval in intervals if interval.high <= furthest],
        "open": [(x, interval.low, interval.high) for x, interval in intervals if interval.high > furthest],
    }  # fmt: skip


def _gaps(panel: Panel) -> list[LineGap]:
    """What is lost of each series, in one strip: failed nights fail for a reason each."""
    gaps: list[LineGap] = []
    for curve in panel.curves:
        lost = {point.x: reason for point in curve.points if (reason := point.gap)}
        if reasons := sorted({*lost.values()}):
            reason = reasons[0] if len(reasons) == 1 else f"for {len(reasons)} reasons, which the table gives"
            gaps.append({"label": curve.label, "color": curve.color % COLOURS, "xs": [*lost], "reason": reason})
    return gaps


def _ticks(points: Iterable[Group], axes: Axes) -> list[tuple[float, str]]:
    """Ticks for names and dates; numbers have the axis's own. Without an axis all stand at one place."""
    if axes.x_fact is None:
        return [(0.0, "all")]
    if axes.x_as != "value":
        return []
    if axes.x == DATE:
        days = {int(point.x) for point in points}
        names = {point.x: point.x_words if len(days) == 1 else str(date.fromordinal(int(point.x))) for point in points}
        return [(float(x), name) for x, name in sorted(names.items())]
    return [] if axes.x_fact.is_number else sorted({(point.x, point.x_words) for point in points})


def _table(drawn: Sequence[Along], x: Axis, comparison: Comparison, unit: str) -> Table:
    """One row per point: panel and series where there are several, geometric mean, interval, each repeat, and what is
    lost.
    """
    axes = comparison.axes
    panel_fact = axes.facts.get(axes.panels)
    compared = bool(axes.kind) and axes.y_as != "baseline"
    several = len({along.curve.color for along in drawn}) > 1
    heading = centre_label(point for along in drawn for point in along.curve.points)
    # A size says its own unit, as it comes to.
    x_unit = "" if x["unit"] == "MB" else x["unit"]
    repeats = repeat_columns((point for along in drawn for point in along.curve.points), unit)
    columns = [
        *([Column(panel_fact.label, numeric=False)] if panel_fact else []),
        *([Column("Series", numeric=False)] if several else []),
        Column(x["label"], x_unit, numeric=not x.get("ticks")), Column(heading, unit),
        Column("Interval from", unit), Column("to", unit), Column("n"), *repeats,
        *(map(Column, CHANGES) if compared else ()),
    ]  # fmt: skip
    rows = []
    for along in drawn:
        curve, changes = along.curve, along.changes if compared else {}
        for group in curve.points:
            rows.append([
                *([TableCell(text=curve.panel)] if panel_fact else []),
                *([TableCell(text=curve.label)] if several else []),
                TableCell(text=group.x_words) if x.get("ticks") else TableCell(
                    group.x, text=formatting.quantity(group.x, "MB") if x["unit"] == "MB" else "",
                ),
                TableCell(group.centre) if group.dots else TableCell(gap=group.gap or ""),
                *map(TableCell, ends_of(group.interval)),
                TableCell(group.n), *repeat_cells(group, len(repeats)),
                *map(_change_cell, changes.get(group.x, (None, None)) if compared else ()),
            ])  # fmt: skip
    return Table(columns, rows)


def _change_cell(change: Ratio | None) -> TableCell:
    """A share of 1, in words with its interval."""
    return TableCell(change.value - 1, change_words(change)) if change else TableCell()


def _alt(panel: Panel, metric: Metric, unit: str) -> str:
    curves = []
    for curve in panel.curves:
        if points := curve.valued:
            ends = " to ".join(formatting.quantity(point.centre, unit) for point in (points[0], points[-1]))
            curves.append(f"{curve.label or metric.label} {ends}")
    return f"Lines of {metric.label.lower()}, from the first level to the last: {'; '.join(curves)}."


# What is drawn over the curves


def marks(panel: Panel, comparison: Comparison) -> list[Mark]:
    """Over a size the memory and the buffer pool that all runs share. Over days the steps of the curves, and where one
    goes on with another version of its DBMS; none of a kind of which there are more than can be told apart.
    """
    placed = memory_places(panel.points, comparison.axes)
    if comparison.axes.x == DATE:
        is_absolute = comparison.axes.y_as == "absolute"
        # What both series of a slower machine lose is no step of the one in % of the other.
        changes, drifts = [], []
        for curve in panel.curves:
            told = comparison.changes[curve.name] if is_absolute else watched(curve.logs, comparison.threshold)
            name = f"{curve.label} " if len(panel.curves) > 1 else ""
            for found in (*told.confirmed, *told.unsure):
                of_unsure = unsure_verdict(found.change.interval, comparison.threshold)
                open_words = f"{UNSETTLED[of_unsure]} " if found in told.unsure else ""
                words = f"{name}{open_words}{percent(found.change.value - 1, signed=True)}"
                at = curve.levels[found.at][0]
                (drifts.append((f"{words} drift", at)) if found.kind == "drift" else changes.append((words, at)))
            for zero in curve.of_zero:
                changes.append((f"{name}{to_or_from_zero(is_to_zero=zero.is_to_zero)}", curve.valued[zero.at].x))
        upgrades = []
        for curve in panel.curves:
            versions = [(point.all_runs[0].dbms_version.version, point.x) for point in curve.points]
            upgrades += [after for before, after in pairwise(versions) if after[0] != before[0]]
        if len(changes) <= MOST_SAID:
            placed += changes
        placed += drifts if len(drifts) <= MOST_SAID else []
        if len(upgrades) <= MOST_SAID:
            # That of all curves is one mark.
            placed += dict.fromkeys(upgrades)
    return [{"axis": "x", "value": at, "label": words} for words, at in placed]


def overlays(curves: Sequence[Along]) -> list[tuple[str, LineSeries]]:
    """In the unit that is drawn, each with its note: of a rate over clients the ideal line, and the scaling law unless
    the levels do not show its peak; else a knee's two lines.
    """
    values = [value for each in curves for point in each.curve.points for value in point.values]
    in_values = [each for each in curves if values and each.x.kind and each.comparison.axes.y_as != "baseline"]
    bent = [line for each in in_values if each.x.kind != CLIENT for line in _bent(each)]
    return [*bent, *(line for each in in_values if each.grows for line in _over_clients(each, max(values)))]


def _bent(along: Along) -> list[tuple[str, LineSeries]]:
    """The two lines that meet at a knee, where two fit better than one."""
    curve, levels, bent = along.curve, along.levels, along.curve.knee
    if bent.at is None:
        return []
    xs = sorted([bent.at, *_places_between(above_zero(levels)[0][0], levels[-1][0])])
    points: list[Point] = [(x, bent.fitted(x)) for x in xs]
    return [(KNEE_NOTE, {"label": f"{curve.label or 'all'}, two lines with a knee", "color": curve.color % COLOURS,
                         "dash": True, "points": points})]  # fmt: skip


def _over_clients(along: Along, most: float) -> list[tuple[str, LineSeries]]:
    curve, levels = along.curve, above_zero(along.levels)
    if len(levels) < LEAST_OF_A_CURVE:
        return []
    first, last = levels[0][0], levels[-1][0]
    centre = next(point.centre for point in curve.valued if point.x == first) or 0.0
    # No further than the data reach: it must not squeeze them.
    end = min(last, first * most / centre) if centre else first
    xs = _places_between(first, last)
    ideal = [*(x for x in xs if x < end), end]
    named, color, law = curve.label or "all", curve.color % COLOURS, curve.law
    ideal_points: list[Point] = [(x, centre * x / first) for x in ideal]
    over: list[tuple[str, LineSeries]] = [
        (IDEAL_NOTE, {"label": f"{named}, ideal", "color": color, "dash": False, "points": ideal_points})
    ]
    if isinstance(law, Scaling) and not law.poor and not along.is_peak_unshown:
        points: list[Point] = [(x, law.at(x)) for x in xs]
        over.append((LAW_NOTE, {"label": f"{named}, scaling law", "color": color, "dash": True, "points": points}))
    return over


def _places_between(first: float, last: float) -> list[float]:
    return [first * (last / first) ** (step / _STEPS) for step in range(_STEPS + 1)]
