"""A bench without a DBMS: it keeps what a workload asks for and answers with what the test says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from benchagent.dbms import probes
from benchagent.dbms.base import JobError
from benchagent.dbms.counters import EngineCounters
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.probes import Step
from benchagent.protocol import Check
from benchagent.workloads.base import SessionResult, Workload

Answer = Callable[[Sequence[Step]], SessionResult]


class FakeBench:
    """`sessions` holds the steps of each session; `checks`, `metrics` and `conditions` what was noted."""

    def __init__(
        self,
        workload: Workload,
        factors: Mapping[str, Any],
        *,
        dialect: Dialect | None = None,
        rows: Mapping[str, list[list[Any]]] | None = None,
        summary: Mapping[str, Any] | None = None,
        in_memory: bool = False,
        data_missing: bool = True,
        buffer_bytes: int | None = None,
        elapsed_s: float = 0.0,
    ) -> None:
        self.factors = workload.factors(factors)
        self.seed = 42
        self.data_missing = data_missing
        self.verified_in_repeat: int | None = None
        self.data_dir = self.backup_dir = self.temp_dir = Path("/nonexistent")
        self.instance: Any = SimpleNamespace(
            dialect=dialect or Dialect(),
            in_memory=in_memory,
            buffer_bytes=lambda: buffer_bytes,
            backup_methods=lambda: (),
            make_dense=lambda: (),
            own=lambda folder: None,
            size_bytes=lambda: 5_000_000,
            elsewhere="",
            engine_counters=EngineCounters(),
        )
        self.sessions: list[list[Step]] = []
        self.calls: list[str] = []
        self.checks: list[Check] = []
        self.metrics: dict[str, float] = {}
        self.conditions: dict[str, str] = {}
        self.described: dict[str, Any] = {}
        self.warnings: list[str] = []
        self.watched: list[str] = []
        self.urls: list[str] = []
        # True: another database than the instance's cannot be opened.
        self.breaks_at_url = False
        self._elapsed_s = elapsed_s
        self._rows = dict(rows or {})
        self._summary = summary

    def session(self, steps: Sequence[Step], *, watch: str = "", url: str = "") -> SessionResult:
        self.sessions.append(list(steps))
        self.calls.append("session")
        self.watched += [watch] if watch else []
        self.urls += [url] if url else []
        if url and self.breaks_at_url:
            raise JobError(f"{url} cannot be opened")
        took = {"elapsed_s": self._elapsed_s}
        queries = {step["name"]: took for step in steps if step["op"] == "query"}
        phases = {step["phase"]: took for step in steps if "phase" in step}
        rows = {name: found for name, found in self._rows.items() if name in queries}
        return SessionResult(self._summary, rows, queries, phases, [])

    def data_loaded(self) -> None:
        self.calls.append("data_loaded")

    def before_run(self, control: str = "") -> None:
        self.calls.append(f"before_run {control}".rstrip())

    def unmeasured(self) -> AbstractContextManager[None]:
        return nullcontext()

    def own(self, folder: Path) -> None:
        """Nobody but ourselves is at work here."""

    def write_back(self, *folders: Path) -> float:
        self.calls.append(" ".join(["write_back", *(folder.name for folder in folders)]))
        return 0.25

    def metric(self, name: str, value: float, phase: str) -> None:
        self.metrics[name] = value

    def check(self, check: Check) -> None:
        self.checks.append(check)

    def condition(self, name: str, words: str) -> None:
        self.conditions[name] = words

    def describe(self, part: str, value: Any) -> None:
        self.described[part] = value

    def warn(self, words: str) -> None:
        self.warnings.append(words)

    def log(self, line: str) -> None:
        self.calls.append(line)

    # For the tests

    def step(self, op: str) -> Step:
        """The only step of that kind."""
        (found,) = [step for steps in self.sessions for step in steps if step["op"] == op]
        return found

    def phases(self) -> list[str]:
        return [
            step["phase"]
            for steps in self.sessions
            for step in steps
            if step.get("phase", probes.PHASE) != probes.PHASE
        ]
