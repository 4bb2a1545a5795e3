"""The metrics of sysbench's reports: the last one, those of checkpoints, and of a preparation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchagent.importers.base import Metric
from benchagent.importers.sysbench.checks import milliseconds
from benchagent.importers.sysbench.progress import MIB_IN_MB
from benchagent.importers.sysbench.run import Block, Run


def metrics_of(run: Run, *, complete: bool) -> list[Metric]:
    found = _prepared_metrics(run) if complete else []
    last = run.blocks[-1:]
    ended = [block for block in run.blocks if block.ended or (block.figures and (not complete or block in last))]
    if not any(block.checkpoint_s is not None for block in run.blocks):
        return found + [metric for block in ended for metric in _of_block(run, block, "run")]
    if complete:
        found += _added_up(ended)
        run.warnings.append(
            f"each of the {len(ended)} reports counts since the checkpoint before it; those of the whole run are added"
            " up, a percentile of the whole run is not known"
        )
    for number, block in enumerate(ended, start=1):
        part = f"checkpoint_{number}" if block.checkpoint_s is not None else "after_checkpoints"
        # Names of their own, so that none is taken for the whole run's.
        found += [replace(metric, name=f"{part}_{metric.name}") for metric in _of_block(run, block, "run")]
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
    if "eps" in block.figures and not {"transactions", "cpu_eps", "memory_operations"} & set(block.figures):
        found.append(_metric("ops_per_s", block.number("eps"), phase))
    for key, name, place in (("read_mib_s", "read_mb_per_s", 0), ("written_mib_s", "write_mb_per_s", 0),
                             ("memory_bytes", "transfer_mb_per_s", 1)):  # fmt: skip
        if key in block.figures:
            found.append(_metric(name, round(block.number(key, place) * MIB_IN_MB, 4), phase))
            run.warnings.append("MiB/s are given as MB/s (1 MiB = 1.048576 MB)")
    if rate := block.value("file_bytes", 3):
        # "Mb/sec" of 0.4 and 0.5 are MiB.
        power = " KMGT".find(rate[-1]) if rate[-1].isalpha() else 0
        mib_per_s = float(rate.rstrip("KMGT")) * 1024.0 ** (power - 2)
        found.append(_metric("transfer_mb_per_s", round(mib_per_s * MIB_IN_MB, 4), phase))
        run.warnings.append("MiB/s are given as MB/s (1 MiB = 1.048576 MB)")
    if block.value("events") == "0":
        return found
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
