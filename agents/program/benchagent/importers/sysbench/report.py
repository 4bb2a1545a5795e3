"""From the lines of one run to its report: status, parameters, metrics, series, histogram."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from benchagent.histogram import encode
from benchagent.importers.report import Metric, Report, Scalar, Series, Subject, all_measured, entries, measured
from benchagent.importers.series import Samples, check_sum, grid_of
from benchagent.importers.source import NotUnderstood, size_bytes_of
from benchagent.importers.sysbench.run import BESIDE, Block, Run, check
from benchagent.importers.sysbench.tables import options_of_command

# One of them must be there where the end of a report is missing.
_TELLING = {"transactions", "queries", "cpu_eps", "eps", "memory_operations", "file_requests_s", "reads_s", "events"}
# What is shown as it is printed, in this order; the operations of fileio and memory are the tool's events.
_PRINTED = (
    "ops_per_s", "tps", "qps", "transactions", "queries", "read_queries", "write_queries", "other_queries", "errors",
    "errors_per_s", "reconnects", "reconnects_per_s", "deadlocks", "deadlocks_per_s", "read_write_requests_per_s",
    "read_iops", "write_iops", "fsync_per_s", "read_operations", "write_operations", "other_operations",
    "operations", "unfinished", "elapsed_s", "events", "read_mb_per_s", "write_mb_per_s", "transfer_mb_per_s",
)  # fmt: skip
_MIB_WARNING = "MiB/s are given as MB/s (1 MiB = 1.048576 MB)"
# What the lines before a run say.
_TOLD = (
    "terminals", "warm_up_s", "rate_limit_tps", "cpu_max_prime", "fsync_each_requests", "table_size_rows", "files",
    "file_test_mode", "io_mode", "memory_operation", "memory_scope", "db_driver",
)  # fmt: skip


def report_of(run: Run) -> Report:
    """Raises NotUnderstood where the run's figures contradict each other."""
    if run.bad_progress:
        if not run.blocks:
            raise NotUnderstood(run.bad_progress)
        run.leave_out_progress(run.bad_progress)
    since_s = 0.0
    for block in run.blocks:
        try:
            check(run, block, since_s)
        except NotUnderstood as error:
            raise NotUnderstood(f"line {block.line}: {error}") from error
        since_s = block.values.get("elapsed_s", 0) if block.checkpoint_s is not None else since_s
    _check_checkpoints(run)
    failure, reason = _ending(run)
    parameters = _parameters(run)
    metrics = _metrics(run, complete=not (failure or reason))
    if (failure or reason) and any(metric.name in ("tps", "ops_per_s") for metric in metrics):
        run.warnings.append("the rates are those that sysbench printed for the part that ran")
    series, histogram = _series(run), _histogram(run)
    test = run.options.get("test", "") or str(parameters.get("script", ""))
    return Report(
        tool="sysbench", tool_version=run.version, parameters=parameters, metrics=tuple(metrics),
        series=tuple(series), warnings=tuple(run.warnings), reason=reason, failure=failure,
        subject=Subject(
            workload=f"sysbench-{test.replace('_', '-').lower()}" if test else "",
            workload_name=f"sysbench {test}" if test else "sysbench, test not stated",
        ),
        command_lines=tuple(run.command_lines), histogram=histogram,
    )  # fmt: skip


def _check_checkpoints(run: Run) -> None:
    """One report at the end, and one at each checkpoint before it."""
    if early := next((block for block in run.blocks[:-1] if block.checkpoint_s is None), None):
        raise NotUnderstood(f"line {early.line}: a report of the whole run before another of it")
    if not run.blocks or run.blocks[-1].checkpoint_s is not None:
        return
    announced = [int(text) for text in run.options.get("checkpoints", "").split(", ") if text.isdigit()]
    end_s = run.blocks[-1].values.get("elapsed_s", 0)
    expected = [at_s for at_s in announced if not end_s or at_s <= end_s]
    there = [block.checkpoint_s for block in run.blocks if block.checkpoint_s is not None]
    if len(expected) != len(there) or any(abs(a - b) > 2 for a, b in zip(expected, there, strict=True)):
        raise NotUnderstood(f"checkpoints at {announced} s were asked for, {there} s are there")


def _ending(run: Run) -> tuple[str, str]:
    """Why the run failed, and why it did not come to its end."""
    if run.problems:
        return run.problems[0] if run.never_began else "", run.problems[0]
    if run.steps and not run.started:
        # Preparing prints no end: every table begun must have got its index, every file its sum.
        if "files" in run.steps and "written" not in run.steps:
            return "", "the preparation ends before its sum"
        is_cut = run.cut or 0 < run.steps.count("index") < run.steps.count("table")
        return "", "the preparation ends within a table" if is_cut else ""
    if run.ended:
        return "no event was done" if run.blocks[-1].values.get("events") == 0 else "", ""
    if run.blocks:
        return "", "" if _is_extract(run) else "the report ends early"
    ran = "no report at the end: a run that was stopped, or an extract of a log"
    return "", ran if run.started or run.samples else "sysbench began and printed nothing of a run"


def _is_extract(run: Run) -> bool:
    """Whether somebody left out the end of the last report, or all but some lines of it, after a run that ended."""
    block = run.blocks[-1]
    is_whole = block.checkpoint_s is not None or run.cut or "#fairness" in block.rows
    if is_whole or not _TELLING & block.rows.keys() or not (block.extract or run.followed):
        return False
    run.warnings.append(f"an extract: the {'beginning' if block.extract else 'end'} of the report is missing")
    return True


def _parameters(run: Run) -> dict[str, Scalar]:
    parameters = options_of_command(run.command_lines) | entries(run.options, *_TOLD)
    for option in ("block_size", "total_size"):
        # What sysbench rounded is left out.
        if size_bytes := size_bytes_of(run.options.get(option, "")):
            parameters[f"{option}_bytes"] = size_bytes
    ended = run.blocks[-1].values if run.blocks else {}
    is_done = ended.get("events", 0) >= parameters.get("events", math.inf)
    if is_done and ended.get("elapsed_s", math.inf) < parameters.get("duration_s", 0):
        # The number of events ended the run: `--time` is a limit that it did not reach, and no window.
        del parameters["duration_s"]
    if "fsync_all" in run.options:
        parameters["fsync_all"] = True
    if "rw_ratio" in run.options and run.options.get("file_test_mode") == "random r/w":
        parameters["read_write_ratio"] = run.options["rw_ratio"]
    return parameters


def _metrics(run: Run, *, complete: bool) -> list[Metric]:
    metrics: list[Metric] = []
    if complete and "load_s" in run.options:
        rate = run.options.get("write_mb_per_s") or None
        loaded = {"load_s": run.options["load_s"], "write_mb_per_s": rate, "size_bytes": run.options["written_bytes"]}
        metrics += all_measured(loaded, "load")
        run.warnings += [_MIB_WARNING] if rate else []
    shown = [block for block in run.blocks if block.ended or not complete or block is run.blocks[-1]]
    if not any(block.checkpoint_s is not None for block in run.blocks):
        return metrics + [metric for block in shown for metric in _of_block(run, block)]
    if complete:
        metrics += _added_up(shown)
        run.warnings.append(
            f"each of the {len(shown)} reports counts since the checkpoint before it; those of the whole run are added"
            " up, a percentile of the whole run is not known"
        )
    for number, block in enumerate(shown, start=1):
        part = f"checkpoint_{number}" if block.checkpoint_s is not None else "after_checkpoints"
        # Names of their own, so that none is taken for the whole run's.
        metrics += [replace(metric, name=f"{part}_{metric.name}") for metric in _of_block(run, block)]
    return metrics


def _of_block(run: Run, block: Block) -> list[Metric]:
    values = block.values
    if "eps" in block.rows and not {"transactions", "cpu_eps", "memory_operations"} & set(block.rows):
        values["ops_per_s"] = values["eps"]
    if transferred := values.get("transfer_rate", "").rstrip("bB").rstrip("i"):
        # "Mb/sec" of 0.4 and 0.5 are MiB.
        power = " KMGT".find(transferred[-1]) if transferred[-1].isalpha() else 0
        values["transfer_mb_per_s"] = round(float(transferred.rstrip("KMGT")) * 1024.0**power / 1e6, 4)
    if {"read_mib_s", "written_mib_s", "file_bytes", "memory_bytes"} & block.rows.keys():
        run.warnings.append(_MIB_WARNING)
    printed = entries(values, *_PRINTED)
    if block.only_statements:
        del printed["tps"], printed["transactions"]
        run.warnings.append("no transactions: its script sent statements only")
    metrics = [
        measured(name, float(value), unit="ops" if name.endswith("operations") else "")
        for name, value in printed.items()
    ]
    if block.values.get("events") == 0:
        return metrics
    percentile = {f"latency_p{values.get('rank')}_ms": values.get("percentile_ms")}
    latencies = entries(values, "latency_min_ms", "latency_avg_ms", "latency_max_ms")
    return [*metrics, *all_measured(latencies | percentile)]


def _added_up(blocks: Sequence[Block]) -> tuple[Metric, ...]:
    """The whole run from the reports of its parts."""

    def total(name: str) -> float:
        return float(sum(block.values.get(name, 0) for block in blocks))

    elapsed_s, events = blocks[-1].values.get("elapsed_s", 0), total("events")
    if all("transactions" in block.rows for block in blocks):
        figures = {"tps": round(total("transactions") / elapsed_s, 2), "qps": round(total("queries") / elapsed_s, 2)}
        names = ("transactions", "queries", "errors", "reconnects")
        figures |= {name: total(name) for name in names if all(name in block.values for block in blocks)}
    else:
        figures = {"ops_per_s": round(events / elapsed_s, 2), "events": events}
    figures["elapsed_s"] = elapsed_s
    figures["latency_min_ms"] = min(block.values["latency_min_ms"] for block in blocks if "min" in block.rows)
    figures["latency_max_ms"] = max(block.values["latency_max_ms"] for block in blocks if "max" in block.rows)
    if events and all("sum" in block.rows for block in blocks):
        figures["latency_avg_ms"] = round(total("latency_sum_ms") / events, 4)
    return all_measured(figures)


def _series(run: Run) -> list[Series]:
    series: list[Series] = []
    for samples in filter(None, (run.samples, run.queues)):
        try:
            series += _of_samples(run, samples)
        except NotUnderstood as error:
            lines = samples.lines
            run.warnings.append(f"lines {lines[0]}–{lines[-1]}: the progress is left out: {error}")
    return series


def _of_samples(run: Run, samples: Samples) -> list[Series]:
    option = re.search(r"--report-interval=(\d{1,6})\b", "".join(run.command_lines))
    asked_for: str = option[1] if option else "0"
    times, announced_s = samples.times_s, float(run.options.get("report_interval", asked_for))
    rank, *others = {*(samples.column("rank") or ())} or {None}
    if others:
        raise NotUnderstood("the rank of the percentile changes")
    if not announced_s and (len(times) == 1 or times[0] < times[1] - times[0]):
        raise NotUnderstood("they do not show how far apart they are")
    if announced_s and times[0] + 1 < announced_s:
        raise NotUnderstood(f"they do not come every {announced_s:g} s as announced")
    grid = grid_of(times, interval_s=announced_s or None)
    done = sum(block.values.get("events", 0) for block in run.blocks)
    # Where the intermediate reports do not say it: that of the first report.
    rank = rank or next((block.values.get("rank") for block in run.blocks if "percentile" in block.rows), None)
    series: list[Series] = []
    for name in samples.names:
        column = samples.column(name)
        if column is None or name in BESIDE:
            continue
        values = grid.values(column)
        if name in ("tps", "ops_per_s") and run.ended and done:
            check_sum(values, grid.interval_s, done, "events")
        full_name = name
        if name == "latency":
            full_name = f"latency_p{rank:g}_ms" if rank else "latency_percentile_ms"
            if not rank:
                run.warnings.append(f"the rank of the latency's percentile is not stated: the series is {full_name}")
        series.append(Series.called(full_name, grid.interval_s, values, max(grid.t0_s, 0.0)))
    return series


def _histogram(run: Run) -> str:
    """The histogram of the whole run, encoded; empty where it holds another number of events than the report."""
    if not run.histogram:
        return ""
    counted = sum(count for _, count in run.histogram)
    values_ms = [value_ms for value_ms, _ in run.histogram]
    events = run.blocks[-1].values.get("events", 0) if run.ended else 0.0
    if values_ms != sorted(values_ms) or counted != events:
        run.warnings.append(f"the histogram holds {counted} events, the report {events:.0f}: it is left out")
        return ""
    if len(run.blocks) > 1:
        run.warnings.append("the histogram counts since the last checkpoint only: it is left out")
        return ""
    run.warnings.append("the values of the histogram are the middles of sysbench's buckets, which are 1.8 % wide")
    # HdrHistogram keeps each of them to 0.1 %.
    return encode((round(value_ms * 1000), count) for value_ms, count in run.histogram)
