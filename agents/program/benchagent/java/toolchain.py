"""From a cache folder to class paths: jars verified, load generator compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from benchagent.java.compile import compiled_classes
from benchagent.java.jars import EngineJars, JarStore, engine_groups, tool_jars
from benchagent.java.runtime import JavaRuntime, find_java


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
