"""What axes make of groups: curves in panels, each group at its place on x; levels that a reader takes together."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict
from django.utils.text import slugify

from runs.compare.asked import Question
from runs.compare.axes import CLIENTS, SIZES, Axes, arrange, size_level
from runs.compare.comparison import Comparison
from runs.compare.facts import DATE, NEVER_TAKEN, Columns, CommonFact, Fact, fact_value, fact_values
from runs.compare.groups import Group, pooled
from runs.compare.guard import conditions_of
from runs.run.facets import FACTOR
from runs.run.memory import MB, buffer_bytes, memory_bytes
from runs.run.number import values_of
from runs.stats.curves import measurable

# The palette of static/css/tokens.css: --series-0 … --series-7.
COLOURS = 8
# What the groups have of a fact that is pooled.
POOLED = "pooled"
SIZE_METRIC = "db_size_bytes"
# Sizes in GB are those of articles, of 1024 MB of 1024 kB as their memory is; what was measured is in MB of 1,000 kB.
_MB_EACH = {"size_gb": 1024**3 / MB, "size_mb": 1, "target_size_mb": 1, "dataset_mb": 1}


@dataclass(frozen=True)
class Curve:
    """`color`: index of the series, the same in all panels. `points` in the order of x, each x once; one may stand for
    several groups that a reader pools, and is a gap without dots.
    """

    label: str
    key: str
    color: int
    points: list[Group]


@dataclass(frozen=True)
class Panel:
    label: str
    key: str
    curves: list[Curve]


def panels_of(comparison: Comparison, axes: Axes) -> list[Panel]:
    """The curves of each panel; of groups at the same place, as what is pooled leaves them, all repeats together."""
    groups = axes.groups(comparison)
    xs = _xs(groups, axes)
    names = [name for name in axes.series if name in axes.facts]
    series = _combinations(groups, names, axes.facts)
    colors = _colors(series, names, comparison.question.fact)
    panels: list[Panel] = []
    for heading, of_panel in panel_groups(groups, axes):
        by_level: dict[tuple[str, ...], dict[str, list[Group]]] = {}
        for group, key in zip(of_panel, Columns(of_panel).rows(names), strict=True):
            if group.key in xs:
                by_level.setdefault(key, {}).setdefault(size_level(group, axes.x), []).append(group)
        curves = []
        for index, key in enumerate(series):
            points = []
            for level, at_level in by_level.get(key, {}).items():
                words = axes.x_fact.words.get(fact_value(at_level[0], axes.x), "") if axes.x_fact else ""
                x = statistics.fmean(xs[group.key] for group in at_level)
                points.append(replace(pooled(at_level), x=x, x_words=words, level=level))
            if points:
                label = " · ".join(axes.facts[name].in_legend(value) for name, value in zip(names, key, strict=True))
                in_order = sorted(points, key=lambda point: point.x)
                curves.append(Curve(label, panel_key(label), colors[index], in_order))
        if curves:
            panels.append(Panel(heading, panel_key(heading), curves))
    return panels


def _colors(series: Sequence[tuple[str, ...]], names: Sequence[str], asked: str) -> list[int]:
    """One for each series; where a question is about one fact, one for each of its values, and dashed for the second
    series that has it: from `COLOURS` on a line is dashed.
    """
    if asked not in names:
        return list(range(len(series)))
    values = [key[names.index(asked)] for key in series]
    distinct = list(dict.fromkeys(values))
    colors = [distinct.index(value) + COLOURS * values[:at].count(value) for at, value in enumerate(values)]
    return colors if len(distinct) <= COLOURS and max(colors) < 2 * COLOURS else list(range(len(series)))


def panel_groups(groups: Sequence[Group], axes: Axes) -> list[tuple[str, list[Group]]]:
    """What the panels are called, and their groups; all groups under "" without panels."""
    if not axes.panels:
        return [("", list(groups))] if groups else []
    fact = axes.facts[axes.panels]
    return [
        (fact.in_legend(value), [group for group in groups if fact_value(group, axes.panels) == value])
        for (value,) in _combinations(groups, [axes.panels], axes.facts)
    ]


def panel_key(label: str) -> str:
    """As a part of an id."""
    return slugify(label.replace(".", "-")) or "all"


def _combinations(groups: Sequence[Group], names: Sequence[str], facts: Mapping[str, Fact]) -> list[tuple[str, ...]]:
    """Of the facts' values those that occur together, each in the order of its fact."""
    ranks = [facts[name].ranks for name in names]
    keys = dict.fromkeys(Columns(groups).rows(names))
    return sorted(keys, key=lambda key: [rank[value] for rank, value in zip(ranks, key, strict=True)])


def _xs(groups: Sequence[Group], axes: Axes) -> dict[str, float]:
    """By key of the group where it stands on x; without a fact there all stand at 0. Left out is what has no number."""
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
    values = {group.key: fact_value(group, fact.field) for group in groups}
    if fact.is_number:
        return {key: fact.numbers[value] for key, value in values.items() if value in fact.numbers}
    return {key: float(fact.ranks[value]) for key, value in values.items()}


def sizes_mb(groups: Sequence[Group]) -> dict[str, float]:
    """By key of the group the mean size of its own databases, as measured after loading.

    Without a measured size the one that was asked for, where that is in bytes. Engines that store the same rows in
    more or fewer bytes stand at places of their own.
    """
    sizes = {}
    for group in groups:
        if measured := values_of(group.all_runs, SIZE_METRIC):
            sizes[group.key] = round(statistics.fmean(measured) / MB, 1)
        else:
            wanted = ((group.all_runs[0].factor(factor), each) for factor, each in _MB_EACH.items())
            size = next((number * each for number, each in wanted if isinstance(number, int | float)), None)
            sizes |= {group.key: round(size, 1)} if size else {}
    return sizes


# What a curve is said of: a size, a number of clients, another number.
SIZE, CLIENT, OTHER = "size", "clients", "other"


def kind_of(axes: Axes) -> str:
    """Whether x is a size, a number of clients, another number, or nothing that a curve is said of (empty)."""
    name = axes.x.removeprefix(FACTOR)
    if axes.x_fact is None or axes.x == DATE or not axes.x_fact.is_number:
        return ""
    return SIZE if axes.x_as != "value" or name in SIZES else CLIENT if name in CLIENTS else OTHER


def levels_of(curve: Curve) -> list[tuple[float, Sequence[float]]]:
    """(x, repeats) without gaps."""
    return measurable([(point.x, point.judged) for point in curve.points if point.dots])


# How far a level may lie from the one that is asked for and still be it: 10 GB that came to 10.1.
NEAR = 0.05


def ends_of_curve(curve: Curve, question: Question) -> tuple[Group, Group] | str:
    """The points that a loss is asked between; without ends the first and the last that have values. Or why not."""
    valued = [point for point in curve.points if point.dots]
    if len(valued) < 2:
        return "one level only, measure a second"
    chosen = []
    for wanted, default in ((question.start, valued[0]), (question.end, valued[-1])):
        if wanted is None:
            chosen.append(default)
            continue
        nearest = min(valued, key=lambda point: abs(_level_number(point) - wanted))
        if abs(_level_number(nearest) - wanted) > NEAR * abs(wanted):
            return f"not measured at {wanted:g}"
        chosen.append(nearest)
    first, last = chosen
    return (first, last) if first is not last else "one level only, measure a second"


def _level_number(point: Group) -> float:
    """What was asked for at this point: a scale factor of 10, whatever size it came to."""
    text = point.level.replace(",", "").partition(" ")[0]
    try:
        return float(text)
    except ValueError:
        return point.x


def at_chosen_levels(comparison: Comparison, params: QueryDict) -> Comparison:
    """Without the groups that a reader fixes away, and with those taken together that differ in what is pooled.

    Groups of two classes of durability are never pooled.
    """
    axes = arrange(comparison, params)
    if not axes.fixed and not axes.pooled:
        return comparison
    names = [name for name in axes.facts if name not in axes.pooled and name not in NEVER_TAKEN and name != DATE]
    pools: dict[tuple[str, ...], list[Group]] = {}
    for group in comparison.groups:
        if all(fact_value(group, name) == value for name, value in axes.fixed.items()):
            key = (group.durability_words, *fact_values(group, names)) if axes.pooled else (group.key,)
            pools.setdefault(key, []).append(group)
    headings = [fact.label for fact in comparison.varying if fact.field in axes.pooled]
    groups = []
    for pool in pools.values():
        group = pooled(pool)
        if len(pool) > 1:
            shown = [name for name in names if name not in axes.fixed and name not in axes.follow]
            label = " · ".join(axes.facts[name].in_legend(fact_value(group, name)) for name in shown)
            group = replace(
                group,
                label=label or "all",
                conditions=conditions_of(group.runs or group.all_runs, extreme=group.conditions.extreme),
            )
        facts = {**group.facts, **dict.fromkeys(axes.pooled, POOLED)}
        groups.append(replace(group, facts=facts, factors={**group.factors, **dict.fromkeys(headings, POOLED)}))
    varying, common = [], [*comparison.common]
    for fact in comparison.varying:
        values = list(dict.fromkeys(group.facts[fact.field] for group in groups))
        words = {**fact.words, POOLED: POOLED}
        if len(values) == 1:
            common.append(CommonFact(fact.label, values[0], words[values[0]]))
        else:
            varying.append(replace(fact, values=values, words=words))
    return replace(comparison, groups=groups, varying=varying, common=common, whole=comparison)


def uneven_pooling_words(comparison: Comparison) -> str:
    """A warning where pooled groups hold the levels of what is pooled in unlike shares; else empty."""
    if comparison.whole is None:
        return ""
    group_by_run = {run.id: group for group in comparison.whole.groups for run in group.runs}
    uneven = []
    for fact in comparison.whole.varying:
        if any(group.facts.get(fact.field) == POOLED for group in comparison.groups):
            counts = [
                Counter(group_by_run[run.id].facts[fact.field] for run in group.runs) for group in comparison.groups
            ]
            shares = [{level: n / count.total() for level, n in count.items()} for count in counts if count]
            if any(share != shares[0] for share in shares):
                uneven.append(fact.label)
    if not uneven:
        return ""
    return f"Pooled, but not repeated alike in all groups: {', '.join(uneven)}. Ratios lean to what was repeated more."
