"""Runs over time: throughput, latency, CPU, disk and memory as small multiples on one axis of time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import cast
from urllib.parse import urlencode

from django.urls import reverse

from runs.charts.base import (
    MOST_COLUMNS,
    BandSpec,
    EventSpec,
    Figure,
    Key,
    LineSeries,
    LinesSpec,
    Multiples,
    lines,
    lines_table,
    thinned_table,
)
from runs.charts.compare import colours, numbered
from runs.charts.run import MIB, warm_up_band
from runs.compare.comparison import Comparison
from runs.compare.groups import Group
from runs.models import Run
from runs.run.events import CHECKPOINT, NAMES, NOTE, STALL, events_of
from runs.run.series import Series, Stretch, of_runs, samples_each, thinned, without_gaps
from runs.tables import Column, Table, TableCell

MOST_RUNS = 12
# A picture holds no more marks of a kind than that.
MOST_EVENTS = 100
# Of all lines together: the page stays below 350 kB.
MOST_STRETCHES = 5_000
# As a chart of a thousand pixels can show them.
DIGITS = 5


@dataclass(frozen=True)
class Course:
    """One panel. Of `metrics` each run shows the first that it has samples of."""

    key: str
    metrics: tuple[str, ...]
    label: str
    unit: str
    scale: int = 1


COURSES = (
    Course("tps", ("tps",), "Throughput", "TPS"),
    Course("latency", ("latency_p99_ms", "latency_p95_ms", "latency_p50_ms"), "p99 latency", "ms"),
    Course("cpu", ("machine_cpu_percent",), "CPU of the machine", "%"),
    Course("disk", ("disk_write_mb_per_s",), "Written to the disk", "MB/s"),
    Course("busy", ("disk_util_percent",), "Disk busy", "%"),
    # An engine inside of the load generator has no process of its own.
    Course("memory", ("server_rss_bytes", "driver_rss_bytes"), "Memory of the DBMS", "MiB", MIB),
)
THROUGHPUT = COURSES[:1]
_METRICS = tuple(name for course in COURSES for name in course.metrics)
SIGNS = {CHECKPOINT: "▲ checkpoint", STALL: "▼ stall", NOTE: "⚑ note"}
ZOOM = "Drag over a stretch to see it alone, in all panels."
THINNED = "Thinned: of every {each:,} samples the lowest and the highest; a stretch that is zoomed into has more."


def whole_number(x: float) -> float:
    """43200, not 43200.0: of a day of seconds that are many bytes."""
    return int(x) if x.is_integer() else x


@dataclass(frozen=True)
class _Shown:
    group: Group
    run: Run
    series: Mapping[str, Series]

    @property
    def label(self) -> str:
        return f"{self.group.label}, repeat {self.run.repeat}"


def over_time_figures(
    comparison: Comparison, courses: Sequence[Course] = COURSES, *, id: str = "over-time"
) -> list[Multiples]:
    """The ranked groups, and each class of the others on scales of its own; empty without samples.

    Of more runs than eyes can follow the first repeats of the first groups.
    """
    palette = colours(comparison)
    figures = []
    for index, (words, groups) in enumerate({"": comparison.ranked, **comparison.apart}.items()):
        chosen, left_out = _chosen(groups)
        names = {name for course in courses for name in course.metrics}.union(NAMES)
        read = of_runs([run for _, run in chosen], names)
        shown = [_Shown(group, run, read[run.pk]) for group, run in chosen]
        shown = [one for one in shown if any(name in one.series for course in courses for name in course.metrics)]
        if shown:
            name = f"{id}-apart" if words else id
            title = f"Not ranked: {words}, over time" if words else "Over time"
            figures.append(
                _multiples(shown, courses, palette, id=numbered(name, max(0, index - 1)), title=title, left=left_out)
            )
    return figures


def _chosen(groups: Sequence[Group]) -> tuple[list[tuple[Group, Run]], int]:
    """What is drawn, and how many runs are not."""
    runs = [(group, run) for group in groups for run in group.runs]
    if len(runs) <= MOST_RUNS:
        return runs, 0
    first = [(group, group.runs[0]) for group in groups if group.runs][:MOST_RUNS]
    return first, len(runs) - len(first)


def _multiples(
    shown: Sequence[_Shown], courses: Sequence[Course], palette: Mapping[str, int], *, id: str, title: str, left: int
) -> Multiples:
    drawn = {course: [(one, series) for one in shown if (series := _first(course, one.series))] for course in courses}
    columns = min(MOST_COLUMNS, MOST_STRETCHES // max(1, sum(map(len, drawn.values()))))
    each = max(samples_each((series for _, series in sampled), columns) for sampled in drawn.values())
    bands = _bands(shown)
    events = _events(shown, palette)
    ends = [series.t0_s + (len(series.values) - 1) * series.interval_s for rows in drawn.values() for _, series in rows]
    table = _table(drawn) if len(courses) > 1 else None
    panels = [
        _panel(course, sampled, palette, each, bands=bands, events=events, end_s=max(ends), id=id, table=table)
        for course, sampled in drawn.items()
        if sampled
    ]
    for at, figure in enumerate(panels):
        spec = cast(LinesSpec, figure.spec)
        spec["x"]["untitled"] = at < len(panels) - 1
        if at:  # once for all panels: of a long run they are more bytes than its lines
            spec["events"], spec["events_of"] = [], panels[0].id
    groups = {one.group.key: one.group for one in shown}
    keys = [Key(group.label, palette[key], dash=False) for key, group in groups.items()]
    notes = _legend(shown, events) if len(panels) > 1 else []
    notes += [THINNED.format(each=each)] if each > 1 else []
    notes += [f"The first repeat of each of {len(shown)} groups; {left:,} runs are not drawn."] if left else []
    return Multiples(id, title, panels, keys, panels[0].table, " ".join(notes), stacked=True)


def _first(course: Course, series: Mapping[str, Series]) -> Series | None:
    return next((series[name] for name in course.metrics if name in series), None)


def _panel(
    course: Course, sampled: Sequence[tuple[_Shown, Series]], palette: Mapping[str, int], each: int, *,
    bands: Sequence[BandSpec], events: Sequence[EventSpec], end_s: float, id: str, table: Table | None,
) -> Figure:  # fmt: skip
    stretches = [thinned(series, each) for _, series in sampled]
    series = [
        _line(one, of, part, palette[one.group.key], course.scale, is_thinned=each > 1)
        for (one, of), part in zip(sampled, stretches, strict=True)
    ]
    spec = lines(
        x={"label": "Time", "unit": "s", "scale": "linear", "span": (0.0, end_s)},
        y={"label": course.label, "unit": course.unit, "zero": True}, series=series, bands=bands,
    )  # fmt: skip
    spec["events"] = list(events)
    if table is not None:
        spec |= {"sync": id, "panel": True}
        spec["y"]["untitled"] = True
    else:
        table = lines_table(spec) if each == 1 else thinned_table(spec, stretches, course.scale)
    return Figure(
        id=id if course.key == "tps" else f"{id}-{course.key}", title=f"{course.label}, {course.unit}", spec=spec,
        table=table, alt=f"{len(series)} lines of {course.label} in {course.unit} over the seconds of each run.",
    )  # fmt: skip


def _line(
    one: _Shown, series: Series, stretches: Sequence[Stretch], color: int, scale: int, *, is_thinned: bool
) -> LineSeries:
    drawn = [point for stretch in stretches for point in stretch.points]
    points = [(whole_number(x), None if y is None else float(f"{y / scale:.{DIGITS}g}")) for x, y in drawn]
    line: LineSeries = {
        "label": one.label, "color": color, "dash": _is_further(one), "points": points,
        "metric": series.name, "scale": scale,
    }  # fmt: skip
    if is_thinned:
        # The same of all panels, so that a stretch is asked for once.
        names = [first.name for course in COURSES if (first := _first(course, one.series))]
        query = urlencode([*(("metric", name) for name in names), ("columns", MOST_COLUMNS)])
        line["detail_url"] = f"{reverse('api-run-series', args=[one.run.id])}?{query}"
    return line


def _bands(shown: Sequence[_Shown]) -> list[BandSpec]:
    """The warm-up, where all have the same; else of each length the part that is the warm-up of some."""
    ends = sorted({float(band["to"]) for one in shown for band in warm_up_band(one.run)})
    if not ends:
        return []
    same = len(ends) == 1 and all(warm_up_band(one.run) for one in shown)
    return [{"from": 0, "to": ends[-1], "label": "warm-up" if same else f"warm-ups of up to {ends[-1]:g} s"}]


def _events(shown: Sequence[_Shown], palette: Mapping[str, int]) -> list[EventSpec]:
    several = len(shown) > 1
    told: list[EventSpec] = [
        {
            "x": event.at_s, "kind": event.kind, "color": palette[one.group.key],
            "words": f"{event.words} ({one.label})" if several else event.words,
        }
        for one in shown
        for event in events_of(one.run, one.series)
    ]  # fmt: skip
    of = {kind: [event for event in told if event["kind"] == kind] for kind in SIGNS}
    return [event for events in of.values() for event in events[:: -(-len(events) // MOST_EVENTS) or 1]]


def _legend(shown: Sequence[_Shown], events: Sequence[EventSpec]) -> list[str]:
    """What the keys of the colours do not say, as far as it is drawn."""
    kinds = {event["kind"] for event in events}
    several = any(_is_further(one) for one in shown)
    signs = ", ".join(words for kind, words in SIGNS.items() if kind in kinds)
    return [*(["Dashed: further repeats."] if several else []), *([f"{signs}."] if signs else []), ZOOM]


def _is_further(one: _Shown) -> bool:
    """A repeat that is not the first of its group."""
    return one.run.repeat > one.group.runs[0].repeat


def _table(drawn: Mapping[Course, Sequence[tuple[_Shown, Series]]]) -> Table:
    """What the lines say of each run: all its samples are in the CSV file of its page."""
    columns = [
        Column("Run", numeric=False), Column("Of", numeric=False), Column("Lowest"), Column("Mean"), Column("Highest"),
        Column("Unit", numeric=False), Column("Samples"),
    ]  # fmt: skip
    rows = []
    for course, sampled in drawn.items():
        for one, series in sampled:
            known = without_gaps(series.values)
            told = [
                TableCell(of(known) / course.scale) if known else TableCell(gap="only gaps") for of in (min, fmean, max)
            ]
            rows.append(
                [
                    TableCell(text=one.label, href=one.run.get_absolute_url()),
                    TableCell(text=course.label),
                    *told,
                    TableCell(text=course.unit),
                    TableCell(len(series.values)),
                ]
            )
    return Table(columns, rows)
