"""Latencies of runs as their histograms tell them: repeats merged into one, never their percentiles averaged."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchagent import histogram
from benchagent.catalog import PERCENTILES
from benchagent.latency_map import MOST_BUCKETS

from runs.models import Run
from runs.run.series import Series

RANKS = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99, 100.0)
# Beyond a percentile there must be so many transactions for it to be more than the luck of a few.
LEAST_BEYOND = 10
POINTS_PER_DECADE = 24
_PERCENTILES = ("p50_us", "p95_us", "p99_us", "max_us")


@dataclass(frozen=True)
class Percentile:
    """`beyond`: how many transactions took longer."""

    percentile: float
    ms: float
    beyond: int

    @property
    def is_sure(self) -> bool:
        return self.beyond >= LEAST_BEYOND or self.percentile == 100


@dataclass(frozen=True)
class Latency:
    """Latencies of `runs` repeats together. `curve`: (percentile, ms), as dense near 100 as the transactions bear."""

    runs: int
    transactions: int
    percentiles: list[Percentile]
    curve: list[tuple[float, float]]


def latency_of(runs: Sequence[Run]) -> Latency | None:
    """None where one of them has no histogram that can be read, or there are none."""
    if not runs or not all(run.latency_histogram for run in runs):
        return None
    try:
        merged = histogram.merged(histogram.decode(run.latency_histogram) for run in runs)
    except ValueError:
        return None
    count = merged.count
    if not count:
        return None
    percentiles = [
        Percentile(rank, value / 1000, count - max(1, math.ceil(rank / 100 * count - 1e-9)))
        for rank, value in zip(RANKS, merged.percentiles_us(RANKS), strict=True)
    ]
    # Evenly spaced in 1/(1 − p), from 0 up to where one transaction of so many lies beyond.
    steps = max(1, math.ceil(math.log10(max(count, 2)) * POINTS_PER_DECADE))
    ranks = [100 * (1 - 10 ** (-step / POINTS_PER_DECADE)) for step in range(steps)] + [100 * (1 - 1 / max(count, 2))]
    curve = zip(ranks, (value / 1000 for value in merged.percentiles_us(ranks)), strict=True)
    return Latency(len(runs), count, percentiles, list(curve))


def percentiles_ms(latencies: histogram.Latencies) -> dict[str, float]:
    """Those of the catalogue's metrics, by their names; empty where nothing was counted."""
    if not latencies.count:
        return {}
    values_us = latencies.percentiles_us(list(PERCENTILES.values()))
    return {name: us / 1000 for name, us in zip(PERCENTILES, values_us, strict=True)}


def nines(percentile: float) -> float:
    """Where a percentile stands on an axis of 1/(1 − p), in decades: 0 at 0 %, 1 at 90 %, 2 at 99 %."""
    return -math.log10(1 - percentile / 100)


@dataclass(frozen=True)
class LatencyMap:
    """`counts` of each interval: transactions by bucket; bucket k holds from 2^(k/2) to less than 2^((k+1)/2) µs."""

    interval_s: int
    counts: list[dict[int, int]]

    @property
    def as_series(self) -> Series:
        """How many ended in each interval."""
        return Series("transactions", "", 0.0, self.interval_s, [float(sum(each.values())) for each in self.counts])

    @property
    def cells(self) -> list[tuple[float, float, float, int]]:
        """(begin in s, from ms, to ms, transactions) of all that hold any."""
        return [
            (float(at * self.interval_s), *bucket_ms(bucket), count)
            for at, counts in enumerate(self.counts)
            for bucket, count in sorted(counts.items())
        ]


def bucket_ms(bucket: int) -> tuple[float, float]:
    low, high = (float(f"{2 ** (step / 2) / 1000:.4g}") for step in (bucket, bucket + 1))
    return low, high


def map_of(runs: Iterable[Run]) -> LatencyMap | None:
    """The map of several repeats together, at the coarsest of their intervals; None if one of them does not tell."""
    maps = [_map(run.statistics.get("latency_map")) for run in runs]
    readable = [heat for heat in maps if heat]
    if not readable or len(readable) < len(maps):
        return None
    interval_s = max(heat.interval_s for heat in readable)
    counts: dict[int, Counter[int]] = {}
    for heat in readable:
        for at, of_interval in enumerate(heat.counts):
            counts.setdefault(at * heat.interval_s // interval_s, Counter()).update(of_interval)
    return LatencyMap(interval_s, [counts.get(at, Counter()) for at in range(max(counts) + 1)])


def _map(stored: Any) -> LatencyMap | None:
    """As `benchagent.latency_map` tells it; None of anything else, which a bundle could bring."""
    try:
        interval_s = int(stored["interval_s"])
        counts = [dict(zip(flat[::2], flat[1::2], strict=True)) for flat in stored["counts"]]
        whole = all(type(part) is int and part >= 0 for of in counts for item in of.items() for part in item)
        highest = max((bucket for of in counts for bucket in of), default=MOST_BUCKETS)
    except (TypeError, ValueError, LookupError):
        return None
    return LatencyMap(interval_s, counts) if whole and interval_s > 0 and highest < MOST_BUCKETS else None


@dataclass(frozen=True)
class TypeLatency:
    """Latencies of one transaction type in one run, ms; types have no histogram, so repeats cannot be merged."""

    type: str
    transactions: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    max_ms: float | None


def types_of(run: Run) -> list[TypeLatency]:
    """Empty where a run has one type only, or tells nothing of them."""
    by_name: Mapping[str, Mapping[str, Any]] = run.statistics.get("transaction_types") or {}
    if len(by_name) < 2:
        return []
    return [
        TypeLatency(
            name, int(figures.get("transactions") or 0),
            *(us / 1000 if isinstance(us := figures.get(key), int | float) else None for key in _PERCENTILES),
        )
        for name, figures in by_name.items()
    ]  # fmt: skip


def types_of_all(runs: Iterable[Run]) -> dict[str, list[TypeLatency]]:
    """Latencies by type, one for each run that tells of it."""
    by_type: dict[str, list[TypeLatency]] = {}
    for run in runs:
        for latency in types_of(run):
            by_type.setdefault(latency.type, []).append(latency)
    return by_type
