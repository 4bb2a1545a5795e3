"""What is drawn over curves: memory as marks, the ideal line, the scaling law; and two media as their ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from runs.answers.places import Place, groups_of, memory_places
from runs.answers.words.curves import MOST_SAID, media_words
from runs.charts.base import Figure, LineSeries, LinesSpec, Mark, Point, XAxis, lines
from runs.compare.facts import DATE
from runs.compare.groups import Group
from runs.compare.panels import CLIENT, COLOURS, SIZE, Axes, Curve, Panel, kind_of, levels_of
from runs.formatting import percent
from runs.models import Metric
from runs.run.facets import STORAGE
from runs.stats import ends_of, ratio
from runs.stats.curves import knee
from runs.stats.scaling import Scaling, scaling
from runs.stats.steps import steps
from runs.tables import Column, Table, TableCell

LEAST_LEVELS, LEAST_COMMON = 3, 2
_STEPS = 40


# Marks


def marks(groups: Sequence[Group], axes: Axes) -> list[Mark]:
    """The memory limit that all runs share, else the RAM of their machine, and their buffer pool, where x is a size."""
    return [{"axis": "x", "value": x, "label": words} for words, x in memory_places(groups, axes)]


def step_marks(panel: Panel, axes: Axes, threshold: float) -> list[Mark]:
    """Where the curves of days have a step; none where there are more than can be told apart."""
    if axes.x != DATE:
        return []
    changes = [step for curve in panel.curves for step in steps(levels_of(curve), threshold)]
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
    values = [value for group in groups_of(panel) for value in group.values]
    kind = kind_of(axes)
    if not kind or axes.y_as == "baseline" or not values:
        return []
    if kind != CLIENT:
        return [line for curve in panel.curves for line in _bent(curve)]
    if metric.better != "higher":
        return []
    return [line for curve in panel.curves for line in _over_clients(curve, max(values))]


def _bent(curve: Curve) -> list[LineSeries]:
    """The two lines that meet at a knee, where two fit better than one."""
    levels = levels_of(curve)
    bent = knee(levels)
    if bent.at is None:
        return []
    first, last = levels[0][0], levels[-1][0]
    steps = sorted([bent.at, *(first * (last / first) ** (step / _STEPS) for step in range(_STEPS + 1))])
    points: list[Point] = [(x, bent.fitted(x)) for x in steps]
    return [{"label": f"{curve.label or 'all'}, two lines with a knee", "color": curve.color % COLOURS, "dash": True,
             "points": points}]  # fmt: skip


def _over_clients(curve: Curve, most: float) -> list[LineSeries]:
    levels = levels_of(curve)
    if len(levels) < LEAST_LEVELS:
        return []
    first, last = levels[0][0], levels[-1][0]
    centre = next(point.centre for point in curve.points if point.dots) or 0.0
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


# Two media


def medium(group: Group) -> str:
    """On what the data lay: SSD, HDD, HDD (emulated); empty where the first run does not tell."""
    use = next((use for use in group.all_runs[0].storage.all() if use.role == "data" and not use.in_memory), None)
    if use is None:
        return ""
    words = use.device.medium_label or use.device.short_name
    return words if words.endswith(" (emulated)") or not use.device.emulated else f"{words} (emulated)"


def media_figures(panels: Sequence[Panel], axes: Axes, x: XAxis, metric: Metric, *, id: str) -> list[Figure]:
    """Where series differ by the medium alone: the faster kind against the slower at each level that both have."""
    pairs = [pair for panel in panels for pair in _pairs(panel, axes)] if kind_of(axes) == SIZE else []
    series: list[LineSeries] = []
    rows, ratios = [], []
    names = dict.fromkeys(pair.media for pair in pairs)
    for pair in pairs:
        slower = {point.level: point for point in pair.slower.points if point.dots}
        levels = (
            (point.x, ratio(point.judged, slower[point.level].judged))
            for point in pair.faster.points
            if point.dots and point.level in slower
        )
        common = [(at, change) for at, change in levels if change and at > 0]
        if len(common) < LEAST_COMMON:
            continue
        label = f"{pair.others}: {pair.media}" if pair.others else pair.media
        # The title names the media where there are only two.
        series.append({
            "label": pair.others if pair.others and len(names) == 1 else label,
            "color": len(series) % COLOURS, "dash": len(series) >= COLOURS,
            "points": [(at, change.value) for at, change in common],
            "band": [(at, change.interval.low, change.interval.high) for at, change in common if change.interval],
        })  # fmt: skip
        for at, change in common:
            rows.append([TableCell(text=label), *map(TableCell, (at, change.value, *ends_of(change.interval)))])
        ratios.append((label, common))
    if not series:
        return []
    spec: LinesSpec = lines(
        x={**x, "even": True}, y={"label": "Ratio", "unit": "×", "zero": True}, series=series,
        marks=[{"axis": "y", "value": 1.0, "label": "1: no difference"}],
    )  # fmt: skip
    columns = [Column("Media", numeric=False), Column(x["label"], x["unit"]), Column("Ratio", "×"),
               Column("95 % interval from", "×"), Column("to", "×")]  # fmt: skip
    said = media_words(ratios, Place(x["label"], x["unit"]))
    name = "; ".join(names)
    note = f"{metric.label}, level by level, with its interval. {said}."
    alt = f"Ratio of {name}: {said}."
    return [Figure(f"{id}-media", f"{name} over size", spec, Table(columns, rows), alt, note)]


_OF_THE_DISK = frozenset({"hardware", "factor:disk", "factor:data_storage", "factor:log_storage", "config"})
# The slowest first: what the others are set against.
_SLOW_FIRST = ("HDD", "SSD", "NVMe")


@dataclass(frozen=True)
class _Pair:
    """Two curves that differ by the medium alone: `media` as "SSD against HDD", `others`: what else names both."""

    faster: Curve
    slower: Curve
    media: str
    others: str


def _pairs(panel: Panel, axes: Axes) -> list[_Pair]:
    fields = [name for name in axes.series if name not in _OF_THE_DISK and not name.startswith(STORAGE)]
    by_others: dict[tuple[str, ...], dict[str, Curve]] = {}
    for curve in panel.curves:
        media = {medium(point) for point in curve.points}
        if len(media) == 1 and (only := media.pop()):
            facts = curve.points[0].facts
            by_others.setdefault(tuple(facts.get(name, "") for name in fields), {}).setdefault(only, curve)

    def speed(name: str) -> tuple[bool, int]:
        bare = name.removesuffix(" (emulated)")
        return "emulated" not in name, _SLOW_FIRST.index(bare) if bare in _SLOW_FIRST else 0

    pairs = []
    for key, curves in by_others.items():
        slowest, *faster = sorted(curves, key=speed)
        words = [axes.facts[name].in_legend(value) for name, value in zip(fields, key, strict=True)]
        others = " · ".join(filter(None, (panel.label, *words)))
        pairs += [_Pair(curves[name], curves[slowest], f"{name} against {slowest}", others) for name in faster]
    return pairs
