"""The charts of one run: throughput, latency, CPU, memory and disk over time."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from typing import Any

from benchagent.catalog import DBMSS, METRICS
from benchagent.exporters import csv_file
from django.urls import reverse

from runs import formatting
from runs.charts.base import (
    MOST_COLUMNS,
    BandSpec,
    EventSpec,
    Figure,
    LineSeries,
    Point,
    Scale,
    columns_of,
    lines,
    lines_table,
    thinned_table,
)
from runs.charts.curves import Y_LOG_FROM
from runs.compare.panels import COLOURS
from runs.formatting import grouped
from runs.models import Run
from runs.run import derived
from runs.run.events import NAMES, events_of
from runs.run.series import Series, Stretch, measured_window, samples_each, thinned

# So many rows of a CSV file are written at once.
ROWS_AT_ONCE = 5_000
MIB = 2**20
THINNED = (
    "Thinned: of every {each:,} samples the lowest and the highest, so that each peak and each stall is there. "
    "Dragging over a stretch loads what lies in it; the CSV file has every sample."
)


@dataclass(frozen=True)
class Line:
    """One series of a chart: which metric, under which label."""

    metric: str
    label: str
    color: int
    dash: bool = False


@dataclass(frozen=True)
class Plot:
    """A chart of a run's page; it is shown when one of its metrics was sampled."""

    id: str
    title: str
    y_label: str
    unit: str
    lines: tuple[Line, ...]
    # With the interval of its samples as `{interval}`.
    note: str = ""
    # Time counts from the begin of this phase; the run's begins with its warm-up.
    phase: str = "run"


PLOTS = (
    Plot("throughput", "Throughput over time", "Throughput", "TPS", (Line("tps", "Throughput", 0),)),
    Plot(
        "latency", "Latency over time", "Latency", "ms",
        (
            Line("latency_p50_ms", "p50", 0), Line("latency_p95_ms", "p95", 1, dash=True),
            Line("latency_p99_ms", "p99", 3, dash=True),
        ),
        note="Percentiles of the transactions that ended in each {interval}; a retry counts from its first attempt.",
    ),
    Plot(
        "service-time", "Service time at the fixed rate", "Service time", "ms",
        (
            Line("service_p50_ms", "p50", 0), Line("service_p95_ms", "p95", 1, dash=True),
            Line("service_p99_ms", "p99", 3, dash=True),
        ),
        note="From the actual start of a transaction; the latency above counts from when it was due.",
    ),
    Plot("backlog", "Due and waiting", "Backlog", "transactions", (Line("backlog", "not started", 0),)),
    Plot(
        "machine-cpu", "CPU of the machine, and its disk", "Busy", "%",
        (
            Line("machine_cpu_percent", "CPU", 0),
            Line("server_machine_cpu_percent", "CPU of the server's machine", 1, dash=True),
            Line("disk_util_percent", "disk of the data", 2, dash=True),
        ),
    ),
    Plot(
        "process-cpu", "CPU by process", "CPU", "cores",
        (
            Line("server_cpu_cores", "DBMS", 0), Line("driver_cpu_cores", "load generator", 1, dash=True),
            Line("tool_cpu_cores", "tool", 2),
        ),
    ),
    Plot(
        "disk", "Disk", "Disk", "MB/s",
        (
            Line("disk_write_mb_per_s", "written", 1), Line("disk_read_mb_per_s", "read", 0, dash=True),
            Line("own_disk_write_mb_per_s", "asked for by the run, at most", 4, dash=True),
            Line("others_disk_write_mb_per_s", "asked for by others, at most", 5, dash=True),
            Line("log_disk_write_mb_per_s", "written, log disk", 2),
            Line("backup_disk_write_mb_per_s", "written, backup disk", 3),
        ),
    ),
    Plot(
        "iops", "Disk operations", "Operations", "IOPS",
        (Line("disk_write_iops", "writes", 1), Line("disk_read_iops", "reads", 0, dash=True)),
    ),
    Plot(
        "memory", "Memory by process", "Memory", "bytes",
        (
            Line("server_rss_bytes", "DBMS", 0), Line("driver_rss_bytes", "load generator", 1, dash=True),
            Line("tool_rss_bytes", "tool", 2),
        ),
    ),
    # The last: of a backup it is how its data came to be, not what was asked.
    Plot(
        "load", "Load rate over time", "Load rate", "MB/s", (Line("load_mb_per_s", "Load rate", 0),), phase="load",
        note="Bytes of the values, whatever the DBMS makes of them; time counts from the start of the load.",
    ),
)  # fmt: skip

# What the catalogue names, and what marks seconds, is drawn above, or on purpose not.
_KNOWN = frozenset({*METRICS, *(line.metric for plot in PLOTS for line in plot.lines), *NAMES})


def figures(run: Run, series: Sequence[Series]) -> list[Figure]:
    """The charts of the metrics that the run has samples of; those of an open one grow."""
    sampled = {metric.name: metric for metric in series}
    events: list[EventSpec] = [
        {"x": event.at_s, "kind": event.kind, "words": event.words} for event in events_of(run, sampled)
    ]
    plots = [*PLOTS, *_of_own_names(series)]
    shown = {plot: [line for line in plot.lines if line.metric in sampled] for plot in plots}
    columns = columns_of(sum(map(len, shown.values())))
    return [
        _figure(run, plot, wanted, sampled, columns=columns, events=events) for plot, wanted in shown.items() if wanted
    ]


def _of_own_names(series: Sequence[Series]) -> list[Plot]:
    """A chart for each unit of what has a name of its sender's, as it was given."""
    own = grouped((each.unit, each.name) for each in series if each.name not in _KNOWN)
    return [
        Plot(
            f"own-{number}", f"Samples in {unit}" if unit and len(names) > 1 else ", ".join(names), "Value", unit,
            tuple(Line(name, name, index % COLOURS) for index, name in enumerate(names)),
        )
        for number, (unit, names) in enumerate(own.items(), 1)
    ]  # fmt: skip


def _figure(
    run: Run, plot: Plot, wanted: Sequence[Line], sampled: Mapping[str, Series], *, columns: int,
    events: Sequence[EventSpec],
) -> Figure:  # fmt: skip
    unit, scale = ("MiB", MIB) if plot.unit == "bytes" else (plot.unit, 1)
    query = "&".join(f"metric={line.metric}" for line in wanted)
    url = f"{reverse('api-run-series', args=[run.id])}?{query}"
    whole = reverse("run-series-csv", args=[run.id])
    each = samples_each((sampled[line.metric] for line in wanted), columns)
    stretches_of_lines = [thinned(sampled[line.metric], each) for line in wanted]
    series = [_series(run, line, stretches, scale) for line, stretches in zip(wanted, stretches_of_lines, strict=True)]
    y_scale = scale_over_time(unit, series)
    spec = lines(
        x={"label": "Time", "unit": "s", "scale": "linear"},
        y={"label": plot.y_label, "unit": unit, "scale": y_scale, "zero": y_scale == "linear"},
        series=series,
        bands=warm_up_band(run, sampled[wanted[0].metric]) if plot.phase == "run" else load_bands(run),
    )
    if run.is_open:
        spec["live_url"] = url
    if plot.phase == "run":
        spec |= {"sync": "run", "events": list(events)}
    names = ", ".join(line.label for line in wanted)
    note = plot.note.format(interval=sampled[wanted[0].metric].interval_words)
    note = f"{note} Logarithmic axis." if y_scale == "log" else note
    if not note and is_embedded(run) and any(line.metric.startswith("driver_") for line in wanted):
        note = f"{run.dbms_version.dbms.name} runs inside the load generator: one process."
    # A line alone has no legend: the title names it.
    title = f"{plot.title}: {spec['series'][0]['label']}" if len(wanted) == 1 < len(plot.lines) else plot.title
    if each > 1:
        spec["detail_url"] = f"{url}&columns={MOST_COLUMNS}"
        spec["csv_url"] = f"{whole}?{query}"
        note = f"{note} {THINNED.format(each=each)}".strip()
    return Figure(
        id=plot.id,
        title=title,
        spec=spec,
        table=lines_table(spec) if each == 1 else thinned_table(spec, stretches_of_lines, scale),
        alt=f"Line chart of {plot.y_label.lower()} in {unit} ({names}) over the seconds of the run.",
        note=note,
        csv_url=whole,
    )


def scale_over_time(unit: str, series: Sequence[LineSeries]) -> Scale:
    """A logarithmic scale for latencies: beside one stall of a second all others would be a line on a linear axis."""
    values = [y for line in series for _, y in line["points"] if y is not None]
    is_wide = unit == "ms" and 0 < min(values, default=0) <= max(values, default=0) / Y_LOG_FROM
    return "log" if is_wide else "linear"


def _series(run: Run, line: Line, stretches: Sequence[Stretch], scale: int) -> LineSeries:
    label = line.label
    if line.metric.startswith("driver_") and is_embedded(run):
        # An embedded engine runs inside the load generator's JVM: their CPU and memory are one.
        label = f"load generator + {run.dbms_version.dbms.name}"
    elif line.metric == "machine_cpu_percent" and run.context.get("connection"):
        label = "CPU of the load generator's machine"
    points = [(x, None if y is None else y / scale) for stretch in stretches for x, y in stretch.points]
    return {
        "label": label, "color": line.color, "dash": line.dash, "points": points, "metric": line.metric, "scale": scale,
    }  # fmt: skip


def is_embedded(run: Run) -> bool:
    entry = DBMSS.get(run.dbms_version.dbms.slug)
    return entry is not None and entry.embedded


def load_bands(run: Run) -> list[BandSpec]:
    """Both parts of a load whose second one was slow on purpose."""
    parts = derived.load_parts(run)
    if parts is None:
        return []
    share = f", {parts.fast_share:.0%} of the rows".replace("%", " %") if parts.fast_share else ""
    return [
        {"from": 0, "to": parts.fast_s, "label": f"fast part{share}", "clear": True},
        {"from": parts.fast_s, "to": parts.fast_s + parts.slow_s, "label": "slow part, by design"},
    ]


def warm_up_band(run: Run, series: Series | None) -> list[BandSpec]:
    """The warm-up on the time of the series; an open run has no more than a part of its samples."""
    begin_s, _ = run.window_s if run.is_open else measured_window(run.factor_values, series)
    return [{"from": 0, "to": begin_s, "label": "warm-up"}] if begin_s > (series.t0_s if series else 0) else []


def series_rows(series: Sequence[Series]) -> Iterator[list[str]]:
    """Rows of a CSV file: the head, then one row per sample with its exact value; a gap is an empty value."""
    yield ["metric", "unit", "t_s", "value"]
    for metric in series:
        for t_s, value in metric.points():
            yield [*map(csv_file.cell, (metric.name, metric.unit)), *map(formatting.plain, (t_s, value))]


def csv_pieces(rows: Iterator[list[str]]) -> Iterator[str]:
    """The text of a CSV file, thousands of rows at a time: a million are never in memory as text."""
    while piece := list(islice(rows, ROWS_AT_ONCE)):
        text = StringIO()
        csv.writer(text).writerows(piece)
        yield text.getvalue()


def memory_figure(run: Run) -> Figure | None:
    """While the queries before the run warm it up, as in the 2015 article; None where no server was there."""
    warm_up: dict[str, Any] = run.statistics.get("warm_up_queries") or {}
    points: list[Point] = [
        (round(float(sample["t"]), 2), float(sample["bytes"]) / MIB)
        for sample in warm_up.get("memory", [])
        if isinstance(sample.get("bytes"), int | float)
    ]
    if not points:
        return None
    points = points[:: -(-len(points) // MOST_COLUMNS)]
    spec = lines(
        x={"label": "Time", "unit": "s", "scale": "linear"},
        y={"label": "Memory", "unit": "MiB", "zero": True},
        series=[{"label": run.dbms_version.dbms.name, "color": 0, "dash": False, "points": points}],
        bands=_queries_band(warm_up.get("queries", [])),
    )
    first, last = points[0][1], points[-1][1]
    return Figure(
        id="heating", title="Memory of the DBMS while it warms up", spec=spec, table=lines_table(spec),
        alt=f"Line of the memory of the DBMS: from {first:.0f} to {last:.0f} MiB.",
        note="Ten samples a second; pages that processes share count once.",
    )  # fmt: skip


def _queries_band(queries: list[dict[str, Any]]) -> list[BandSpec]:
    """From the begin of the first to the end of the last; `t` is when a query ended."""
    ends = [(float(query["t"]), float(query.get("elapsed_s") or 0)) for query in queries if query.get("t") is not None]
    if not ends:
        return []
    begin = max(0.0, min(end - elapsed for end, elapsed in ends))
    return [{"from": round(begin, 2), "to": round(max(ends)[0], 2), "label": "warm-up queries"}]
