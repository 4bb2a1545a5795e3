"""Latencies of a comparison: percentiles from merged histograms, transaction types, and percentiles over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from runs.charts.base import COLOURS, Figure, HeatSpec, Key, LineSeries, Multiples, XAxis, columns_of, lines
from runs.charts.compare import colours, numbered
from runs.charts.run import warm_up_band
from runs.compare.comparison import Comparison
from runs.compare.groups import Group
from runs.formatting import number
from runs.models import Run
from runs.run.latency import Latency, LatencyMap, OfType, Percentile, latency_of, map_of, nines, types_of_all
from runs.run.series import Series, of_runs, samples_each, thinned
from runs.tables import Column, Table, TableCell

MOST_GROUPS, MOST_PANELS = 12, 12
CURVE_NOTE = "All repeats of a group together, from their merged histograms; never an average of their percentiles."
OVER_TIME_NOTE = (
    "Band: from p50 to p99 of each second, over all repeats; line: p95, the highest of them. Seconds keep "
    "percentiles, not histograms."
)
MAP_NOTE = "The stronger the colour, the more transactions of an interval took so long (logarithmic)."
LOW, MIDDLE, HIGH = "latency_p50_ms", "latency_p95_ms", "latency_p99_ms"
FEW = "fewer than ten transactions took longer: the luck of a few"
_NINES = {0: "0 %", 50: "50 %", 90: "90 %", 99: "99 %", 99.9: "99.9 %", 99.99: "99.99 %", 99.999: "99.999 %"}


@dataclass(frozen=True)
class LatencyTypes:
    """Beneath the charts. `table` is None where no run tells of types; `without`: groups that have no histogram."""

    table: Table | None
    without: list[str]
    template: ClassVar[str] = "_latency_types.html"


def latency_parts(comparison: Comparison) -> list[Multiples | LatencyTypes]:
    """By percentile, over time, by transaction type; what no run tells of is left out."""
    palette = colours(comparison)
    groups = [group for group in comparison.groups if group.all_runs]
    merged = [(group, latency_of(_finished(group))) for group in groups]
    known = [(group, latency) for group, latency in merged if latency]
    parts: list[Multiples | LatencyTypes] = []
    if known:
        drawn = [(group.label, palette[group.key], latency) for group, latency in known[:MOST_GROUPS]]
        parts.append(_alone(percentile_figure(drawn), [(label, color) for label, color, _ in drawn]))
    if over_time := _over_time(groups[:MOST_PANELS], palette):
        parts.append(over_time)
    if maps := _maps(groups[:MOST_PANELS]):
        parts.append(maps)
    types = types_table([(group.label, _finished(group)) for group in groups])
    without = [group.label for group, latency in merged if latency is None] if parts or types else []
    return [*parts, LatencyTypes(types, without)] if types or without else parts


def _finished(group: Group) -> list[Run]:
    return [run for run in group.all_runs if run.counts]


def _alone(figure: Figure, keys: Sequence[tuple[str, int]]) -> Multiples:
    return Multiples(
        figure.id, figure.title, [figure], [Key(label, color, dash=False) for label, color in keys], figure.table
    )


def percentile_figure(drawn: Sequence[tuple[str, int, Latency]], *, id: str = "percentiles") -> Figure:
    """One line per (label, colour, latency) over an axis of 1/(1 − p): each nine takes as much room."""
    last = max(nines(latency.curve[-1][0]) for _, _, latency in drawn)
    x: XAxis = {
        "label": "Percentile", "unit": "", "scale": "linear", "nines": True, "span": (0.0, last),
        "ticks": [(nines(percentile), words) for percentile, words in _NINES.items() if nines(percentile) <= last],
    }  # fmt: skip
    values = [ms for _, _, latency in drawn for _, ms in latency.curve if ms > 0]
    series: list[LineSeries] = [
        {
            "label": label, "color": color % COLOURS, "dash": color >= COLOURS,
            "points": [(round(nines(percentile), 4), float(f"{ms:.5g}")) for percentile, ms in latency.curve],
        }
        for label, color, latency in drawn
    ]  # fmt: skip
    spec = lines(
        x=x, y={"label": "Latency", "unit": "ms", "scale": "log", "span": (min(values), max(values))}, series=series
    ) if values else lines(x=x, y={"label": "Latency", "unit": "ms", "zero": True}, series=series)  # fmt: skip
    said = "; ".join(f"{label}: p99 {number(_at(latency, 99.0).ms)} ms" for label, _, latency in drawn)
    return Figure(
        id=id, title="Latency by percentile", spec=spec, table=percentile_table(drawn), note=CURVE_NOTE,
        alt=f"Lines of the latency at each percentile. {said}.",
    )  # fmt: skip


def _at(latency: Latency, percentile: float) -> Percentile:
    return next(told for told in latency.percentiles if told.percentile == percentile)


def percentile_table(drawn: Sequence[tuple[str, int, Latency]]) -> Table:
    """One row per group; a percentile beyond which hardly anything lies says so."""
    told = drawn[0][2].percentiles if drawn else []
    columns = [Column("Group", numeric=False), Column("Repeats"), Column("Transactions")]
    columns += [Column("max" if one.percentile == 100 else f"p{one.percentile:g}", "ms") for one in told]
    rows = []
    for label, _, latency in drawn:
        cells = [
            TableCell(one.ms) if one.is_sure else TableCell(hint=f"{number(one.ms)} ms, but {FEW}")
            for one in latency.percentiles
        ]
        rows.append([TableCell(text=label), TableCell(latency.runs), TableCell(latency.transactions), *cells])
    return Table(columns, rows)


def types_table(groups: Sequence[tuple[str, Sequence[Run]]]) -> Table | None:
    """By transaction type: of several repeats from the lowest to the highest, as no histogram of a type is stored."""
    rows = []
    for label, runs in groups:
        for name, told in types_of_all(runs).items():
            spans = [_span(told, key) for key in ("p50_ms", "p95_ms", "p99_ms", "max_ms")]
            count = TableCell(sum(one.transactions for one in told))
            rows.append([TableCell(text=label), TableCell(text=name), count, *spans])
    if not rows:
        return None
    columns = [Column("Group", numeric=False), Column("Transaction", numeric=False), Column("Executed")]
    return Table(columns + [Column(name, "ms") for name in ("p50", "p95", "p99", "max")], rows)


def _span(told: Sequence[OfType], key: str) -> TableCell:
    known = [value for one in told if (value := getattr(one, key)) is not None]
    if not known:
        return TableCell(gap="not told")
    low, high = min(known), max(known)
    return TableCell(high, number(low) if low == high else f"{number(low)}–{number(high)}")


def _over_time(groups: Sequence[Group], palette: dict[str, int]) -> Multiples | None:
    """A panel per group: what the seconds of its repeats say."""
    told = []
    read = of_runs([run for group in groups for run in group.runs], (LOW, MIDDLE, HIGH))
    for group in groups:
        if repeats := [series for run in group.runs if len(series := read[run.pk]) == 3]:
            told.append((group, repeats))
    if not told:
        return None
    columns = columns_of(3 * len(told))
    each = max(samples_each(series.values(), columns) for _, repeats in told for series in repeats)
    bands = {group.key: _band(repeats, each) for group, repeats in told}
    every = [row for band in bands.values() for row in band]
    known = [value for _, low, _, high in every for value in (low, high) if value is not None and value > 0]
    if not known:
        return None
    panels: list[Figure] = []
    for group, _ in told:
        band = bands[group.key]
        spec = lines(
            x={"label": "Time", "unit": "s", "scale": "linear", "span": (0.0, max(row[0] for row in every))},
            y={"label": "Latency", "unit": "ms", "scale": "log", "span": (min(known), max(known))},
            series=[
                {
                    "label": "p95", "color": palette[group.key], "dash": False,
                    "points": [(x, middle) for x, _, middle, _ in band],
                    "band": [(x, low, high) for x, low, _, high in band if low is not None and high is not None],
                }
            ],
            bands=warm_up_band(group.runs[0]),
        ) | {"sync": "latency-over-time", "panel": True}  # fmt: skip
        figure_id = numbered("latency-over-time-panel", len(panels))
        alt = f"Band from p50 to p99 of the latency of {group.label} over time."
        panels.append(Figure(figure_id, group.label, spec, Table([]), alt))
    table = _band_table([(group.label, bands[group.key]) for group, _ in told])
    if len(panels) == 1:
        panels = [Figure(panels[0].id, f"Latency over time: {panels[0].title}", panels[0].spec, table,
                         panels[0].alt, OVER_TIME_NOTE)]  # fmt: skip
    note = OVER_TIME_NOTE if each == 1 else f"{OVER_TIME_NOTE} Each point stands for {each:,} seconds."
    return Multiples("latency-over-time", "Latency over time, ms", panels, [], table, note)


def _maps(groups: Sequence[Group]) -> Multiples | None:
    """A panel per group that tells how many took how long over time."""
    told = [(group, heat) for group in groups if (heat := map_of(_finished(group)))]
    if not told:
        return None
    lows, highs = zip(*(_span_ms(heat) for _, heat in told), strict=True)
    panels = [
        heat_figure(
            heat, group.runs, id=numbered("latency-map-panel", at), title=group.label, span=(min(lows), max(highs))
        )
        for at, (group, heat) in enumerate(told)
    ]  # fmt: skip
    table = Table(
        [Column("Group", numeric=False), *panels[0].table.columns],
        [[TableCell(text=panel.title), *row] for panel in panels for row in panel.table.rows],
    )
    if len(panels) == 1:
        panels = [replace(panels[0], title=f"Transactions by latency over time: {panels[0].title}")]
    return Multiples("latency-map", "Transactions by latency over time", panels, [], table, MAP_NOTE)


def _span_ms(heat: LatencyMap) -> tuple[float, float]:
    return min(low for _, low, _, _ in heat.cells), max(high for _, _, high, _ in heat.cells)


def heat_figure(
    heat: LatencyMap, runs: Sequence[Run], *, id: str, title: str, span: tuple[float, float] | None = None
) -> Figure:
    """`span` in ms: of the axis of panels that share it."""
    cells, span = heat.cells, span or _span_ms(heat)
    spec: HeatSpec = {
        "type": "heat", "x": {"label": "Time", "unit": "s", "scale": "linear"},
        "y": {"label": "Latency", "unit": "ms", "scale": "log", "span": span}, "interval_s": heat.interval_s,
        "cells": cells, "bands": warm_up_band(runs[0]) if runs else [],
    }  # fmt: skip
    counts: dict[tuple[float, float], list[tuple[int, float]]] = {}
    for begin_s, low, high, count in cells:
        counts.setdefault((low, high), []).append((count, begin_s))
    whole = sum(count for *_, count in cells)
    rows = []
    for (low, high), of in sorted(counts.items()):
        most, at_s = max(of, key=lambda one: (one[0], -one[1]))
        total = sum(count for count, _ in of)
        numbers = (low, high, total, 100 * total / whole, most, at_s)
        rows.append([TableCell(value) for value in numbers])
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


def _band_table(told: Sequence[tuple[str, Sequence[_BandRow]]]) -> Table:
    """The quietest and the loudest second of each."""
    columns = [Column("Group", numeric=False), Column("Lowest p50", "ms"), Column("Highest p95", "ms"),
               Column("Highest p99", "ms"), Column("at", "s")]  # fmt: skip
    rows = []
    for label, band in told:
        lows = [low for _, low, _, _ in band if low is not None]
        middles = [middle for _, _, middle, _ in band if middle is not None]
        worst = max(((high, at_s) for at_s, _, _, high in band if high is not None), default=None)
        cells = [min(lows, default=None), max(middles, default=None), *(worst or (None, None))]
        rows.append([TableCell(text=label), *(TableCell(cell) if cell is not None else TableCell(gap="no sample")
                                              for cell in cells)])  # fmt: skip
    return Table(columns, rows)
