"""What a run has shown so far, put into its `JobResult`: a run that is cut short has it too."""

from __future__ import annotations

import logging
from typing import Any

import psutil

from benchagent.dbms.base import Instance
from benchagent.job.collect import Collector
from benchagent.job.result import empty_result, generator_facts, metric, metrics
from benchagent.machine.limits import Cage
from benchagent.machine.storage import device_name, emulated_words
from benchagent.machine.storages import JobFolders
from benchagent.protocol import JobResult, MetricValue

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

    def warn(self, words: str) -> None:
        self.result["warnings"].append(words)

    def condition(self, name: str, words: str) -> None:
        self.result.setdefault("statistics", {}).setdefault("conditions", {})[name] = words

    def describe(self, part: str, value: Any) -> None:
        self.result.setdefault("statistics", {})[part] = value  # type: ignore[literal-required]

    def metric(self, name: str, value: float, phase: str = "run") -> None:
        self._noted.append(metric(name, value, phase))

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

    def memory(self, cage: Cage) -> None:
        """What the DBMS used of its memory limit, while its cage still stands."""
        if cage.memory_peak_bytes is not None:
            self.metric("memory_peak_bytes", cage.memory_peak_bytes)
        if cage.oom_kills:
            self.warn(f"the kernel killed {_processes(cage.oom_kills)} for lack of memory")

    def with_cause(self, message: str, cage: Cage) -> str:
        """Why a run failed; what the kernel did for lack of memory comes first, and its consequences after it."""
        if not cage.oom_kills:
            return message
        who = "the load generator, which holds the engine," if self._embedded else "the DBMS or its tools"
        killed = f"the kernel killed {_processes(cage.oom_kills)} of {who} for lack of memory"
        return f"{killed} (limits of this run: {cage.words}); then: {message}"

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
        self.result["driver"] = generator_facts(collector, self._embedded)
        size = instance.size_bytes() if instance and (collector.phases or not self.data_missing) else 0
        counters = self.result.get("statistics", {}).get("counters", {})
        self.result["metrics"] = [*metrics(collector, counters, psutil.cpu_count() or 1, size or None), *self._noted]
        if collector.marks:
            self.describe("marks", [dict(mark) for mark in collector.marks])
        if summary:
            self.result["per_terminal"] = list(summary["per_terminal"])
            self.result["histogram"] = summary["histogram"]


def _processes(count: int) -> str:
    return f"{count} process{'' if count == 1 else 'es'}"
