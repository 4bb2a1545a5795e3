"""What a run has shown so far, put into its `JobResult`: a run that is cut short has it too."""

from __future__ import annotations

import logging
from collections.abc import Mapping

import psutil

from benchagent.dbms.base import Instance
from benchagent.job.bench import JobBench
from benchagent.job.collect import Collector
from benchagent.job.result import driver_facts, empty_result, metric, metrics
from benchagent.machine.limits import Cage
from benchagent.machine.storage import device_name, emulated_words
from benchagent.machine.storages import JobFolders
from benchagent.protocol import JobResult, MetricValue

log = logging.getLogger(__name__)
SAMPLED = "server sampled by the agent on its machine"


class Description:
    """`embedded`: the load generator holds the DBMS."""

    def __init__(self, *, embedded: bool) -> None:
        self.result: JobResult = empty_result()
        # Metrics beside those that follow from the collected events.
        self.noted: list[MetricValue] = []
        self._embedded = embedded

    def warn(self, words: str) -> None:
        self.result["warnings"].append(words)

    def condition(self, name: str, words: str) -> None:
        self.result.setdefault("statistics", {}).setdefault("conditions", {})[name] = words

    def metric(self, name: str, value: float) -> None:
        self.noted.append(metric(name, value, "run"))

    def storage(self, folders: JobFolders, *, backup: bool) -> None:
        """Which device held what. `backup`: the workload writes backups."""
        self.result["storage"] = [
            {"role": role, "device": device_name(folders.storages[role]), "path": str(path)}
            for role, path in folders.by_role().items()
            if backup or role != "backup"
        ]
        emulated = [storage for storage in folders.storages.values() if storage.emulation]
        if emulated:
            self.condition("emulated_disks", "; ".join(dict.fromkeys(map(emulated_words, emulated))))

    def limits(self, cages: Mapping[str, Cage | None]) -> None:
        server = cages["server"]
        if server and server.words:
            self.condition("limits", server.words)

    def memory(self, cages: Mapping[str, Cage | None]) -> None:
        """What the DBMS used of its memory limit, while its cage still stands."""
        cage = cages["server"]
        if cage and cage.memory_peak_bytes is not None:
            self.metric("memory_peak_bytes", cage.memory_peak_bytes)
        if cage and cage.oom_kills:
            self.warn(f"the kernel killed {_processes(cage.oom_kills)} for lack of memory")

    def with_cause(self, message: str, cages: Mapping[str, Cage | None]) -> str:
        """Why a run failed; what the kernel did for lack of memory comes first, and its consequences after it."""
        cage = cages["server"]
        if not cage or not cage.oom_kills:
            return message
        who = "the load generator, which holds the engine," if self._embedded else "the DBMS or its tools"
        killed = f"the kernel killed {_processes(cage.oom_kills)} of {who} for lack of memory"
        return f"{killed} (limits of this run: {cage.words}); then: {message}"

    def complete(self, instance: Instance | None, bench: JobBench | None) -> None:
        """The last `fill`. Never raises: a result without it is better than none."""
        try:
            self.fill(instance, bench)
            self.result["warnings"] += instance.warnings if instance else []
            if bench and bench.collector.summary is None and bench.collector.has_seconds and not bench.done:
                self.warn(f"partial: {len(bench.collector.measured('tps'))} measured seconds")
        except Exception:
            log.exception("the result is incomplete")
            self.warn("the result is incomplete: see the agent's log")

    def fill(self, instance: Instance | None, bench: JobBench | None) -> None:
        """May be called again and again."""
        if instance is not None:
            self.result["ignored_settings"] = list(dict.fromkeys(instance.ignored_settings))
            self.result["command_lines"] = [*instance.command_lines]
        if bench is None:
            return
        collector = bench.collector
        connected, summary = collector.connected, collector.summary
        self.result["product"] = f"{connected.get('product', '')} {connected.get('product_version', '')}".strip()
        self.result["driver"] = driver_facts(collector, self._embedded)
        size = instance.size_bytes() if instance and (collector.phases or not bench.data_missing) else 0
        self.result["metrics"] = [*self._metrics(collector, size or None), *self.noted]
        if collector.marks:
            bench.describe("marks", [dict(mark) for mark in collector.marks])
        if summary:
            self.result["per_terminal"] = list(summary["per_terminal"])
            self.result["histogram"] = summary["histogram"]

    def _metrics(self, collector: Collector, size_bytes: int | None) -> list[MetricValue]:
        counters = self.result.get("statistics", {}).get("counters", {})
        return metrics(collector, counters, psutil.cpu_count() or 1, size_bytes)


def _processes(count: int) -> str:
    return f"{count} process{'' if count == 1 else 'es'}"
