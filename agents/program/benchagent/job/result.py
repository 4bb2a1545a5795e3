"""Builds the `JobResult` of a run, step by step, so that a partial one is there whenever the run ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from benchagent import __version__
from benchagent.dbms.counters import hit_percent
from benchagent.job.collect import COUNT_PHASE, TIMED_PHASE, Collector
from benchagent.machine.sampling import DISK_SERIES, disk_metric
from benchagent.protocol import JobResult, MetricValue

# Aggregates of the one-second series over the measured window.
MEANS = (
    "driver_cpu_cores",
    "machine_cpu_percent",
    "server_cpu_cores",
    *(disk_metric(role, rate) for role, rates in DISK_SERIES.items() for rate in rates),
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
        "metrics": [], "durability": None, "effective_settings": [], "ignored_settings": [], "storage": [],
        "product": "", "driver": {}, "dataset": {}, "command_lines": [], "checks": [], "warnings": [],
        "per_terminal": [], "histogram": None,
    }  # fmt: skip


def generator_facts(collector: Collector, embedded: bool) -> dict[str, str]:
    """Who generated the load; `cpu` says whose CPU the figures of the load generator contain."""
    connected, started = collector.connected, collector.started
    return {
        "name": "benchsite.loadgen",
        "version": str(started.get("version", "")),
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
    told = [*_of_phases(collector), *_listed("run", {"db_size_bytes": size})]
    if collector.summary is None:
        seconds = [(is_warm_up, values["tps"] or 0) for is_warm_up, values in collector.samples if "tps" in values]
        return [*told, *partial_counts(seconds), *_of_samples(collector)]
    return [
        *told,
        *_of_summary(collector.summary),
        *_of_counters(counters, collector.summary["transactions"]),
        *_of_samples(collector),
        *_of_generator(collector, machine_cores),
    ]


def metric(name: str, value: float, phase: str) -> MetricValue:
    return {"name": name, "value": float(value), "phase": phase}


def _listed(phase: str, values: Mapping[str, float | None]) -> list[MetricValue]:
    return [metric(name, value, phase) for name, value in values.items() if value is not None]


def _of_phases(collector: Collector) -> Iterator[MetricValue]:
    for phase in ("create", "load", "index"):
        if event := collector.phases.get(phase):
            elapsed_s = event["elapsed_s"]
            yield metric(f"{phase}_s", elapsed_s, phase)
            if phase == "load" and elapsed_s > 0:
                rows, size_bytes = event.get("rows"), event.get("bytes")
                if rows:
                    yield metric("load_rows_per_s", rows / elapsed_s, phase)
                if size_bytes:
                    yield metric("load_bytes", size_bytes, phase)
                    yield metric("load_mb_per_s", size_bytes / elapsed_s / MEGABYTE, phase)


def partial_counts(seconds: Sequence[tuple[bool, float]]) -> list[MetricValue]:
    """Of a run that was cut short; of each second whether it is of the warm-up, and its transactions."""
    if not seconds:
        return []
    counts = [sum(count for is_warm_up, count in seconds if is_warm_up is of_warm_up) for of_warm_up in (False, True)]
    return [metric("transactions", counts[0], "run"), metric("transactions_warm_up", counts[1], "warm_up")]


def _of_summary(summary: Mapping[str, Any]) -> list[MetricValue]:
    # A run that ended in its warm-up has no rate, nor has one whose terminals all died before its window was over.
    values = {
        "tps": None if summary.get("ended_by") == "terminals" else summary["tps"],
        "transactions": summary["transactions"],
        "retries": summary["retries"],
        "errors": summary["measured_errors"],
        "errors_total": summary["errors"],
        "transactions_tail": summary["tail_transactions"],
        "unstarted": summary.get("unstarted"),
        "error_share_percent": 100 * error_share(summary) if summary["errors"] else None,
    }
    for name in ("mean", "p50", "p95", "p99", "max"):
        latency_us, service_us = summary[f"{name}_us"], summary.get(f"service_{name}_us")
        values[f"latency_{name}_ms"] = None if latency_us is None else latency_us / 1000
        values[f"service_{name}_ms"] = None if service_us is None or name == "mean" else service_us / 1000
    return [*_listed("run", values), metric("transactions_warm_up", summary["warm_up_transactions"], "warm_up")]


def error_share(summary: Mapping[str, Any]) -> float:
    """Of all transactions that ended, from warm-up to tail, how many failed."""
    done = sum(summary[name] for name in ("warm_up_transactions", "transactions", "tail_transactions"))
    errors: int = summary["errors"]
    return errors / (done + errors) if errors else 0.0


def _of_counters(counters: Mapping[str, float], transactions: int) -> list[MetricValue]:
    """What the engine itself counted between begin and end of the measured window."""
    log_bytes = counters.get("log_bytes")
    per_tx = log_bytes / transactions if transactions and log_bytes is not None else None
    same = {name: counters.get(name) for name in COUNTED}
    return _listed("run", {**same, "buffer_hit_percent": hit_percent(counters), "log_bytes_per_tx": per_tx})


def _of_samples(collector: Collector) -> list[MetricValue]:
    """Means are of the timed phase as a whole where it was sampled so, else of the measured seconds."""
    values: dict[str, float | None] = {}
    for name in (*MEANS, *MAXIMA):
        measured = collector.measured(name)
        values[name] = collector.mean(TIMED_PHASE, name) if name in MEANS else None
        if values[name] is None and measured:
            values[name] = fmean(measured) if name in MEANS else max(measured)
    counting = {f"{COUNT_PHASE}_{name}": collector.mean(COUNT_PHASE, name) for name in COUNT_MEANS}
    return [*_listed("run", values), *_listed(COUNT_PHASE, counting)]


def _of_generator(collector: Collector, machine_cores: int) -> list[MetricValue]:
    cores, transactions = collector.measured("driver_cpu_cores"), sum(collector.measured("tps"))
    if not cores:
        return []
    per_tx_ms = 1000 * sum(cores) / transactions if transactions else None
    share = 100 * fmean(cores) / machine_cores
    return _listed("run", {"driver_cpu_share": share, "driver_cpu_ms_per_tx": per_tx_ms})
