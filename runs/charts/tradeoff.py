"""Metric against metric: a dot for each group with its intervals, and those that no other beats in both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from benchagent.catalog import Role, factor_role

from runs import formatting
from runs.charts.base import Figure, TradeOffGroup, TradeOffSpec, YAxis
from runs.charts.compare import colours
from runs.charts.curves import X_LOG_FROM, scale_of
from runs.compare.compare import with_metric
from runs.compare.comparison import Comparison
from runs.compare.facts import FACTOR
from runs.compare.groups import Group
from runs.compare.verdicts import MOST_NAMED
from runs.models import Metric
from runs.stats import Interval
from runs.tables import Column, Table, TableCell

# What is set against a metric when a reader names one only: what most often has to be paid for it.
PAID_WITH = ("latency_p99_ms", "latency_p95_ms", "latency_mean_ms", "db_size_bytes", "load_mb_per_s", "tps")
NOTE = "Dot: geometric mean, of a percentile all repeats together. Whiskers: intervals."
JOINT = " · "
FRONT = "Ringed: no comparable one is better in both."


def trade_off_figures(comparisons: Sequence[Comparison], *, id: str = "tradeoff") -> list[Figure]:
    """The first metric upright, the second across; one figure for the ranked groups and one for each other class."""
    upright = comparisons[0]
    across = against(comparisons)
    if upright.metric is None or across is None or across.metric is None:
        return []
    other = {group.key: group for group in across.groups if group.dots}
    palette, figures = colours(upright), []
    for index, (words, groups) in enumerate(upright.classes.items()):
        pairs = [(other[group.key], group) for group in groups if group.dots and group.key in other]
        if pairs:
            title = f"{upright.metric.label} against {across.metric.label[:1].lower()}{across.metric.label[1:]}"
            drawn = _drawn(pairs, across.metric, upright.metric, palette)
            parts = {_heading(part, group)[0]: None for _, group in pairs for part in group.label.split(JOINT)}
            headings = JOINT.join(filter(None, parts)) if any(dot["name"] != dot["label"] for dot in drawn) else ""
            alike = len({_question(group) for _, group in pairs}) == 1
            figures.append(_figure(
                drawn, across.metric, upright.metric, id=f"{id}-{index}" if index else id,
                title=f"Not ranked: {words}. {title}" if words else title, joined=alike,
                at_dots=headings,
            ))  # fmt: skip
    if missing := _without_dot(upright.groups, {group.key: group for group in across.groups}):
        figures[:1] = [replace(figure, note=f"{figure.note} {missing}") for figure in figures[:1]]
    return figures


def _without_dot(groups: Sequence[Group], across: Mapping[str, Group]) -> str:
    """Which groups have no dot, by the kind of reason; the table of the numbers has the reasons of each run."""
    without: dict[str, list[str]] = {}
    for group in groups:
        if why := group.gap or (across[group.key].gap if group.key in across else None):
            without.setdefault(why.partition(":")[0], []).append(group.label)
    named = []
    for kind, labels in without.items():
        if len(labels) > MOST_NAMED:
            labels[1:] = [f"{len(labels) - 1} others"]
        named.append(f"{', '.join(labels)} ({kind})")
    return f"No dot: {'; '.join(named)}." if named else ""


def against(comparisons: Sequence[Comparison]) -> Comparison | None:
    """By the second metric; where there is one only by what it is mostly paid with. None without another metric."""
    if len(comparisons) > 1:
        return comparisons[1]
    comparison = comparisons[0]
    others = [metric for metric in comparison.metrics if comparison.metric and metric.name != comparison.metric.name]
    order = {name: at for at, name in enumerate(PAID_WITH)}
    others.sort(key=lambda metric: (order.get(metric.name, len(order)), metric.better == "none"))
    return with_metric(comparison, others[0]) if others else None


def _drawn(pairs: Sequence[tuple[Group, Group]], x: Metric, y: Metric, palette: dict[str, int]) -> list[TradeOffGroup]:
    ends = [(across.centre or 0.0, upright.centre or 0.0) for across, upright in pairs]
    asked: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for (_, upright), at in zip(pairs, ends, strict=True):
        asked.setdefault(_question(upright), []).append(at)
    fronts = {question: front_of(of_it, (x.better, y.better)) for question, of_it in asked.items()}
    named = _names([(upright, palette.get(upright.key, 0)) for _, upright in pairs])
    return [
        {
            "label": upright.label, "series": series, "name": name, "color": palette.get(upright.key, 0),
            "x": at[0], "y": at[1],
            "x_interval": _pair(across.interval), "y_interval": _pair(upright.interval), "n": upright.n,
            "front": at in fronts[_question(upright)],
        }
        for (across, upright), at, (series, name) in zip(pairs, ends, named, strict=True)
    ]  # fmt: skip


def _names(groups: Sequence[tuple[Group, int]]) -> list[tuple[str, str]]:
    """(series, name) of each group with its colour: the parts of its label that all of that colour share, and the rest.

    A group alone in its colour has its label for both. Of "terminals 8" only the 8 stands at a dot.
    """
    of_colour: dict[int, list[list[str]]] = {}
    for group, color in groups:
        of_colour.setdefault(color, []).append(group.label.split(JOINT))
    named = []
    for group, color in groups:
        alike, parts = of_colour[color], group.label.split(JOINT)
        shared = [part for part in parts if all(part in other for other in alike)]
        own = [_heading(part, group)[1] for part in parts if part not in shared]
        named.append((JOINT.join(shared), JOINT.join(own) or group.label))
    return named


def _heading(part: str, group: Group) -> tuple[str, str]:
    """Of a part of a label the heading of its factor, if it has one, and the rest."""
    headings = (label for label in group.factors if part.lower().startswith(f"{label.lower()} "))
    heading = max(headings, key=len, default="")
    return part[: len(heading)], part[len(heading) :].strip()


def _question(group: Group) -> tuple[str, ...]:
    """What was asked of it: a small database never beats a large one."""
    return tuple(
        value for field, value in sorted(group.facts.items())
        if field == "workload" or (
            field.startswith(FACTOR) and factor_role(field.removeprefix(FACTOR)) == Role.QUESTION
        )
    )  # fmt: skip


def _pair(interval: Interval | None) -> tuple[float, float] | None:
    return (interval.low, interval.high) if interval else None


def front_of(points: Iterable[tuple[float, float]], better: tuple[str, str]) -> set[tuple[float, float]]:
    """The points that no other beats in one of both and equals at least in the other. Needs two better sides."""
    if not {"higher", "lower"}.issuperset(better):
        return set()
    known = {*points}
    signs = [1 if side == "higher" else -1 for side in better]

    def beaten(point: tuple[float, float]) -> bool:
        mine = [sign * value for sign, value in zip(signs, point, strict=True)]
        return any(
            all(sign * value >= own for sign, value, own in zip(signs, other, mine, strict=True))
            for other in known
            if other != point
        )

    return {point for point in known if not beaten(point)}


def _figure(
    drawn: list[TradeOffGroup], x: Metric, y: Metric, *, id: str, title: str, joined: bool, at_dots: str
) -> Figure:
    spec: TradeOffSpec = {
        "joined": joined, "type": "tradeoff", "x": _axis(x, [group["x"] for group in drawn]),
        "y": _axis(y, [group["y"] for group in drawn]), "groups": drawn,
    }  # fmt: skip
    columns = [Column("Group", numeric=False)]
    for metric in (y, x):
        columns += [
            Column(metric.label, metric.unit),
            Column("Interval from", metric.unit),
            Column("to", metric.unit),
        ]
    columns += [Column("n"), Column("Best of its kind", numeric=False)]
    rows = [
        [
            TableCell(text=group["label"]),
            TableCell(group["y"]), *map(TableCell, group["y_interval"] or (None, None)),
            TableCell(group["x"]), *map(TableCell, group["x_interval"] or (None, None)),
            TableCell(group["n"]), TableCell(text="no other is better in both" if group["front"] else ""),
        ]
        for group in drawn
    ]  # fmt: skip
    best = [group["label"] for group in drawn if group["front"]]
    said = "; ".join(
        f"{group['label']} {formatting.quantity(group['y'], y.unit)} at {formatting.quantity(group['x'], x.unit)}"
        for group in drawn
    )
    note = " ".join(filter(None, [NOTE, FRONT if best else "", f"At the dots: {at_dots}." if at_dots else ""]))
    return Figure(id=id, title=title, spec=spec, table=Table(columns, rows), alt=f"{title}: {said}.", note=note)


def _axis(metric: Metric, values: Sequence[float]) -> YAxis:
    scale = scale_of(values, "", X_LOG_FROM)
    return {"label": metric.label, "unit": metric.unit, "better": metric.better, "scale": scale, "zero": scale != "log"}
