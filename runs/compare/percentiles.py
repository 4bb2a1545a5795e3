"""Percentiles of several repeats: of all their transactions together, from their merged histograms.

Where each repeat of every group has a histogram, bar, number, whisker and verdict speak of that one statistic; the
repeats' own percentiles stay as dots. Of a maximum, which only grows with the repeats, no interval can be told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchagent import histogram
from benchagent.catalog import PERCENTILES
from benchagent.histogram import Latencies

from runs.compare.groups import Group
from runs.models import Metric, Run
from runs.stats import geometric_mean_interval, jackknifed

MAXIMUM = 100.0


def merged_percentile(metric: Metric | None, runs: Sequence[Run]) -> float | None:
    """In ms. None where one of the repeats has no histogram, or there is one repeat only."""
    told = _told(metric.name if metric else "", runs)
    return told[0] if told else None


def by_histograms(groups: Sequence[Group], metric: Metric | None) -> list[Group]:
    """The groups with what stands for their repeats; as they are where one of them has repeats without a histogram.

    One repeat is all there is of a group: its own percentile is that of them together.
    """
    name = metric.name if metric else ""
    several = [group for group in groups if group.n > 1]
    if PERCENTILES.get(name, MAXIMUM) == MAXIMUM or any(group.merged_percentile is None for group in several):
        return list(groups)
    return [of_together(group, name) if group.n > 1 else group for group in groups]


def of_together(group: Group, name: str) -> Group:
    """The group with the percentile `name` of all its repeats in front; as it is where that cannot be told."""
    told = _told(name, group.runs)
    compared = jackknifed(told[0], told[1], group.values) if told else None
    if told is None or compared is None or group.summary is None:
        return group
    return replace(
        group, merged_percentile=told[0], percentile=name, summary=replace(group.summary, together=told[0]),
        compared=compared, interval=geometric_mean_interval(compared),
    )  # fmt: skip


def _told(name: str, runs: Sequence[Run]) -> tuple[float, list[float]] | None:
    """In ms: that of all together, and without each in turn."""
    rank = PERCENTILES.get(name)
    if rank is None or len(runs) < 2 or not all(run.latency_histogram for run in runs):
        return None
    try:
        each = [histogram.decode(run.latency_histogram) for run in runs]
        whole = histogram.merged(each)
        values = [latencies.percentiles_us([rank])[0] / 1000 for latencies in (whole, *_without(whole, each))]
    except ValueError:
        return None
    return values[0], values[1:]


def _without(whole: Latencies, each: Sequence[Latencies]) -> list[Latencies]:
    left = [dict(latencies.buckets) for latencies in each]
    return [Latencies("", tuple((value, count - own.get(value, 0)) for value, count in whole.buckets)) for own in left]
