"""An instance of an engine without a job around it: sessions of the load generator, statistics, SQL."""

from __future__ import annotations

import subprocess
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from benchagent import dbms
from benchagent.catalog import Durability
from benchagent.dbms import probes
from benchagent.dbms.backup import Action, SqlCommands, ToolCommand
from benchagent.dbms.base import Connection, ProvisionRequest
from benchagent.dbms.counters import EFFORT, PARTS
from benchagent.dbms.probes import Step
from benchagent.java import JavaToolchain, LoadGenerator
from benchagent.job import engine_counters
from benchagent.job.session import session_job, watched
from benchagent.machine.confinement import Confinement, sandbox
from benchagent.machine.process import Abort, Children
from benchagent.machine.storages import JobFolders, Storage
from benchagent.workloads.base import Factors, SessionResult
from benchagent.workloads.tpcb import WORKLOAD as TPCB

from tests.benchagent.small import RATE_PER_S

TPCB_FACTORS = {"scale_factor": 1, "terminals": 2, "warm_up_s": 0, "duration_s": 1, "rate_per_s": RATE_PER_S}


class Trial:
    """`workloads.base.Bench` as far as a workload needs it. `log_apart` puts the log into another storage."""

    def __init__(
        self,
        root: Path,
        toolchain: JavaToolchain,
        slug: str,
        version: str,
        settings: Mapping[str, str],
        *,
        log_apart: bool = False,
        temp_apart: bool = False,
        engines_dir: Path | None = None,
        restored_from: Trial | None = None,
        factors: Mapping[str, int | str] | None = None,
        landlock: bool = True,
        roots: Mapping[str, Path] | None = None,
    ) -> None:
        """`roots`: by role, where its folder is to lie elsewhere than below `root`."""
        self.root = root
        self.slug, self.version = slug, version
        apart = {role for role, away in (("log", log_apart), ("temp", temp_apart)) if away}
        self.folders = _job_folders(root, apart, roots or {})
        (root / "job" / "tmp").mkdir(parents=True)
        self.children = Children(root / "job")
        self.toolchain = toolchain
        self.lines: list[str] = []
        if restored_from is not None:
            for role in ("data", "log"):
                source, target = restored_from.folders.by_role()[role], self.folders.by_role()[role]
                subprocess.run(["cp", "-a", f"{source}/.", f"{target}/"], check=True)
        own = (root / "job", root / "job" / "tmp", *self.folders.by_role().values())
        readable = (*toolchain.readable(), engines_dir or root)
        around = sandbox(*own, *readable)
        if not landlock:
            around = replace(around, landlock=0)
        self.children.confinement = Confinement(around, readable, own, secrets=root)
        self.children.own(*own[1:])
        self.request = ProvisionRequest(
            version=version,
            settings=list(settings.items()),
            connections=4,
            job_dir=root / "job",
            folders=self.folders,
            restored=restored_from is not None,
            engines_dir=engines_dir or root,
            toolchain=toolchain,
            children=self.children,
            cgroup=None,
            abort=Abort(),
            log=self.lines.append,
        )
        self.instance = dbms.adapter(slug).provision(self.request)
        self.factors: Factors = TPCB.factors({**TPCB_FACTORS, **(factors or {})})
        self.seed = 42
        self.data_missing = restored_from is None
        self.checks: list[dict[str, Any]] = []
        self.sessions: list[SessionResult] = []
        self.last = SessionResult()
        self.generator: LoadGenerator | None = None

    # What a workload asks for

    def session(self, steps: Sequence[Step]) -> SessionResult:
        tables = TPCB.tables(self.factors)
        framed = [
            part for step in steps for part in (watched(self.instance, step, tables) if step["op"] == "run" else [step])
        ]
        return self.events(framed)

    def data_loaded(self) -> None: ...

    def before_run(self, control: str = "") -> None: ...

    def unmeasured(self) -> AbstractContextManager[None]:
        return nullcontext()

    def own(self, folder: Path) -> None:
        self.children.own(folder)

    def check(self, check: Any) -> None:
        self.checks.append(check)

    # What a test asks for

    def events(self, steps: Sequence[Step], connection: Connection | None = None) -> SessionResult:
        """Run these steps as they are. An error of the load generator is in the session."""
        job = session_job(self.instance, steps, setup=not self.sessions)
        if connection is not None:
            job["connection"] = {"url": connection.url, "driver_class": connection.driver_class}
            job["connection"]["properties"] = dict(connection.properties)
            job["close_url"] = None
        instance, session = self.instance, SessionResult()
        self.sessions.append(session)
        self.generator = LoadGenerator(
            self.toolchain,
            instance.class_path,
            heap_mb=min(instance.heap_mb, 1024),
            cwd=instance.generator_dir,
            env=self.children.environment(**instance.jvm_environment),
            spawn=partial(self.children.spawn),
        )
        self.generator.start(job)
        for event in self.generator.events():
            take(session, event)
        self.generator.abort(10)
        return session

    def tpcb(self) -> SessionResult:
        """Load and run; the session with the run. Integrity was checked, and that every terminal lived."""
        TPCB.perform(self)  # type: ignore[arg-type]
        assert self.checks and all(check["ok"] for check in self.checks), self.checks
        session = self.sessions[-1]
        assert session.summary is not None
        assert session.summary["dead_terminals"] == []
        return session

    def query(self, *statements: str, connection: Connection | None = None) -> list[list[list[Any]]]:
        steps = [{"op": "query", "name": str(number), "sql": sql} for number, sql in enumerate(statements)]
        session = self.events(steps, connection)
        assert session.error is None, session.error
        return [session.rows[str(number)] for number in range(len(statements))]

    def effective(self, session: SessionResult) -> dict[str, str]:
        return dict(self.instance.effective_settings(probes.rows(probes.EFFECTIVE, session.rows)))

    def in_force(self) -> dict[str, str]:
        """Settings, as a session that asks for nothing else is told them."""
        session = self.events(probes.steps(probes.EFFECTIVE, self.instance.effective_queries))
        assert session.error is None, session.error
        return self.effective(session)

    def promised(self) -> Durability:
        """What a commit is worth under these settings."""
        durability: Durability = self.instance.durability(self.in_force())[0]
        return durability

    def statistics(self, session: SessionResult) -> dict[str, Any]:
        sampled = {name: list(rows) for name, rows in getattr(session, "sampled", {}).items()}
        return dict(engine_counters.of_session(self.instance.engine_counters, session, sampled))

    def act(self, actions: Sequence[Action]) -> None:
        for action in actions:
            if isinstance(action, SqlCommands):
                other = replace(self.instance.connection, url=action.url) if action.url else None
                session = self.events([{"op": "execute", "phase": "act", "statements": list(action.statements)}], other)
                assert session.error is None, session.error
            else:
                self.tool(action)

    def popen(self, command: ToolCommand, **more: Any) -> subprocess.Popen[Any]:
        """As a job starts it."""
        environment = self.children.environment(**command.environment)
        return self.children.spawn(command.argv, env=environment, cwd=command.cwd or self.root / "job", **more)

    def tool(self, command: ToolCommand) -> None:
        """As a job does it: with the tool's standard input and output where the method says so."""
        with ExitStack() as files:
            stdin = files.enter_context(command.stdin.open("rb")) if command.stdin else subprocess.DEVNULL
            stdout = files.enter_context(command.stdout.open("wb")) if command.stdout else subprocess.PIPE
            done = self.popen(command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE)
            output = done.communicate()
        assert done.returncode == 0, output

    def close(self) -> None:
        self.instance.stop()
        self.children.kill_all()


def take(session: SessionResult, event: Mapping[str, Any]) -> None:
    match event["event"]:
        case "query":
            session.rows[event["name"]] = event["rows"]
            session.queries[event["name"]] = event
        case "summary":
            session.summary = event
        case "error":
            session.error = event
        case "sampled" if "error" not in event:
            session.__dict__.setdefault("sampled", {}).setdefault(event["name"], []).append(event["rows"])
        case "phase" if event["state"] == "end":
            session.phases[event["phase"]] = event


def undeclared(trial: Trial, session: SessionResult) -> set[str]:
    """Parts of the statistics that were neither delivered nor have a reason for it, or both at once."""
    found = trial.statistics(session)
    delivered = set(found.get("counters", {})) | {
        part for part in ("tables", "indexes", "maintenance") if found.get(part)
    }
    source = trial.instance.engine_counters
    delivered |= {"waits"} if source.waiting else set()
    delivered |= {"plans"} if source.plan_queries("SELECT 1") else set()
    delivered |= set(EFFORT) & set(source.sources) if source.effort_sql else set()
    return set(PARTS) - (delivered ^ set(source.none))


def _job_folders(root: Path, apart: Collection[str], roots: Mapping[str, Path]) -> JobFolders:
    folders = {role: roots.get(role, root) / "storage" / role for role in ("data", "log", "temp", "backup")}
    for folder in folders.values():
        folder.mkdir(parents=True)
    storages = {role: Storage("other" if role in apart else "default", root) for role in folders}
    return JobFolders(**folders, storages=storages)
