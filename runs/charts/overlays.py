"""What is drawn over curves: memory, steps and upgrades as marks, the ideal line, the scaling law."""

from __future__ import annotations

from itertools import pairwise

from runs.answers.places import memory_places
from runs.answers.words.curves import MOST_SAID
from runs.charts.base import LineSeries, Mark, Point
from runs.compare.axes import LEAST_LEVELS
from runs.compare.facts import DATE
from runs.compare.panels import CLIENT, COLOURS, Axes, Curve, Panel
from runs.formatting import percent
from runs.models import Metric
from runs.stats.curves import knee
from runs.stats.scaling import Scaling, scaling
from runs.stats.steps import steps

_STEPS = 40


def marks(panel: Panel, axes: Axes, threshold: float) -> list[Mark]:
    """Over a size the memory and the buffer pool that all runs share. Over days the steps of the curves, and where one
    goes on with another version of its DBMS; none of a kind of which there are more than can be told apart.
    """
    placed = memory_places(panel.points, axes)
    if axes.x == DATE:
        changes = [step for curve in panel.curves for step in steps(curve.levels, threshold)]
        upgrades = []
        for curve in panel.curves:
            versions = [(point.all_runs[0].dbms_version.version, point.x) for point in curve.points]
            upgrades += [after for before, after in pairwise(versions) if after[0] != before[0]]
        if len(changes) <= MOST_SAID:
            placed += [(percent(step.change.value - 1, signed=True), step.at) for step in changes]
        if len(upgrades) <= MOST_SAID:
            placed += upgrades
    return [{"axis": "x", "value": x, "label": words} for words, x in placed]


def overlays(panel: Panel, axes: Axes, metric: Metric) -> list[LineSeries]:
    """In the unit that is drawn: of a rate over clients the ideal line and the scaling law, else a knee's two lines."""
    values = [value for group in panel.points for value in group.values]
    if not axes.kind or axes.y_as == "baseline" or not values:
        return []
    if axes.kind != CLIENT:
        return [line for curve in panel.curves for line in _bent(curve)]
    if metric.better != "higher":
        return []
    return [line for curve in panel.curves for line in _over_clients(curve, max(values))]


def _bent(curve: Curve) -> list[LineSeries]:
    """The two lines that meet at a knee, where two fit better than one."""
    levels = curve.levels
    bent = knee(levels)
    if bent.at is None:
        return []
    first, last = levels[0][0], levels[-1][0]
    steps = sorted([bent.at, *(first * (last / first) ** (step / _STEPS) for step in range(_STEPS + 1))])
    points: list[Point] = [(x, bent.fitted(x)) for x in steps]
    return [{"label": f"{curve.label or 'all'}, two lines with a knee", "color": curve.color % COLOURS, "dash": True,
             "points": points}]  # fmt: skip


def _over_clients(curve: Curve, most: float) -> list[LineSeries]:
    levels = curve.levels
    if len(levels) < LEAST_LEVELS:
        return []
    first, last = levels[0][0], levels[-1][0]
    centre = next(point.centre for point in curve.valued) or 0.0
    # No further than the data reach: it must not squeeze them.
    end = min(last, first * most / centre) if centre else first
    steps = [first * (last / first) ** (step / _STEPS) for step in range(_STEPS + 1)]
    ideal = [x for x in steps if x < end] + [end]
    law = scaling(levels)
    named, color = curve.label or "all", curve.color % COLOURS
    over: list[LineSeries] = [
        {"label": f"{named}, ideal", "color": color, "dash": False, "points": [(x, centre * x / first) for x in ideal]}
    ]
    if isinstance(law, Scaling) and not law.poor:
        points: list[Point] = [(x, law.at(x)) for x in steps]
        over.append({"label": f"{named}, scaling law", "color": color, "dash": True, "points": points})
    return over
