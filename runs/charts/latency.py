"""Latencies of a comparison: percentiles from merged histograms, transaction types, and percentiles over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import median
from typing import ClassVar
from uuid import UUID

from benchagent.catalog import LATENCIES, PERCENTILES

from runs.charts.base import Axis, Figure, HeatSpec, LineSeries, Multiples, columns_of, lines
from runs.charts.compare import numbered, second_of_colour
from runs.charts.run import warm_up_band
from runs.compare.comparison import Comparison
from runs.compare.groups import Group, repeats_of
from runs.compare.panels import COLOURS
from runs.formatting import few_listed, number
from runs.models import Metric, Run
from runs.run.latency import Latency, LatencyMap, latency_of, map_of, nines, types_of_all
from runs.run.series import Series, names_held, of_runs, samples_each, thinned
from runs.tables import Column, Table, TableCell

MOST_GROUPS, MOST_PANELS = 12, 12
CURVE_NOTE = "All repeats of a group together, from their merged histograms; never an average of their percentiles."
OVER_TIME_NOTE = (
    "Band: from p50 to p99 of each interval of the series, over all repeats; line: p95, the highest of them. Intervals "
    "keep percentiles, not histograms."
)
WITHOUT_NOTE = "Without a stored histogram: {groups}."
STATED_NOTE = (
    "Of groups without a histogram the median of what each repeat states, with the lowest and the highest of them. "
    "The percentile of all repeats together cannot be told from those of each."
)
TYPES_NOTE = "Median of the repeats, with the lowest and the highest: no histogram of a type is stored."
MAP_NOTE = "The stronger the colour, the more transactions of an interval took so long (logarithmic)."
SAMPLED = LOW, MIDDLE, HIGH = "latency_p50_ms", "latency_p95_ms", "latency_p99_ms"
FEW = "fewer than ten transactions took longer: the luck of a few"
_NINES = {0: "0 %", 50: "50 %", 90: "90 %", 99: "99 %", 99.9: "99.9 %", 99.99: "99.99 %", 99.999: "99.999 %"}


@dataclass(frozen=True)
class LatencyTable:
    """Numbers that have no picture: what each repeat states for itself. `id` names the files that are saved of it."""

    id: str
    title: str
    note: str
    table: Table
    template: ClassVar[str] = "_latency_table.html"


def latency_parts(comparison: Comparison) -> list[Figure | Multiples | LatencyTable]:
    """Latencies by percentile, as stated where no histogram tells them, over time, by transaction type; what no run
    tells of is left out.
    """
    groups = [group for group in comparison.groups if group.all_runs]
    finished = {group.key: [run for run in group.all_runs if run.counts] for group in groups}
    latencies = [(group, latency_of(finished[group.key])) for group in groups]
    without = [group for group, latency in latencies if latency is None]
    parts: list[Figure | Multiples | LatencyTable] = []
    if told := [(group, latency) for group, latency in latencies if latency][:MOST_GROUPS]:
        dashed = second_of_colour(group for group, _ in told)
        colors = {group.key: group.color + COLOURS * (group.key in dashed) for group, _ in told}
        figure = percentile_figure([(group.label, colors[group.key], latency) for group, latency in told])
        lacking = f" {WITHOUT_NOTE.format(groups=few_listed([group.label for group in without]))}" if without else ""
        parts.append(replace(figure, note=f"{figure.note}{lacking}"))
    if stated := stated_table(without, comparison.metrics):
        parts.append(LatencyTable("stated-latencies", "Latencies as stated", STATED_NOTE, stated))
    if over_time := _over_time(groups):
        parts.append(over_time)
    if maps := _maps([(group, finished[group.key]) for group in groups]):
        parts.append(maps)
    if types := types_table([(group.label, finished[group.key]) for group in groups]):
        parts.append(LatencyTable("latency-by-type", "Latencies by transaction type", TYPES_NOTE, types))
    return parts


def with_latencies(runs: Sequence[Run]) -> set[UUID]:
    """Those that tell their latencies in one of the ways that are shown."""
    sampled = names_held(runs, SAMPLED)
    return {
        run.pk for run in runs
        if run.latency_histogram or sampled[run.pk] or any(name.startswith(LATENCIES) for name in run.metrics)
    }  # fmt: skip


def percentile_figure(curves: Sequence[tuple[str, int, Latency]]) -> Figure:
    """One line per (label, colour, latency) over an axis of 1/(1 − p): each nine takes as much room."""
    last = max(nines(latency.curve[-1][0]) for _, _, latency in curves)
    x: Axis = {
        "label": "Percentile", "unit": "", "scale": "linear", "nines": True, "span": (0.0, last),
        "ticks": [(nines(percentile), words) for percentile, words in _NINES.items() if nines(percentile) <= last],
    }  # fmt: skip
    values = [ms for _, _, latency in curves for _, ms in latency.curve if ms > 0]
    series: list[LineSeries] = [
        {
            "label": label, "color": color % COLOURS, "dash": color >= COLOURS,
            "points": [(round(nines(percentile), 4), float(f"{ms:.5g}")) for percentile, ms in latency.curve],
        }
        for label, color, latency in curves
    ]  # fmt: skip
    y: Axis = {"label": "Latency", "unit": "ms"}
    y |= {"scale": "log", "span": (min(values), max(values))} if values else {"zero": True}
    at_p99 = "; ".join(
        f"{label}: p99 {number(row.ms)} ms"
        for label, _, latency in curves
        for row in latency.percentiles
        if row.percentile == 99
    )
    return Figure(
        id="percentiles", title="Latency by percentile", spec=lines(x=x, y=y, series=series),
        table=percentile_table(curves), note=CURVE_NOTE, alt=f"Lines of the latency at each percentile. {at_p99}.",
    )  # fmt: skip


def percentile_table(curves: Sequence[tuple[str, int, Latency]]) -> Table:
    """One row per group; a percentile beyond which hardly anything lies is marked, and says so."""
    ranks = [row.percentile for row in curves[0][2].percentiles]
    columns = [Column("Group", numeric=False), Column("Repeats"), Column("Transactions")]
    columns += [Column("max" if rank == 100 else f"p{rank:g}", "ms") for rank in ranks]
    rows = []
    for label, _, latency in curves:
        cells = [TableCell(row.ms, hint="" if row.is_sure else FEW) for row in latency.percentiles]
        rows.append([TableCell(text=label), TableCell(latency.runs), TableCell(latency.transactions), *cells])
    return Table(columns, rows)


def stated_table(groups: Sequence[Group], metrics: Sequence[Metric]) -> Table | None:
    """Of groups without a histogram the latencies that their repeats state as metrics, from the mean to the maximum."""
    latencies = sorted(
        (metric for metric in metrics if metric.name.startswith(LATENCIES)),
        key=lambda metric: (PERCENTILES.get(metric.name, 0.0), metric.label),
    )
    values = {
        (group.key, metric.name): [dot.value for dot in repeats_of(group.all_runs, metric)[0] if dot.value is not None]
        for group in groups for metric in latencies
    }  # fmt: skip
    stated = [metric for metric in latencies if any(values[group.key, metric.name] for group in groups)]
    rows = []
    for group in groups:
        told = [values[group.key, metric.name] for metric in stated]
        if any(told):
            rows.append([TableCell(text=group.label), TableCell(max(map(len, told))), *map(_over_repeats, told)])
    columns = [Column("Group", numeric=False), Column("Repeats")]
    return Table(columns + [Column(metric.label, metric.unit) for metric in stated], rows) if rows else None


def types_table(groups: Sequence[tuple[str, Sequence[Run]]]) -> Table | None:
    """Latencies by transaction type, of which no histogram is stored."""
    rows = []
    for label, runs in groups:
        for name, repeats in types_of_all(runs).items():
            told = [[getattr(repeat, key) for repeat in repeats] for key in ("p50_ms", "p95_ms", "p99_ms", "max_ms")]
            spans = [_over_repeats([value for value in values if value is not None]) for values in told]
            count = TableCell(sum(repeat.transactions for repeat in repeats))
            rows.append([TableCell(text=label), TableCell(text=name), count, *spans])
    if not rows:
        return None
    columns = [Column("Group", numeric=False), Column("Transaction", numeric=False), Column("Executed")]
    return Table(columns + [Column(name, "ms") for name in ("p50", "p95", "p99", "max")], rows)


def _over_repeats(values: Sequence[float]) -> TableCell:
    """The median of what repeats state, with their lowest and highest."""
    if not values:
        return TableCell(gap="not told")
    low, high, middle = min(values), max(values), median(values)
    return TableCell(middle, number(middle) if low == high else f"{number(middle)} ({number(low)}–{number(high)})")


def _over_time(groups: Sequence[Group]) -> Multiples | None:
    """A panel per group: what the seconds of its repeats say."""
    held = names_held([run for group in groups for run in group.runs], SAMPLED)
    by_group = [(group, [run for run in group.runs if len(held[run.pk]) == len(SAMPLED)]) for group in groups]
    shown = [(group, runs) for group, runs in by_group if runs][:MOST_PANELS]
    by_run = of_runs([run for _, runs in shown for run in runs], SAMPLED)
    sampled = [(group, [by_run[run.pk] for run in runs]) for group, runs in shown]
    if not sampled:
        return None
    columns = columns_of(3 * len(sampled))
    each = max(samples_each(series.values(), columns) for _, repeats in sampled for series in repeats)
    bands = [(group, _band(repeats, each)) for group, repeats in sampled]
    every = [row for _, band in bands for row in band]
    values = [value for _, low, _, high in every for value in (low, high) if value is not None and value > 0]
    if not values:
        return None
    panels: list[Figure] = []
    for (group, band), (_, repeats) in zip(bands, sampled, strict=True):
        spec = lines(
            x={"label": "Time", "unit": "s", "scale": "linear", "span": (0.0, max(row[0] for row in every))},
            y={"label": "Latency", "unit": "ms", "scale": "log", "span": (min(values), max(values))},
            series=[
                {
                    "label": "p95", "color": group.color, "dash": False,
                    "points": [(x, middle) for x, _, middle, _ in band],
                    "band": [(x, low, high) for x, low, _, high in band if low is not None and high is not None],
                }
            ],
            bands=warm_up_band(group.runs[0], repeats[0][MIDDLE]),
        ) | {"sync": "latency-over-time", "panel": True}  # fmt: skip
        figure_id = numbered("latency-over-time-panel", len(panels))
        alt = f"Band from p50 to p99 of the latency of {group.label} over time."
        panels.append(Figure(figure_id, group.label, spec, Table([]), alt))
    table = _band_table([(group.label, band) for group, band in bands])
    if len(panels) == 1:
        title = f"Latency over time: {panels[0].title}"
        panels = [replace(panels[0], title=title, table=table, note=OVER_TIME_NOTE)]
    note = OVER_TIME_NOTE if each == 1 else f"{OVER_TIME_NOTE} Each point stands for {each:,} intervals."
    return Multiples("latency-over-time", "Latency over time, ms", panels, [], table, note)


def _maps(groups: Sequence[tuple[Group, Sequence[Run]]]) -> Multiples | None:
    """A panel per group that tells how many took how long over time."""
    told = ((group, heat) for group, runs in groups if (heat := map_of(runs)))
    maps = list(islice(told, MOST_PANELS))
    if not maps:
        return None
    span = _span_ms([heat for _, heat in maps])
    panels = [
        heat_figure(heat, group.runs, id=numbered("latency-map-panel", at), title=group.label, span=span)
        for at, (group, heat) in enumerate(maps)
    ]
    table = Table(
        [Column("Group", numeric=False), *panels[0].table.columns],
        [[TableCell(text=panel.title), *row] for panel in panels for row in panel.table.rows],
    )
    if len(panels) == 1:
        panels = [replace(panels[0], title=f"Transactions by latency over time: {panels[0].title}")]
    return Multiples("latency-map", "Transactions by latency over time", panels, [], table, MAP_NOTE)


def _span_ms(maps: Sequence[LatencyMap]) -> tuple[float, float]:
    cells = [cell for heat in maps for cell in heat.cells]
    return min(low for _, low, _, _ in cells), max(high for _, _, high, _ in cells)


def heat_figure(
    heat: LatencyMap, runs: Sequence[Run], *, id: str, title: str, span: tuple[float, float] | None = None
) -> Figure:
    """`span` in ms: of the axis of panels that share it."""
    cells, span = heat.cells, span or _span_ms([heat])
    spec: HeatSpec = {
        "type": "heat", "x": {"label": "Time", "unit": "s", "scale": "linear"},
        "y": {"label": "Latency", "unit": "ms", "scale": "log", "span": span}, "interval_s": heat.interval_s,
        "cells": cells, "bands": warm_up_band(runs[0], heat.as_series) if runs else [],
    }  # fmt: skip
    counts: dict[tuple[float, float], list[tuple[int, float]]] = {}
    for begin_s, low, high, count in cells:
        counts.setdefault((low, high), []).append((count, -begin_s))
    whole = sum(count for *_, count in cells)
    rows = []
    for (low, high), of in sorted(counts.items()):
        most, begin = max(of)
        total = sum(count for count, _ in of)
        rows.append([*map(TableCell, (low, high, total, 100 * total / whole, most, -begin))])
    columns = [Column("From", "ms"), Column("to", "ms"), Column("Transactions"), Column("Share", "%"),
               Column("Most in an interval"), Column("at", "s")]  # fmt: skip
    return Figure(
        id=id, title=title, spec=spec, table=Table(columns, rows), note=MAP_NOTE,
        alt=f"Heat map of latencies over time, from {number(span[0])} to {number(span[1])} ms.",
    )  # fmt: skip


# Time, lowest p50, highest p95, highest p99.
_BandRow = tuple[float, float | None, float | None, float | None]


def _band(repeats: Sequence[dict[str, Series]], each: int) -> list[_BandRow]:
    rows: dict[float, list[list[float]]] = {}
    for series in repeats:
        for at, name in enumerate((LOW, MIDDLE, HIGH)):
            for stretch in thinned(series[name], each):
                value = stretch.lowest if name == LOW else stretch.highest
                cell = rows.setdefault(stretch.begin_s, [[], [], []])[at]
                if value is not None:
                    cell.append(value)
    return [
        (at_s, min(low, default=None), max(middle, default=None), max(high, default=None))
        for at_s, (low, middle, high) in sorted(rows.items())
    ]


def _band_table(bands: Sequence[tuple[str, Sequence[_BandRow]]]) -> Table:
    """The quietest and the loudest second of each."""
    columns = [Column("Group", numeric=False), Column("Lowest p50", "ms"), Column("Highest p95", "ms"),
               Column("Highest p99", "ms"), Column("at", "s")]  # fmt: skip
    rows = []
    for label, band in bands:
        lows = [low for _, low, _, _ in band if low is not None]
        middles = [middle for _, _, middle, _ in band if middle is not None]
        worst = max(((high, at_s) for at_s, _, _, high in band if high is not None), default=None)
        cells = [min(lows, default=None), max(middles, default=None), *(worst or (None, None))]
        numbers = [TableCell(gap="no sample") if cell is None else TableCell(cell) for cell in cells]
        rows.append([TableCell(text=label), *numbers])
    return Table(columns, rows)
