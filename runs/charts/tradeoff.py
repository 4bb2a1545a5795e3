"""Metric against metric: a dot for each group with its intervals, and those that no other beats in both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import ge

from benchagent.catalog import COUNTED, Role, factor_role

from runs import formatting
from runs.answers.answer import pair_of
from runs.answers.words.drawn import without_dot_words
from runs.answers.words.gaps import by_class
from runs.charts.base import Axis, Figure, TradeOffGroup, TradeOffSpec, scale_of
from runs.charts.compare import class_title, repeat_cells, repeat_columns
from runs.charts.curves import X_LOG_FROM
from runs.compare.compare import with_metric
from runs.compare.comparison import Comparison
from runs.compare.groups import Group
from runs.compare.panels import COLOURS
from runs.formatting import mid_sentence
from runs.models import Metric
from runs.run.facets import FACTOR
from runs.tables import Column, Table, TableCell

# What is set against a metric when a reader names one only: what most often has to be paid for it.
PAID_WITH = ("latency_p99_ms", "latency_p95_ms", "latency_mean_ms", "tps", "db_size_bytes", "load_mb_per_s")
NOTE = "Dot: geometric mean{of_percentiles}. Whiskers: intervals."
OF_PERCENTILES = ", of a percentile all repeats together"
JOINT = " · "
FRONT = "Ringed: no comparable one is better in both."


def trade_off_figures(comparisons: Sequence[Comparison]) -> list[Figure]:
    """The first metric upright, the second across; one figure for the ranked groups and one for each other class."""
    if len(comparisons) < 2:
        return []
    upright, across = comparisons[:2]
    x, y = across.metric, upright.metric
    if x is None or y is None:
        return []
    by_key = {group.key: group for group in across.groups}
    figures = []
    for index, (words, groups) in enumerate(by_class(upright).items()):
        pairs = [(by_key[group.key], group) for group in groups if group.dots and by_key[group.key].dots]
        if pairs:
            title = f"{y.label} against {mid_sentence(x.label)}"
            figures.append(_figure(
                _parted(pairs, upright.axes.panels), x, y, id=f"tradeoff-{index}" if index else "tradeoff",
                title=class_title(words, title),
            ))  # fmt: skip
    if missing := without_dot_words(upright.groups, by_key):
        figures[:1] = [replace(figure, note=f"{figure.note} {missing}") for figure in figures[:1]]
    return figures


def _parted(pairs: Sequence[tuple[Group, Group]], panels: str) -> list[tuple[Group, Group]]:
    """With a colour for each series of each panel, as all panels share this chart; as they are if that takes more."""
    looks = list(dict.fromkeys((upright.color, upright.facts.get(panels, "")) for _, upright in pairs))
    if len(looks) == len({color for color, _ in looks}) or len(looks) > COLOURS:
        return [*pairs]
    return [
        (across, replace(upright, color=looks.index((upright.color, upright.facts.get(panels, "")))))
        for across, upright in pairs
    ]


def second_metric(comparison: Comparison) -> Comparison | None:
    """The comparison by what its metric is mostly paid with: a rate by a latency, and no latency by another, as both
    fall together. None without another metric.
    """
    others = [metric for metric in comparison.metrics if comparison.metric and metric.name != comparison.metric.name]
    order, own = {name: at for at, name in enumerate(PAID_WITH)}, comparison.metric
    others.sort(key=lambda metric: (order.get(metric.name, len(order)), metric.better == "none"))
    others.sort(key=lambda metric: own is not None and metric.better == own.better)
    return with_metric(comparison, others[0]) if others else None


def _dots(pairs: Sequence[tuple[Group, Group]], x: Metric, y: Metric) -> list[TradeOffGroup]:
    places = [(across.centre or 0.0, upright.centre or 0.0) for across, upright in pairs]
    by_question: dict[tuple[str, ...], list[tuple[float, float]]] = {}
    for (_, upright), place in zip(pairs, places, strict=True):
        by_question.setdefault(_question(upright), []).append(place)
    fronts = {question: front_of(those, (x.better, y.better)) for question, those in by_question.items()}
    names = _names([upright for _, upright in pairs])
    return [
        {
            "label": upright.label, "series": series, "name": name, "color": upright.color,
            "x": place[0], "y": place[1],
            "x_interval": pair_of(across.interval), "y_interval": pair_of(upright.interval), "n": upright.n,
            "front": place in fronts[_question(upright)], "row": row,
        }
        for row, ((across, upright), place, (series, name)) in enumerate(zip(pairs, places, names, strict=True))
    ]  # fmt: skip


def _names(groups: Sequence[Group]) -> list[tuple[str, str]]:
    """(series, name) of each group: the parts of its label that all of that colour share, and the rest.

    A group alone in its colour has its label for both. Of "terminals 8" only the 8 stands at a dot.
    """
    of_colour: dict[int, list[list[str]]] = {}
    for group in groups:
        of_colour.setdefault(group.color, []).append(group.label.split(JOINT))
    names = []
    for group in groups:
        parts = group.label.split(JOINT)
        shared = [part for part in parts if all(part in other for other in of_colour[group.color])]
        own = [_heading(part, group)[1] for part in parts if part not in shared]
        names.append((JOINT.join(shared), JOINT.join(own) or group.label))
    return names


def _heading(part: str, group: Group) -> tuple[str, str]:
    """The heading of the factor in a part of a label, if it has one, and the rest: the 8 of "Scale factor 8" and of
    "8 terminals".
    """
    headings = (label for label in group.factors if part.lower().startswith(f"{label.lower()} "))
    number, _, noun = part.partition(" ")
    if noun in {*COUNTED, *COUNTED.values()}:
        return next(many for many, one in COUNTED.items() if noun in (many, one)), number
    heading = max(headings, key=len, default="")
    return part[: len(heading)], part[len(heading) :].strip()


def _question(group: Group) -> tuple[str, ...]:
    """What the group answers: a small database never beats a large one."""
    return tuple(
        value for field, value in sorted(group.facts.items())
        if field == "workload" or (
            field.startswith(FACTOR) and factor_role(field.removeprefix(FACTOR)) == Role.QUESTION
        )
    )  # fmt: skip


def front_of(points: Iterable[tuple[float, float]], better: tuple[str, str]) -> set[tuple[float, float]]:
    """The points that no other beats in one of both and equals at least in the other. Needs two better sides."""
    if not {"higher", "lower"}.issuperset(better):
        return set()
    signs = [1 if direction == "higher" else -1 for direction in better]
    signed = {point: [sign * value for sign, value in zip(signs, point, strict=True)] for point in points}
    return {
        point for point, own in signed.items()
        if not any(other != own and all(map(ge, other, own)) for other in signed.values())
    }  # fmt: skip


def _figure(pairs: Sequence[tuple[Group, Group]], x: Metric, y: Metric, *, id: str, title: str) -> Figure:
    dots = _dots(pairs, x, y)
    spec: TradeOffSpec = {
        "joined": len({_question(group) for _, group in pairs}) == 1, "type": "tradeoff",
        "x": _axis(x, [dot["x"] for dot in dots]), "y": _axis(y, [dot["y"] for dot in dots]), "groups": dots,
    }  # fmt: skip
    numbers = [Column(name, each.unit) for each in (y, x) for name in (each.label, "Interval from", "to")]
    repeats = [
        replace(column, label=f"{y.label}, {mid_sentence(column.label)}")
        for column in repeat_columns((upright for _, upright in pairs), y.unit)
    ]
    columns = [
        Column("Group", numeric=False), *numbers, Column("n"), Column("Best of its kind", numeric=False), *repeats,
    ]  # fmt: skip
    rows = [
        [
            TableCell(text=dot["label"]),
            TableCell(dot["y"]), *map(TableCell, dot["y_interval"] or (None, None)),
            TableCell(dot["x"]), *map(TableCell, dot["x_interval"] or (None, None)),
            TableCell(dot["n"]), TableCell(text="no other is better in both" if dot["front"] else ""),
            *repeat_cells(upright, len(repeats)),
        ]
        for dot, (_, upright) in zip(dots, pairs, strict=True)
    ]  # fmt: skip
    places = "; ".join(
        f"{dot['label']} {formatting.quantity(dot['y'], y.unit)} at {formatting.quantity(dot['x'], x.unit)}"
        for dot in dots
    )
    has_percentiles = any(group.percentile for pair in pairs for group in pair)
    notes = [NOTE.format(of_percentiles=OF_PERCENTILES if has_percentiles else "")]
    if any(dot["front"] for dot in dots):
        notes.append(FRONT)
    parts = dict.fromkeys(
        _heading(part, group)[0]
        for dot, (_, group) in zip(dots, pairs, strict=True)
        for part in group.label.split(JOINT) if part not in dot["series"].split(JOINT)
    )  # fmt: skip
    at_dots = JOINT.join(filter(None, parts))
    if at_dots and any(dot["name"] != dot["label"] for dot in dots):
        notes.append(f"At the dots: {at_dots}.")
    alt = f"{title}: {places}."
    return Figure(id=id, title=title, spec=spec, table=Table(columns, rows), alt=alt, note=" ".join(notes))


def _axis(metric: Metric, values: Sequence[float]) -> Axis:
    scale = scale_of(values, "", X_LOG_FROM)
    return {"label": metric.label, "unit": metric.unit, "better": metric.better, "scale": scale, "zero": scale != "log"}
