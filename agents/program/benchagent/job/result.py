"""Builds the `JobResult` of a run, step by step, so that a partial one is there whenever the run ends."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import psutil

from benchagent import __version__, histogram
from benchagent.catalog import refusal
from benchagent.catalog.durability import Observation, Statement, judge, of_observation, of_storage
from benchagent.dbms.base import Instance
from benchagent.dbms.counters import hit_percent
from benchagent.job.collect import COUNT_PHASE, TIMED_PHASE, Collector
from benchagent.machine.devices import storage_layers
from benchagent.machine.limits import JobCgroup
from benchagent.machine.sampling import DISK_SERIES, disk_metric
from benchagent.machine.storages import JobFolders, device_name, emulated_words
from benchagent.protocol import DISK_SHARES, JobResult, MetricValue, StatementFact

# Aggregates of the one-second series over the measured window.
MEANS = (
    "driver_cpu_cores",
    "machine_cpu_percent",
    "server_cpu_cores",
    *(disk_metric(role, rate) for role, rates in DISK_SERIES.items() for rate in rates),
    *DISK_SHARES,
    "tool_cpu_cores",
)
MAXIMA = ("driver_rss_bytes", "server_rss_bytes", "tool_rss_bytes")
# Counters of the engine that are metrics of the run as they are.
COUNTED = ("checkpoints", "log_bytes", "log_flushes", "lock_waits", "deadlocks")
# The means of the count of rows, which has metrics of its own.
COUNT_MEANS = ("server_cpu_cores", "tool_cpu_cores", "disk_read_mb_per_s")
MEGABYTE = 1_000_000
IN_PROCESS = "in the engine's process"


def empty_result() -> JobResult:
    return {
        "metrics": [], "durability": None, "effective_settings": [], "ignored_settings": [], "storage": [],
        "product": "", "driver": {}, "dataset": {}, "command_lines": [], "checks": [], "warnings": [],
        "per_terminal": [], "histogram": None,
    }  # fmt: skip


def generator_facts(collector: Collector, embedded: bool, transport: str) -> dict[str, str]:
    """Who generated the load, under which isolation level in force (empty where nothing tells it) and over what.

    `cpu` says whose CPU the figures of the load generator contain.
    """
    connected, started = collector.connected, collector.started
    return {
        "name": "benchsite.loadgen",
        "version": str(started.get("version", "")),
        "java": str(started.get("java", "")),
        "jdbc_driver": str(connected.get("driver_name", "")),
        "jdbc_driver_version": str(connected.get("driver_version", "")),
        "agent": __version__,
        "isolation": str((collector.summary or {}).get("isolation", "")),
        "transport": transport,
        "cpu": "driver + engine" if embedded else "driver",
    }


def metrics(
    collector: Collector, counters: Mapping[str, float], machine_cores: int, size: int | None
) -> list[MetricValue]:
    """All metrics that can be told from what was collected; a run cut short has counts but no rates.

    `counters`: what the engine counted over the measured window; `size`: bytes on disk.
    """
    listed = [*_of_phases(collector), *_listed("run", {"db_size_bytes": size})]
    if collector.summary is None:
        seconds = [(is_warm_up, values["tps"] or 0) for is_warm_up, values in collector.samples if "tps" in values]
        return [*listed, *partial_counts(seconds), *_of_samples(collector)]
    return [
        *listed,
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
    """The counts of a run that was cut short, from each second's (is warm-up, transactions)."""
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
        # Nothing of an engine that begins transactions without a statement.
        "begin_ms": summary.get("begin_us", 0) / 1000 or None,
        "error_share_percent": 100 * error_share(summary) if summary["errors"] else None,
    }
    for name in ("mean", "p50", "p95", "p99", "max"):
        latency_us, service_us = summary[f"{name}_us"], summary.get(f"service_{name}_us")
        values[f"latency_{name}_ms"] = None if latency_us is None else latency_us / 1000
        values[f"service_{name}_ms"] = None if service_us is None or name == "mean" else service_us / 1000
    values["latency_p999_ms"] = _p999_ms(summary["histogram"])
    return [*_listed("run", values), metric("transactions_warm_up", summary["warm_up_transactions"], "warm_up")]


def _p999_ms(encoded: str) -> float | None:
    try:
        return histogram.decode(encoded).percentiles_us([99.9])[0] / 1000
    except ValueError:  # empty, or none at all, which fails a check
        return None


def error_share(summary: Mapping[str, Any]) -> float:
    """The share of all transactions that ended, from warm-up to tail, that failed."""
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
    share = min(100.0, 100 * fmean(cores) / machine_cores)  # samples of CPU time jitter
    return _listed("run", {"driver_cpu_share": share, "driver_cpu_ms_per_tx": per_tx_ms})


log = logging.getLogger(__name__)
SAMPLED = "server sampled by the agent on its machine"


class Description:
    """Everything that is said of a run is written here. `embedded`: the load generator holds the DBMS."""

    def __init__(self, *, embedded: bool) -> None:
        self.result: JobResult = empty_result()
        # Metrics beside those that follow from the collected events.
        self._noted: list[MetricValue] = []
        self._embedded = embedded
        # There from when the workload begins to perform.
        self.collector: Collector | None = None
        self.data_missing = True
        # True once the workload has come to its end.
        self.done = False
        # What a commit is worth; nothing is promised before the settings in force are known.
        self._promised: Statement | None = None
        self._storage = Statement(None, "its disks are those of a server that the agent did not start")
        self._observation = Observation()

    def warn(self, words: str) -> None:
        self.result["warnings"].append(words)

    def condition(self, name: str, words: str) -> None:
        self.result.setdefault("statistics", {}).setdefault("conditions", {})[name] = words

    def describe(self, part: str, value: Any) -> None:
        self.result.setdefault("statistics", {})[part] = value  # type: ignore[literal-required]

    def metric(self, name: str, value: float, phase: str = "run") -> None:
        self._noted.append(metric(name, value, phase))

    @property
    def promised(self) -> Statement | None:
        return self._promised

    def promise(self, promised: Statement) -> None:
        """The last one counts: what is in force at the end."""
        self._promised = promised
        self._judge()

    @property
    def observation(self) -> Observation:
        return self._observation

    def saw(self, **seen: Any) -> None:
        """Fields of `Observation`."""
        self._observation = replace(self._observation, **seen)
        self._judge()

    def _judge(self) -> None:
        if self._promised is not None:
            judged = judge(self._promised, self._storage, of_observation(self._observation))
            self.result["durability"] = {
                "durability": judged.durability or "", "reason": judged.reason, "promised": _fact(judged.promised),
                "storage": _fact(judged.storage), "observed": _fact(judged.observed),
            }  # fmt: skip

    def storage(self, folders: JobFolders, *, backup: bool) -> None:
        """Which device held what. `backup`: the workload writes backups."""
        self.result["storage"] = [
            {"role": role, "device": device_name(folders.storages[role]), "path": str(path)}
            for role, path in folders.by_role().items()
            if backup or role != "backup"
        ]
        self._storage = of_storage({"data": storage_layers(folders.data), "log": storage_layers(folders.log)})
        emulated = [storage for storage in folders.storages.values() if storage.emulation]
        if emulated:
            self.condition("emulated_disks", "; ".join(dict.fromkeys(map(emulated_words, emulated))))

    def memory(self, cgroup: JobCgroup) -> None:
        """What the DBMS used of its memory limit, while its cgroup still stands."""
        if cgroup.memory_peak_bytes is not None:
            self.metric("memory_peak_bytes", cgroup.memory_peak_bytes)
        if cgroup.oom_kills:
            self.warn(f"the kernel killed {_processes(cgroup.oom_kills)} for lack of memory")

    def with_cause(self, message: str, cgroup: JobCgroup) -> str:
        """Why a run failed; what the kernel did for lack of memory comes first, and its consequences after it."""
        if not cgroup.oom_kills:
            return message
        who = "the load generator, which holds the engine," if self._embedded else "the DBMS or its tools"
        killed = f"the kernel killed {_processes(cgroup.oom_kills)} of {who} for lack of memory"
        return f"{killed} (limits of this run: {cgroup.words}); then: {message}"

    def complete(self, instance: Instance | None) -> None:
        """The last `fill`. Never raises: a result without it is better than none."""
        collector = self.collector
        try:
            self.fill(instance)
            self.result["warnings"] += instance.warnings if instance else []
            if collector and collector.summary is None and collector.has_seconds and not self.done:
                self.warn(f"partial: {len(collector.measured('tps'))} measured seconds")
        except Exception:
            log.exception("the result is incomplete")
            self.warn("the result is incomplete: see the agent's log")

    def fill(self, instance: Instance | None) -> None:
        """May be called again and again."""
        collector = self.collector
        if instance is not None:
            self.result["ignored_settings"] = list(dict.fromkeys(instance.ignored_settings))
            self.result["command_lines"] = [*instance.command_lines]
        if collector is None:
            return
        connected, summary = collector.connected, collector.summary
        self.result["product"] = f"{connected.get('product', '')} {connected.get('product_version', '')}".strip()
        transport = IN_PROCESS if self._embedded else instance.transport if instance else ""
        self.result["driver"] = generator_facts(collector, self._embedded, transport)
        size = instance.size_bytes() if instance and (collector.phases or not self.data_missing) else 0
        counters = self.result.get("statistics", {}).get("counters", {})
        self.result["metrics"] = []
        for measured in (*metrics(collector, counters, psutil.cpu_count() or 1, size or None), *self._noted):
            # The server takes no result that holds such a value, so it must not take the others with it.
            if why := refusal(measured["name"], measured["value"]):
                self.result["warnings"] = list(dict.fromkeys([*self.result["warnings"], f"left out: {why}"]))
            else:
                self.result["metrics"].append(measured)
        if collector.marks:
            self.describe("marks", [dict(mark) for mark in collector.marks])
        if latencies := collector.latencies.as_json():
            self.describe("latency_map", latencies)
        if summary:
            self.result["per_terminal"] = list(summary["per_terminal"])
            self.result["histogram"] = summary["histogram"]


def _fact(statement: Statement) -> StatementFact:
    return {"durability": statement.durability or "", "reason": statement.reason}


def _processes(count: int) -> str:
    return f"{count} process{'' if count == 1 else 'es'}"
