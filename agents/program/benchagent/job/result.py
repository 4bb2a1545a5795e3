"""Builds the `JobResult` of a run, step by step, so that a partial one is there whenever the run ends."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from benchagent import __version__
from benchagent.dbms.counters import hit_percent
from benchagent.job.collect import COUNT_PHASE, TIMED_PHASE, Collector
from benchagent.protocol import JobResult, MetricValue

# Aggregates of the one-second series over the measured window.
MEANS = (
    "driver_cpu_cores",
    "machine_cpu_percent",
    "server_cpu_cores",
    "disk_read_mb_per_s",
    "disk_write_mb_per_s",
    "disk_read_iops",
    "disk_write_iops",
    "disk_util_percent",
    "log_disk_write_mb_per_s",
    "log_disk_write_iops",
    "backup_disk_read_mb_per_s",
    "backup_disk_write_mb_per_s",
    "backup_disk_write_iops",
    "tool_cpu_cores",
)
MAXIMA = ("driver_rss_bytes", "server_rss_bytes", "tool_rss_bytes")
# Counters of the engine that are metrics of the run as they are.
COUNTED = ("checkpoints", "log_bytes", "log_flushes", "lock_waits", "deadlocks")
# Of the count, which has metrics of its own.
COUNT_MEANS = ("server_cpu_cores", "tool_cpu_cores", "disk_read_mb_per_s")
MEGABYTE = 1_000_000


def empty_result() -> JobResult:
    return {
        "metrics": [],
        "durability": None,
        "effective_settings": [],
        "ignored_settings": [],
        "storage": [],
        "product": "",
        "driver": {},
        "dataset": {},
        "command_lines": [],
        "checks": [],
        "warnings": [],
        "per_terminal": [],
        "histogram": None,
    }


def driver_facts(collector: Collector, embedded: bool) -> dict[str, str]:
    """Who generated the load; `cpu` says what the driver's CPU figure contains."""
    connected, started = collector.connected, collector.started
    return {
        "name": "benchsite.loadgen",
        "version": str(started.get("driver", "")),
        "java": str(started.get("java", "")),
        "jdbc_driver": str(connected.get("driver_name", "")),
        "jdbc_driver_version": str(connected.get("driver_version", "")),
        "agent": __version__,
        "cpu": "driver + engine" if embedded else "driver",
    }


def metrics(
    collector: Collector, counters: Mapping[str, float], machine_cores: int, size: int | None
) -> list[MetricValue]:
    """All metrics that can be told from what was collected; a run cut short has counts but no rates.

    `counters`: what the engine counted over the measured window; `size`: bytes on disk.
    """
    found = [*_phase_metrics(collector)]
    if size is not None:
        found.append(metric("db_size_bytes", size, "run"))
    summary = collector.summary
    if summary is None:
        return [*found, *_partial_counts(collector), *_sample_metrics(collector)]
    return [
        *found,
        *_summary_metrics(summary),
        *_counter_metrics(counters, summary["transactions"]),
        *_sample_metrics(collector),
        *_driver_metrics(collector, machine_cores),
    ]


def metric(name: str, value: float, phase: str) -> MetricValue:
    return {"name": name, "value": float(value), "phase": phase}


def _partial_counts(collector: Collector) -> list[MetricValue]:
    counts = {True: 0.0, False: 0.0}
    seconds = [(warm_up, values["tps"] or 0) for warm_up, values in collector.samples if "tps" in values]
    for warm_up, count in seconds:
        counts[warm_up] += count
    if not seconds:
        return []
    return [metric("transactions", counts[False], "run"), metric("transactions_warm_up", counts[True], "warm_up")]


def _counter_metrics(counters: Mapping[str, float], transactions: int) -> list[MetricValue]:
    """What the engine itself counted between begin and end of the measured window."""
    found = [metric(name, counters[name], "run") for name in COUNTED if name in counters]
    hit = hit_percent(counters)
    if hit is not None:
        found.append(metric("buffer_hit_percent", hit, "run"))
    if transactions and "log_bytes" in counters:
        found.append(metric("log_bytes_per_tx", counters["log_bytes"] / transactions, "run"))
    return found


def _phase_metrics(collector: Collector) -> list[MetricValue]:
    found = []
    for phase in ("create", "load", "index"):
        event = collector.phases.get(phase)
        if event is None:
            continue
        found.append(metric(f"{phase}_s", event["elapsed_s"], phase))
        if phase == "load" and event.get("rows") and event["elapsed_s"] > 0:
            found.append(metric("load_rows_per_s", event["rows"] / event["elapsed_s"], phase))
        if phase == "load" and event.get("bytes") and event["elapsed_s"] > 0:
            found.append(metric("load_bytes", event["bytes"], phase))
            found.append(metric("load_mb_per_s", event["bytes"] / event["elapsed_s"] / MEGABYTE, phase))
    return found


def _summary_metrics(summary: Mapping[str, Any]) -> list[MetricValue]:
    plain = {
        "tps": "tps",
        "transactions": "transactions",
        "retries": "retries",
        "errors": "measured_errors",
        "errors_total": "errors",
        "transactions_tail": "tail_transactions",
    }
    # A run that ended in its warm-up has no rate, nor has one whose terminals all died before its window was over.
    if summary.get("ended_by") == "terminals":
        del plain["tps"]
    found = [metric(name, summary[key], "run") for name, key in plain.items() if summary[key] is not None]
    found.append(metric("transactions_warm_up", summary["warm_up_transactions"], "warm_up"))
    for name in ("mean", "p50", "p95", "p99", "max"):
        if summary[f"{name}_us"] is not None:
            found.append(metric(f"latency_{name}_ms", summary[f"{name}_us"] / 1000, "run"))
        if summary.get(f"service_{name}_us") is not None and name != "mean":
            found.append(metric(f"service_{name}_ms", summary[f"service_{name}_us"] / 1000, "run"))
    if "unstarted" in summary:
        found.append(metric("unstarted", summary["unstarted"], "run"))
    if summary["errors"]:
        found.append(metric("error_share_percent", 100 * error_share(summary), "run"))
    return found


def error_share(summary: Mapping[str, Any]) -> float:
    """Of all transactions that ended, from warm-up to tail, how many failed."""
    done = sum(summary[name] for name in ("warm_up_transactions", "transactions", "tail_transactions"))
    errors: int = summary["errors"]
    return errors / (done + errors) if errors else 0.0


def _sample_metrics(collector: Collector) -> list[MetricValue]:
    means = [metric(name, value, "run") for name in MEANS if (value := _mean(collector, name)) is not None]
    maxima = [metric(name, max(values), "run") for name in MAXIMA if (values := collector.measured(name))]
    counting = [
        metric(f"{COUNT_PHASE}_{name}", value, COUNT_PHASE)
        for name in COUNT_MEANS
        if (value := collector.mean(COUNT_PHASE, name)) is not None
    ]
    return [*means, *maxima, *counting]


def _mean(collector: Collector, name: str) -> float | None:
    """Of the timed phase as a whole where it was sampled so, else of the measured seconds."""
    whole = collector.mean(TIMED_PHASE, name)
    if whole is not None:
        return whole
    values = collector.measured(name)
    return fmean(values) if values else None


def _driver_metrics(collector: Collector, machine_cores: int) -> list[MetricValue]:
    cores, transactions = collector.measured("driver_cpu_cores"), sum(collector.measured("tps"))
    if not cores:
        return []
    found = [metric("driver_cpu_share", 100 * fmean(cores) / machine_cores, "run")]
    if transactions:
        found.append(metric("driver_cpu_ms_per_tx", 1000 * sum(cores) / transactions, "run"))
    return found
