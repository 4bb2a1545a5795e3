"""Proof of what a COMMIT is worth on a server, for the tests of every engine that is one.

`survivors` kills the whole server with SIGKILL in mid-run of TPC-B and starts it again on its files: no acknowledged
commit may be missing, and at most one more per terminal may be there. That shows crash safety only, as the page cache
outlives the process. `syncs_of_commits` therefore counts how often the server waited for the disk while one terminal
committed: at least once a commit where a commit is to survive power loss.

Both load TPC-B where nothing was loaded yet, so one trial can serve for both. Its instance has to have `server_pids`
and `start`; for engines inside the load generator see `tests.benchagent.dbms.crash`.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchagent import process
from benchagent.dbms.base import first_value
from benchagent.java import LoadGenerator
from benchagent.session import session_job

from tests.benchagent.dbms.crash import loaded, run_step
from tests.benchagent.dbms.trial import Trial

COMMITS = 500
HISTORY = "SELECT COUNT(*) FROM history"
SYNC_CALLS = ("fsync", "fdatasync")
WRITE_CALLS = ("write", "pwrite64", "pwritev", "writev")
OPEN_CALLS = ("open", "openat")
CALL = re.compile(r"^\d+\s+(\w+)\((.*)$")
OPENED_SYNCHRONOUS = re.compile(r"O_D?SYNC.*= \d+<([^>]*)>")
FIRST_FILE = re.compile(r"^\d+<([^>]*)>")
ATTACH_TIMEOUT_S = 20
WAIT_S = 20


@dataclass(frozen=True)
class Survivors:
    """`acknowledged`: commits that the load generator was told of. `found`: those there after the restart."""

    acknowledged: int
    found: int
    terminals: int

    @property
    def is_safe(self) -> bool:
        return self.acknowledged <= self.found <= self.acknowledged + self.terminals


def survivors(trial: Trial, *, terminals: int = 4, after_s: int = 2) -> Survivors:
    """Run TPC-B, kill the server after so many seconds, start it again, count the history."""
    _load_once(trial)
    acknowledged = before = 0
    generator = _generator(trial)
    step = run_step(trial, terminals=terminals, warm_up_s=0, duration_s=60)
    generator.start(session_job(trial.instance, [{"op": "query", "name": "before", "sql": HISTORY}, step], setup=False))
    for event in generator.events():
        if event["event"] == "query":
            before = _count(event["rows"])
        if event["event"] == "second" and event["t"] + 1 == after_s:
            kill_9(trial.instance.server_pids())
        if event["event"] == "summary":
            assert event["dead_terminals"], "the server was killed and no terminal has noticed"
            acknowledged = int(event["transactions"]) + int(event["tail_transactions"])
    generator.abort(WAIT_S)
    trial.instance.start()
    (rows,) = trial.query(HISTORY)
    return Survivors(acknowledged, _count(rows) - before, terminals)


def syncs_of_commits(trial: Trial, commits: int = COMMITS, *, of: str = "") -> tuple[int, int]:
    """Commits of one terminal, and how often the server waited for the disk meanwhile.

    `of`: only for files with this in their path, where the server writes other files at the same time.
    """
    _load_once(trial)
    step = run_step(trial, terminals=1, warm_up_s=0, duration_s=60, max_transactions=commits)
    with traced(trial.instance.server_pids(), of) as trace:
        session = trial.events([step])
    assert session.error is None, session.error
    assert session.summary is not None
    return int(session.summary["transactions"]), trace.syncs


def _load_once(trial: Trial) -> None:
    if not trial.sessions:
        loaded(trial)


def _count(rows: list[list[Any]]) -> int:
    return int(first_value(rows) or 0)


def kill_9(pids: Sequence[int]) -> None:
    """Every process of a server, children and sessions too, at once and without a word. Waits for their end."""
    family = [member for pid in pids for member in process.family(pid)]
    assert process.kill(family, WAIT_S) == []


class Trace:
    """`syncs` is known when the tracing has ended."""

    def __init__(self, synchronous: Sequence[str], of: str) -> None:
        self._synchronous = set(synchronous)
        self._of = of
        self.syncs = 0

    def read(self, text: str) -> None:
        for line in text.splitlines():
            call = CALL.match(line)
            if call:
                self.syncs += self._waits(call[1], call[2])

    def _waits(self, name: str, rest: str) -> bool:
        """A sync, or a write to a file that was opened so that each write is one."""
        if name in OPEN_CALLS:
            self._synchronous |= set(OPENED_SYNCHRONOUS.findall(rest))
        target = FIRST_FILE.match(rest)
        if self._of and not (target and self._of in target[1]):
            return False
        if name in WRITE_CALLS:
            return bool(target and target[1] in self._synchronous)
        return name in SYNC_CALLS


@contextlib.contextmanager
def traced(pids: Sequence[int], of: str = "") -> Iterator[Trace]:
    """Counts the syncs of running processes, all their threads and all their children, those to come included."""
    members = sorted({member.pid for pid in pids for member in process.family(pid)})
    trace = Trace([path for pid in members for path in _synchronous_files(pid)], of)
    calls = ",".join((*SYNC_CALLS, *WRITE_CALLS, *OPEN_CALLS))
    with tempfile.TemporaryDirectory() as folder:
        output, words = Path(folder) / "trace", Path(folder) / "words"
        targets = [part for pid in members for part in ("-p", str(pid))]
        with words.open("w") as stderr:
            strace = subprocess.Popen(
                ["strace", "-f", "-y", "-s", "0", "-e", f"trace={calls}", "-o", str(output), *targets], stderr=stderr
            )
        try:
            _wait_for_words(words, len(members), strace)
            yield trace
        finally:
            strace.send_signal(signal.SIGINT)
            strace.wait(WAIT_S)
        trace.read(output.read_text(errors="replace"))


def _wait_for_words(words: Path, processes: int, strace: subprocess.Popen[bytes]) -> None:
    """One about each process: a worker may have ended in between."""
    deadline = time.monotonic() + ATTACH_TIMEOUT_S
    while len(re.findall(" attached|No such process", words.read_text())) < processes:
        assert strace.poll() is None and time.monotonic() < deadline, words.read_text()
        time.sleep(0.02)


def _synchronous_files(pid: int) -> list[str]:
    """Files that a process holds open with O_DSYNC or O_SYNC."""
    found = []
    with contextlib.suppress(OSError):
        for entry in Path(f"/proc/{pid}/fd").iterdir():
            flags = re.search(r"flags:\s+(\d+)", Path(f"/proc/{pid}/fdinfo/{entry.name}").read_text())
            if flags and int(flags[1], 8) & os.O_DSYNC:  # O_SYNC holds its bit
                found.append(str(entry.readlink()))
    return found


def _generator(trial: Trial) -> LoadGenerator:
    instance = trial.instance
    return LoadGenerator(
        trial.toolchain,
        instance.class_path,
        cwd=instance.driver_dir,
        env=trial.children.environment(**instance.jvm_environment),
        spawn=trial.children.spawn,
    )
