"""All SQL that a workload would send, without sending any: the workload performs on a bench that only writes down."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchagent import dbms
from benchagent.catalog import Durability
from benchagent.dbms import probes
from benchagent.dbms.backup import BackupMethod, ToolCommand
from benchagent.dbms.base import Connection, Instance
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.external import Visit
from benchagent.dbms.external.guard import created, statements
from benchagent.dbms.external.instance import ELSEWHERE, Guard, outgoing
from benchagent.dbms.external.own_schema import VIEW, Target
from benchagent.dbms.external.server import ExternalServer
from benchagent.dbms.probes import Step
from benchagent.job.refused import refuse_changes
from benchagent.job.session import watched
from benchagent.workloads.base import Factors, SessionResult, ToolResult, Workload

TOOL = "tool"
SESSION, AFTER = "each session begins with", "after a run"
# Where files of a job will be.
JOB = "JOB"
NOWHERE = Path("/nonexistent")
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
    """Knows the engine's SQL and its backups, and nothing else."""

    elsewhere = ELSEWHERE

    def __init__(self, server: ExternalServer, backups: Callable[[], Sequence[BackupMethod]]) -> None:
        super().__init__(connection=Connection(""), class_path=(), data_path=NOWHERE, generator_dir=NOWHERE)
        self._backups = backups
        self.dialect = replace(server.dialect, after_load=())
        self.engine_counters, self.effective_queries = server.engine_counters, server.effective_queries

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        return []

    def durability(self, effective: object) -> tuple[Durability, str]:
        return Durability.NONE, "nothing runs"

    def size_bytes(self) -> int:
        return 0

    def backup_methods(self) -> Sequence[BackupMethod]:
        return self._backups()


class PaperBench:
    """`workloads.base.Bench` whose sessions and tools are written down as `steps` and answered with zeros.

    `folder`: where a backup would lie.
    """

    def __init__(
        self,
        workload: Workload,
        server: ExternalServer,
        factors: Factors,
        *,
        backups: Callable[[], Sequence[BackupMethod]] = tuple,
        folder: Path = NOWHERE,
    ) -> None:
        self.instance: Instance = PaperInstance(server, backups)
        self.factors = factors
        self.seed = 1
        self.data_missing = True
        self.verified_in_repeat: int | None = None
        self.data_dir, self.backup_dir, self.temp_dir = NOWHERE, folder, folder
        self.steps: list[Step] = []
        self._tables = workload.tables(factors)
        self._settings_known = False

    def session(self, steps: Sequence[Step], *, watch: str = "", url: str = "") -> SessionResult:
        for step in steps:
            self.steps += watched(self.instance, step, self._tables) if step["op"] == "run" else [step]
        if not self._settings_known and not url:  # as a job asks for them, at the end of its first session
            self.steps += probes.steps(probes.EFFECTIVE, self.instance.effective_queries)
            self._settings_known = True
        executed = {
            str(step["phase"]): {"elapsed_s": 0.0, "elapsed": [0.0] * len(step["statements"])}
            for step in steps
            if step["op"] == "execute"
        }
        return SessionResult(None, _Answers([[0]]), _Answers(EVENT), _Answers({"elapsed_s": 0.0}, executed), [])

    def tool(
        self, command: ToolCommand, *, phase: str, timeout_s: float, observe: Callable[[int], None] | None = None
    ) -> ToolResult:
        redirected = [f"{sign} {path}" for sign, path in (("<", command.stdin), (">", command.stdout)) if path]
        line = " ".join([shlex.join(map(str, command.argv)), *redirected])
        self.steps.append({"op": TOOL, "phase": phase, "command": line})
        return ToolResult(0.0, "")

    def unmeasured(self) -> AbstractContextManager[None]:
        return nullcontext()

    def write_back(self, *folders: Path) -> float:
        return 0.0

    def _leave(self, *_: Any, **__: Any) -> None:
        """On paper nothing is kept, started, measured or told."""

    data_loaded = before_run = restart = metric = check = warn = log = describe = condition = own = _leave


def planned(
    workload: Workload, visit: Visit, engines_dir: Path, given: Mapping[str, str] | None = None
) -> Iterator[tuple[str, list[str]]]:
    """Phases with their SQL and commands in order, as lines; what is sent many times stands there once.

    `given`: factors that are not to have their defaults. Raises `JobError` for a workload that no job would perform.
    """
    server, target = visit.asker.server, visit.target
    factors = workload.factors(given or {}, server.dbms)
    refuse_changes(dbms.adapter(server.dbms), factors, visit.version or visit.asker.connection.version)
    shown: list[BackupMethod] = []  # which no job runs
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        tool_login = visit.tool_login(engines_dir, folder / "login")

        def backups() -> Sequence[BackupMethod]:
            shown.extend(server.shown_backups)
            return shown or server.backups(tool_login)

        bench = PaperBench(workload, server, factors, backups=backups, folder=folder)
        workload.perform(bench)
    guard = Guard(server)
    yield SESSION, _lines(statement.format(schema=target.schema) for statement in server.use)
    for step in bench.steps:
        if step["op"] == TOOL:
            yield str(step["phase"]), [f"$ {step['command'].replace(made, JOB)}"]
            continue
        if not shown:
            guard.admit(step)
        for part in outgoing(step, target, visit.space_query):
            lines = [line.replace(made, JOB) for line in _lines(statements(part))]
            yield str(part.get("phase") or part.get("name") or part["op"]), lines
    yield AFTER, [*_lines(target.questions().values()), *_lines(_left(target, bench.steps))]


def _lines(sqls: Iterable[str]) -> list[str]:
    return [f"{sql};" for sql in dict.fromkeys(sqls)]


def _left(target: Target, steps: Sequence[Step]) -> list[str]:
    """What drops everything that these steps make."""
    made = [sql for step in steps if step["op"] == "execute" for sql in step["statements"]]
    tables, views = ([name for kind, name in map(created, made) if kind == wanted] for wanted in ("TABLE", "VIEW"))
    owner = [[target.agent_id, name] for name in (*tables, *(f"{VIEW}{view}" for view in views))]
    drops, forgotten = target.left(owner, [[name] for name in (*tables, *views)])
    return [*drops, *forgotten]
