"""What is drawn over curves: memory, steps and upgrades as marks, the ideal line, the scaling law."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from runs.answers.curves import Along
from runs.answers.places import memory_places
from runs.answers.words.curves import MOST_SAID
from runs.charts.base import LineSeries, Mark, Point
from runs.compare.axes import LEAST_LEVELS
from runs.compare.comparison import Comparison
from runs.compare.facts import DATE
from runs.compare.panels import CLIENT, COLOURS, Panel
from runs.formatting import percent
from runs.stats.curves import above_zero
from runs.stats.scaling import Scaling
from runs.stats.watch import watched

_STEPS = 40


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
            for found in told.confirmed:
                words, at = percent(found.change.value - 1, signed=True), curve.levels[found.at][0]
                (drifts.append((f"{words} drift", at)) if found.kind == "drift" else changes.append((words, at)))
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


def overlays(curves: Sequence[Along]) -> list[LineSeries]:
    """In the unit that is drawn: of a rate over clients the ideal line and the scaling law, else a knee's two lines."""
    values = [value for each in curves for point in each.curve.points for value in point.values]
    in_values = [each for each in curves if values and each.x.kind and each.comparison.axes.y_as != "baseline"]
    bent = [line for each in in_values if each.x.kind != CLIENT for line in _bent(each)]
    return [*bent, *(line for each in in_values if each.grows for line in _over_clients(each, max(values)))]


def _bent(along: Along) -> list[LineSeries]:
    """The two lines that meet at a knee, where two fit better than one."""
    curve, levels, bent = along.curve, along.levels, along.curve.knee
    if bent.at is None:
        return []
    first, last = above_zero(levels)[0][0], levels[-1][0]
    xs = sorted([bent.at, *(first * (last / first) ** (step / _STEPS) for step in range(_STEPS + 1))])
    points: list[Point] = [(x, bent.fitted(x)) for x in xs]
    return [{"label": f"{curve.label or 'all'}, two lines with a knee", "color": curve.color % COLOURS, "dash": True,
             "points": points}]  # fmt: skip


def _over_clients(along: Along, most: float) -> list[LineSeries]:
    curve, levels = along.curve, above_zero(along.levels)
    if len(levels) < LEAST_LEVELS:
        return []
    first, last = levels[0][0], levels[-1][0]
    centre = next(point.centre for point in curve.valued if point.x == first) or 0.0
    # No further than the data reach: it must not squeeze them.
    end = min(last, first * most / centre) if centre else first
    xs = [first * (last / first) ** (step / _STEPS) for step in range(_STEPS + 1)]
    ideal = [x for x in xs if x < end] + [end]
    law = along.curve.law
    named, color = curve.label or "all", curve.color % COLOURS
    over: list[LineSeries] = [
        {"label": f"{named}, ideal", "color": color, "dash": False, "points": [(x, centre * x / first) for x in ideal]}
    ]
    if isinstance(law, Scaling) and not law.poor:
        points: list[Point] = [(x, law.at(x)) for x in xs]
        over.append({"label": f"{named}, scaling law", "color": color, "dash": True, "points": points})
    return over
