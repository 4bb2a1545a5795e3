"""All SQL that a workload would send, without sending any: the workload performs on a bench that only writes down."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchagent.catalog import Durability
from benchagent.dbms.backup import ToolCommand
from benchagent.dbms.base import Connection, Instance, JobError
from benchagent.dbms.external.guard import statements
from benchagent.dbms.external.side import Side
from benchagent.dbms.external.target import Target
from benchagent.dbms.statistics import QueryRows
from benchagent.protocol import Check
from benchagent.session import watched
from benchagent.workloads.base import Factors, SessionResult, Step, ToolResult, Workload

EVENT = {"rows": [[0]], "row_count": 1, "elapsed_s": 0.0, "at": 0.0}


class _Answers(dict[str, Any]):
    """The same answer to every question that has none of its own."""

    def __init__(self, answer: Any, own: Mapping[str, Any] | None = None) -> None:
        super().__init__(own or {})
        self._answer = answer

    def __missing__(self, name: str) -> Any:
        return self._answer

    def get(self, name: str, default: Any = None) -> Any:
        return self[name]


class PaperInstance(Instance):
    """Knows the engine's SQL and nothing else."""

    def __init__(self, side: Side) -> None:
        nowhere = Path("/nonexistent")
        super().__init__(connection=Connection(""), class_path=(), data_path=nowhere, driver_dir=nowhere)
        self._side = side
        self.dialect = replace(side.dialect, after_load=())
        self.statistics = side.statistics

    def effective_queries(self) -> dict[str, str]:
        return dict(self._side.effective_queries)

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        return []

    def durability(self, effective: object) -> tuple[Durability, str]:
        return Durability.NONE, "nothing runs"


class PaperBench:
    """`workloads.base.Bench` whose sessions are written down as `steps` and answered with zeros."""

    def __init__(self, workload: Workload, side: Side, factors: Factors) -> None:
        self.instance: Instance = PaperInstance(side)
        self.factors = factors
        self.seed = 1
        self.data_missing = True
        self.first_repeat = True
        self.data_dir = self.backup_dir = Path("/nonexistent")
        self.steps: list[Step] = []
        self._tables = workload.tables(factors)

    def session(self, steps: Sequence[Step], *, watch: str = "", url: str = "") -> SessionResult:
        for step in steps:
            self.steps += watched(self.instance, step, self._tables) if step["op"] == "run" else [step]
        executed = {
            str(step["phase"]): {"elapsed_s": 0.0, "elapsed": [0.0] * len(step["statements"])}
            for step in steps
            if step["op"] == "execute"
        }
        return SessionResult(None, _Answers([[0]]), _Answers(EVENT), _Answers({"elapsed_s": 0.0}, executed), [])

    def tool(
        self, command: ToolCommand, *, phase: str, timeout_s: float, observe: Callable[[int], None] | None = None
    ) -> ToolResult:
        raise JobError("this workload runs tools on the server's own machine")

    def data_loaded(self) -> None:
        """Nothing is kept."""

    def before_run(self) -> None:
        """Nothing rests."""

    def restart(self, *, cold: bool) -> None:
        """Nothing is started."""

    def metric(self, name: str, value: float, phase: str) -> None:
        """Nothing was measured."""

    def check(self, check: Check) -> None:
        """Zeros prove nothing."""

    def warn(self, words: str) -> None:
        """There is nobody to warn."""

    def log(self, line: str) -> None:
        """There is no log."""

    def describe(self, part: str, value: Any) -> None:
        """There is no result."""

    def condition(self, name: str, words: str) -> None:
        """There is no run."""


def steps_of(workload: Workload, side: Side, factors: Factors) -> list[Step]:
    """What the load generator would get. Raises `JobError` for a workload that does not only send SQL."""
    bench = PaperBench(workload, side, factors)
    workload.perform(bench)
    return bench.steps


def planned(workload: Workload, side: Side, target: Target) -> Iterator[tuple[str, list[str]]]:
    """Phases with their SQL in order; a statement that is sent many times stands there once."""
    for step in steps_of(workload, side, workload.factors({}, side.dbms)):
        found = list(dict.fromkeys(statements(step)))
        noted = target.noted(found) if step["op"] == "execute" else found
        yield str(step.get("phase") or step.get("name") or step["op"]), noted
