"""Starts programs, starts crashed ones again, stops them in order and leaves nothing behind.

Each program runs in a session of its own, so that the terminal's Ctrl-C reaches the supervisor alone, and dies with
it, however it dies. Where the kernel offers no such tie, `kill_leftovers` at the next start finds them by their
records.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
LOG_LIMIT_BYTES = 10_000_000
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0
# A program that ran this long has recovered: its next crash starts with the shortest pause again.
RECOVERED_AFTER_S = 60.0
PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(frozen=True)
class Program:
    """What to run. Programs are stopped stage by stage, the highest first, each stage within `stop_within_s`."""

    name: str
    command: list[str]
    stage: int
    stop_within_s: float
    # What it writes is private, unless it has to let others pass.
    umask: int = 0o077


@dataclass
class Child:
    program: Program
    log: Path
    record: Path
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    start_again_at: float | None = None
    pause_s: float = FIRST_PAUSE_S
    recorded: bool = False

    def start(self, environment: dict[str, str]) -> None:
        trim(self.log)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.program.command,
                env=environment,
                cwd=ROOT,
                umask=self.program.umask,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=partial(die_with_parent, os.getpid()),  # noqa: PLW1509 (we have one thread)
            )
        self.started_at, self.start_again_at, self.recorded = time.monotonic(), None, False
        self.keep_record()

    def keep_record(self) -> None:
        """For the next start to find; asked again until it is written, as a full disk may have room later."""
        if self.process and not self.recorded:
            with suppress(psutil.NoSuchProcess, OSError):
                self.record.write_text(f"{self.process.pid} {psutil.Process(self.process.pid).create_time()}")
                self.recorded = True

    @property
    def runs(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def kill(self) -> None:
        """The whole session: also what the program left behind when it ended."""
        if self.process:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None
        self.record.unlink(missing_ok=True)


@dataclass
class Supervisor:
    logs: Path
    records: Path
    environment: dict[str, str]
    print_line: Callable[[str], None]
    children: list[Child] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.logs.mkdir(exist_ok=True)
        self.records.mkdir(exist_ok=True)

    def start(self, program: Program) -> None:
        child = Child(program, self.logs / f"{program.name}.log", self.records / f"{program.name}.pid")
        self.children.append(child)
        child.start(self.environment)

    def look_after(self) -> None:
        """Start again what crashed, with a pause that doubles; keep the logs small. Called a few times a second."""
        for child in self.children:
            if child.start_again_at is None and not child.runs:
                self._plan_restart(child, f"ended ({child.process.returncode if child.process else None})")
            elif child.start_again_at is not None and time.monotonic() >= child.start_again_at:
                try:
                    child.start(self.environment)
                except OSError as error:
                    self._plan_restart(child, f"cannot be started ({error.strerror})")
            child.keep_record()
            trim(child.log)

    def _plan_restart(self, child: Child, what: str) -> None:
        child.kill()
        if time.monotonic() - child.started_at > RECOVERED_AFTER_S:
            child.pause_s = FIRST_PAUSE_S
        child.start_again_at = time.monotonic() + child.pause_s
        self.print_line(f"{child.program.name} {what}; starts again in {child.pause_s:g} s; see {child.log}")
        child.pause_s = min(child.pause_s * 2, LONGEST_PAUSE_S)

    def stop(self) -> None:
        for stage in sorted({child.program.stage for child in self.children}, reverse=True):
            members = [child for child in self.children if child.program.stage == stage]
            for child in members:
                if child.process and child.runs:
                    child.process.terminate()
            deadline = time.monotonic() + max(child.program.stop_within_s for child in members)
            while any(child.runs for child in members) and time.monotonic() < deadline:
                time.sleep(0.05)
            for child in members:
                child.kill()


def trim(log: Path) -> None:
    """Keep one older part, where there is room. The writer appends, so it goes on at the start of the emptied file."""
    with suppress(OSError):
        if log.stat().st_size > LOG_LIMIT_BYTES:
            older = log.with_suffix(".1.log")
            try:
                shutil.copyfile(log, older)
            except OSError:
                older.unlink()
            os.truncate(log, 0)


def kill_leftovers(records: Path) -> list[str]:
    """Kill what an earlier supervisor recorded and could not stop; a number given to another process is left alone."""
    killed = []
    for record in records.glob("*.pid"):
        with suppress(psutil.NoSuchProcess, ProcessLookupError, ValueError):
            pid, created = record.read_text().split()
            process = psutil.Process(int(pid))
            if abs(process.create_time() - float(created)) < 1:
                os.killpg(process.pid, signal.SIGKILL)
                psutil.wait_procs([process], timeout=5)
                killed.append(record.stem)
        record.unlink()
    return killed


def die_with_parent(parent_pid: int) -> None:
    """Called in the child: SIGKILL when the parent *thread* that forked it ends, however it ends. Linux only.

    The kernel forgets the signal when the process changes its user; it reaches direct children only.
    """
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:  # the parent ended between fork and prctl
        os._exit(1)
