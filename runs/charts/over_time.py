"""Runs over time: throughput, latency, CPU, disk and memory as small multiples on one axis of time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import cast
from urllib.parse import urlencode
from uuid import UUID

from django.urls import reverse

from runs.answers.words.gaps import by_class
from runs.charts.base import (
    MOST_COLUMNS,
    BandSpec,
    EventSpec,
    Figure,
    Key,
    LineSeries,
    LinesSpec,
    Multiples,
    columns_of,
    lines,
    lines_table,
    thinned_table,
)
from runs.charts.compare import numbered, second_of_colour
from runs.charts.run import MIB, scale_over_time, warm_up_band
from runs.compare.comparison import Comparison
from runs.compare.groups import Group
from runs.models import Run
from runs.run.events import CHECKPOINT, NAMES, NOTE, STALL, events_of
from runs.run.series import Series, Stretch, names_held, of_runs, samples_each, thinned, without_gaps
from runs.tables import Column, Table, TableCell

MOST_RUNS = 12
# A picture holds no more marks of a kind than that.
MOST_EVENTS = 100
# All lines together have so many stretches: the page stays below 350 kB.
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
SIGNS = {CHECKPOINT: "▲ checkpoint", STALL: "▼ stall", NOTE: "⚑ note"}
ZOOM = "Drag over a stretch to see it alone, in all panels."
THINNED = "Thinned: of every {each:,} samples the lowest and the highest; a stretch that is zoomed into has more."


@dataclass(frozen=True)
class _Sampled:
    """A run that is drawn, with its samples by metric. `is_second`: an earlier group has its colour; `is_further`: an
    earlier repeat of its group is drawn.
    """

    group: Group
    run: Run
    series: Mapping[str, Series]
    is_second: bool
    is_further: bool

    @property
    def label(self) -> str:
        return f"{self.group.label}, repeat {self.run.repeat}"

    def of(self, course: Course) -> Series | None:
        return next((self.series[name] for name in course.metrics if name in self.series), None)


def with_samples(runs: Iterable[Run], courses: Sequence[Course] = COURSES) -> set[UUID]:
    """Those that a line can be drawn of."""
    held = names_held(runs, {name for course in courses for name in course.metrics})
    return {run for run, names in held.items() if names}


def over_time_figures(comparison: Comparison, courses: Sequence[Course] = COURSES) -> list[Multiples]:
    """The ranked groups, and each class of the others on scales of its own; empty without samples.

    Of more runs with samples than eyes can follow the first such repeats of the first groups that have one.
    """
    figures = []
    names = {name for course in courses for name in course.metrics}.union(NAMES)
    sampled_runs = with_samples([run for group in comparison.groups for run in group.runs], courses)
    for index, (words, groups) in enumerate(by_class(comparison).items()):
        every = [(group, run) for group in groups for run in group.runs if run.pk in sampled_runs]
        firsts = {group.key: run for group, run in reversed(every)}
        runs = [(group, run) for group, run in every if len(every) <= MOST_RUNS or run is firsts[group.key]][:MOST_RUNS]
        left_out = len(every) - len(runs)
        series = of_runs([run for _, run in runs], names)
        second = second_of_colour(group for group, _ in runs)
        sampled = [
            _Sampled(group, run, series[run.pk], group.key in second, run is not firsts[group.key])
            for group, run in runs
        ]  # fmt: skip
        if sampled:
            name = "over-time-apart" if words else "over-time"
            title = f"Not ranked: {words}, over time" if words else "Over time"
            figure_id = numbered(name, max(0, index - 1))
            figures.append(_multiples(sampled, courses, id=figure_id, title=title, left_out=left_out))
    return figures


def _multiples(
    runs: Sequence[_Sampled], courses: Sequence[Course], *, id: str, title: str, left_out: int
) -> Multiples:  # fmt: skip
    lines_of = {course: [(run, series) for run in runs if (series := run.of(course))] for course in courses}
    every = [series for of_course in lines_of.values() for _, series in of_course]
    columns = columns_of(len(every), MOST_STRETCHES)
    each = max(samples_each((series for _, series in of_course), columns) for of_course in lines_of.values())
    bands, events = _bands(runs), _events(runs)
    end_s = max(series.t0_s + (len(series.values) - 1) * series.interval_s for series in every)
    table = _table(lines_of) if len(courses) > 1 else None
    panels = [
        _panel(course, of_course, each, bands=bands, events=events, end_s=end_s, id=id, table=table)
        for course, of_course in lines_of.items()
        if of_course
    ]
    for at, figure in enumerate(panels):
        spec = cast(LinesSpec, figure.spec)
        spec["x"]["untitled"] = at < len(panels) - 1
        if at:  # once for all panels: of a long run they are more bytes than its lines
            spec["events"], spec["events_of"] = [], panels[0].id
    of_groups = {run.group.key: run for run in runs}.values()
    keys = [Key(run.group.label, run.group.color, dash=run.is_second) for run in of_groups]
    notes = []
    if len(panels) > 1:
        # What the keys of the colours do not say, as far as it is drawn.
        kinds = {event["kind"] for event in events}
        signs = ", ".join(words for kind, words in SIGNS.items() if kind in kinds)
        dashed = "Dashed: further repeats." if any(run.is_further for run in runs) else ""
        notes += [*filter(None, [dashed, f"{signs}." if signs else ""]), ZOOM]
    notes += [THINNED.format(each=each)] if each > 1 else []
    if left_out:
        notes.append(f"The first repeat of each of {len(runs)} groups; {left_out:,} with samples are not drawn.")
    note = " ".join(notes)
    if len(panels) == 1:  # which stands without its multiples, and names its lines and its axis itself
        spec = cast(LinesSpec, panels[0].spec)
        spec["panel"] = spec["y"]["untitled"] = False
        panels = [replace(panels[0], note=note)]
    return Multiples(id, title, panels, keys, panels[0].table, note, stacked=True)


def _panel(
    course: Course, runs: Sequence[tuple[_Sampled, Series]], each: int, *,
    bands: Sequence[BandSpec], events: Sequence[EventSpec], end_s: float, id: str, table: Table | None,
) -> Figure:  # fmt: skip
    stretches = [thinned(series, each) for _, series in runs]
    series = [
        _line(run, of_run, part, course.scale, is_thinned=each > 1)
        for (run, of_run), part in zip(runs, stretches, strict=True)
    ]
    y_scale = scale_over_time(course.unit, series)
    spec = lines(
        x={"label": "Time", "unit": "s", "scale": "linear", "span": (0.0, end_s)},
        y={"label": course.label, "unit": course.unit, "scale": y_scale, "zero": y_scale == "linear"},
        series=series, bands=bands,
    )  # fmt: skip
    spec["events"] = list(events)
    if table is not None:
        spec |= {"sync": id, "panel": True}
        spec["y"]["untitled"] = True
        for line, (run, _) in zip(series, runs, strict=True):
            line["url"] = run.run.get_absolute_url()
    else:
        table = lines_table(spec) if each == 1 else thinned_table(spec, stretches, course.scale)
    return Figure(
        id=id if course.key == "tps" else f"{id}-{course.key}", spec=spec,
        title=f"{course.label}, {course.unit}{', logarithmic' if y_scale == 'log' else ''}",
        table=table, alt=f"{len(series)} lines of {course.label} in {course.unit} over the seconds of each run.",
    )  # fmt: skip


def _line(run: _Sampled, series: Series, stretches: Sequence[Stretch], scale: int, *, is_thinned: bool) -> LineSeries:
    # 43200, not 43200.0: of a day of seconds that are many bytes.
    points = [
        (int(x) if x.is_integer() else x, None if y is None else float(f"{y / scale:.{DIGITS}g}"))
        for stretch in stretches
        for x, y in stretch.points
    ]
    line: LineSeries = {
        "label": run.label, "color": run.group.color, "dash": run.is_further or run.is_second, "points": points,
        "metric": series.name, "scale": scale,
    }  # fmt: skip
    if is_thinned:
        # The same of all panels, so that a stretch is asked for once.
        names = [of_course.name for course in COURSES if (of_course := run.of(course))]
        query = urlencode([*(("metric", name) for name in names), ("columns", MOST_COLUMNS)])
        line["detail_url"] = f"{reverse('api-run-series', args=[run.run.id])}?{query}"
    return line


def _bands(runs: Sequence[_Sampled]) -> list[BandSpec]:
    """The warm-up, where all have the same; else of each length the part that is the warm-up of some."""
    warm_ups = [warm_up_band(run.run, run.of(COURSES[0]) or next(iter(run.series.values()))) for run in runs]
    ends = sorted({float(band["to"]) for bands in warm_ups for band in bands})
    if not ends:
        return []
    same = len(ends) == 1 and all(warm_ups)
    return [{"from": 0, "to": ends[-1], "label": "warm-up" if same else f"warm-ups of up to {ends[-1]:g} s"}]


def _events(runs: Sequence[_Sampled]) -> list[EventSpec]:
    """The events by kind; if they are too many, every so many."""
    by_kind: dict[str, list[EventSpec]] = {kind: [] for kind in SIGNS}
    for run in runs:
        for event in events_of(run.run, run.series):
            words = f"{event.words} ({run.label})" if len(runs) > 1 else event.words
            by_kind[event.kind].append({"x": event.at_s, "kind": event.kind, "color": run.group.color, "words": words})
    return [event for events in by_kind.values() for event in events[:: -(-len(events) // MOST_EVENTS) or 1]]


def _table(lines_of: Mapping[Course, Sequence[tuple[_Sampled, Series]]]) -> Table:
    """What the lines say of each run: all its samples are in the CSV file of its page."""
    columns = [
        Column("Run", numeric=False), Column("Of", numeric=False), Column("Lowest"), Column("Mean"), Column("Highest"),
        Column("Unit", numeric=False), Column("Samples"),
    ]  # fmt: skip
    rows = []
    for course, runs in lines_of.items():
        for run, series in runs:
            values = without_gaps(series.values)
            numbers = [
                TableCell(of(values) / course.scale) if values else TableCell(gap="only gaps")
                for of in (min, fmean, max)
            ]
            name = TableCell(text=run.label, href=run.run.get_absolute_url())
            unit, count = TableCell(text=course.unit), TableCell(len(series.values))
            rows.append([name, TableCell(text=course.label), *numbers, unit, count])
    return Table(columns, rows)
