"""The bench that a workload performs on: sessions of the load generator, restarts, tools, notes for the result."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from benchagent.catalog.durability import Statement, weakest
from benchagent.configfiles.meaning import in_sessions
from benchagent.dbms import probes
from benchagent.dbms.backup import ToolCommand
from benchagent.dbms.base import Instance, JobError
from benchagent.dbms.counters import checkpoint_words
from benchagent.dbms.probes import Step
from benchagent.java import JavaToolchain, LoadGenerator
from benchagent.job import engine_counters
from benchagent.job.collect import Collector, Event, Listener, PhaseWatch
from benchagent.job.result import Description
from benchagent.job.session import changes, deaths, require_end, session_job, watched
from benchagent.link.spool import Spool
from benchagent.machine import process
from benchagent.machine.caches import drop_page_cache, resident_words, write_back
from benchagent.machine.devices import device_of, flush_count
from benchagent.machine.limits import JobCgroup
from benchagent.machine.preloaded import fake_sync_libraries
from benchagent.machine.process import Abort, Children
from benchagent.machine.sampling import Sampler
from benchagent.machine.storages import JobFolders
from benchagent.paths import end_of, without_links
from benchagent.protocol import Check, EngineReport, JobSpec
from benchagent.workloads.base import Factors, Observe, SessionResult, ToolResult

OUTPUT_LIMIT = 200_000
READ_TIMEOUT_S = 6 * 3600.0


@dataclass(frozen=True)
class Surroundings:
    """What a job works with."""

    spec: JobSpec
    job_dir: Path
    folders: JobFolders
    toolchain: JavaToolchain
    spool: Spool
    children: Children
    abort: Abort
    # Limits of the DBMS, and of the load generator where it does not hold the DBMS.
    server_cgroup: JobCgroup
    generator_cgroup: JobCgroup
    embedded: bool
    described: Description
    on_state: Callable[[str], None]
    on_log: Callable[[str], None]
    # Called when something worth keeping is known: what follows may never come.
    on_news: Callable[[], None]
    # Keeps a copy of the data where that was asked for.
    on_loaded: Callable[[], None]


class JobBench:
    """`workloads.base.Bench` for one job."""

    def __init__(
        self,
        around: Surroundings,
        instance: Instance,
        factors: Factors,
        *,
        tables: Sequence[str],
        reading: frozenset[str],
        sql: str = "",
        data_missing: bool,
    ) -> None:
        """`tables`: whose sizes are asked for; `reading`: names of the transactions that change nothing; `sql`: what
        somebody else wrote."""
        self.instance = instance
        self.factors = factors
        self.seed = around.spec["seed"]
        self.data_missing = data_missing
        self.verified_in_repeat = around.spec.get("verified_in_repeat")
        placed = around.folders
        self.data_dir, self.backup_dir, self.temp_dir = placed.data, placed.backup, placed.temp
        self.checks: list[Check] = []
        self.generator: LoadGenerator | None = None
        described = around.described  # where everything is said of the run
        self.metric, self.warn = described.metric, described.warn
        self.condition, self.describe = described.condition, described.describe
        self.log, self.data_loaded = around.on_log, around.on_loaded
        self.unmeasured, self.own = around.server_cgroup.at_full_speed, around.children.own
        listener = Listener(around.on_state, self.log, self._queried, self._sampler)
        self.collector = Collector(
            around.spool, around.spec["run_id"], listener, warm_up_s=factors.number("warm_up_s", 0)
        )
        described.collector, described.data_missing = self.collector, data_missing
        self._watch = PhaseWatch(around.spool, around.spec["run_id"], self.collector)
        self._around = around
        self._tables, self._reading, self._sql = tables, reading, sql
        self._sessions = 0
        # The flushes of the log's disk when the run began.
        self._flushes_before: int | None = None
        self._settings_known = False

    # Sessions

    def session(self, steps: Sequence[Step], *, watch: str = "", url: str = "") -> SessionResult:
        if self.instance.in_memory and self._sessions:
            raise JobError("what an engine holds in memory is gone: there can be no second session")
        self._around.abort.check()
        framed = steps if url else self._framed(steps)
        job = session_job(self.instance, framed, setup=not self._sessions, foreign=bool(self._sql))
        if url:
            job["connection"]["url"] = url
        self._sessions += 1
        generator = self._new_generator()
        session = self.collector.begin_session()
        generator.start(job)
        self._note_command(generator.command_line)
        sampler = partial(self.new_sampler, {"tool": [generator.pid]})
        try:
            watching = self._watch.following(watch, sampler) if watch else nullcontext(lambda event: None)
            with watching as tell, self._full_speed_aside() as set_rates:
                for event in generator.events():
                    set_rates(event)
                    tell(event)
                    self.collector.take(self.instance.seen(event))
        finally:
            status = generator.abort()
        self._around.abort.check()
        self._take_engine_report(session)
        if status or deaths(session):  # what load generator and DBMS wrote: their files will be gone
            sources = {"load generator": generator.stderr_tail, self._around.spec["dbms"]: self.instance.log_tail()}
            for source, text in sources.items():
                for line in self.instance.redacted(text).splitlines():
                    self.log(f"{source}: {line}")
        return require_end(session, status)

    @contextmanager
    def _full_speed_aside(self) -> Iterator[Callable[[Event], None]]:
        """Gives what is to be told the events of a session: no emulated disk slows down what is not measured."""
        with ExitStack() as lifted:

            def tell(event: Event) -> None:
                if event["event"] != "phase":
                    return
                lifted.close()
                if event["phase"] == probes.PHASE and event["state"] == "begin":
                    lifted.enter_context(self.unmeasured())

            yield tell

    def _framed(self, steps: Sequence[Step]) -> list[Step]:
        """With what is read around a run; a session without one asks for the settings at its end, once."""
        if not any(step["op"] == "run" for step in steps):
            settings = [] if self._settings_known else probes.steps(probes.EFFECTIVE, self.instance.effective_queries)
            return [*steps, *settings]
        framed: list[Step] = []
        for step in steps:
            is_run = step["op"] == "run"
            framed += watched(self.instance, step, self._tables, self._reading) if is_run else [step]
        return framed

    def _new_generator(self) -> LoadGenerator:
        around, instance = self._around, self.instance
        cgroup = around.server_cgroup if around.embedded else around.generator_cgroup
        self.generator = LoadGenerator(
            around.toolchain,
            instance.class_path,
            heap_mb=instance.heap_mb,
            cwd=instance.generator_dir,
            env=around.children.environment(**instance.jvm_environment),
            spawn=partial(around.children.spawn, cgroup=cgroup),
        )
        return self.generator

    def _sampler(self) -> Sampler:
        if self.generator is None:
            raise RuntimeError("a run without a load generator")
        self._flushes_before = self._flushes()
        return self.new_sampler({"driver": [self.generator.pid]})

    def _flushes(self) -> int | None:
        return None if "connection" in self._around.spec else flush_count(self._around.folders.log)

    def new_sampler(self, processes: Mapping[str, Sequence[int]]) -> Sampler:
        """A sampler of the machine, the DBMS, these processes and the devices of the job's folders, if the data are
        there.
        """
        server = {"server": self.instance.server_pids} if self.instance.server_pids() else {}
        folders = {} if "connection" in self._around.spec else self._around.folders.by_role()
        devices = {role: device_of(folder) for role, folder in folders.items()}
        return Sampler({**server, **processes}, devices)

    def _queried(self, name: str) -> None:
        """The settings in force are known before the run, as a run that is cut short has them too; what counts is
        what is in force at its end."""
        ended = name.startswith(probes.END + probes.EFFECTIVE)
        if not ended and (self._settings_known or not name.startswith(probes.EFFECTIVE)):
            return
        rows = probes.rows(f"{probes.END if ended else ''}{probes.EFFECTIVE}", self.collector.session.rows)
        if not set(self.instance.effective_queries) <= rows.keys():
            return
        self._settings_known = True
        settings = self.instance.effective_settings(rows)
        described = self._around.described
        if ended and (changed := changes(described.result["effective_settings"], settings)):
            self.warn(f"settings changed during the run: {changed}")
        described.result["effective_settings"] = settings
        described.promise(self._promised(dict(settings)))
        holding = [self.generator.pid] if self.generator and self._around.embedded else self.instance.server_pids()
        described.saw(
            fake_sync_libraries=fake_sync_libraries(child.pid for pid in holding for child in process.family(pid))
        )
        if fact := described.result["durability"]:
            self.log(f"durability {fact['durability']}: {fact['reason']}")
        self._around.on_news()

    def _promised(self, settings: Mapping[str, str]) -> Statement:
        """What a commit is promised by the settings in force and by those that the user's SQL sets for its own
        sessions.
        """
        promises = [
            (self.instance.durability(case), of)
            for case, of in in_sessions(self._around.spec["dbms"], settings, self._sql)
        ]
        every = [Statement(durability, f"{of}{reason}") for (durability, reason), of in promises]
        return weakest(every) or every[0]

    def _take_engine_report(self, session: SessionResult) -> None:
        """Also of a session that failed: what was measured so far stays."""
        source = self.instance.engine_counters
        shown = engine_counters.of_session(source, session, self.collector.sampled)
        if session.summary is not None:
            counters = shown.get("counters", {})
            self.condition("checkpoints", checkpoint_words(source, counters))
            shared = engine_counters.commits_per_flush(source, session.summary, counters, self._reading)
            settings = dict(self._around.described.result["effective_settings"])
            before, after = self._flushes_before, self._flushes()
            self._around.described.saw(
                device_flushes=after - before if before is not None and after is not None else None,
                terminals=self.factors.number("terminals", 0),
                duration_s=session.summary["duration_s"],
                **engine_counters.seen_at_commits(source, session.summary, counters, self._reading, settings),
            )
            if shared:
                self.metric("commits_per_flush", shared[0], "run")
                self.condition("commits_per_flush", shared[1])
        report: EngineReport = self._around.described.result.setdefault("statistics", {})
        report.update(shown)

    # Between sessions

    def before_run(self, control: str = "") -> None:
        if self.factors.text("cache_state") == "cold":
            words, took_s = self._start_anew(cold=True, before=control or "the run")
            self.condition(f"caches_{control}" if control else "caches", words)
            if self.instance.server_pids() and not control:  # an embedded engine starts with its next session
                self.metric("restart_s", took_s, "restart")
        elif self.factors.text("cache_state") == "preread":
            # As after a long warm-up, at once: what was read counts as the job's, and its memory limit decides what
            # stays. A file may go while it is read, so what is in the page cache afterwards is what is told.
            around = self._around
            folders = list(dict.fromkeys((around.folders.data, around.folders.log)))
            reading = 'find "$@" -type f -exec cat {} + > /dev/null 2>&1; true'
            command: list[str | Path] = ["sh", "-c", reading, "sh", *folders]
            with self.unmeasured():
                around.children.run(command, timeout_s=READ_TIMEOUT_S, cgroup=around.server_cgroup)
            words = f"the files were read once, within the limits of the job: {resident_words(folders)}"
            self.log(f"caches: {words}")
            self.condition("caches", words)
        settle_s = self.factors.number("settle_s", 0)
        if settle_s:
            self.log(f"resting {settle_s} s")
            self._around.abort.sleep(settle_s)

    def restart(self, *, cold: bool, before: str) -> None:
        self._start_anew(cold=cold, before=before)

    def _start_anew(self, *, cold: bool, before: str) -> tuple[str, float]:
        """What was done about the caches, and the seconds that the DBMS took to shut down and to start."""
        begun = time.monotonic()
        self.instance.shut_down()
        took_s = time.monotonic() - begun
        words = ""
        if cold:
            words = drop_page_cache([self._around.folders.data, self._around.folders.log])
            self.log(f"caches: {words} (before {before})")
        begun = time.monotonic()
        self.instance.start()
        took_s += time.monotonic() - begun
        self.log(f"DBMS started anew before {before} in {took_s:.2f} s")
        return words, took_s

    def write_back(self, *folders: Path) -> float:
        try:
            return sum(write_back(folder) for folder in folders)
        except OSError as error:
            raise JobError(f"what was written could not be brought to the disk: {error}") from error

    # Tools

    def tool(self, command: ToolCommand, *, phase: str, timeout_s: float, observe: Observe | None = None) -> ToolResult:
        """Output is what the tool printed, its end where that is long. Raises `JobError` with it when it fails."""
        around = self._around
        self._note_command(" ".join(str(part) for part in command.argv))
        output_path = around.job_dir / f"{phase}.out"
        with ExitStack() as files:

            def opened(path: Path, mode: str) -> IO[Any]:
                return files.enter_context(open(path, mode, opener=without_links))

            output = opened(output_path, "w+b")
            stdout = opened(command.stdout, "wb") if command.stdout else output
            stdin = opened(command.stdin, "rb") if command.stdin else subprocess.DEVNULL
            child = around.children.spawn(
                command.argv,
                env=around.children.environment(**command.environment),
                stdin=stdin,
                stdout=stdout,
                stderr=output,
                cwd=command.cwd or around.job_dir,
                cgroup=around.server_cgroup,
            )
            begun = time.monotonic()
            try:
                whole, sampler = (self.new_sampler({"tool": [child.pid]}) for _ in range(2))
                self._watch.attend(
                    child, phase, sampler, timeout_s=timeout_s, sleep=around.abort.sleep, observe=observe
                )
                elapsed_s = time.monotonic() - begun
                self._watch.take_whole(phase, whole, elapsed_s)
            finally:
                process.stop(child)
            words = self.instance.redacted(end_of(output, OUTPUT_LIMIT))
        if child.returncode:
            raise JobError(f"{Path(command.argv[0]).name} ended with {child.returncode}: {words[-2000:].strip()}")
        self.log(f"{phase}: {Path(command.argv[0]).name} took {elapsed_s:.2f} s")
        return ToolResult(elapsed_s, words)

    # Notes

    def check(self, check: Check) -> None:
        self.checks.append(check)
        self.log(f"{'ok' if check['ok'] else 'NOT OK'}: {check['detail']}")

    def _note_command(self, line: str) -> None:
        if line not in self.instance.command_lines:
            self.instance.command_lines.append(line)
