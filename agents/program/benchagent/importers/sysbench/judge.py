"""From the lines of one run to its report: status, parameters, metrics, series."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from benchagent.importers.base import Metric, NotUnderstood, Report, Scalar, Series, Status, Subject, evenly
from benchagent.importers.sysbench import commands
from benchagent.importers.sysbench.checks import check, milliseconds
from benchagent.importers.sysbench.progress import MIB_IN_MB, Sample
from benchagent.importers.sysbench.run import Block, Run
from benchagent.redaction import redact_text

TOOL = "sysbench"
_UNITS = {"tps": "TPS", "qps": "queries/s", "errors_per_s": "errors/s", "reconnects_per_s": "reconnects/s",
          "read_queries_per_s": "queries/s", "write_queries_per_s": "queries/s", "ops_per_s": "ops/s",
          "read_mb_per_s": "MB/s", "write_mb_per_s": "MB/s", "fsync_per_s": "fsyncs/s", "transfer_mb_per_s": "MB/s",
          "queue_length": "events", "concurrency": "events"}  # fmt: skip


def judged(run: Run) -> Report:
    """Raises NotUnderstood where the run's figures contradict each other."""
    since_s = 0.0
    for block in run.blocks:
        check(run, block, since_s)
        since_s = block.number("total_time") if block.checkpoint_s is not None else since_s
    _one_end(run)
    status, reason = _status(run)
    parameters = _parameters(run)
    metrics = _metrics(run, complete=status is Status.COMPLETE)
    if status is not Status.COMPLETE and any(metric.name in ("tps", "ops_per_s") for metric in metrics):
        run.warnings.append("the rates are those that sysbench printed for the part that ran")
    series = _series(run)
    _histogram(run)
    return Report(
        tool=TOOL,
        status=status,
        tool_version=run.version,
        parameters=parameters,
        metrics=tuple(metrics),
        series=series,
        warnings=tuple(dict.fromkeys(redact_text(warning) for warning in run.warnings)),
        reason=redact_text(reason),
        subject=_subject(run, parameters),
        command_lines=tuple(redact_text(command) for command in run.command_lines),
    )


def _one_end(run: Run) -> None:
    """One report at the end, and one at each checkpoint before it."""
    ends = [block for block in run.blocks if block.checkpoint_s is None]
    if len(ends) > 1:
        raise NotUnderstood(f"line {ends[1].line}: a second report of one run")
    if ends and run.blocks[-1] is not ends[0]:
        raise NotUnderstood(f"line {ends[0].line}: a report without its heading before a checkpoint")
    announced = [int(text) for text in run.options.get("checkpoints", "").split(", ") if text.isdigit()]
    end_s = ends[0].number("total_time") if ends else 0.0
    expected = [at for at in announced if not end_s or at <= end_s]
    found = [block.checkpoint_s for block in run.blocks if block.checkpoint_s is not None]
    late = len(expected) == len(found) and all(abs(a - (b or 0)) <= 2 for a, b in zip(expected, found, strict=True))
    if ends and not late:
        raise NotUnderstood(f"line {run.line}: checkpoints at {announced} s were asked for, {found} s are there")


def _status(run: Run) -> tuple[Status, str]:
    if run.problems:
        return (Status.FAILED if run.never_began else Status.ABORTED), run.problems[0]
    if run.steps and not run.started:
        return _prepared(run)
    if not run.ended:
        if not run.started and not run.samples and not run.blocks:
            return Status.ABORTED, "sysbench began and printed nothing of a run"
        return Status.ABORTED, "the report ends early" if run.blocks else "no report at the end"
    if run.blocks[-1].number("events") == 0 and "events" in run.blocks[-1].figures:
        return Status.FAILED, "no event was done"
    return Status.COMPLETE, ""


def _prepared(run: Run) -> tuple[Status, str]:
    """Preparing prints no end: every table begun must have got its index, every file its sum."""
    tables, indexes = run.steps.count("table"), run.steps.count("index")
    if "files" in run.steps and "written" not in run.steps:
        return Status.ABORTED, "the preparation ends before its sum"
    if run.cut or (indexes and indexes < tables):
        return Status.ABORTED, "the preparation ends within a table"
    return Status.COMPLETE, ""


def _parameters(run: Run) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    for command in run.command_lines:
        found |= commands.parameters(command)
    for option, name in (
        ("threads", "terminals"), ("warm_up_s", "warm_up_s"), ("rate", "rate_limit_tps"),
        ("cpu_max_prime", "cpu_max_prime"), ("fsync_each", "fsync_each_requests"),
        ("table_size_rows", "table_size_rows"), ("files", "files"),
    ):  # fmt: skip
        if option in run.options:
            found[name] = int(run.options[option])
    for option, name in (("block_size", "block_size_bytes"), ("total_size", "total_size_bytes")):
        if option in run.options and (size := _bytes(run.options[option])):
            found[name] = size
    for name in ("file_test_mode", "io_mode", "memory_operation", "memory_scope", "db_driver", "query_mode"):
        if name in run.options:
            found[name] = run.options[name]
    if "fsync_all" in run.options:
        found["fsync_all"] = True
    if "rw_ratio" in run.options and run.options.get("file_test_mode") == "random r/w":
        found["read_write_ratio"] = float(run.options["rw_ratio"])
    return found


def _bytes(text: str) -> int | None:
    """sysbench's sizes (`16KiB`, `2GiB`, `1K`): all of them powers of 1024; None where it rounded."""
    digits = text.rstrip("KMGTiBb")
    power = " KMGT".find(text[len(digits) : len(digits) + 1] or " ")
    return int(digits) * 1024 ** max(power, 0) if digits.isdigit() else None


def _subject(run: Run, parameters: dict[str, Scalar]) -> Subject:
    test = run.options.get("test", "") or str(parameters.get("script", ""))
    slug = test.replace("_", "-").lower()
    name = f"sysbench {test}" if test else "sysbench, test not stated"
    return Subject(workload=f"sysbench-{slug}" if slug else "", workload_name=name)


def _metrics(run: Run, *, complete: bool) -> list[Metric]:
    found = _prepared_metrics(run) if complete else []
    ended = [block for block in run.blocks if block.ended or (block.figures and not complete)]
    if not any(block.checkpoint_s is not None for block in run.blocks):
        return found + [metric for block in ended for metric in _of_block(run, block, "run")]
    if complete:
        found += _added_up(ended)
        run.warnings.append(
            f"each of the {len(ended)} reports counts since the checkpoint before it; those of the whole run are added"
            " up, a percentile of the whole run is not known"
        )
    for number, block in enumerate(ended, start=1):
        phase = f"checkpoint_{number}" if block.checkpoint_s is not None else "after_checkpoints"
        found += _of_block(run, block, phase)
    return found


def _added_up(blocks: Sequence[Block]) -> list[Metric]:
    """The whole run from the reports of its parts."""
    elapsed = blocks[-1].number("total_time")
    events = sum(block.number("events") for block in blocks)
    found = [_metric("elapsed_s", elapsed, "run")]
    sql = all("transactions" in block.figures for block in blocks)
    if sql:
        for key, name in (("transactions", "transactions"), ("total", "queries"), ("errors", "errors"),
                          ("reconnects", "reconnects")):  # fmt: skip
            if all(key in block.figures for block in blocks):
                found.append(_metric(name, sum(block.number(key) for block in blocks), "run"))
        found.append(_metric("tps", round(sum(b.number("transactions") for b in blocks) / elapsed, 2), "run"))
        found.append(_metric("qps", round(sum(b.number("total") for b in blocks) / elapsed, 2), "run"))
    else:
        found += [_metric("events", events, "run"), _metric("ops_per_s", round(events / elapsed, 2), "run")]
    least = [milliseconds(block, "min") for block in blocks]
    most = [milliseconds(block, "max") for block in blocks]
    total = sum(milliseconds(block, "sum") or 0 for block in blocks)
    found.append(_metric("latency_min_ms", min(value for value in least if value is not None), "run"))
    found.append(_metric("latency_max_ms", max(value for value in most if value is not None), "run"))
    if events and all("sum" in block.figures for block in blocks):
        found.append(_metric("latency_avg_ms", round(total / events, 4), "run"))
    return found


_METRIC_UNITS = {
    "tps": ("TPS", "higher"), "qps": ("queries/s", "higher"), "transactions": ("transactions", "none"),
    "queries": ("queries", "none"), "read_queries": ("queries", "none"), "write_queries": ("queries", "none"),
    "other_queries": ("queries", "none"), "errors": ("errors", "lower"), "errors_per_s": ("errors/s", "lower"),
    "reconnects": ("reconnects", "lower"), "reconnects_per_s": ("reconnects/s", "lower"),
    "deadlocks": ("errors", "lower"), "deadlocks_per_s": ("errors/s", "lower"),
    "read_write_requests_per_s": ("requests/s", "higher"), "elapsed_s": ("s", "none"), "events": ("events", "none"),
    "ops_per_s": ("ops/s", "higher"), "operations": ("ops", "none"), "read_iops": ("IOPS", "higher"),
    "write_iops": ("IOPS", "higher"), "fsync_per_s": ("fsyncs/s", "higher"), "read_mb_per_s": ("MB/s", "higher"),
    "write_mb_per_s": ("MB/s", "higher"), "transfer_mb_per_s": ("MB/s", "higher"), "unfinished": ("events", "lower"),
    "load_s": ("s", "lower"), "size_bytes": ("bytes", "none"), "read_operations": ("ops", "none"),
    "write_operations": ("ops", "none"), "other_operations": ("ops", "none"),
}  # fmt: skip


def _metric(name: str, value: float, phase: str) -> Metric:
    unit, better = _METRIC_UNITS.get(name, ("ms", "lower"))
    return Metric(name, unit, value, phase, better)


_PRINTED: tuple[tuple[str, int, str], ...] = (
    ("transactions", 1, "tps"), ("queries", 1, "qps"), ("transactions", 0, "transactions"), ("total", 0, "queries"),
    ("read", 0, "read_queries"), ("write", 0, "write_queries"), ("other", 0, "other_queries"),
    ("errors", 0, "errors"), ("errors", 1, "errors_per_s"), ("reconnects", 0, "reconnects"),
    ("reconnects", 1, "reconnects_per_s"), ("deadlocks", 0, "deadlocks"), ("deadlocks", 1, "deadlocks_per_s"),
    ("read_write_requests", 1, "read_write_requests_per_s"), ("cpu_eps", 0, "ops_per_s"),
    ("reads_s", 0, "read_iops"), ("writes_s", 0, "write_iops"), ("fsyncs_s", 0, "fsync_per_s"),
    ("file_read", 0, "read_iops"), ("file_write", 0, "write_iops"), ("file_fsync", 0, "fsync_per_s"),
    ("file_read", 2, "read_mb_per_s"), ("file_write", 2, "write_mb_per_s"),
    ("file_operations", 0, "read_operations"), ("file_operations", 1, "write_operations"),
    ("file_operations", 2, "other_operations"), ("file_requests_s", 0, "ops_per_s"),
    ("memory_operations", 0, "operations"), ("memory_operations", 1, "ops_per_s"),
    ("unfinished", 0, "unfinished"), ("total_time", 0, "elapsed_s"), ("events", 0, "events"),
)  # fmt: skip


def _of_block(run: Run, block: Block, phase: str) -> list[Metric]:
    found = [_metric(name, block.number(key, place), phase) for key, place, name in _PRINTED if key in block.figures]
    if "eps" in block.figures and "transactions" not in block.figures and "cpu_eps" not in block.figures:
        found.append(_metric("ops_per_s", block.number("eps"), phase))
    for key, name, place in (("read_mib_s", "read_mb_per_s", 0), ("written_mib_s", "write_mb_per_s", 0),
                             ("memory_bytes", "transfer_mb_per_s", 1)):  # fmt: skip
        if key in block.figures:
            found.append(_metric(name, round(block.number(key, place) * MIB_IN_MB, 4), phase))
            run.warnings.append("MiB/s are given as MB/s (1 MiB = 1.048576 MB)")
    for key in ("min", "avg", "max"):
        if (value := milliseconds(block, key)) is not None:
            found.append(_metric(f"latency_{key}_ms", value, phase))
    if "percentile" in block.figures and (value := milliseconds(block, "percentile")) is not None:
        found.append(_metric(f"latency_p{block.value('percentile')}_ms", value, phase))
    return found


def _prepared_metrics(run: Run) -> list[Metric]:
    if "load_s" not in run.options:
        return []
    size, time_s = int(run.options["written_bytes"]), float(run.options["load_s"])
    found = [_metric("size_bytes", size, "load"), _metric("load_s", time_s, "load")]
    if run.options.get("load_mib_s"):
        found.append(_metric("write_mb_per_s", round(float(run.options["load_mib_s"]) * MIB_IN_MB, 4), "load"))
        run.warnings.append("MiB/s are given as MB/s (1 MiB = 1.048576 MB)")
    return found


def _rank(run: Run) -> str:
    """The percentile's rank, where the intermediate reports do not say it: that of the last report."""
    return next((block.value("percentile") or "" for block in run.blocks if "percentile" in block.figures), "")


def _series(run: Run) -> tuple[Series, ...]:
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
    found = []
    for name in names:
        t0_s, interval_s, values = evenly(times, [sample.values[name] for sample in samples])
        if told and float(told) != interval_s:
            if len(times) > 1 and (interval_s % float(told) or interval_s == 0):
                raise NotUnderstood(f"they come every {interval_s:g} s, not every {told} s as announced")
            t0_s, interval_s, values = _spread(float(told), times, [sample.values[name] for sample in samples])
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


def _histogram(run: Run) -> None:
    if run.histogram is None:
        return
    counted = sum(count for _, count in run.histogram)
    rising = all(low[0] <= high[0] for low, high in itertools.pairwise(run.histogram))
    events = run.blocks[-1].number("events") if run.ended else counted
    if not rising or counted != events:
        run.warnings.append(f"the histogram holds {counted} events, the report {events:.0f}: it is damaged")
    else:
        run.warnings.append(
            f"the histogram of {len(run.histogram)} values stays in the file: its buckets are 1.8 % wide, not those of"
            " an HdrHistogram"
        )
