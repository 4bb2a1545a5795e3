"""What axes make of groups: curves in panels, each group at its place on x."""

from __future__ import annotations

import math
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Any
from uuid import UUID

from benchagent.catalog import FACTORS, Role, factor_role
from django.utils.text import slugify

from runs.compare.asked import Missing, Question
from runs.compare.facts import CORES, DATE, MOMENT, NEVER_TAKEN, NO_FACT, Columns, Fact, fact_value, fact_values
from runs.compare.grouping import position_of, rising
from runs.compare.groups import SIZE_BY_TABLES, SIZES, Group, pooled
from runs.compare.guard import bare_field
from runs.formatting import grouped
from runs.run.facets import FACTOR
from runs.run.likeness import SETTING
from runs.run.memory import MB, buffer_bytes, memory_bytes
from runs.stats import Slope, geometric_mean
from runs.stats.curves import Knee, knee, measurable, per_doubling
from runs.stats.scaling import Scaling, Unfitted, scaling
from runs.stats.zeros import ZeroChange, zero_changes

# The palette of static/css/tokens.css: --series-0 … --series-7.
COLOURS = 8
# So many looks there are of lines: each colour drawn through and dashed.
LOOKS = 2 * COLOURS
CLIENTS = ("terminals", "threads", "clients", "connections", "virtual_users", "streams", "nodes", *CORES)
NO_PLACES: Mapping[UUID, tuple[UUID, Any]] = {}
# What a curve is said of: a size, a number of clients, another number.
SIZE, CLIENT, OTHER = "size", "clients", "other"


@dataclass(frozen=True)
class Axes:
    """The fields of `facts` that take x, series and panels, empty where none does.

    `fixed`: field -> the one value that is drawn. `pooled`: fields that the reader pools. `facts`: all that vary, by
    field. `follow`: fields that say nothing beyond the chosen ones. `problems`: parameter -> what there is not.
    """

    view: str
    x: str = ""
    series: tuple[str, ...] = ()
    panels: str = ""
    fixed: Mapping[str, str] = field(default_factory=dict)
    pooled: tuple[str, ...] = ()
    x_as: str = "value"
    y_as: str = "absolute"
    x_scale: str = ""
    y_scale: str = ""
    facts: Mapping[str, Fact] = field(default_factory=dict)
    follow: tuple[str, ...] = ()
    problems: Mapping[str, list[str]] = field(default_factory=dict)

    @property
    def x_fact(self) -> Fact | None:
        return self.facts.get(self.x)

    @property
    def kind(self) -> str:
        """Whether x is a size, a number of clients, another number, or nothing that a curve is said of (empty)."""
        name = self.x.removeprefix(FACTOR)
        if self.x_fact is None or self.x == DATE or not self.x_fact.is_number:
            return ""
        return SIZE if name in SIZES else CLIENT if name in CLIENTS else OTHER

    @property
    def asks_of_levels(self) -> bool:
        """Whether the levels of x are different questions, as sizes are: nobody asks which of them is best."""
        is_asked = self.kind not in ("", CLIENT) and not self.x.startswith(SETTING)
        return is_asked and factor_role(self.x.removeprefix(FACTOR)) == Role.QUESTION

    def along_x(self, groups: Sequence[Group]) -> set[str]:
        """What only says where a group stands on x, as differences name it: x, a number of the tests along it, and over
        a size what states the size once more.
        """
        if not self.x:
            return set()
        sizes = {f"{FACTOR}{name}" for name in SIZES} if self.kind == SIZE else set()
        stated = [name for name in (NEVER_TAKEN | sizes) & self.facts.keys() if name.startswith(FACTOR)]
        columns, curve = Columns(groups), [self.x, *self.series, *filter(None, [self.panels])]
        along = {name for name in (self.x, *stated) if columns.follow([name], curve)}
        by_tables = {f"{FACTOR}{name}" for name in SIZE_BY_TABLES}
        if by_tables <= along and not self._rise_together(by_tables, groups):
            along -= by_tables - {self.x}
        return {bare_field(name) for name in along}

    def _rise_together(self, names: Collection[str], groups: Sequence[Group]) -> bool:
        """Whether along each curve none of these numbers falls while another rises."""
        levels = grouped(
            (self.curve_of(group), [self.facts[name].numbers.get(fact_value(group, name), 0.0) for name in names])
            for group in groups
        )
        steps = chain.from_iterable(pairwise(sorted(of_curve)) for of_curve in levels.values())
        return all(low <= high for step in steps for low, high in zip(*step, strict=True))

    def curve_of(self, group: Group) -> tuple[str, ...]:
        """What tells its curve from the others."""
        return fact_values(group, [*self.series, *filter(None, [self.panels])])


@dataclass(frozen=True)
class Curve:
    """`color`: index of the series, the same in all panels. `points` in the order of x, each x once; one may stand for
    several groups that a reader pools, and is a gap without dots. `panel`: its label. `zero_words`: what 0 on x
    stands for where it is no level.
    """

    label: str
    key: str
    color: int
    points: list[Group]
    panel: str = ""
    zero_words: str = ""

    @property
    def name(self) -> str:
        """Among the curves of all panels; empty where it is alone."""
        return " · ".join(filter(None, (self.panel, self.label)))

    @property
    def valued(self) -> list[Group]:
        """Its points that are no gaps."""
        return [point for point in self.points if point.dots]

    @property
    def at_levels(self) -> list[Group]:
        """Those of them that stand at a level of x."""
        return [point for point in self.valued if point.x or not self.zero_words]

    @property
    def missing(self) -> Missing | None:
        """What it takes to set two of its levels against each other; None where nothing is missing."""
        if not self.valued:
            return Missing("value", self.name, names=[point.gap or "" for point in self.points])
        return None if len(self.at_levels) > 1 else Missing("level", self.name)

    @cached_property
    def levels(self) -> list[tuple[float, Sequence[float]]]:
        """(x, repeats) without gaps."""
        return measurable([(point.x, point.judged) for point in self.at_levels])

    @cached_property
    def logs(self) -> list[float]:
        """The logarithms of the means of its levels, as far as they have one."""
        return [math.log(centre) for _, values in self.levels if (centre := geometric_mean(values)) is not None]

    @cached_property
    def of_zero(self) -> list[ZeroChange]:
        """Where it leaves zero or comes to it, by the places of those with values."""
        return zero_changes([point.judged for point in self.valued])

    @cached_property
    def per_doubling(self) -> Slope | None:
        return per_doubling(self.levels)

    @cached_property
    def knee(self) -> Knee:
        return knee(self.levels)

    @cached_property
    def law(self) -> Scaling | Unfitted:
        return scaling(self.levels)


@dataclass(frozen=True)
class Panel:
    label: str
    key: str
    curves: list[Curve]

    @property
    def points(self) -> list[Group]:
        return [point for curve in self.curves for point in curve.points]


def in_order_of_series(groups: Sequence[Group], places: Mapping[UUID, tuple[UUID, Any]]) -> list[Group]:
    """Batches of one series as the page of its benchmark has them; what has no place there, as one that failed, behind
    the last of those measured before it. As they are, by when they were measured, where several benchmarks are drawn
    as one curve.
    """
    found = [next((places[run.pk] for run in group.all_runs if run.pk in places), None) for group in groups]
    if len({place[0] for place in found if place}) != 1:
        return [*groups]
    last, ordered = None, []
    for at, (group, place) in enumerate(zip(groups, found, strict=True)):
        last = max(filter(None, (last, place)), default=None)
        ordered.append(((place or last) is not None, place or last, place is None, at, group))
    return [group for *_, group in sorted(ordered, key=lambda each: each[:-1])]


def zero_words(x: str) -> str:
    """What 0 of a factor says that was not asked for there, as "no fixed rate"; empty where it is a level."""
    factor = FACTORS.get(x.removeprefix(FACTOR))
    return factor.words.get("0", "") if factor else ""


def stands_at(group: Group, fixed: Mapping[str, str]) -> bool:
    return all(fact_value(group, name) == value for name, value in fixed.items())


def drawn_groups(groups: Sequence[Group], fixed: Mapping[str, str]) -> list[Group]:
    """At the fixed levels those that have the metric or could have it."""
    return [group for group in of_measured_workloads(groups) if stands_at(group, fixed)]


def of_measured_workloads(groups: Sequence[Group]) -> list[Group]:
    """Those whose workload has the metric anywhere here: a load has no transactions, which is no gap."""
    measured = {group.all_runs[0].workload_id for group in groups if group.dots}
    return [group for group in groups if not measured or group.all_runs[0].workload_id in measured]


def panels_of(
    groups: Sequence[Group], axes: Axes, asked: str = "", places: Mapping[UUID, tuple[UUID, Any]] = NO_PLACES
) -> list[Panel]:
    """The curves of each panel; of groups at the same place, as what is pooled leaves them, all repeats together.

    `asked`: the fact that a question is about. `places`: of batches in the series of their benchmarks, by a run.
    """
    xs = _xs(groups, axes)
    series = series_colors(groups, axes, asked)
    panels: list[Panel] = []
    for heading, of_panel in panel_groups(groups, axes):
        by_level: dict[tuple[str, ...], dict[str, list[Group]]] = {}
        for group, key in zip(of_panel, Columns(of_panel).rows(axes.series), strict=True):
            if group.key in xs:
                level = fact_value(group, MOMENT) if axes.x == DATE else size_level(group, axes.x)
                by_level.setdefault(key, {}).setdefault(level, []).append(group)
        curves = []
        for key, color in series.items():
            points = []
            for level, at_level in by_level.get(key, {}).items():
                words = axes.x_fact.words.get(fact_value(at_level[0], axes.x), "") if axes.x_fact else ""
                words = level if axes.x == DATE else words
                x = statistics.fmean(xs[group.key] for group in at_level)
                points.append(replace(pooled(at_level), x=x, x_words=words, level=level))
            if points:
                label = " · ".join(map(Fact.in_legend, [axes.facts[name] for name in axes.series], key))
                in_order = sorted(points, key=lambda point: point.x)
                if axes.x == DATE and places:
                    in_order = in_order_of_series(in_order, places)
                    xs_of_series = rising([point.x for point in in_order])
                    in_order = [replace(point, x=x) for point, x in zip(in_order, xs_of_series, strict=True)]
                curves.append(Curve(label, panel_key(label), color, in_order, heading, zero_words(axes.x)))
        if any(not point.is_to_come for curve in curves for point in curve.points):
            panels.append(Panel(heading, panel_key(heading), curves))
    # Two sweeps that cross have curves in one panel, and a single point of each series in the others.
    return sorted(panels, key=lambda panel: all(len(curve.points) < 2 for curve in panel.curves))


def series_colors(groups: Sequence[Group], axes: Axes, asked: str) -> dict[tuple[str, ...], int]:
    """The values that name each series, each in the order of its fact, and its color: a number of its own, of which
    the remainder by `COLOURS` is drawn.

    Where a question is about one fact, one color for each of its values, and dashed for the second series that has it:
    from `COLOURS` on a line is dashed. Of more series than `LOOKS` one color for each value of `told_by_color`.
    """
    ranks = [axes.facts[name].ranks for name in axes.series]
    keys = dict.fromkeys(Columns(groups).rows(axes.series))
    series = sorted(keys, key=lambda key: [rank[value] for rank, value in zip(ranks, key, strict=True)])
    told = asked if len(series) <= LOOKS else told_by_color(groups, axes, asked)
    if told in axes.series:
        values = [key[axes.series.index(told)] for key in series]
        distinct = list(dict.fromkeys(values))
        colors = [distinct.index(value) + COLOURS * values[:at].count(value) for at, value in enumerate(values)]
        if len(distinct) <= COLOURS and (max(colors) < LOOKS or len(series) > LOOKS):
            return dict(zip(series, colors, strict=True))
    return {key: index for index, key in enumerate(series)}


def told_by_color(groups: Sequence[Group], axes: Axes, asked: str) -> str:
    """What the colors of more series than `LOOKS` tell: what is asked about, else the first fact that there are colors
    for; empty where there is none.
    """
    columns = Columns(groups)
    names = sorted(axes.series, key=lambda name: name != asked)
    return next((name for name in names if 1 < len({*columns[name]}) <= COLOURS), "")


def panel_groups(groups: Sequence[Group], axes: Axes) -> list[tuple[str, list[Group]]]:
    """What the panels are called, and their groups; all groups under "" without panels."""
    if not axes.panels:
        return [("", list(groups))] if groups else []
    fact = axes.facts[axes.panels]
    by_value: dict[str, list[Group]] = {}
    for group in groups:
        by_value.setdefault(fact_value(group, fact.field), []).append(group)
    # What could not have the metric, as a load has no transactions, may have a value that nothing drawn has.
    return [(fact.in_legend(value), by_value[value]) for value in fact.values if value in by_value]


def panel_key(label: str) -> str:
    """As a part of an id."""
    return slugify(label.replace(".", "-")) or "all"


def _xs(groups: Sequence[Group], axes: Axes) -> dict[str, float]:
    """Where each group stands on x, by its key; without a fact all stand at 0. What has no number is left out."""
    fact = axes.x_fact
    if fact is None:
        return dict.fromkeys((group.key for group in groups), 0.0)
    if axes.x_as != "value":
        sizes = sizes_mb(groups)
        whole = {"of_ram": memory_bytes, "of_buffer": buffer_bytes}.get(axes.x_as)
        if whole is None:
            return sizes
        wholes = {group.key: whole(group.all_runs[0]) for group in groups if group.key in sizes}
        return {key: float(f"{sizes[key] * MB / size:.6g}") for key, size in wholes.items() if size}
    if fact.field == DATE:
        return {group.key: position_of(fact_value(group, MOMENT)) for group in groups}
    values = {group.key: fact_value(group, fact.field) for group in groups}
    if fact.is_number:
        return {key: fact.numbers[value] for key, value in values.items() if value in fact.numbers}
    return {key: float(fact.ranks[value]) for key, value in values.items()}


def sizes_mb(groups: Iterable[Group]) -> dict[str, float]:
    """By their keys, of those whose size is known. Engines that store the same rows in more or fewer bytes stand at
    places of their own.
    """
    return {group.key: group.size_mb for group in groups if group.size_mb is not None}


def size_level(group: Group, name: str) -> str:
    """Its value; of one that asked for its size by another factor that one with its value."""
    if (value := fact_value(group, name)) != NO_FACT:
        return value
    others = ((other, group.all_runs[0].factor(other)) for other in SIZES)
    return next((f"{other} {size}" for other, size in others if size is not None), value)


RELATIVE = {"first": "% of the first level", "baseline": "% of the baseline series"}


def relative(panels: Sequence[Panel], y_as: str, base: Group | None) -> list[Panel]:
    """The panels in % of the first level of each curve, or of the series that the baseline belongs to."""
    if y_as not in RELATIVE:
        return [*panels]
    runs = {run.id for run in base.runs} if base else set()
    color = next(
        (curve.color for panel in panels for curve in panel.curves
         if any(run.id in runs for point in curve.points for run in point.runs)), None,
    )  # fmt: skip
    return [replace(panel, curves=_shares(panel.curves, None if y_as == "first" else color)) for panel in panels]


def _shares(curves: Sequence[Curve], color: int | None) -> list[Curve]:
    """In % of the first value of each; with a color of the values of that series at the same places."""
    of_base = {point.x: point.centre for curve in curves if curve.color == color for point in curve.points}
    shares = []
    for curve in curves:
        first = next((point.centre for point in curve.valued), None)
        points = [_share(point, first if color is None else of_base.get(point.x)) for point in curve.points]
        shares.append(replace(curve, points=points))
    return shares


def _share(group: Group, of: float | None) -> Group:
    """Its values in % of a fixed number; a gap where there is none."""
    if not of:
        gaps = [replace(dot, value=None, reason="nothing to set it against") for dot in group.dots] or group.gaps
        runs = [gap.run for gap in gaps]
        return replace(group, all_runs=runs, dots=[], gaps=gaps, judged=(), summary=None, interval=None)

    def share(value: float) -> float:
        return 100 * (value / of)

    summary, interval = group.summary, group.interval
    if summary:
        of_logs = summary.geometric_mean
        summary = replace(
            summary, median=share(summary.median), mean=share(summary.mean), centre=share(summary.centre),
            geometric_mean=None if of_logs is None else share(of_logs),
        )  # fmt: skip
    if interval:
        interval = replace(interval, low=share(interval.low), high=share(interval.high))
    dots = [replace(dot, value=share(value)) for dot, value in zip(group.dots, group.values, strict=True)]
    return replace(group, dots=dots, judged=[*map(share, group.judged)], summary=summary, interval=interval)


# How far a level may lie from the one that is asked for and still be it: 10 GB that came to 10.1.
SAME_LEVEL = 0.05


def ends_of_curve(curve: Curve, question: Question) -> tuple[Group, Group] | Missing:
    """The points that a loss is asked between; without ends the first and the last that are ranked, else any."""
    valued = curve.at_levels
    if curve.missing:
        return curve.missing
    chosen = []
    ranked = [point for point in valued if point.ranked]
    first, *_, last = ranked if len(ranked) > 1 else valued
    for wanted, default in ((question.start, first), (question.end, last)):
        if wanted is None:
            chosen.append(default)
            continue
        nearest = min(valued, key=lambda point: abs(_level_number(point) - wanted))
        if not _is_level(nearest, wanted):
            gap = next((point for point in curve.points if point.gap and _is_level(point, wanted)), None)
            if gap:
                return Missing("no_value", curve.name, names=[gap.gap or "", gap.x_words])
            unit = first.level.partition(" ")[2]
            return Missing("level_asked", curve.name, names=[f"{wanted:.10g} {unit}".strip()])
        chosen.append(nearest)
    first, last = chosen
    return (first, last) if first is not last else Missing("two_levels", curve.name)


def _is_level(point: Group, wanted: float) -> bool:
    return abs(_level_number(point) - wanted) <= SAME_LEVEL * abs(wanted)


def _level_number(point: Group) -> float:
    """What was asked for at this point: a scale factor of 10, whatever size it came to."""
    text = point.level.replace(",", "").partition(" ")[0]
    try:
        return float(text)
    except ValueError:
        return point.x
