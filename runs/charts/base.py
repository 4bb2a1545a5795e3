"""What a chart is on the way to the browser: a specification for static/js/charts.js and the table of its numbers.

`templates/_chart.html` renders a `Figure`. The table holds every number of the chart, so that a page says the same
without JavaScript.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar, Literal, NotRequired, TypedDict

from runs.answers.words.curves import MOST_SAID, CurveWords
from runs.run.series import Stretch
from runs.tables import Column, Table, TableCell

# All lines of a page together have so many: with their tables they stay well below 2 MB. A picture has no more columns.
MOST_STRETCHES, MOST_COLUMNS = 7_000, 1_000
# From so many times on the line from one level to the next is dotted: a factor of ten, whose ends may be rounded.
LEAP = 9.99
LEAP_NOTE = "Dotted between two points: ten times as far or more, with nothing measured between."
Scale = Literal["linear", "log"]
Point = tuple[float, float | None]


class Axis(TypedDict):
    """`even` begins and ends it at round values, `zero` begins it at 0; without either the data fill the width.

    `span`: what all panels of a figure hold. `ticks`: values with words of their own, as names or dates are. `nines`:
    values are decades of 1/(1 − p), and said as percentiles. `untitled`: a panel's neighbours or title say what it is.
    """

    label: str
    unit: str
    scale: NotRequired[Scale]
    better: NotRequired[str]
    even: NotRequired[bool]
    zero: NotRequired[bool]
    span: NotRequired[tuple[float, float]]
    ticks: NotRequired[list[tuple[float, str]]]
    nines: NotRequired[bool]
    untitled: NotRequired[bool]


class LineSeries(TypedDict):
    """`metric` names the API's series, for what comes later; `origin` says where the values come from.

    `dots` are the repeats behind the points, `band` is (x, low, high) of their intervals, `open` of those that reach
    so far that a band would cover the chart. `leaps`: the x up to which it is dotted, from the point before. `row`: of
    its first point in the table, with those of its others after it; a click leads there. `url`: of the one run that
    the whole line is of, as the table links it; a click leads to it.
    """

    label: str
    color: int
    dash: bool
    points: list[Point]
    metric: NotRequired[str]
    # What samples are divided by to have the axis's unit.
    scale: NotRequired[int]
    # Where a stretch of the samples behind a thinned line is asked for.
    detail_url: NotRequired[str]
    origin: NotRequired[str]
    dots: NotRequired[list[tuple[float, float]]]
    band: NotRequired[list[tuple[float, float, float]]]
    open: NotRequired[list[tuple[float, float, float]]]
    leaps: NotRequired[list[float]]
    row: NotRequired[int]
    url: NotRequired[str]


class Mark(TypedDict):
    axis: Literal["x", "y"]
    value: float
    label: str


# A shaded stretch of the x axis. The word `from` forbids a class: {"from": 0, "to": 10, "label": "warm-up"}.
BandSpec = dict[str, float | str]


class LineGap(TypedDict):
    """Values of a line that are lost: where they stood on the x axis, and why they are not there."""

    label: str
    color: int
    xs: list[float]
    reason: str


class TextColumn(TypedDict):
    """What a CSV file tells of places on x beside the numbers."""

    label: str
    cells: list[tuple[float, str]]


class LinesSpec(TypedDict):
    type: Literal["lines"]
    x: Axis
    y: Axis
    series: list[LineSeries]
    marks: list[Mark]
    bands: list[BandSpec]
    # Where the samples of a run that goes on are asked for.
    live_url: NotRequired[str]
    # Where the samples of a stretch are asked for, when the lines show only the lowest and the highest of each few.
    detail_url: NotRequired[str]
    # And where all of them are, as CSV.
    csv_url: NotRequired[str]
    gaps: NotRequired[list[LineGap]]
    columns: NotRequired[list[TextColumn]]
    # One of several panels, which share a legend.
    panel: NotRequired[bool]
    # So many lines that all look alike: without a legend, each named where it is pointed at.
    alike: NotRequired[bool]
    # Lines that were computed of the series, drawn thin over them: no values of their own.
    overlays: NotRequired[list[LineSeries]]
    # Charts of the same name share crosshair and zoom.
    sync: NotRequired[str]
    events: NotRequired[list[EventSpec]]
    # The id of the figure whose events are those of this one too.
    events_of: NotRequired[str]


class EventSpec(TypedDict):
    """What happened at a time of a chart: `kind` is one of runs.run.events, `color` that of the run's lines."""

    x: float
    kind: str
    words: str
    color: NotRequired[int]


class BarGroup(TypedDict):
    """One bar: `value` as its length, every repeat as a dot, a whisker, the median as a tick; or a gap with its reason.

    `interval` is that of the `statistic` that `value` is; without one, the value is no statistic of repeats.
    """

    label: str
    color: int
    value: float | None
    interval: tuple[float, float] | None
    dots: list[float]
    gap: str | None
    ranked: bool
    statistic: NotRequired[str]
    median: NotRequired[float]
    # In the table: a click leads there.
    row: NotRequired[int]
    # A published relative value without any absolute one behind it: drawn hatched. `text` stands for its number.
    claim: NotRequired[bool]
    text: NotRequired[str]
    # Where the value comes from, in words.
    origin: NotRequired[str]


class BarsSpec(TypedDict):
    """`least` and `most`: the ends of what the axis holds, of panels that share it. On a logarithmic one a mark stands
    at each value: there is no 0 at which a bar could begin. `base`: where bars begin that tell a change, not an amount.
    """

    type: Literal["bars"]
    y: Axis
    scale: Scale
    groups: list[BarGroup]
    marks: NotRequired[list[Mark]]
    least: NotRequired[float]
    most: NotRequired[float]
    base: NotRequired[float]


class StackedPart(TypedDict):
    label: str
    color: int
    values: list[float]
    origin: NotRequired[str]


class StackedSpec(TypedDict):
    """One bar per row, made of parts that add up."""

    type: Literal["stacked"]
    y: Axis
    rows: list[str]
    parts: list[StackedPart]


class TradeOffGroup(TypedDict):
    """A dot at two metrics with its intervals; `front`: none is better in both.

    `label` names it in full: `series` is what it shares with the others of its colour, `name` what tells it from them.
    `row` is its row in the table: a click leads there.
    """

    label: str
    series: str
    name: str
    color: int
    x: float
    y: float
    x_interval: tuple[float, float] | None
    y_interval: tuple[float, float] | None
    n: int
    front: bool
    row: int


class TradeOffSpec(TypedDict):
    """`joined`: all may be compared, so that there is one front."""

    joined: bool
    type: Literal["tradeoff"]
    x: Axis
    y: Axis
    groups: list[TradeOffGroup]


class HeatSpec(TypedDict):
    """How many took how long over time: cells of (begin in s, from, to, count); `span` of y in its unit."""

    type: Literal["heat"]
    x: Axis
    y: Axis
    interval_s: float
    cells: list[tuple[float, float, float, int]]
    bands: list[BandSpec]


@dataclass(frozen=True)
class Figure:
    """`id` is unique on the page; `alt` says in words what the picture shows."""

    template: ClassVar[str] = "_chart.html"
    id: str
    title: str
    spec: LinesSpec | BarsSpec | StackedSpec | TradeOffSpec | HeatSpec
    table: Table
    alt: str
    note: str = ""
    csv_url: str = ""


@dataclass(frozen=True)
class Key:
    """An entry of a legend: a series with its colour, and whether its line is dashed."""

    label: str
    color: int
    dash: bool


@dataclass(frozen=True)
class Multiples:
    """Small multiples: figures with the same axes, one legend for all, one table of all their numbers.

    `metric`: its name. `curve_words` of each curve, `words_note` of all of them.
    """

    template: ClassVar[str] = "_multiples.html"
    id: str
    title: str
    figures: list[Figure]
    keys: list[Key]
    table: Table
    note: str = ""
    metric: str = ""
    curve_words: list[CurveWords] = field(default_factory=list)
    words_note: str = ""
    # Above each other, on one axis of time.
    stacked: bool = False

    @property
    def is_folded(self) -> bool:
        return len(self.curve_words) > MOST_SAID


def lines(
    *, x: Axis, y: Axis, series: Sequence[LineSeries], bands: Sequence[BandSpec] = (), marks: Sequence[Mark] = ()
) -> LinesSpec:  # fmt: skip
    return {"type": "lines", "x": x, "y": y, "series": list(series), "marks": list(marks), "bands": list(bands)}


def scale_of(values: Iterable[float], wanted: str, log_from: float) -> Scale:
    """Logarithmic by the span of the values, unless a reader says; never where one is not positive."""
    every = list(values)
    if wanted == "linear" or not every or min(every) <= 0:
        return "linear"
    return "log" if wanted == "log" or max(every) / min(every) >= log_from else "linear"


def leaps_of(x: Axis, points: Sequence[Point]) -> list[float]:
    """The levels up to which the line is dotted: each lies a decade or more beyond the one before it. None of names."""
    if x.get("ticks"):
        return []
    return [
        x_after
        for (x_before, before), (x_after, after) in pairwise(points)
        if 0 < x_before * LEAP <= x_after and before is not None and after is not None
    ]


def lines_table(spec: LinesSpec) -> Table:
    """One row per x that any series has, one column per series; no sample there is a gap."""
    lost = TableCell(gap="no sample in this interval")
    unit, points = spec["y"]["unit"], [dict(series["points"]) for series in spec["series"]]
    labels = [Column(series["label"], unit) for series in spec["series"]]
    rows = []
    for x in sorted({x for series in points for x in series}):
        rows.append(
            [TableCell(x), *(lost if series.get(x, 0) is None else TableCell(series.get(x)) for series in points)]
        )
    return Table([Column(spec["x"]["label"], spec["x"]["unit"]), *labels], rows)


def columns_of(lines: int, stretches: int = MOST_STRETCHES) -> int:
    """How many stretches each of so many lines of a page is thinned to."""
    return min(MOST_COLUMNS, stretches // max(1, lines))


def thinned_table(spec: LinesSpec, lines: Sequence[Sequence[Stretch]], scale: int = 1) -> Table:
    """One row per stretch, with the lowest and the highest value of each series in it."""
    lost = TableCell(gap="no sample in this stretch")
    unit, by_begin = spec["y"]["unit"], [{stretch.begin_s: stretch for stretch in line} for line in lines]
    labels = [Column(f"{series['label']}, {end}", unit) for series in spec["series"] for end in ("lowest", "highest")]
    rows = []
    for begin_s in sorted({begin_s for line in by_begin for begin_s in line}):
        cells = [TableCell(begin_s)]
        for line in by_begin:
            stretch = line.get(begin_s)
            ends = (stretch.lowest, stretch.highest) if stretch else (None, None)
            cells += [lost if value is None else TableCell(value / scale) for value in ends]
        rows.append(cells)
    return Table([Column(f"{spec['x']['label']} from", spec["x"]["unit"]), *labels], rows)


def single_bar(
    label: str, value: float | None, *, color: int = 0, gap: str = "", text: str = "", origin: str = ""
) -> BarGroup:
    """A bar of one value without repeats, or a gap with its reason."""
    made: BarGroup = {
        "label": label, "color": color, "value": value, "interval": None, "dots": [], "gap": gap or None,
        "ranked": True,
    }  # fmt: skip
    if text:
        made["text"] = text
    if origin:
        made["origin"] = origin
    return made


def bars(*, label: str, unit: str, better: str, groups: Sequence[BarGroup], scale: Scale = "linear") -> BarsSpec:
    return {
        "type": "bars", "y": {"label": label, "unit": unit, "better": better}, "scale": scale, "groups": list(groups),
    }  # fmt: skip
