"""Compile Java sources with `javac` where there is one, else with the Eclipse compiler, which needs a runtime only."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from benchagent.java.jars import JarStore, tool_jars
from benchagent.java.runtime import JavaRuntime

JAVA_LEVEL = "17"


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
    """Raises `CompilationError`."""
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
