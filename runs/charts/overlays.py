"""What is drawn over curves: memory as marks, the ideal line, the scaling law; and two media as their ratio."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchagent.catalog.workloads import COUNTED, amount

from runs.charts.base import COLOURS, Figure, LineSeries, LinesSpec, Mark, Point, XAxis, lines
from runs.compare.axes import CLIENTS, SIZES, Axes
from runs.compare.facts import DATE
from runs.compare.groups import Group
from runs.compare.panels import Curve, Panel, sizes_mb
from runs.formatting import byte_size, mid_sentence, number, size_words, times
from runs.models import Metric
from runs.run.facets import FACTOR, STORAGE
from runs.run.memory import MB, buffer_bytes, limit_bytes, memory_bytes
from runs.stats import Ratio, ends_of, ratio
from runs.stats.curves import Levels, knee, measurable
from runs.stats.scaling import Scaling, scaling
from runs.tables import Column, Table, TableCell

GIB = 1 << 30
LEAST_LEVELS, LEAST_COMMON = 3, 2
MOST_PAIRS = 3
SIZE, CLIENT, OTHER = "size", "clients", "other"
_STEPS = 40


def kind_of(axes: Axes) -> str:
    """Whether x is a size, a number of clients, another number, or nothing that a curve is said of (empty)."""
    name = axes.x.removeprefix(FACTOR)
    if axes.x_fact is None or axes.x == DATE or not axes.x_fact.is_number:
        return ""
    return SIZE if axes.x_as != "value" or name in SIZES else CLIENT if name in CLIENTS else OTHER


def groups_of(panel: Panel) -> list[Group]:
    return [point.group for curve in panel.curves for point in curve.points]


def levels_of(curve: Curve) -> Levels:
    """(x, repeats) without gaps."""
    return measurable([(point.x, point.group.judged) for point in curve.points if point.group.dots])


def place_words(value: float, x: XAxis, kind: str) -> str:
    """A value of x: 30.3 GB, 1.77 TB, 16 terminals, 0.5 × RAM, scale factor 4."""
    words = mid_sentence(x["label"])
    if x["unit"] == "MB":
        return size_words(value)
    if x["unit"] == "GB":
        # An article's TB are of 1024 GB.
        return f"{value / 1024:.3g} TB" if value >= 1024 else f"{value:.3g} GB"
    if kind == CLIENT or words in COUNTED:
        return f"{_rounded(value)} {words.removesuffix('s') if value == 1 else words}"
    if "÷" in words:
        return f"{times(value)} {words.partition('÷')[2].strip()}"
    if x["unit"]:
        return amount(value, x["unit"]) if value == 1 else f"{number(value)} {x['unit']}"
    return f"{words} {_rounded(value)}"


def _rounded(value: float) -> str:
    """A level as it is, a place between levels to three digits."""
    return number(value if value == round(value) else float(f"{value:.3g}"))


def from_to(low: float, high: float, x: XAxis, kind: str, *, named: bool = True) -> str:
    """9.04 to 30.3 GB, scale factor 1 to 7; without its name 1 to 7."""
    begin, end = place_words(low, x, kind), place_words(high, x, kind)
    name = "" if begin[:1].isdigit() else f"{begin.rpartition(' ')[0]} "
    begin, end = begin.removeprefix(name), end.removeprefix(name)
    value, _, unit = begin.partition(" ")
    is_counted = kind == CLIENT or mid_sentence(x["label"]) in COUNTED
    if is_counted and not named:
        end = end.partition(" ")[0]
    same = is_counted or end.endswith(f" {unit}")
    return f"{name if named else ''}{value if same else begin} to {end}"


def times_between(ratio: Ratio) -> str:
    interval = ratio.interval
    return f" ({times(interval.low)} to {times(interval.high)})" if interval else ""


# Marks


def marks(groups: Sequence[Group], axes: Axes, unit: str) -> list[Mark]:
    """The memory limit that all runs share, else the RAM of their machine, and their buffer pool, where x is a size."""
    if kind_of(axes) != SIZE or not groups:
        return []
    if axes.x_as in ("of_ram", "of_buffer"):
        return [{"axis": "x", "value": 1.0, "label": "RAM" if axes.x_as == "of_ram" else "buffer pool"}]
    x_of = _x_of_bytes(groups, axes, unit)
    placed = [(words, x_of(size_bytes)) for words, size_bytes in memories(groups)]
    return [{"axis": "x", "value": x, "label": words} for words, x in placed if x is not None]


def memories(groups: Sequence[Group]) -> list[tuple[str, float]]:
    """(words, bytes) of the memory and of the buffer pool that all of them share, the memory first."""
    firsts = [group.all_runs[0] for group in groups]
    limits, memory, buffers = ({size(run) for run in firsts} for size in (limit_bytes, memory_bytes, buffer_bytes))
    # Limits are set in MB of 1,000,000 bytes; memory is sold, and buffers are set, in units of 1024.
    is_limited = limits == memory
    named = [("memory limit" if is_limited else "RAM", memory, is_limited), ("buffer pool", buffers, False)]
    return [
        (f"{name} {size_words(size / MB) if in_mb else byte_size(size)}", size)
        for name, shared, in_mb in named
        if len(shared) == 1 and (size := shared.pop())
    ]


def _x_of_bytes(groups: Sequence[Group], axes: Axes, unit: str) -> Callable[[float], float | None]:
    """Where on x so many bytes stand: by the unit, or between the sizes that its levels came to."""
    if axes.x_as == "size":
        return lambda size_bytes: size_bytes / MB
    if unit in ("GB", "MB"):
        # An article's GB are of 1024 MB.
        return lambda size_bytes: size_bytes / (GIB if unit == "GB" else MB)
    loaded = sizes_mb(groups, axes.x)
    numbers = axes.x_fact.numbers if axes.x_fact else {}
    line = sorted({(loaded[group.key], numbers[value]) for group in groups
                   if group.key in loaded and (value := group.facts.get(axes.x, "")) in numbers})  # fmt: skip

    def between_levels(size_bytes: float) -> float | None:
        size_mb = size_bytes / MB
        if not line or min(map(min, line)) <= 0:
            return None
        for (low, x), (high, next_x) in pairwise(line):
            if low <= size_mb <= high and low < high:
                return float(x * (next_x / x) ** (math.log(size_mb / low) / math.log(high / low)))
        end_mb, end = line[0] if size_mb < line[0][0] else line[-1]
        return end * size_mb / end_mb

    return between_levels


# Lines over those of the curves


def overlays(panel: Panel, axes: Axes, metric: Metric) -> list[LineSeries]:
    """In the unit that is drawn: of a rate over clients the ideal line and the scaling law, else a knee's two lines."""
    values = [value for group in groups_of(panel) for value in group.values]
    kind = kind_of(axes)
    if not kind or axes.y_as == "baseline" or not values:
        return []
    if kind != CLIENT:
        return [line for curve in panel.curves for line in _bent(curve)]
    if metric.better != "higher":
        return []
    return [line for curve in panel.curves for line in _over_clients(curve, max(values))]


def _bent(curve: Curve) -> list[LineSeries]:
    """The two lines that meet at a knee, where two fit better than one."""
    levels = levels_of(curve)
    bent = knee(levels)
    if bent.at is None:
        return []
    first, last = levels[0][0], levels[-1][0]
    steps = sorted([bent.at, *(first * (last / first) ** (step / _STEPS) for step in range(_STEPS + 1))])
    points: list[Point] = [(x, bent.fitted(x)) for x in steps]
    return [{"label": f"{curve.label or 'all'}, two lines with a knee", "color": curve.color % COLOURS, "dash": True,
             "points": points}]  # fmt: skip


def _over_clients(curve: Curve, most: float) -> list[LineSeries]:
    levels = levels_of(curve)
    if len(levels) < LEAST_LEVELS:
        return []
    first, last = levels[0][0], levels[-1][0]
    centre = next(point.group.centre for point in curve.points if point.group.dots) or 0.0
    # No further than the data reach: it must not squeeze them.
    end = min(last, first * most / centre) if centre else first
    steps = [first * (last / first) ** (step / _STEPS) for step in range(_STEPS + 1)]
    ideal = [x for x in steps if x < end] + [end]
    law = scaling(levels)
    named, color = curve.label or "all", curve.color % COLOURS
    over: list[LineSeries] = [
        {"label": f"{named}, ideal", "color": color, "dash": False, "points": [(x, centre * x / first) for x in ideal]}
    ]
    if isinstance(law, Scaling) and not law.poor:
        points: list[Point] = [(x, law.at(x)) for x in steps]
        over.append({"label": f"{named}, scaling law", "color": color, "dash": True, "points": points})
    return over


# Two media


def medium(group: Group) -> str:
    """On what the data lay: SSD, HDD, HDD (emulated); empty where the first run does not tell."""
    use = next((use for use in group.all_runs[0].storage.all() if use.role == "data" and not use.in_memory), None)
    if use is None:
        return ""
    words = use.device.medium_label or use.device.short_name
    return words if words.endswith(" (emulated)") or not use.device.emulated else f"{words} (emulated)"


def media_figures(panels: Sequence[Panel], axes: Axes, x: XAxis, metric: Metric, *, id: str) -> list[Figure]:
    """Where series differ by the medium alone: the faster kind against the slower at each level that both have.

    Of more than `MOST_PAIRS` the ratios are said together.
    """
    pairs = [pair for panel in panels for pair in _pairs(panel, axes)] if kind_of(axes) == SIZE else []
    series: list[LineSeries] = []
    rows, sentences = [], []
    ratios_by_end: dict[str, list[float]] = {}
    names = dict.fromkeys(pair.media for pair in pairs)
    for pair in pairs:
        slower = dict(levels_of(pair.slower))
        levels = ((at, ratio(values, slower[at])) for at, values in levels_of(pair.faster) if at in slower)
        common = [(at, change) for at, change in levels if change]
        if len(common) < LEAST_COMMON:
            continue
        label = f"{pair.others}: {pair.media}" if pair.others else pair.media
        # The title names the media where there are only two.
        series.append({
            "label": pair.others if pair.others and len(names) == 1 else label,
            "color": len(series) % COLOURS, "dash": len(series) >= COLOURS,
            "points": [(at, change.value) for at, change in common],
            "band": [(at, change.interval.low, change.interval.high) for at, change in common if change.interval],
        })  # fmt: skip
        for at, change in common:
            rows.append([TableCell(text=label), *map(TableCell, (at, change.value, *ends_of(change.interval)))])
        ends = [(change, place_words(at, x, SIZE)) for at, change in (common[0], common[-1])]
        for change, place in ends:
            ratios_by_end.setdefault(place, []).append(change.value)
        at_ends = ", ".join(f"{times(change.value)}{times_between(change)} at {place}" for change, place in ends)
        sentences.append(f"{label}: {at_ends}")
    if not series:
        return []
    spec: LinesSpec = lines(
        x={**x, "even": True}, y={"label": "Ratio", "unit": "×", "zero": True}, series=series,
        marks=[{"axis": "y", "value": 1.0, "label": "1: no difference"}],
    )  # fmt: skip
    columns = [Column("Media", numeric=False), Column(x["label"], x["unit"]), Column("Ratio", "×"),
               Column("95 % interval from", "×"), Column("to", "×")]  # fmt: skip
    if len(sentences) > MOST_PAIRS:
        sentences = [
            f"{' to '.join(dict.fromkeys((times(min(values)), times(max(values)))))} at {place}"
            for place, values in ratios_by_end.items()
        ]
    name = "; ".join(names)
    note = f"{metric.label}, level by level, with its interval. {'; '.join(sentences)}."
    alt = f"Ratio of {name}: {'; '.join(sentences)}."
    return [Figure(f"{id}-media", f"{name} over size", spec, Table(columns, rows), alt, note)]


_OF_THE_DISK = frozenset({"hardware", "factor:disk", "factor:data_storage", "factor:log_storage", "config"})
# The slowest first: what the others are set against.
_SLOW_FIRST = ("HDD", "SSD", "NVMe")


@dataclass(frozen=True)
class _Pair:
    """Two curves that differ by the medium alone: `media` as "SSD against HDD", `others`: what else names both."""

    faster: Curve
    slower: Curve
    media: str
    others: str


def _pairs(panel: Panel, axes: Axes) -> list[_Pair]:
    fields = [name for name in axes.series if name not in _OF_THE_DISK and not name.startswith(STORAGE)]
    by_others: dict[tuple[str, ...], dict[str, Curve]] = {}
    for curve in panel.curves:
        media = {medium(point.group) for point in curve.points}
        if len(media) == 1 and (only := media.pop()):
            facts = curve.points[0].group.facts
            by_others.setdefault(tuple(facts.get(name, "") for name in fields), {}).setdefault(only, curve)

    def speed(name: str) -> tuple[bool, int]:
        bare = name.removesuffix(" (emulated)")
        return "emulated" not in name, _SLOW_FIRST.index(bare) if bare in _SLOW_FIRST else 0

    pairs = []
    for key, curves in by_others.items():
        slowest, *faster = sorted(curves, key=speed)
        words = [axes.facts[name].in_legend(value) for name, value in zip(fields, key, strict=True)]
        others = " · ".join(filter(None, (panel.label, *words)))
        pairs += [_Pair(curves[name], curves[slowest], f"{name} against {slowest}", others) for name in faster]
    return pairs
