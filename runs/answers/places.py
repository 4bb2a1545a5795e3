"""The x axis in words: its heading and unit, a value on it (30.3 GB, 16 terminals), and where memory stands on it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from benchagent.catalog.values import COUNTED, amount

from runs.compare.axes import X_AS
from runs.compare.groups import Group, mb_each
from runs.compare.panels import CLIENT, SIZE, Axes, sizes_mb
from runs.formatting import byte_size, mid_sentence, number, size_words, times
from runs.run.facets import FACTOR, shown_unit
from runs.run.memory import MB, buffer_bytes, limit_bytes, memory_bytes


@dataclass(frozen=True)
class Place:
    """The x axis: its heading, the unit of its numbers, and whether they are sizes, clients or others (`Axes.kind`)."""

    label: str
    unit: str
    kind: str = ""


NO_PLACE = Place("", "")


def place_of(axes: Axes, groups: Iterable[Group]) -> Place:
    if axes.x_as != "value":
        return Place(x_label(axes), "MB" if axes.x_as == "size" else "", axes.kind)
    if axes.x_fact and axes.x_fact.unit:
        return Place(axes.x_fact.label, axes.x_fact.unit, axes.kind)
    name = axes.x.removeprefix(FACTOR)
    factors = [factor for group in groups for factor in group.all_runs[0].factor_rows if factor.name == name]
    units = {shown_unit(name, factor.unit) for factor in factors}
    return Place(x_label(axes), units.pop() if len(units) == 1 else "", axes.kind)


def x_label(axes: Axes) -> str:
    if axes.x_as == "value":
        return axes.x_fact.label if axes.x_fact else ""
    words = X_AS[axes.x_as]
    return "Size of the database" if axes.x_as == "size" else f"{words[:1].upper()}{words[1:]}"


def place_words(value: float, x: Place) -> str:
    """A value of x: 30.3 GB, 1,814 GB, 16 terminals, 0.5 × RAM, scale factor 4."""
    words = mid_sentence(x.label)
    if x.unit in ("MB", "GB"):
        return size_words(value if x.unit == "MB" else value * 1000)
    if x.kind == CLIENT or words in COUNTED:
        return f"{_rounded(value)} {words.removesuffix('s') if value == 1 else words}"
    if "÷" in words:
        return f"{times(value)} {words.partition('÷')[2].strip()}"
    if x.unit:
        return amount(value, x.unit) if value == 1 else f"{number(value)} {x.unit}"
    return f"{words} {_rounded(value)}"


def _rounded(value: float) -> str:
    """A level as it is, a place between levels to three digits."""
    return number(value if value == round(value) else float(f"{value:.3g}"))


def from_to(low: float, high: float, x: Place, *, named: bool = True) -> str:
    """9.04 to 30.3 GB, scale factor 1 to 7; without its name 1 to 7."""
    begin, end = place_words(low, x), place_words(high, x)
    name = "" if begin[:1].isdigit() else f"{begin.rpartition(' ')[0]} "
    begin, end = begin.removeprefix(name), end.removeprefix(name)
    value, _, unit = begin.partition(" ")
    is_counted = x.kind == CLIENT or mid_sentence(x.label) in COUNTED
    if is_counted and not named:
        end = end.partition(" ")[0]
    same = is_counted or end.endswith(f" {unit}")
    return f"{name if named else ''}{value if same else begin} to {end}"


def memory_places(groups: Sequence[Group], axes: Axes) -> list[tuple[str, float]]:
    """(words, x) of the memory limit that all runs share, else the RAM, and of the buffer pool, where x is a size."""
    if axes.kind != SIZE or not groups:
        return []
    if axes.x_as in ("of_ram", "of_buffer"):
        return [("RAM" if axes.x_as == "of_ram" else "buffer pool", 1.0)]
    placed = [(words, _x_of_bytes(size_bytes, groups, axes)) for words, size_bytes in memories(groups)]
    return [(words, at) for words, at in placed if at is not None]


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


def _x_of_bytes(size_bytes: float, groups: Sequence[Group], axes: Axes) -> float | None:
    """Where on x so many bytes stand: by its unit, or between the sizes that its levels came to."""
    size_mb = size_bytes / MB
    if axes.x_as == "size":
        return size_mb
    if each := mb_each(groups[0].all_runs[0], axes.x.removeprefix(FACTOR)):
        return size_mb / each
    loaded = sizes_mb(groups)
    numbers = axes.x_fact.numbers if axes.x_fact else {}
    line = sorted({(loaded[group.key], numbers[value]) for group in groups
                   if group.key in loaded and (value := group.facts.get(axes.x, "")) in numbers})  # fmt: skip
    if not line or min(map(min, line)) <= 0:
        return None
    for (low, x), (high, next_x) in pairwise(line):
        if low <= size_mb <= high and low < high:
            return float(x * (next_x / x) ** (math.log(size_mb / low) / math.log(high / low)))
    end_mb, end = line[0] if size_mb < line[0][0] else line[-1]
    return end * size_mb / end_mb
