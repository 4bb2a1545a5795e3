"""The groups of a comparison: a cell's repeats and gaps, what stands for them, and each against the baseline.

Of a percentile, where each repeat of every group has a histogram, bar, number, whisker and verdict speak of all their
transactions together, from the merged histograms; the repeats' own percentiles stay as dots. Of a maximum, which only
grows with the repeats, no interval can be told.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from uuid import UUID

from benchagent import histogram
from benchagent.catalog import LATENCIES, PERCENTILES, factor_unit
from benchagent.histogram import Latencies

from runs.compare.guard import Conditions, Difference, blocking, differences
from runs.formatting import grouped
from runs.models import Metric, Run
from runs.models.choices import RunState
from runs.run.facets import claim_words
from runs.run.memory import MB
from runs.run.number import number_of, values_of, why_no_number
from runs.stats import (
    MIN_REPEATS,
    OF_ALL,
    Interval,
    Ratio,
    Summary,
    Verdict,
    geometric_mean,
    geometric_mean_interval,
    jackknifed,
    noise_by_machine,
    summarise,
)

MAXIMUM = 100.0
SIZE_METRIC = "db_size_bytes"
# What makes a size together: many make their data larger by both.
SIZE_BY_TABLES = ("table_size_rows", "tables")
# The size of the data, as the workloads call it and as people do who send results of their own.
SIZES = (
    "size_gb", "size_mb", "target_size_mb", "warehouses", "scale_factor", "dataset_mb", "rows_per_table", "rows",
    "database_size_gb", "database_size_mb", "db_size_gb", "db_size_mb", "data_size_gb", "data_size_mb",
    "dataset_size_gb", "dataset_size_mb", "dataset_gb", *SIZE_BY_TABLES,
)  # fmt: skip
# What sizes are stated in, of 1,000 each. An article's GB are of 1024 MB of 1024 kB, as its memory is.
_MB_EACH = {"MB": 1.0, "GB": 1_000.0}
_MB_EACH_PRINTED = _MB_EACH | {"GB": 1024**3 / MB}


def mb_each(run: Run, name: str) -> float | None:
    """How many MB one unit of a size is, as the run's source states it; None of what is counted, as rows."""
    return (_MB_EACH_PRINTED if run.publication_id else _MB_EACH).get(factor_unit(name))


# If more of a group's repeats are lost, the others are those that happened to be fast enough.
MOST_LOST = 1 / 3


@dataclass(frozen=True)
class Repeat:
    """A run of a group: its value, or the reason why it has none. Never a zero.

    `uncounted`: it has a value that counts nowhere.
    """

    run: Run
    value: float | None
    provenance: str = ""
    reason: str = ""
    uncounted: bool = False


@dataclass(frozen=True)
class Printed:
    """A statistic that a source prints of these repeats; shown beside ours, never counted as a repeat."""

    statistic: str
    value: float
    as_printed: str
    of: int


@dataclass(frozen=True)
class Contrast:
    """A group against the baseline, or the one with the key `base`: what statistics calls a contrast.

    Without a verdict differences are `blocking`, one of the two has `survivors` only, one is `lost`, or there are
    `several` that nothing tells apart. What differs in nothing but other `levels` of the chart's axis has a `change`.
    """

    differences: Sequence[Difference] = ()
    verdict: Verdict | None = None
    survivors: Group | None = None
    lost: Group | None = None
    several: bool = False
    base: str = ""
    change: Ratio | None = None
    levels: Sequence[Difference] = ()

    @property
    def ratio(self) -> Ratio | None:
        return self.verdict.ratio if self.verdict else None

    @property
    def blocking(self) -> Sequence[Difference]:
        return self.levels or blocking(self.differences)

    @property
    def is_refused(self) -> bool:
        return bool(self.blocking or self.survivors)

    @property
    def kind(self) -> str:
        """For colour and sign."""
        if self.is_refused:
            return "level" if self.change else "refused"
        return self.verdict.kind if self.verdict else "none"


@dataclass(frozen=True)
class Group:
    """A cell: its facts, and what its runs say of one metric. `factors` and `facts`: what varies by its heading and by
    its field, as stored, and the day of the facts.

    `dots` are the repeats with a value, `gaps` those without. `interval` is of what stands for the repeats. `merged`:
    of a percentile of latencies that of all repeats together, then without each in turn; where it stands for them
    `percentile` is the metric's name. `judged`: what verdicts and intervals are of, the values, or the mean of each of
    several batches, or of a percentile one value a repeat whose mean and spread are its. `ranked` is false when its
    commits promise less than the strongest group's, or less than they claim; `of_survivors`: what its repeats left is
    not ranked by this metric, whatever they promise. Only groups with the same `durability_words` are ever ranked
    together. `color`: index of the palette. On a chart's axis it stands at `x`, in words `x_words`; `level` is what was
    asked for there.
    """

    key: str
    label: str
    factors: dict[str, str]
    facts: Mapping[str, str]
    all_runs: Sequence[Run]
    dots: Sequence[Repeat]
    gaps: Sequence[Repeat]
    conditions: Conditions
    printed: Sequence[Printed] = ()
    summary: Summary | None = None
    interval: Interval | None = None
    merged: Sequence[float] = ()
    percentile: str = ""
    judged: Sequence[float] = ()
    ranked: bool = True
    of_survivors: bool = False
    is_baseline: bool = False
    against: Contrast | None = None
    color: int = 0
    x: float = 0.0
    x_words: str = ""
    level: str = ""

    @cached_property
    def values(self) -> list[float]:
        return [dot.value for dot in self.dots if dot.value is not None]

    @property
    def n(self) -> int:
        return len(self.dots)

    @cached_property
    def gap(self) -> str | None:
        """Why it has no value at all; None where it has one."""
        return None if self.dots else "; ".join(dict.fromkeys(gap.reason for gap in self.gaps))

    @property
    def is_to_come(self) -> bool:
        """No value yet, but a run that may still bring one: that is not a gap."""
        return not self.dots and any(run.is_open for run in self.all_runs)

    @cached_property
    def runs(self) -> list[Run]:
        """Those with a value."""
        return [dot.run for dot in self.dots]

    @cached_property
    def failed_checks(self) -> Counter[str]:
        """How many of its repeats failed each check."""
        failed = ({str(check.get("name")) for check in run.checks if not check.get("ok")} for run in self.runs)
        return Counter(name for names in failed for name in names)

    @cached_property
    def size_mb(self) -> float | None:
        """The mean size of its own databases, as measured after loading; else what was asked for, if that is in bytes.

        A chart asks for it once a curve and once a panel.
        """
        if measured := values_of(self.all_runs, SIZE_METRIC):
            return round(statistics.fmean(measured) / MB, 1)
        run = self.all_runs[0]
        wanted = ((run.factor(name), mb_each(run, name)) for name in SIZES)
        size = next((number * each for number, each in wanted if each and isinstance(number, int | float)), None)
        return round(size, 1) if size else None

    @property
    def median(self) -> float | None:
        return self.summary.median if self.summary else None

    @property
    def merged_percentile(self) -> float | None:
        return self.merged[0] if self.merged else None

    @property
    def demonstration(self) -> bool:
        return any(run.demonstration for run in self.all_runs)

    @property
    def machine(self) -> str:
        """By name, whatever has changed of it since."""
        return self.conditions.words.get("hardware", "")

    @property
    def provenances(self) -> list[str]:
        return list(dict.fromkeys(dot.provenance for dot in self.dots))

    @property
    def durability_reason(self) -> str:
        """The reason of one of the runs that promise least."""
        durability = self.conditions.durability
        return next((run.durability_reason for run in self.all_runs if run.durability == durability), "")

    @property
    def doubt(self) -> str:
        """What was measured against its durability class; empty when nothing was."""
        return self.conditions.doubt if self.dots else ""

    @property
    def durability_words(self) -> str:
        return claim_words(self.conditions.durability, self.doubt)

    @property
    def centre(self) -> float | None:
        """What stands for its repeats in charts and orders: their geometric mean, or a percentile of all of them."""
        return self.summary.centre if self.summary else None

    @property
    def run_ids(self) -> list[UUID]:
        return [run.id for run in self.all_runs]

    @property
    def batches(self) -> list[UUID]:
        return list(dict.fromkeys(run.batch_id for run in self.all_runs))

    @property
    def lost(self) -> list[Repeat]:
        """The repeats that ended without a number. What came twice is no repeat: nobody loses by a copy of a result."""
        return [gap for gap in self.gaps if not gap.run.is_open and gap.run.copy_of_id is None]

    def has_only_survivors(self, metric: Metric | None) -> bool:
        """Whether its latencies are those of survivors: more than a third of its repeats failed, were lost or are
        invalid, or terminals of one starved, which would have been the slow one. Never of any other metric.
        """
        if metric is None or not metric.name.startswith(LATENCIES) or not self.dots:
            return False
        ended_badly = [
            gap for gap in self.lost if gap.run.invalid_at or gap.run.state in (RunState.FAILED, RunState.LOST)
        ]
        starved = any(gap.uncounted and gap.run.counts for gap in self.gaps)
        return starved or len(ended_badly) > MOST_LOST * sum(run.copy_of_id is None for run in self.all_runs)


def are_comparable(groups: Sequence[Group]) -> bool:
    """Whether the first of them may be set against each of the others."""
    first, *others = (group.conditions for group in groups)
    return not any(blocking(differences(first, other)) for other in others)


def repeats_of(runs: Sequence[Run], metric: Metric | None) -> tuple[list[Repeat], list[Repeat]]:
    """What these runs say of the metric: those with a value, and those without."""
    dots, gaps = [], []
    for run in runs:
        number = number_of(run, metric.name, metric.unit) if metric and run.counts else None
        if number:
            dots.append(Repeat(run, number.value, number.provenance))
        else:
            reason = why_no_number(run, metric=metric)
            gaps.append(Repeat(run, None, "", reason, any(row.metric == metric for row in run.measurements.all())))
    return dots, gaps


def summed_up(dots: Sequence[Repeat], metric: str) -> dict[str, Any]:
    """The fields of a group that say what its repeats come to, of the metric of this name; `by_histograms` adds the
    interval.
    """
    values = [dot.value for dot in dots if dot.value is not None]
    means = _means_of_batches(dots)
    merged = [] if means else _percentiles_ms(metric, [dot.run for dot in dots])
    judged = means or values
    return {"summary": summarise(values), "interval": None, "merged": merged, "percentile": "", "judged": judged}


def _means_of_batches(dots: Sequence[Repeat]) -> list[float]:
    """Of as many batches as an interval takes, which a reader pools: repeats of one night are more alike than nights
    are, and would make the interval one of these nights alone. Empty of fewer, and where one has no geometric mean.
    """
    by_batch = grouped((dot.run.batch_id, dot.value) for dot in dots if dot.value is not None).values()
    means = [mean for mean in map(geometric_mean, by_batch) if mean is not None]
    return means if MIN_REPEATS <= len(means) == len(by_batch) else []


def pooled(groups: Sequence[Group]) -> Group:
    """All repeats of these as those of one group; what is said of it beyond its numbers is the first one's."""
    if len(groups) == 1:
        return groups[0]
    names = {group.percentile for group in groups if group.n > 1}
    name = names.pop() if len(names) == 1 else ""
    dots = [dot for group in groups for dot in group.dots]
    together = replace(
        groups[0], all_runs=[run for group in groups for run in group.all_runs],
        dots=dots, gaps=[gap for group in groups for gap in group.gaps],
        printed=(), against=None, **summed_up(dots, name),
    )  # fmt: skip
    together = _by_histograms(together, name)
    return replace(together, interval=geometric_mean_interval(together.judged))


def by_histograms(groups: Sequence[Group], metric: Metric | None) -> list[Group]:
    """The groups with what stands for their repeats, and its interval by the noise of their page; as they are where
    one of them has repeats without a histogram.

    One repeat is all there is of a group: its own percentile is that of them together.
    """
    name = metric.name if metric else ""
    if PERCENTILES.get(name, MAXIMUM) < MAXIMUM and all(group.merged for group in groups if group.n > 1):
        groups = [_by_histograms(group, name) for group in groups]
    noises = noise_by_machine((group.machine, group.judged) for group in groups)
    intervals = (geometric_mean_interval(group.judged, noises[group.machine]) for group in groups)
    return [
        replace(group, interval=interval) if interval else group
        for group, interval in zip(groups, intervals, strict=True)
    ]


def _by_histograms(group: Group, name: str) -> Group:
    """The group with the percentile `name` of all its repeats in front; as it is where that cannot be told."""
    if not group.merged or group.summary is None:
        return group
    of_all, *without_each = group.merged
    judged = jackknifed(of_all, without_each, group.values)
    if judged is None:
        return group
    summary = replace(group.summary, centre=of_all, centre_name=OF_ALL)
    return replace(group, percentile=name, summary=summary, judged=judged)


def _percentiles_ms(name: str, runs: Sequence[Run]) -> list[float]:
    """The percentile of all repeats together, and without each in turn. Empty without histograms, and of one repeat."""
    rank = PERCENTILES.get(name)
    if rank is None or len(runs) < 2 or not all(run.latency_histogram for run in runs):
        return []
    try:
        each = [histogram.decode(run.latency_histogram) for run in runs]
        whole = histogram.merged(each)
        without_each = []
        for latencies in each:
            own = dict(latencies.buckets)
            rest = tuple((value, count - own.get(value, 0)) for value, count in whole.buckets)
            without_each.append(Latencies("", rest))
        return [latencies.percentiles_us([rank])[0] / 1000 for latencies in (whole, *without_each)]
    except ValueError:
        return []
