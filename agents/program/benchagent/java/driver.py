"""The load generator as a process: one JSON job in, a stream of JSON events out."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchagent.java.runtime import JavaRuntime
from benchagent.java.toolchain import JavaToolchain

MAIN_CLASS = "benchsite.loadgen.Main"
# From this version on a JVM warns about native code that was not allowed (the SQLite driver holds some).
NATIVE_ACCESS_SINCE = 22
STDERR_LINES = 40
Spawn = Callable[..., "subprocess.Popen[Any]"]


class LoadGenerator:
    """One process for one job. `spawn` starts it like `subprocess.Popen`; all its files stay below `cwd`."""

    def __init__(
        self,
        toolchain: JavaToolchain,
        engine_class_path: Sequence[Path],
        *,
        heap_mb: int = 512,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        spawn: Spawn = subprocess.Popen,
    ) -> None:
        self._toolchain = toolchain
        self._engine_class_path = engine_class_path
        self._heap_mb = heap_mb
        self._cwd = cwd
        self._env = env
        self._spawn = spawn
        self._process: subprocess.Popen[Any] | None = None
        self._stderr: collections.deque[str] = collections.deque(maxlen=STDERR_LINES)

    def start(self, job: Mapping[str, Any]) -> None:
        """Start the JVM and hand it the job. Passwords travel inside the job, never as arguments."""
        process = self._spawn(
            self._command(), cwd=self._cwd, env=self._env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, encoding="utf-8", errors="replace",
        )
        self._process = process
        threading.Thread(target=self._drain, args=(process.stderr,), name="loadgen-stderr", daemon=True).start()
        with contextlib.suppress(BrokenPipeError):  # it died already: events() ends and stderr_tail says why
            process.stdin.write(json.dumps(job) + "\n")
            process.stdin.flush()

    def events(self) -> Iterator[dict[str, Any]]:
        """Events until the process ends its output."""
        assert self._process is not None, "start() first"
        for line in self._process.stdout:
            if line.startswith("{"):
                yield json.loads(line)
            elif line.strip():  # an engine that prints to standard output
                self._stderr.append(line.rstrip())

    def abort(self, grace_s: float = 2.0) -> None:
        """End the process: close its life line, wait, kill. Harmless when it has ended."""
        if self._process is None:
            return
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(grace_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    @property
    def pid(self) -> int:
        assert self._process is not None, "start() first"
        return int(self._process.pid)

    @property
    def stderr_tail(self) -> str:
        return "\n".join(self._stderr)

    @property
    def command_line(self) -> str:
        return " ".join(self._command())

    def _command(self) -> list[str]:
        java = self._toolchain.java()
        temporary = self._cwd / "tmp"
        temporary.mkdir(exist_ok=True)
        class_path = [*self._toolchain.loadgen_class_path(), *self._engine_class_path]
        return [
            str(java.path), *jvm_options(java, heap_mb=self._heap_mb, temporary=temporary),
            "-cp", os.pathsep.join(map(str, class_path)), MAIN_CLASS,
        ]

    def _drain(self, stream: Any) -> None:
        for line in stream:
            self._stderr.append(line.rstrip())


def jvm_options(java: JavaRuntime, *, heap_mb: int, temporary: Path) -> list[str]:
    """Options that keep a JVM's memory bounded and all its files below `temporary`."""
    options = [f"-Xmx{heap_mb}m", "-XX:-UsePerfData", f"-XX:ErrorFile={temporary}/hs_err_%p.log"]
    options += [f"-Djava.io.tmpdir={temporary}", f"-Dorg.sqlite.tmpdir={temporary}"]
    if java.major >= NATIVE_ACCESS_SINCE:
        options.append("--enable-native-access=ALL-UNNAMED")
    return options
