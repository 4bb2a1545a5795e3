"""Children of the agent: started so that they die with it, recorded so that the next start finds what is left.

Each begins as `launch`, which enters limits and sandbox and asks for a death signal before it becomes its program. The
signal is tied to the parent *thread*: every child is started by one thread that lives as long as the agent. It reaches
direct children only, so a DBMS is started without a wrapper that daemonises.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil

from benchagent.machine import launch
from benchagent.machine.confinement import Confinement
from benchagent.machine.landlock import Ruleset
from benchagent.machine.limits import JobCgroup
from benchagent.machine.system import ServiceUser

# Within this time a child has become its program; a busy machine needs a second.
START_TIMEOUT_S = 60.0
# So long a child that was asked to end may take.
STOP_GRACE_S = 5.0
# Inherited by every child of a job: a leftover is recognised by it.
JOB_DIR_VARIABLE = "BENCHAGENT_JOB_DIR"
RECORD_NAME = "processes.jsonl"
# Holds a folder of each job in a storage other than the agent's own: see `storages`.
JOBS_FOLDER = ".benchagent-jobs"

# The one thread that forks.
_forking = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spawn")


class Aborted(Exception):
    """The job was asked to end; `Abort` knows why."""


class Abort:
    """One request to end the running job early, shared by the threads that may make it.

    The first counts; callbacks run in the thread that makes it, and at once if it was made before.
    """

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self.outcome = ""
        self.message = ""

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    def request(self, outcome: str, message: str) -> None:
        with self._lock:
            if self._event.is_set():
                return
            self.outcome, self.message = outcome, message
            self._event.set()
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()

    def on_request(self, callback: Callable[[], None]) -> None:
        with self._lock:
            self._callbacks.append(callback)
            late = self._event.is_set()
        if late:
            callback()

    def check(self) -> None:
        if self._event.is_set():
            raise Aborted(self.message)

    def sleep(self, duration_s: float) -> None:
        """Wait; raises `Aborted` as soon as the job is asked to end."""
        if self._event.wait(duration_s):
            raise Aborted(self.message)


class ProcessFailed(Exception):
    """A helper command ended with an error; the text holds the end of its output."""


class Launch:
    """A child on its way to its program, in a session of its own; it gets `death_signal` when the agent dies.

    It can be killed from now on. It runs within the limits of `cgroup` and behind `rules` from its program's first
    instruction on.
    """

    def __init__(
        self,
        argv: Sequence[str | Path],
        *,
        death_signal: int = signal.SIGKILL,
        cgroup: JobCgroup | None = None,
        rules: Ruleset | None = None,
        **popen: Any,
    ) -> None:
        environment = popen.pop("env", None) or dict(os.environ)
        doors, ruleset = cgroup.doors if cgroup else [], rules.number if rules else None
        self._plan = {
            "argv": [str(part) for part in argv], "environment": environment, "parent": os.getpid(),
            "death_signal": int(death_signal), "doors": doors, "cpus": cgroup.cpus if cgroup else (),
            "ruleset": ruleset, **{name: popen.pop(name, None) for name in ("user", "group", "extra_groups")},
        }  # fmt: skip
        popen.setdefault("stdin", subprocess.DEVNULL)
        self._control, theirs = socket.socketpair()
        self._control.settimeout(START_TIMEOUT_S)
        program = [sys.executable, "-I", "-S", launch.__file__, str(theirs.fileno())]
        numbers = [theirs.fileno(), *doors, *([] if ruleset is None else [ruleset])]
        marked = {"LC_ALL": "C.UTF-8", JOB_DIR_VARIABLE: environment.get(JOB_DIR_VARIABLE, "")}
        with theirs:
            self.child: subprocess.Popen[Any] = _forking.submit(
                lambda: subprocess.Popen(program, env=marked, pass_fds=numbers, start_new_session=True, **popen)
            ).result()

    def finish(self) -> subprocess.Popen[Any]:
        """The child with its program. Raises `ProcessFailed` when it cannot be given what it should have."""
        with self._control as control:
            try:
                control.sendall(json.dumps(self._plan).encode())
                control.shutdown(socket.SHUT_WR)
                problem = control.recv(4096).decode(errors="replace")
            except OSError as error:
                problem = str(error)
        if problem:
            with self.child:
                self.child.kill()
            name = self._plan["argv"][0]
            raise ProcessFailed(f"{name} could not be started within its limits and its sandbox: {problem}")
        return self.child


def spawn(argv: Sequence[str | Path], **how: Any) -> subprocess.Popen[Any]:
    """Start a child as `Launch` does; it is at its program. Raises `ProcessFailed`."""
    return Launch(argv, **how).finish()


def family(pid: int) -> list[psutil.Process]:
    """The process, its descendants and everybody in its session; empty when it is gone."""
    try:
        root = psutil.Process(pid)
        members = {process.pid: process for process in [root, *root.children(recursive=True)]}
    except psutil.NoSuchProcess:
        members = {}
    for other in psutil.pids():
        with contextlib.suppress(OSError, psutil.NoSuchProcess):
            if other not in members and os.getsid(other) == pid:
                members[other] = psutil.Process(other)
    return list(members.values())


def kill(processes: Iterable[psutil.Process], wait_s: float = 5.0) -> list[psutil.Process]:
    """SIGKILL them all and wait; returns those still alive."""
    victims = [process for process in processes if process.pid != os.getpid()]
    for process in victims:
        with contextlib.suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            process.kill()
    deadline = time.monotonic() + wait_s
    while (alive := [process for process in victims if _runs(process)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return alive


def ask_to_end(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """SIGTERM to each; returns those that had not ended when they were asked."""
    running = [process for process in processes if _runs(process)]
    for process in running:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    return running


def _runs(process: psutil.Process) -> bool:
    """Looks only: waiting for a child would take its exit code away from the `Popen` that started it."""
    try:
        return process.is_running() and process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.Error:
        return False


def stop(process: subprocess.Popen[Any], *, first: int = signal.SIGTERM) -> None:
    """Ask with signal `first`, wait, then kill the child's whole family. Reaps the child."""
    members = family(process.pid)
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(first)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_GRACE_S)
    kill(member for member in members if member.pid != process.pid)
    if process.poll() is None:
        process.kill()
        process.wait(10)


class Children:
    """The children of one job, in its sandbox. After `kill_all` no new one can be started."""

    def __init__(self, job_dir: Path) -> None:
        self.job_dir = job_dir
        # None: they may reach what the agent may.
        self.confinement: Confinement | None = None
        # On which its servers listen.
        self.ports: set[int] = set()
        self._lock = threading.Lock()
        self._running: list[subprocess.Popen[Any]] = []
        self._closed = False

    def environment(self, **more: str) -> dict[str, str]:
        """What children see: nothing of the agent's own environment but the search path, all writes below the job."""
        tmp = self.job_dir / "tmp"
        base = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        return {**base, "HOME": str(tmp), "TMPDIR": str(tmp), JOB_DIR_VARIABLE: str(self.job_dir), **more}

    @property
    def user(self) -> ServiceUser | None:
        """As whom they run; None: as the agent's own user."""
        return self.confinement.sandbox.user if self.confinement else None

    def own(self, *paths: Path) -> None:
        """Hand over to their user what the agent has made for them."""
        if user := self.user:
            for path in paths:
                os.chown(path, user.uid, user.gid, follow_symlinks=False)

    def spawn(
        self, argv: Sequence[str | Path], *, cgroup: JobCgroup | None = None, trusted: bool = False, **popen: Any
    ) -> subprocess.Popen[Any]:
        """`process.spawn`, recorded in the job's folder. Raises `Aborted` after `kill_all`.

        `trusted`: a program of the system, with arguments of ours alone, that works beyond the job's own folders.
        """
        environment = popen.pop("env", None) or self.environment()
        environment = {**environment, JOB_DIR_VARIABLE: str(self.job_dir)}
        with self._lock:
            if self._closed:
                raise Aborted("the job is being stopped")
            if self.confinement is None or trusted:
                begun = Launch(argv, env=environment, cgroup=cgroup, **popen)
            else:
                popen |= self.user.popen() if self.user else {}
                with self.confinement.rules(argv[0], self.ports) as rules:
                    begun = Launch(argv, env=environment, cgroup=cgroup, rules=rules, **popen)
            child = begun.child
            self._running.append(child)
        with contextlib.suppress(psutil.NoSuchProcess), (self.job_dir / RECORD_NAME).open("a") as file:
            record = {"pid": child.pid, "started": psutil.Process(child.pid).create_time(), "name": str(argv[0])}
            file.write(json.dumps(record) + "\n")
        return begun.finish()

    def run(self, argv: Sequence[str | Path], *, timeout_s: float, stdin_text: str | None = None, **popen: Any) -> str:
        """Run a helper command to its end and return its output. Raises `ProcessFailed` with the output's end."""
        popen.setdefault("cwd", self.job_dir)
        if stdin_text is not None:
            popen["stdin"] = subprocess.PIPE
        child = self.spawn(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **popen)
        try:
            output = str(child.communicate(stdin_text, timeout=timeout_s)[0])
        except subprocess.TimeoutExpired:
            stop(child)
            raise ProcessFailed(f"{Path(argv[0]).name} did not end within {timeout_s:.0f} s") from None
        if child.returncode != 0:
            raise ProcessFailed(f"{Path(argv[0]).name} ended with {child.returncode}: {output[-2000:].strip()}")
        return output

    def kill_all(self) -> None:
        with self._lock:
            self._closed = True
            running = list(self._running)
        for child in running:
            if child.poll() is None:
                kill(family(child.pid))


def _recorded(job_dir: Path) -> list[psutil.Process]:
    alive = []
    with contextlib.suppress(OSError):
        for line in (job_dir / RECORD_NAME).read_text().splitlines():
            with contextlib.suppress(psutil.NoSuchProcess, ValueError, KeyError):
                entry = json.loads(line)
                process = psutil.Process(entry["pid"])
                if abs(process.create_time() - entry["started"]) < 0.02:  # else the number was given to another one
                    alive.extend(family(process.pid))
    return alive


def _belongs_to(process: psutil.Process, job_dir: Path) -> bool:
    with contextlib.suppress(psutil.Error, OSError):
        if process.environ().get(JOB_DIR_VARIABLE) == str(job_dir):
            return True
        # PostgreSQL overwrites its environment with its title; a person's shell in that folder has a terminal.
        folder = Path(process.cwd())
        elsewhere = f"/{JOBS_FOLDER}/{job_dir.name}/" in f"{folder}/"  # one of its folders in another storage
        # The number stands in proc(5); psutil knows only terminals that existed when it first looked.
        has_terminal = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[4] != "0"
        return not has_terminal and (elsewhere or folder.is_relative_to(job_dir))
    return False


def leftovers(job_dir: Path) -> list[psutil.Process]:
    """Processes of this job that are still alive: recorded ones and any that carry its mark."""
    own = {process.pid: process for process in _recorded(job_dir)}
    for process in psutil.process_iter():
        if process.pid not in own and _belongs_to(process, job_dir):
            own[process.pid] = process
    own.pop(os.getpid(), None)
    return [process for process in own.values() if _runs(process)]


def kill_leftovers(job_dir: Path) -> int:
    """Kill everything of this job; returns how many there were. New ones forked within 5 s are found again."""
    deadline = time.monotonic() + 5
    killed = 0
    while (alive := leftovers(job_dir)) and time.monotonic() < deadline:
        killed += len(alive)
        kill(alive, 1.0)
    return killed
