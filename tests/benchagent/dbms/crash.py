"""What a COMMIT is worth: syncs counted under strace, and acknowledged commits after a kill -9."""

from __future__ import annotations

import os
import re
import signal
from functools import partial
from pathlib import Path
from typing import Any

from benchagent.dbms.base import first_value
from benchagent.java import LoadGenerator
from benchagent.session import session_job
from benchagent.workloads.base import Step
from benchagent.workloads.tpcb import _prepare, _run

from tests.benchagent.dbms.trial import Trial

COMMITS = 500
# So many acknowledged commits there are before a kill, however slow the machine is.
ENOUGH = 20
TRACED = "trace=openat,open,write,pwrite64,pwritev,fsync,fdatasync,close"
CALL = re.compile(r"^\d+\s+(\w+)\((.*)$")
OPENED = re.compile(r"O_D?SYNC.*= \d+<([^>]*)>")
WRITTEN = re.compile(r"^\d+<([^>]*)>")


def loaded(trial: Trial) -> Trial:
    session = trial.events(_prepare(trial.instance.dialect, 1))
    assert session.error is None, session.error
    return trial


def run_step(trial: Trial, **changes: Any) -> Step:
    return {**_run(trial.factors, trial.seed), **changes}


def generator(trial: Trial, *prefix: str | Path) -> LoadGenerator:
    """A load generator in the instance's environment; `prefix` is put before its command."""
    instance = trial.instance

    def spawn(argv: list[str], **more: Any) -> Any:
        return trial.children.spawn([*prefix, *argv], **more)

    return LoadGenerator(
        trial.toolchain,
        instance.class_path,
        cwd=instance.driver_dir,
        env=trial.children.environment(**instance.jvm_environment),
        spawn=partial(spawn),
    )


def syncs_of_commits(trial: Trial, trace: Path) -> tuple[int, int]:
    """Commits of one terminal, and how often the engine in its process waited for the disk meanwhile: fsync,
    fdatasync, and writes to files opened with O_DSYNC or O_SYNC."""
    # Only the calls that are traced stop the engine: a JVM makes many others.
    strace = ("strace", "-f", "--seccomp-bpf", "-y", "-e", TRACED, "-o", trace)
    made = generator(trial, *strace)
    step = run_step(trial, terminals=1, duration_s=600, max_transactions=COMMITS)
    made.start(session_job(trial.instance, [step], setup=False))
    events = list(made.events())
    made.abort(10)
    summary = next(event for event in events if event["event"] == "summary")
    return int(summary["transactions"]), _syncs(trace.read_text(errors="replace"))


def _syncs(trace: str) -> int:
    synchronous: set[str] = set()
    count = 0
    for line in trace.splitlines():
        call = CALL.match(line)
        if call is None:
            continue
        name, rest = call[1], call[2]
        if name in ("fsync", "fdatasync"):
            count += 1
        elif name in ("open", "openat"):
            synchronous |= set(OPENED.findall(rest))
        elif name != "close":
            target = WRITTEN.match(rest)
            count += bool(target and target[1] in synchronous)
    return count


def missing_after_kill(trial: Trial, seconds: int = 2) -> tuple[int, int]:
    """Kill the process with the engine in mid-run, without a word; then open the database again.

    Returns how many commits were acknowledged until then, and how many of those are missing.
    """
    made = generator(trial)
    made.start(session_job(trial.instance, [run_step(trial, duration_s=120)], setup=False))
    acknowledged = 0
    for event in made.events():
        if event["event"] == "second":
            acknowledged += event["n"]
            if event["t"] + 1 >= seconds and acknowledged >= ENOUGH:
                os.kill(made.pid, signal.SIGKILL)
                break
    made.abort(1)
    ((count,),) = trial.query("SELECT COUNT(*) FROM history")
    found = int(first_value([count]) or 0)
    return acknowledged, max(0, acknowledged - found)
