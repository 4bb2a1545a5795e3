"""The intermediate reports of a run as series."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from benchagent.importers.base import NotUnderstood, Series, evenly
from benchagent.importers.sysbench.progress import Sample
from benchagent.importers.sysbench.run import Run

_UNITS = {"tps": "TPS", "qps": "queries/s", "errors_per_s": "errors/s", "reconnects_per_s": "reconnects/s",
          "read_queries_per_s": "queries/s", "write_queries_per_s": "queries/s", "ops_per_s": "ops/s",
          "read_mb_per_s": "MB/s", "write_mb_per_s": "MB/s", "fsync_per_s": "fsyncs/s", "transfer_mb_per_s": "MB/s",
          "queue_length": "events", "concurrency": "events"}  # fmt: skip


def _rank(run: Run) -> str:
    """The percentile's rank, where the intermediate reports do not say it: that of the last report."""
    return next((block.value("percentile") or "" for block in run.blocks if "percentile" in block.figures), "")


def series_of(run: Run) -> tuple[Series, ...]:
    found: list[Series] = []
    queues = [sample for sample in run.samples if "queue_length" in sample.values]
    for samples in ([sample for sample in run.samples if "queue_length" not in sample.values], queues):
        if not samples:
            continue
        try:
            found += _of_samples(run, samples)
        except NotUnderstood as error:
            run.warnings.append(f"lines {samples[0].line}–{samples[-1].line}: the progress is left out: {error}")
    return tuple(found)


def _of_samples(run: Run, samples: Sequence[Sample]) -> list[Series]:
    times = [float(sample.time_s) for sample in samples]
    told = run.options.get("report_interval")
    names = [name for name in samples[0].values if all(name in sample.values for sample in samples)]
    if len({sample.rank for sample in samples}) > 1:
        raise NotUnderstood("the rank of the percentile changes")
    if not told and (len(times) == 1 or times[0] < times[1] - times[0]):
        raise NotUnderstood("they do not show how far apart they are")
    found = []
    for name in names:
        column = [sample.values[name] for sample in samples]
        t0_s, interval_s, values = _spread(float(told), times, column) if told else evenly(times, column)
        slug, unit = _series_name(run, name, samples[0].rank)
        if name in ("tps", "ops_per_s"):
            _fits(run, interval_s, values)
        found.append(Series(slug, unit, interval_s, values, max(t0_s, 0.0)))
    return found


def _spread(
    interval_s: float, times: Sequence[float], values: Sequence[float]
) -> tuple[float, float, tuple[float | None, ...]]:
    """The samples on the grid that sysbench announced, with the missing ones as gaps."""
    places = [round((time_s - times[0]) / interval_s) for time_s in times]
    if any(later <= earlier for earlier, later in itertools.pairwise(places)):
        raise NotUnderstood("the times of the samples do not rise: lines are doubled or out of order")
    off = [t for t, place in zip(times, places, strict=True) if abs(t - times[0] - place * interval_s) > interval_s / 4]
    if off or times[0] + 1 < interval_s or places[-1] > 1_000_000:
        raise NotUnderstood(f"they do not come every {interval_s:g} s as announced")
    found: list[float | None] = [None] * (places[-1] + 1)
    for place, value in zip(places, values, strict=True):
        found[place] = value
    return times[0] - interval_s, interval_s, tuple(found)


def _series_name(run: Run, name: str, rank: int | None) -> tuple[str, str]:
    if name != "latency":
        return name, _UNITS[name]
    known = str(rank) if rank else _rank(run)
    if not known:
        run.warnings.append("the rank of the latency's percentile is not stated: the series is latency_percentile_ms")
    return (f"latency_p{known}_ms" if known else "latency_percentile_ms"), "ms"


def _fits(run: Run, interval_s: float, values: Sequence[float | None]) -> None:
    """The progress cannot hold more than the reports count."""
    if not run.ended:
        return
    done = sum(block.number("events") for block in run.blocks)
    seen = sum(value * interval_s for value in values if value is not None)
    if done and seen > done * 1.05 + 2 * interval_s * max((value or 0 for value in values), default=0) + 2:
        raise NotUnderstood(f"it holds {seen:.0f} events, the report {done:.0f}")
