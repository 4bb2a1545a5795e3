"""Builds the `JobResult` of a run, step by step, so that a partial one is there whenever the run ends."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from benchagent import __version__
from benchagent.collect import Collector
from benchagent.protocol import JobResult, MetricValue

# Aggregates of the one-second series over the measured window.
MEANS = (
    "driver_cpu_cores",
    "machine_cpu_percent",
    "server_cpu_cores",
    "disk_read_mb_per_s",
    "disk_write_mb_per_s",
)
MAXIMA = ("driver_rss_bytes", "server_rss_bytes")


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


def metrics(collector: Collector, machine_cores: int, size_bytes: int | None) -> list[MetricValue]:
    """All metrics that can be told from what was collected; a run cut short has counts but no rates."""
    found = [*_phase_metrics(collector)]
    if size_bytes is not None:
        found.append(_metric("db_size_bytes", size_bytes, "run"))
    summary = collector.summary
    if summary is None:
        counts = {True: 0.0, False: 0.0}
        for warm_up, values in collector.samples:
            counts[warm_up] += values["tps"] or 0
        if collector.samples:
            found.append(_metric("transactions", counts[False], "run"))
            found.append(_metric("transactions_warm_up", counts[True], "warm_up"))
        return found
    return [*found, *_summary_metrics(summary), *_sample_metrics(collector), *_driver_metrics(collector, machine_cores)]


def _metric(name: str, value: float, phase: str) -> MetricValue:
    return {"name": name, "value": float(value), "phase": phase}


def _phase_metrics(collector: Collector) -> list[MetricValue]:
    found = []
    for phase in ("create", "load", "index"):
        event = collector.phases.get(phase)
        if event is None:
            continue
        found.append(_metric(f"{phase}_s", event["elapsed_s"], phase))
        if phase == "load" and event.get("rows") and event["elapsed_s"] > 0:
            found.append(_metric("load_rows_per_s", event["rows"] / event["elapsed_s"], phase))
    return found


def _summary_metrics(summary: Mapping[str, Any]) -> list[MetricValue]:
    plain = {
        "tps": "tps",
        "transactions": "transactions",
        "retries": "retries",
        "errors": "errors",
        "transactions_tail": "tail_transactions",
    }
    found = [_metric(name, summary[key], "run") for name, key in plain.items()]
    found.append(_metric("transactions_warm_up", summary["warm_up_transactions"], "warm_up"))
    for name in ("mean", "p50", "p95", "p99", "max"):
        if summary[f"{name}_us"] is not None:
            found.append(_metric(f"latency_{name}_ms", summary[f"{name}_us"] / 1000, "run"))
    return found


def _sample_metrics(collector: Collector) -> list[MetricValue]:
    means = [_metric(name, fmean(values), "run") for name in MEANS if (values := collector.measured(name))]
    maxima = [_metric(name, max(values), "run") for name in MAXIMA if (values := collector.measured(name))]
    return [*means, *maxima]


def _driver_metrics(collector: Collector, machine_cores: int) -> list[MetricValue]:
    cores, transactions = collector.measured("driver_cpu_cores"), sum(collector.measured("tps"))
    if not cores:
        return []
    found = [_metric("driver_cpu_share", 100 * fmean(cores) / machine_cores, "run")]
    if transactions:
        found.append(_metric("driver_cpu_ms_per_tx", 1000 * sum(cores) / transactions, "run"))
    return found
