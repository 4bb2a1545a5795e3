"""Common to the engines that run inside the load generator's JVM: their versions are groups of jars."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path

import psutil

from benchagent.catalog import Durability
from benchagent.configfiles.meaning import of_effective, settings_of
from benchagent.configfiles.settings import Facts, Given
from benchagent.configfiles.units import Kind
from benchagent.dbms.backup import BackupMethod, ToolCommand
from benchagent.dbms.base import (
    Adapter,
    ConfigurationRefused,
    Connection,
    EngineContext,
    Instance,
    JobError,
    ProvisionRequest,
    Settings,
    checked_settings,
)
from benchagent.dbms.discovery import engine_facts, java_problem
from benchagent.java import EngineJars, JavaToolchain
from benchagent.protocol import EngineFacts

MIB = 1 << 20
# Beside the engine's cache: driver, latencies of a long run, rows on their way.
HEAP_MB = 512
# Objects of a page or a row in the heap take more than their bytes.
HEAP_PER_CACHE = 1.5
MEMORY_SHARE = 0.4
# What a JVM needs beside its heap: classes, compiled code, stacks, buffers. These engines used 100 to 130 MB.
JVM_MB = 128
# With less of it beside the engine's cache a load does not get through.
SMALLEST_HEAP_MB = 64
STORAGE = "storage"


class EmbeddedInstance(Instance):
    """`settings`: those that are given to the engine."""

    slug: str

    def __init__(
        self, request: ProvisionRequest, class_path: Sequence[Path], connection: Connection, settings: Settings
    ) -> None:
        super().__init__(
            connection=connection,
            class_path=class_path,
            data_path=request.folders.data,
            generator_dir=driver_folder(request),
        )
        self._toolchain = request.toolchain
        self._settings = list(settings)
        self._effective: list[tuple[str, str]] = []

    def durability(self, effective: Mapping[str, str]) -> tuple[Durability | None, str]:
        return of_effective(self.slug, effective)

    def buffer_bytes(self) -> int | None:
        """The size of the buffers as it was read back."""
        return None if self.in_memory else buffer_in_force(self.slug, self._effective)

    def noted(self, in_force: Settings) -> list[tuple[str, str]]:
        """The settings in force of an engine that may be in memory; what was given and is not is noted."""
        self.ignored_settings += not_in_force(self.slug, self._settings, in_force)
        self._effective = [(STORAGE, "memory" if self.in_memory else "file"), *in_force]
        return self._effective


@dataclass(eq=False)
class EmbeddedAdapter(Adapter):
    """An embedded engine is there when its jars are in the default set or were added with `engines install`.

    `no_log_apart`, `no_temp_apart`: why the transaction log or temporary files cannot be put on a storage of their
    own; empty where they can. `forbidden`, `doors`: see `checked_settings`.
    """

    slug: str
    instance: Callable[[ProvisionRequest, Sequence[Path], Settings], EmbeddedInstance]
    _: KW_ONLY
    no_log_apart: str = ""
    no_temp_apart: str = ""
    forbidden: str = "\n\r\0;"
    doors: Mapping[str, str] = field(default_factory=dict)
    knobs: Mapping[str, Mapping[str, Settings] | str] = field(default_factory=dict)

    def discover(self, context: EngineContext) -> list[EngineFacts]:
        reason = java_problem(context.toolchain)
        return [
            engine_facts(self.slug, group.version, reason, "in the load generator")
            for group in context.toolchain.engine_groups()
            if group.dbms == self.slug and not group.driver and (group.default or group.name in context.installed)
        ]

    def provision(self, request: ProvisionRequest) -> EmbeddedInstance:
        if self.no_log_apart and request.folders.log_apart:
            raise JobError(self.no_log_apart)
        if self.no_temp_apart and request.folders.temp_apart:
            raise JobError(self.no_temp_apart)
        settings = checked_settings(request.settings, self.forbidden, self.doors)
        return self.instance(request, jars(request.toolchain, self.slug, request.version), settings)


def jars(toolchain: JavaToolchain, dbms: str, version: str = "", *, driver: bool = False) -> list[Path]:
    """Class path of a group of jars, see `jar_group`. Raises `JobError`."""
    group = jar_group(toolchain, dbms, version, driver=driver)
    try:
        return toolchain.class_path(group)
    except Exception as error:  # no network, a changed jar, no space: the run page says which
        raise JobError(f"the jars of {group.name} cannot be had: {error}") from error


def jar_group(toolchain: JavaToolchain, dbms: str, version: str = "", *, driver: bool = False) -> EngineJars:
    """The default one, else the first, when no version is given. Raises `JobError` where there is none.

    `driver`: of a driver, where an engine inside the JVM has the same version.
    """
    groups = [
        group
        for group in toolchain.engine_groups()
        if group.dbms == dbms and version in ("", group.version) and (group.driver or not driver)
    ]
    if not groups:
        raise JobError(f"this agent has no jars for {dbms} {version}".rstrip())
    return min(groups, key=lambda group: not group.default)


def driver_folder(request: ProvisionRequest) -> Path:
    """The JVM's working directory. Its temporary files, the engine's too, go to the storage for such."""
    folder = request.job_dir / "driver"
    folder.mkdir()
    (folder / "tmp").symlink_to(request.folders.temp)
    request.children.own(folder)
    return folder


def in_url(path: Path) -> str:
    """A path inside a JDBC URL, whose parts end at a semicolon. Raises `JobError`."""
    if ";" in str(path):
        raise JobError(f"a database cannot be opened below a folder whose name holds a semicolon: {path}")
    return str(path)


def heap_mb(cache_bytes: float) -> int:
    """Heap for a JVM that holds an engine with this cache, of the machine's memory at most a share: that is what an
    engine gets that keeps all its data in the heap, whose cache is infinite."""
    wanted, largest = HEAP_MB + cache_bytes * HEAP_PER_CACHE / MIB, psutil.virtual_memory().total * MEMORY_SHARE / MIB
    return max(HEAP_MB, int(min(wanted, largest)))


def fit_heap(instance: Instance, limit_bytes: int) -> str:
    """Make the heap of an embedded engine's JVM small enough for a memory limit; words on that, empty where it fits.

    Without it the JVM would believe in memory that it cannot get, and be killed. Raises `JobError` where what is left
    is too little for the engine's cache.
    """
    usual, left = instance.heap_mb, limit_bytes // MIB - JVM_MB
    if usual <= left:
        return ""
    needed = SMALLEST_HEAP_MB + (0 if instance.in_memory else max(0, usual - HEAP_MB))
    if left < needed:
        raise JobError(
            f"a memory limit of {limit_bytes // MIB} MiB is too low: the load generator's JVM, which holds the engine, "
            f"needs {needed} MiB of heap with the engine's cache and about {JVM_MB} MiB beside it"
        )
    instance.heap_mb = left
    return f"{left} MiB, as the memory limit leaves no more; {usual} MiB without it"


def split_storage(settings: Settings) -> tuple[bool, list[tuple[str, str]]]:
    """Our own setting ``storage`` = file or memory, and the engine's settings without it.

    Raises `ConfigurationRefused`.
    """
    given = [value.lower() for name, value in settings if name.lower() == STORAGE]
    value = given[-1] if given else "file"
    if value not in ("file", "memory"):
        raise ConfigurationRefused(f"{STORAGE} has to be file or memory, not {value!r}")
    return value == "memory", [(name, value) for name, value in settings if name.lower() != STORAGE]


@dataclass(eq=False)
class JavaBackup(BackupMethod):
    """A backup that is restored by a tool among the engine's jars."""

    toolchain: JavaToolchain
    class_path: Sequence[Path]

    def tool(self, main: str, *arguments: str | Path) -> ToolCommand:
        class_path = ":".join(map(str, self.class_path))
        return ToolCommand([self.toolchain.java().path, "-XX:-UsePerfData", "-cp", class_path, main, *arguments])


def not_in_force(dbms: str, given: Settings, effective: Settings) -> list[str]:
    """Given settings whose value in force is another one, in words; compared by meaning, so 1 MB equals 1024 KB."""
    intended = settings_of(dbms, [Given(name, value) for name, value in given])
    actual = settings_of(dbms, [Given(name, value) for name, value in effective])
    if intended is None or actual is None:
        return []
    words = []
    for name in intended.names:
        wanted, has = intended.quantity(name), actual.quantity(name) if actual.is_set(name) else None
        if wanted is not None and has is not None and wanted.key != has.key:
            words.append(f"{intended.words(name)} given, {actual.words(name)} in force")
    return words


def buffer_in_force(dbms: str, effective: Settings, *, complete: bool = True, version: str = "") -> int | None:
    """Bytes of the buffer pool by settings in force; None where they do not tell, as long as none were read back.

    `complete`: what is not among them has its default, that of `version` where it changed.
    """
    given = [Given(name, value) for name, value in effective]
    settings = settings_of(dbms, given, Facts(version=version, complete=complete)) if given or version else None
    size = settings.means("buffer_pool") if settings else None
    if size is None or size.kind is not Kind.BYTES or not isinstance(size.value, int):
        return None
    return size.value or None
