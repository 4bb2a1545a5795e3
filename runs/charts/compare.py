"""A comparison as chart specs, as rows of a CSV file and as JSON: the same numbers each time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from runs import formatting
from runs.charts.base import (
    COLOURS,
    BarGroup,
    Cell,
    Column,
    Figure,
    LineSeries,
    Table,
    bars,
    lines,
    lines_table,
)
from runs.compare.groups import Against, Comparison, Group
from runs.models import Metric, Run
from runs.run import series as stored
from runs.run.facets import DOUBT_WORDS

BARS_NOTE = "Bar: median. Dots: every repeat. Whisker: 95 % interval of the geometric mean, from three repeats on."
MAX_OVERLAID = 12
OVERLAID_METRIC = "tps"

CSV_HEAD = [
    "group", "key", "metric", "unit", "n", "median", "mean", "minimum", "maximum", "stdev", "cv", "interval_low",
    "interval_high", "ratio", "ratio_low", "ratio_high", "baseline", "verdict", "ranked", "durability", "doubt",
    "values", "printed", "gaps",
]  # fmt: skip


APART_NOTE = "A commit here promises less than in the first chart, so the bars do not compare."
DOUBT_NOTE = "More TPS than the terminals times the syncs a second that were measured of the disk."


def bars_figures(comparison: Comparison, *, id: str = "comparison", title: str = "") -> list[Figure]:
    """The ranked groups, and apart from them, class by class, on scales of their own, those that are not."""
    ranked = [group.key for group in comparison.ranked]
    apart = apart_figures(comparison, id="apart" if id == "comparison" else f"{id}-apart")
    return [bars_figure(comparison, id=id, title=title, note=BARS_NOTE, keys=ranked), *apart] if ranked else apart


def apart_figures(comparison: Comparison, *, id: str = "apart") -> list[Figure]:
    """One for each class of groups that are not ranked; empty when all are."""
    return [
        bars_figure(
            comparison, id=_numbered(id, place), title=apart_title(words), keys=[group.key for group in groups],
            note=DOUBT_NOTE if groups[0].doubt else APART_NOTE,
        )
        for place, (words, groups) in enumerate(comparison.apart.items())
    ]  # fmt: skip


def apart_title(words: str) -> str:
    return f"Not ranked: {words}"


def _numbered(id: str, place: int) -> str:
    return f"{id}-{place + 1}" if place else id


def bars_figure(
    comparison: Comparison,
    *,
    id: str = "comparison",
    title: str = "",
    note: str = "",
    keys: Sequence[str] | None = None,
) -> Figure:
    """Medians as bars, every repeat as a dot, the interval of the geometric mean as a whisker.

    `keys` are the groups to draw; None draws them all.
    """
    metric = comparison.metric
    label, unit, better = (metric.label, metric.unit, metric.better) if metric else ("", "", "none")
    shown = [
        (group, color)
        for group, color in zip(comparison.groups, colours(comparison), strict=True)
        if keys is None or group.key in keys
    ]
    said = ", ".join(
        f"{group.label} {formatting.number(group.median)}" if group.median is not None else f"{group.label} not known"
        for group, _ in shown
    )
    return Figure(
        id=id,
        title=title or (f"{label}, {unit}" if unit else label),
        spec=bars(label=label, unit=unit, better=better, groups=[bar(group, color) for group, color in shown]),
        table=bars_table([group for group, _ in shown], unit),
        alt=f"Bars of the median {label.lower()}: {said}." if metric else "No run has a number.",
        note=note,
    )


def colours(comparison: Comparison) -> list[int]:
    """Palette index of each group, in their order.

    More groups than colours are coloured by what a reader tells apart (the disk, the DBMS), else all alike: a palette
    that starts again says that strangers belong together.
    """
    groups = comparison.groups
    if len(groups) <= COLOURS:
        return list(range(len(groups)))
    # The DBMS first, then what has names; sizes and counts are an axis, not a colour.
    facts = sorted(comparison.varying, key=lambda fact: (fact.field != "dbms", fact.values[0][:1].isdigit()))
    for fact in facts:
        values = list(dict.fromkeys(group.factors[fact.label] for group in groups))
        if len(values) <= COLOURS:
            return [values.index(group.factors[fact.label]) for group in groups]
    return [0] * len(groups)


def bar(group: Group, color: int) -> BarGroup:
    return {
        "label": group.label,
        "color": color,
        "value": group.median,
        "interval": (group.interval.low, group.interval.high) if group.interval else None,
        "dots": group.values,
        "gap": group.gap,
        "ranked": group.ranked,
    }


def bars_table(groups: Sequence[Group], unit: str) -> Table:
    """Every number of the bars: median, interval, and each repeat in its place, gaps with their reasons."""
    width = max((len(group.all_runs) for group in groups), default=0)
    columns = [
        Column("Group", numeric=False), Column("n"), Column("Median", unit), Column("95 % interval from", unit),
        Column("to", unit), *(Column(f"Repeat {place}", unit) for place in range(1, width + 1)),
    ]  # fmt: skip
    return Table(columns, [_bars_row(group, width) for group in groups])


def _bars_row(group: Group, width: int) -> list[Cell]:
    interval = [Cell(group.interval.low), Cell(group.interval.high)] if group.interval else [Cell(), Cell()]
    median = Cell(group.median) if group.median is not None else Cell(gap=group.gap or "")
    label = f"{group.label} ({DOUBT_WORDS})" if group.doubt else group.label
    return [Cell(text=label), Cell(float(group.n)), median, *interval, *repeat_cells(group, width)]


def repeat_cells(group: Group, width: int) -> list[Cell]:
    """A cell per repeat in the order of their numbers, then empty ones up to `width`."""
    cells = {dot.run.id: Cell(dot.value, href=dot.run.get_absolute_url()) for dot in group.dots}
    cells |= {gap.run.id: Cell(gap=gap.reason) for gap in group.gaps}
    ordered = sorted(group.all_runs, key=lambda run: (run.order_index or 0, run.repeat, run.created_at))
    return [cells[run.id] for run in ordered] + [Cell()] * (width - len(ordered))


def headline(comparison: Comparison) -> str:
    """The message of the chart in one sentence; empty where there is none to be had.

    Short demonstration windows rank nothing, and groups that may not be compared have no best among them.
    """
    metric = comparison.metric
    if metric is None or metric.better == "none":
        return ""
    ranked = [group for group in comparison.groups if group.ranked and group.median is not None]
    if len(ranked) < 2 or any(group.demonstration for group in ranked):
        return ""
    if any(group.against and group.against.refused for group in ranked):
        return ""
    best, second = sorted(ranked, key=lambda group: group.median or 0.0, reverse=metric.better == "higher")[:2]
    return (
        f"{best.label} has the best median, {_quantity(best, metric)}; next comes {second.label} "
        f"with {_quantity(second, metric)}."
    )


def _quantity(group: Group, metric: Metric) -> str:
    return f"{formatting.number(group.median or 0.0)} {metric.unit}".strip()


def ratio_words(against: Against | None) -> str:
    """4.74 × (4.37–5.13); without the interval where there is none."""
    if against is None or against.ratio is None:
        return ""
    interval = against.ratio.interval
    between = f" ({formatting.three_digits(interval.low)}–{formatting.three_digits(interval.high)})" if interval else ""
    return f"{formatting.times(against.ratio.value)}{between}"


def overlay_figures(comparison: Comparison) -> list[Figure]:
    """Throughput over time, one line per run in the colour of its group; each unranked class on a scale of its own.

    Empty without series, and when there are more runs than eyes can follow.
    """
    shown = [
        (group, color, run)
        for group, color in zip(comparison.groups, colours(comparison), strict=True)
        for run in group.runs
    ]
    if len(shown) > MAX_OVERLAID:
        return []
    drawn: dict[str, list[LineSeries]] = {}
    for group, color, run in shown:
        line = _line(group.label, color, run)
        if line:
            drawn.setdefault("" if group.ranked else group.durability_words, []).append(line)
    warm_up = _common_warm_up([run for _, _, run in shown])
    found = [_overlay("over-time", "Throughput over time, TPS", drawn.pop(""), warm_up)] if "" in drawn else []
    return found + [
        _overlay(_numbered("over-time-apart", place), f"{apart_title(words)}, over time", series, warm_up)
        for place, (words, series) in enumerate(drawn.items())
    ]


def _overlay(id: str, title: str, series: list[LineSeries], warm_up: float | None) -> Figure:
    spec = lines(
        x={"label": "Time", "unit": "s", "scale": "linear"},
        y={"label": "Throughput", "unit": "TPS", "zero": True},
        series=series,
        bands=[{"from": 0, "to": warm_up, "label": "warm-up"}] if warm_up else [],
    )
    alt = f"{len(series)} lines of transactions per second over the seconds of each run."
    return Figure(id=id, title=title, spec=spec, table=lines_table(spec), alt=alt)


def _line(label: str, color: int, run: Run) -> LineSeries | None:
    points = stored.read(run, OVERLAID_METRIC).points()
    if not points:
        return None
    name = f"{label}, repeat {run.repeat}"
    return {"label": name, "color": color, "dash": run.repeat > 1, "points": points}


def _common_warm_up(runs: Sequence[Run]) -> float | None:
    lengths = {run.factor("warm_up_s") for run in runs}
    only = lengths.pop() if len(lengths) == 1 else None
    return float(only) if isinstance(only, int | float) and only > 0 else None


def csv_rows(comparison: Comparison) -> Iterator[list[str]]:
    """The head and one row per group; repeats joined by spaces, gaps by their reasons."""
    yield CSV_HEAD
    for entry in as_json(comparison)["groups"]:
        summary, against = entry["summary"] or {}, entry["against"] or {}
        ratio = against.get("ratio") or {}
        interval = entry["interval"] or [None, None]
        ratio_interval = ratio.get("interval") or [None, None]
        yield [
            entry["label"], entry["key"], entry["metric"], entry["unit"], str(entry["n"]),
            *(formatting.plain(summary.get(name)) for name in ("median", "mean", "minimum", "maximum", "stdev", "cv")),
            *map(formatting.plain, interval), formatting.plain(ratio.get("value")),
            *map(formatting.plain, ratio_interval),
            comparison.baseline.key if comparison.baseline else "", against.get("words", ""),
            "yes" if entry["ranked"] else "no", entry["durability"], entry["doubt"],
            " ".join(formatting.plain(dot["value"]) for dot in entry["repeats"]),
            "; ".join(f"{printed['statistic']} {printed['as_printed']}" for printed in entry["printed"]),
            "; ".join(gap["reason"] for gap in entry["gaps"]),
        ]  # fmt: skip


def as_json(comparison: Comparison) -> dict[str, Any]:
    metric = comparison.metric
    return {
        "metric": {"name": metric.name, "label": metric.label, "unit": metric.unit, "better": metric.better}
        if metric
        else None,
        "baseline": comparison.baseline.key if comparison.baseline else None,
        "common": {fact.label: fact.value for fact in comparison.common},
        "varying": [fact.label for fact in comparison.varying],
        "warnings": comparison.warnings,
        "groups": [_group_json(group, metric) for group in comparison.groups],
    }


def _group_json(group: Group, metric: Metric | None) -> dict[str, Any]:
    summary = group.summary
    return {
        "key": group.key,
        "label": group.label,
        "metric": metric.name if metric else "",
        "unit": metric.unit if metric else "",
        "factors": group.factors,
        "n": group.n,
        "median": group.median,
        "summary": None
        if summary is None
        else {
            "median": summary.median, "mean": summary.mean, "minimum": summary.minimum, "maximum": summary.maximum,
            "stdev": summary.stdev, "cv": summary.cv, "geometric_mean": summary.geometric_mean,
        },
        "interval": [group.interval.low, group.interval.high] if group.interval else None,
        "repeats": [
            {"run": str(dot.run.id), "repeat": dot.run.repeat, "value": dot.value, "provenance": dot.provenance}
            for dot in group.dots
        ],
        "gaps": [{"run": str(gap.run.id), "repeat": gap.run.repeat, "reason": gap.reason} for gap in group.gaps],
        "printed": [
            {"statistic": printed.statistic, "value": printed.value, "as_printed": printed.as_printed,
             "of": printed.of}
            for printed in group.printed
        ],
        "durability": group.durability,
        "doubt": group.doubt,
        "ranked": group.ranked,
        "demonstration": group.demonstration,
        "against": _against_json(group.against) if group.against else None,
    }  # fmt: skip


def _against_json(against: Against) -> dict[str, Any]:
    ratio, verdict = against.ratio, against.verdict
    return {
        "ratio": None
        if ratio is None
        else {
            "value": ratio.value,
            "interval": [ratio.interval.low, ratio.interval.high] if ratio.interval else None,
        },
        "verdict": verdict.kind.value if verdict else None,
        "repeats_needed": verdict.repeats_needed if verdict else None,
        "words": against.words,
        "differences": [
            {"field": found.field, "a": found.a, "b": found.b, "severity": found.severity}
            for found in against.differences
        ],
    }
