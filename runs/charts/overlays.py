"""What is drawn over curves: memory as marks, the ideal line, the scaling law."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from runs.answers.places import memory_places
from runs.answers.words.curves import MOST_SAID
from runs.charts.base import LineSeries, Mark, Point
from runs.compare.axes import LEAST_LEVELS
from runs.compare.facts import DATE
from runs.compare.groups import Group
from runs.compare.panels import CLIENT, COLOURS, Axes, Curve, Panel
from runs.formatting import percent
from runs.models import Metric
from runs.stats.curves import knee
from runs.stats.scaling import Scaling, scaling
from runs.stats.steps import steps

_STEPS = 40


# Marks


def marks(groups: Sequence[Group], axes: Axes) -> list[Mark]:
    """The memory limit that all runs share, else the RAM of their machine, and their buffer pool, where x is a size."""
    return [{"axis": "x", "value": x, "label": words} for words, x in memory_places(groups, axes)]


def step_marks(panel: Panel, axes: Axes, threshold: float) -> list[Mark]:
    """Where the curves of days have a step; none where there are more than can be told apart."""
    if axes.x != DATE:
        return []
    changes = [step for curve in panel.curves for step in steps(curve.levels, threshold)]
    if len(changes) > MOST_SAID:
        return []
    return [{"axis": "x", "value": step.at, "label": percent(step.change.value - 1, signed=True)} for step in changes]


def version_marks(panel: Panel, axes: Axes) -> list[Mark]:
    """Where a curve of days goes on with another version of its DBMS; none of many."""
    changed = []
    for curve in panel.curves if axes.x == DATE else ():
        versions = [(point.x, point.all_runs[0].dbms_version.version) for point in curve.points]
        changed += [(at, version) for (_, before), (at, version) in pairwise(versions) if version != before]
    return (
        [{"axis": "x", "value": at, "label": version} for at, version in changed] if len(changed) <= MOST_SAID else []
    )


# Lines over those of the curves


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
