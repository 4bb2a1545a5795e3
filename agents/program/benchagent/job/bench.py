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

from benchagent.catalog.durability import NOT_STATED, Statement, weakest
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


@dataclass(eq=False)
class JobBench:
    """`workloads.base.Bench` for one job."""

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
    # Where everything is said of the run.
    described: Description
    on_state: Callable[[str], None]
    log: Callable[[str], None]
    # Called when something worth keeping is known: what follows may never come.
    on_news: Callable[[], None]
    # Keeps a copy of the data where that was asked for.
    data_loaded: Callable[[], None]
    instance: Instance
    factors: Factors
    # Whose sizes are asked for; names of the transactions that change nothing.
    tables: Sequence[str]
    reading: frozenset[str]
    data_missing: bool
    # What somebody else wrote.
    sql: str = ""

    def __post_init__(self) -> None:
        self.seed = self.spec["seed"]
        self.verified_in_repeat = self.spec.get("verified_in_repeat")
        self.data_dir, self.backup_dir, self.temp_dir = self.folders.data, self.folders.backup, self.folders.temp
        self.checks: list[Check] = []
        self.generator: LoadGenerator | None = None
        self.metric, self.warn = self.described.metric, self.described.warn
        self.condition, self.describe = self.described.condition, self.described.describe
        self.unmeasured, self.own = self.server_cgroup.at_full_speed, self.children.own
        run_id, listener = self.spec["run_id"], Listener(self.on_state, self.log, self._queried, self._sampler)
        self.collector = Collector(self.spool, run_id, listener, warm_up_s=self.factors.number("warm_up_s", 0))
        self.described.collector, self.described.data_missing = self.collector, self.data_missing
        self._watch = PhaseWatch(self.spool, run_id, self.collector)
        self._sessions = 0
        # The flushes of the log's disk when the run began.
        self._flushes_before: int | None = None
        self._settings_known = False

    # Sessions

    def session(self, steps: Sequence[Step], *, watch: str = "", url: str = "") -> SessionResult:
        if self.instance.in_memory and self._sessions:
            raise JobError("what an engine holds in memory is gone: there can be no second session")
        self.abort.check()
        framed = steps if url else self._framed(steps)
        job = session_job(self.instance, framed, setup=not self._sessions, foreign=bool(self.sql))
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
                    self.collector.add(self.instance.seen(event))
        finally:
            status = generator.abort()
        self.abort.check()
        self._take_engine_report(session)
        if status or deaths(session):  # what load generator and DBMS wrote: their files will be gone
            sources = {"load generator": generator.stderr_tail, self.spec["dbms"]: self.instance.log_tail()}
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
            framed += watched(self.instance, step, self.tables, self.reading) if is_run else [step]
        return framed

    def _new_generator(self) -> LoadGenerator:
        instance = self.instance
        cgroup = self.server_cgroup if self.embedded else self.generator_cgroup
        self.generator = LoadGenerator(
            self.toolchain,
            instance.class_path,
            heap_mb=instance.heap_mb,
            cwd=instance.generator_dir,
            env=self.children.environment(**instance.jvm_environment),
            spawn=partial(self.children.spawn, cgroup=cgroup),
        )
        return self.generator

    def _sampler(self) -> Sampler:
        if self.generator is None:
            raise RuntimeError("a run without a load generator")
        self._flushes_before = self._flushes()
        return self.new_sampler({"driver": [self.generator.pid]})

    def _flushes(self) -> int | None:
        return None if "connection" in self.spec else flush_count(self.folders.log)

    def new_sampler(self, processes: Mapping[str, Sequence[int]]) -> Sampler:
        """A sampler of the machine, the DBMS, these processes and the devices of the job's folders, if the data are
        there.
        """
        server = {"server": self.instance.server_pids} if self.instance.server_pids() else {}
        folders = {} if "connection" in self.spec else self.folders.by_role()
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
        if ended and (changed := changes(self.described.result["effective_settings"], settings)):
            self.warn(f"settings changed during the run: {changed}")
        self.described.result["effective_settings"] = settings
        self.described.promise(self._promised(dict(settings)))
        holding = [self.generator.pid] if self.generator and self.embedded else self.instance.server_pids()
        self.described.saw(
            fake_sync_libraries=fake_sync_libraries(child.pid for pid in holding for child in process.family(pid))
        )
        if fact := self.described.result["durability"]:
            self.log(f"durability {fact['durability'] or NOT_STATED}: {fact['reason']}")
        self.on_news()

    def _promised(self, settings: Mapping[str, str]) -> Statement:
        """What a commit is promised by the settings in force and by those that the user's SQL sets for its own
        sessions.
        """
        promises = [
            (self.instance.durability(case), of) for case, of in in_sessions(self.spec["dbms"], settings, self.sql)
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
            shared = engine_counters.commits_per_flush(source, session.summary, counters, self.reading)
            settings = dict(self.described.result["effective_settings"])
            before, after = self._flushes_before, self._flushes()
            self.described.saw(
                device_flushes=after - before if before is not None and after is not None else None,
                terminals=self.factors.number("terminals", 0),
                duration_s=session.summary["duration_s"],
                **engine_counters.seen_at_commits(source, session.summary, counters, self.reading, settings),
            )
            if shared:
                self.metric("commits_per_flush", shared[0], "run")
                self.condition("commits_per_flush", shared[1])
        report: EngineReport = self.described.result.setdefault("statistics", {})
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
            folders = list(dict.fromkeys((self.folders.data, self.folders.log)))
            reading = 'find "$@" -type f -exec cat {} + > /dev/null 2>&1; true'
            command: list[str | Path] = ["sh", "-c", reading, "sh", *folders]
            with self.unmeasured():
                self.children.run(command, timeout_s=READ_TIMEOUT_S, cgroup=self.server_cgroup)
            words = f"the files were read once, within the limits of the job: {resident_words(folders)}"
            self.log(f"caches: {words}")
            self.condition("caches", words)
        settle_s = self.factors.number("settle_s", 0)
        if settle_s:
            self.log(f"resting {settle_s} s")
            self.abort.sleep(settle_s)

    def restart(self, *, cold: bool, before: str) -> None:
        self._start_anew(cold=cold, before=before)

    def _start_anew(self, *, cold: bool, before: str) -> tuple[str, float]:
        """What was done about the caches, and the seconds that the DBMS took to shut down and to start."""
        begun = time.monotonic()
        self.instance.shut_down()
        took_s = time.monotonic() - begun
        words = ""
        if cold:
            words = drop_page_cache([self.folders.data, self.folders.log])
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
        self._note_command(" ".join(str(part) for part in command.argv))
        output_path = self.job_dir / f"{phase}.out"
        with ExitStack() as files:

            def opened(path: Path, mode: str) -> IO[Any]:
                return files.enter_context(open(path, mode, opener=without_links))

            output = opened(output_path, "w+b")
            stdout = opened(command.stdout, "wb") if command.stdout else output
            stdin = opened(command.stdin, "rb") if command.stdin else subprocess.DEVNULL
            # As `time` does: a busy machine may let the tool run before whoever started it goes on.
            begun = time.monotonic()
            child = self.children.spawn(
                command.argv,
                env=self.children.environment(**command.environment),
                stdin=stdin,
                stdout=stdout,
                stderr=output,
                cwd=command.cwd or self.job_dir,
                cgroup=self.server_cgroup,
            )
            try:
                whole, sampler = (self.new_sampler({"tool": [child.pid]}) for _ in range(2))
                self._watch.attend(child, phase, sampler, timeout_s=timeout_s, sleep=self.abort.sleep, observe=observe)
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
