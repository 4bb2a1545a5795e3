"""The load generator as a process: one JSON job in, a stream of JSON events out."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

from benchagent.java.toolchain import ClassArchive, JavaRuntime, JavaToolchain, native_access

MAIN_CLASS = "benchsite.loadgen.Main"
STDERR_LINES = 40
Spawn = Callable[..., "subprocess.Popen[Any]"]


@dataclass(eq=False)
class LoadGenerator:
    """One process for one job. `spawn` starts it like `subprocess.Popen`; all its files stay below `cwd`."""

    toolchain: JavaToolchain
    engine_class_path: Sequence[Path]
    _: KW_ONLY
    cwd: Path
    heap_mb: int = 512
    env: Mapping[str, str] | None = None
    spawn: Spawn = subprocess.Popen

    def __post_init__(self) -> None:
        self._command: list[str] = []
        self._archive: ClassArchive | None = None
        # Beside its temporary files, which may be a link to the storage for such.
        self._notes = self.cwd.resolve() / "loaded-classes"
        self._process: subprocess.Popen[Any] | None = None
        self._reader: threading.Thread | None = None
        self._stderr: collections.deque[str] = collections.deque(maxlen=STDERR_LINES)

    def start(self, job: Mapping[str, Any]) -> None:
        """Start the JVM and hand it the job. Passwords travel inside the job, never as arguments."""
        self._command = self._build_command()
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        text = {"text": True, "encoding": "utf-8", "errors": "replace"}
        process: Any = self.spawn(self._command, cwd=self.cwd, env=self.env, **pipes, **text)
        self._process = process
        stderr = (line.rstrip() for line in process.stderr)
        self._reader = threading.Thread(target=self._stderr.extend, args=(stderr,), name="loadgen-stderr", daemon=True)
        self._reader.start()
        with contextlib.suppress(BrokenPipeError):  # it died already: events() ends and stderr_tail says why
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()

    def events(self) -> Iterator[dict[str, Any]]:
        """Events until the process ends its output. Its life line is closed when it asks for that at its end."""
        process = self._started()
        for line in process.stdout:
            event = _event(line)
            if event is not None and event["event"] == "finished":
                with contextlib.suppress(OSError):
                    process.stdin.close()
            elif event is not None:
                yield event
            elif line.strip():
                self._stderr.append(line.rstrip())

    def abort(self, grace_s: float = 2.0) -> int | None:
        """End the process: close its life line, wait, kill. Harmless when it has ended. Returns its exit status."""
        process: Any = self._process
        if process is None:
            return None
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(grace_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if self._reader is not None:
            self._reader.join(grace_s)
        if self._archive is not None and process.returncode == 0:
            self._archive.keep(self._notes)
        return int(process.returncode)

    @property
    def pid(self) -> int:
        return int(self._started().pid)

    @property
    def stderr_tail(self) -> str:
        return "\n".join(self._stderr)

    @property
    def command_line(self) -> str:
        return " ".join(self._command or self._build_command())

    def _started(self) -> Any:
        if self._process is None:
            raise RuntimeError("the load generator has not been started")
        return self._process

    def _build_command(self) -> list[str]:
        java = self.toolchain.java()
        temporary = self.cwd / "tmp"
        temporary.mkdir(exist_ok=True)
        class_path = [*self.toolchain.loadgen_class_path(), *self.engine_class_path]
        self._archive = self.toolchain.class_archive(class_path)
        library = self.toolchain.sqlite_library(class_path)
        return [
            str(java.path),
            *self._archive.options(self._notes),
            *([f"-Dorg.sqlite.lib.path={library.parent}"] if library else []),
            *jvm_options(java, heap_mb=self.heap_mb, temporary=temporary),
            "-cp",
            os.pathsep.join(map(str, class_path)),
            MAIN_CLASS,
        ]


def _event(line: str) -> dict[str, Any] | None:
    """None for what an engine prints to standard output, and for a last line that was cut off."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and "event" in event else None


def jvm_options(java: JavaRuntime, *, heap_mb: int, temporary: Path) -> list[str]:
    """Options that keep a JVM's memory bounded and all its files below `temporary`."""
    options = [f"-Xmx{heap_mb}m", "-XX:-UsePerfData", f"-XX:ErrorFile={temporary}/hs_err_%p.log"]
    # Drivers look for files of the user in his home, which is not the variable HOME.
    options += [f"-Djava.io.tmpdir={temporary}", f"-Dorg.sqlite.tmpdir={temporary}", f"-Duser.home={temporary}"]
    return [*options, *native_access(java)]
