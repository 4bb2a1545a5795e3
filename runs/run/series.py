"""One-second series as compressed chunks: write, read, merge.

A chunk is zlib over byte-shuffled little-endian float64 (all first bytes, then all second bytes, …), which takes
about 5 bytes a sample. A gap is NaN in the chunk and None everywhere else.
"""

from __future__ import annotations

import hashlib
import math
import sys
import zlib
from array import array
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db import transaction

from runs.models import Metric, Run, SeriesChunk
from runs.models.base import clean
from runs.models.runs import window_of

CODEC_SHUFFLED_FLOAT64 = 1
ITEM_BYTES = 8
# Level 9 takes three times as long and saves one byte in a hundred.
LEVEL = 6
# What one metric of one run may hold: 115 days of seconds.
MAX_SAMPLES = 10_000_000


@dataclass(frozen=True)
class Series:
    """Samples of one metric, None for a gap; `values[i]` is of the interval that begins at `t0_s + i * interval_s`.

    `t0_s` counts from the start of the warm-up, or of the window where the samples span just that (`measured_window`).
    """

    name: str
    unit: str
    t0_s: float
    interval_s: float
    values: list[float | None]

    def points(self) -> list[tuple[float, float | None]]:
        """(time in s from the start of the warm-up, value) of every sample."""
        return [(self.t0_s + index * self.interval_s, value) for index, value in enumerate(self.values)]

    @property
    def interval_words(self) -> str:
        """What a value of it is of: "second", "interval of 5 s"."""
        return "second" if self.interval_s == 1 else f"interval of {self.interval_s:g} s"


@dataclass(frozen=True)
class Stretch:
    """Consecutive samples as one column of a picture shows them: the lowest and the highest, None where none is known.

    `points` holds those two at their own times, and the first gap of the stretch at its, in the order of time.
    """

    begin_s: float
    lowest: float | None
    highest: float | None
    points: list[tuple[float, float | None]]


@dataclass(frozen=True)
class ThinnedSeries:
    """`points`: time from the start of the warm-up, value; of each few the lowest and the highest; None for a gap."""

    name: str
    unit: str
    points: list[tuple[float, float | None]]


# Of fewer their number tells nothing about the window.
LEAST_SAMPLES = 10


def measured_window(factors: Mapping[str, float | str], series: Series | None) -> tuple[float, float]:
    """Begin and end of what is measured, in s as the series counts them.

    Samples from before the window that last just as long as it were taken without the warm-up: all of them are of it.
    A few may just as well be what there is of a run that was cut short.
    """
    begin_s, end_s = window_of(factors)
    if series is None or series.t0_s >= begin_s or len(series.values) < LEAST_SAMPLES:
        return begin_s, end_s
    lasts_s = len(series.values) * series.interval_s
    # The last interval may be missing, as tools print none that is not whole.
    if -series.interval_s <= lasts_s - (end_s - begin_s) < series.interval_s:
        return series.t0_s, series.t0_s + lasts_s
    return begin_s, end_s


def within(series: Series, begin_s: float, end_s: float) -> list[float | None]:
    """The values that begin from one time on and before the other."""
    first, last = ((at - series.t0_s) / series.interval_s for at in (begin_s, end_s))
    whole = len(series.values)
    return series.values[max(0, math.ceil(min(first, whole) - 1e-9)) : max(0, math.ceil(min(last, whole) - 1e-9))]


def samples_each(series: Iterable[Series], stretches: int) -> int:
    """How many samples a stretch holds so that there are at most so many; 1 where twice as many samples can stay."""
    longest = max((len(item.values) for item in series), default=0)
    return 1 if longest <= 2 * stretches else -(-longest // stretches)


def thinned(series: Series, each: int) -> list[Stretch]:
    """Every peak and every stall stays: of `each` samples the lowest and the highest."""
    stretches = []
    for begin in range(0, len(series.values), each):
        part = series.values[begin : begin + each]
        numbers = without_gaps(part)
        at = [part.index(None)] if len(numbers) < len(part) else []
        lowest, highest = (min(numbers), max(numbers)) if numbers else (None, None)
        at += [part.index(lowest), part.index(highest)] if numbers else []
        points = [(series.t0_s + (begin + index) * series.interval_s, part[index]) for index in sorted(set(at))]
        stretches.append(Stretch(series.t0_s + begin * series.interval_s, lowest, highest, points))
    return stretches


def encode(values: Iterable[float | None]) -> bytes:
    """NaN is a gap in an array of doubles, None in anything else."""
    if isinstance(values, array):
        numbers = array("d", values)
    else:
        numbers = array("d", [math.nan if value is None else value for value in values])
    if sys.byteorder == "big":
        numbers.byteswap()
    raw = numbers.tobytes()
    return zlib.compress(b"".join(raw[offset::ITEM_BYTES] for offset in range(ITEM_BYTES)), LEVEL)


def decode(data: bytes, *, codec: int = CODEC_SHUFFLED_FLOAT64) -> list[float | None]:
    """The values that `encode` was given. Raises ValueError for a codec it does not know."""
    if codec != CODEC_SHUFFLED_FLOAT64:
        raise ValueError(f"unknown codec {codec}")
    shuffled = zlib.decompress(data)
    count = len(shuffled) // ITEM_BYTES
    raw = bytearray(len(shuffled))
    for offset in range(ITEM_BYTES):
        raw[offset::ITEM_BYTES] = shuffled[offset * count : (offset + 1) * count]
    numbers = array("d", bytes(raw))
    if sys.byteorder == "big":
        numbers.byteswap()
    # A sum is NaN where a number is: most series have no gap, and adding up is many times faster than asking each.
    if not math.isnan(sum(numbers)):
        return [*numbers]
    return [None if math.isnan(number) else number for number in numbers]


def new_chunk(
    *, run: Run, metric: Metric, chunk: int, t0_s: float, interval_s: float, values: Sequence[float | None]
) -> SeriesChunk:
    """An unsaved chunk with its summary columns. `values`: as for `encode`."""
    return SeriesChunk(run=run, metric=metric, chunk=chunk, t0_s=t0_s, interval_s=interval_s, **packed(values))


def packed(values: Sequence[float | None]) -> dict[str, Any]:
    """The columns of a chunk that its values make: half a second for a million of them. `values`: as for `encode`."""
    numbers = without_gaps(values)
    return {
        "count": len(values), "minimum": min(numbers, default=None), "maximum": max(numbers, default=None),
        "total": _total(numbers), "codec": CODEC_SHUFFLED_FLOAT64, "data": encode(values),
    }  # fmt: skip


def without_gaps(values: Sequence[float | None]) -> Sequence[float]:
    """NaN is a gap in an array of doubles, None in anything else."""
    if not isinstance(values, array):
        return [value for value in values if value is not None]
    # NaN is the one value that is not itself.
    return values if not any(map(math.isnan, values)) else [value for value in values if not math.isnan(value)]


def _total(numbers: Sequence[float]) -> float | None:
    """None also where the sum is beyond what a double holds."""
    try:
        return math.fsum(numbers) if numbers else None
    except OverflowError:
        return None


def sampled(run: Run) -> str:
    """The names of the metrics that a run has samples of, as one word for an address: another one, another chart."""
    names = SeriesChunk.objects.filter(run=run).order_by().values_list("metric__name", flat=True).distinct()
    return hashlib.sha256(" ".join(sorted(names)).encode()).hexdigest()[:16]


def read(run: Run, metric_name: str) -> Series:
    """One metric's whole series; without samples its `values` are empty."""
    matching = read_all(run, names=[metric_name])
    return matching[0] if matching else Series(metric_name, "", 0.0, 1.0, [])


def read_all(
    run: Run, after_s: float | None = None, before_s: float | None = None, *, names: Collection[str] = ()
) -> list[Series]:
    """Every series of a run, or those of these metrics, by name; only the samples that begin later than one and sooner
    than the other.
    """
    chunks = SeriesChunk.objects.filter(run=run).select_related("metric")
    if names:
        chunks = chunks.filter(metric__name__in=[clean(name, 120) for name in names])
    ordered = chunks.order_by("metric__name", "metric__unit", "metric_id", "chunk")
    kept = (-math.inf if after_s is None else after_s, math.inf if before_s is None else before_s)
    joined = (_join(list(group), kept) for _, group in groupby(ordered, key=lambda chunk: chunk.metric_id))
    return [_cut(series, *kept) for series in joined]


def _cut(series: Series, after_s: float, before_s: float) -> Series:
    """The samples that begin later than one time and sooner than the other."""
    count = len(series.values)
    since, until = ((at_s - series.t0_s) / series.interval_s for at_s in (after_s, before_s))
    first = min(count, max(0, math.floor(max(since, -1.0) + 1e-9) + 1))
    stop = max(first, math.ceil(min(until, count) - 1e-9))
    return replace(series, t0_s=series.t0_s + first * series.interval_s, values=series.values[first:stop])


def names_held(runs: Iterable[Run], names: Collection[str]) -> dict[UUID, set[str]]:
    """Run -> those of these metrics that it has samples of; the samples are not read."""
    held: dict[UUID, set[str]] = {run.pk: set() for run in runs}
    chunks = SeriesChunk.objects.filter(run__in=held, metric__name__in=names).order_by()
    for run, name in chunks.values_list("run", "metric__name").distinct():
        held[run].add(name)
    return held


def of_runs(runs: Iterable[Run], names: Collection[str]) -> dict[UUID, dict[str, Series]]:
    """Run -> name -> series of these metrics, in one query."""
    read: dict[UUID, dict[str, Series]] = {run.pk: {} for run in runs}
    chunks = SeriesChunk.objects.filter(run__in=read, metric__name__in=names).select_related("metric")
    ordered = chunks.order_by("run", "metric__name", "metric__unit", "metric_id", "chunk")
    for (run, _), group in groupby(ordered, key=lambda chunk: (chunk.run_id, chunk.metric_id)):
        series = _join(list(group))
        read[run][series.name] = series
    return read


def merge(run: Run) -> int:
    """Make one chunk of each metric's many, values unchanged. Returns how many metrics were merged."""
    with transaction.atomic():
        merged = 0
        ordered = SeriesChunk.objects.filter(run=run).select_related("metric").order_by("metric_id", "chunk")
        for _, group in groupby(ordered, key=lambda chunk: chunk.metric_id):
            chunks = list(group)
            if len(chunks) == 1:
                continue
            series = _join(chunks)
            whole = new_chunk(
                run=run, metric=chunks[0].metric, chunk=0, t0_s=series.t0_s, interval_s=series.interval_s,
                values=series.values,
            )  # fmt: skip
            SeriesChunk.objects.filter(pk__in=[chunk.pk for chunk in chunks]).delete()
            whole.save(force_insert=True)
            merged += 1
        return merged


def _join(chunks: list[SeriesChunk], kept: tuple[float, float] = (-math.inf, math.inf)) -> Series:
    """Place the samples by their time: a missing delivery leaves a gap, a repeated one changes nothing.

    Chunks that begin and end outside of the `kept` time are not unpacked: gaps stand for them.
    """
    first = chunks[0]
    start_s = min(chunk.t0_s for chunk in chunks)
    values: list[float | None] = []
    for chunk in chunks:
        at = round((chunk.t0_s - start_s) / first.interval_s)
        if at + chunk.count > MAX_SAMPLES:
            raise ValueError(f"series {first.metric.name} of run {first.run_id} is longer than {MAX_SAMPLES} samples")
        values.extend([None] * (at - len(values)))
        is_wanted = chunk.t0_s < kept[1] and chunk.t0_s + chunk.count * chunk.interval_s > kept[0]
        unpacked = decode(bytes(chunk.data), codec=chunk.codec) if is_wanted else [None] * chunk.count
        values[at : at + chunk.count] = unpacked
    return Series(first.metric.name, first.metric.unit, start_s, first.interval_s, values)
