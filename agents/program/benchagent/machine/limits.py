"""Limits on what a job may use: memory (page cache included), CPUs, and the rates of emulated disks.

A cgroup is entered by a child before it becomes its program (see `launch`), through files that the agent has opened.
What a child cannot be given ends it, so that nothing ever runs unlimited in silence.

Memory is counted where a page is first touched. Files that were read or written outside the cgroup (a restored copy
of the data, for instance) have to be dropped from the page cache before the DBMS starts: see `caches`.

The limits are those of control groups of Linux. Version 1 has a tree of groups for each controller; a group of ours is
made below the agent's own. Version 2 has one tree, in which a group with processes cannot hand controllers on: a group
of ours stands beside the agent's own.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchagent.errors import JobError
from benchagent.machine.devices import Mount, mounts
from benchagent.machine.system import text_of

MIB = 1 << 20
SMALLEST_MEMORY_BYTES = 16 * MIB
PREFIX = "benchagent-"
MEMBERSHIP = Path("/proc/self/cgroup")
# How version 2 names what version 1 calls blkio.
V2_NAMES = {"memory": "memory", "blkio": "io"}
REMOVE_WAIT_S = 5.0


class CgroupError(Exception):
    """Not possible on this machine; the text says what is missing."""


@dataclass(frozen=True)
class Hierarchy:
    """Where a controller is: `root` is the topmost group that can be seen, `own` the agent's."""

    controller: str
    version: int
    root: Path
    own: Path

    @property
    def parent(self) -> Path:
        """Where a group of ours can be made."""
        return self.own if self.version == 1 or self.own == self.root else self.own.parent


@dataclass(frozen=True)
class Throttle:
    """Limits on one block device, given as "major:minor"; None is no limit."""

    device_number: str
    read_bytes_per_s: int | None = None
    write_bytes_per_s: int | None = None
    read_iops: int | None = None
    write_iops: int | None = None

    def v1_files(self) -> dict[str, int | None]:
        return {
            "blkio.throttle.read_bps_device": self.read_bytes_per_s,
            "blkio.throttle.write_bps_device": self.write_bytes_per_s,
            "blkio.throttle.read_iops_device": self.read_iops,
            "blkio.throttle.write_iops_device": self.write_iops,
        }

    @property
    def lifted(self) -> Throttle:
        """The same device without limits."""
        return Throttle(self.device_number, 0, 0, 0, 0)

    def v2_line(self) -> str:
        limits = (self.read_bytes_per_s, self.write_bytes_per_s, self.read_iops, self.write_iops)
        words = (
            f"{key}={value or 'max'}" for key, value in zip(("rbps", "wbps", "riops", "wiops"), limits, strict=True)
        )
        return f"{self.device_number} {' '.join(words)}"


def set_rates(where: Hierarchy, group: Path, throttle: Throttle) -> None:
    """For all that is in the group. Raises `OSError`."""
    if where.version == 2:
        (group / "io.max").write_text(throttle.v2_line())
        return
    for name, value in throttle.v1_files().items():
        if value is not None:
            (group / name).write_text(f"{throttle.device_number} {value}")


def hierarchy(controller: str) -> Hierarchy:
    """Where "memory" or "blkio" is. Raises `CgroupError` when this kernel has it nowhere."""
    memberships = {}  # groups of this process by controller of version 1; under "" that of version 2
    for line in text_of(MEMBERSHIP).splitlines():
        _, controllers, path = line.split(":", 2)
        memberships.update(dict.fromkeys(controllers.split(","), path))
    for mount in mounts():
        if mount.file_system == "cgroup" and controller in mount.options.split(","):
            return _hierarchy(controller, 1, mount, memberships.get(controller, "/"))
        if mount.file_system == "cgroup2":
            offered = text_of(Path(mount.mount_point) / "cgroup.controllers").split()
            if V2_NAMES[controller] in offered:
                return _hierarchy(controller, 2, mount, memberships.get("", "/"))
    raise CgroupError(f"no control group hierarchy with the controller {controller} is mounted on this machine")


def _hierarchy(controller: str, version: int, mount: Mount, own: str) -> Hierarchy:
    root = Path(mount.mount_point)
    below = os.path.relpath(own, mount.root)
    return Hierarchy(controller, version, root, root if below.startswith("..") else root / below)


def make_group(where: Hierarchy, name: str) -> Path:
    """A new group of ours; in version 2 it gets the controller handed down. Raises `CgroupError`."""
    group = where.parent / f"{PREFIX}{name}"
    try:
        if where.version == 2:
            # Every group from the root to the parent of ours hands the controller on.
            controller = V2_NAMES[where.controller]
            for outer in (*reversed(where.parent.parents), where.parent):
                control = outer / "cgroup.subtree_control"
                if outer.is_relative_to(where.root) and controller not in text_of(control).split():
                    control.write_text(f"+{controller}")
        group.mkdir(exist_ok=True)
    except OSError as error:
        raise CgroupError(
            f"a control group cannot be made in {where.parent} ({error.strerror}): the agent needs root's rights there"
            + (", and version 2 wants no process in that group itself" if where.version == 2 else "")
        ) from error
    return group


def groups_named(name: str) -> Iterator[Path]:
    """Groups of ours of that name anywhere, also those that an earlier life of the agent has made.

    Each once, where the same hierarchy is mounted in several places, as for containers.
    """
    yielded = set()
    for mount in mounts():
        if mount.file_system in ("cgroup", "cgroup2"):
            for folder, children, _ in os.walk(mount.mount_point):
                group = Path(folder) / f"{PREFIX}{name}"
                if group.name in children and (identity := (group.stat().st_dev, group.stat().st_ino)) not in yielded:
                    yielded.add(identity)
                    yield group


def remove_group(group: Path) -> bool:
    """Kill what still runs in it and remove it. False when that did not work in time."""
    deadline = time.monotonic() + REMOVE_WAIT_S
    while group.is_dir():
        for pid in text_of(group / "cgroup.procs").split():
            with suppress(OSError):
                os.kill(int(pid), signal.SIGKILL)
        with suppress(OSError):
            group.rmdir()
            return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


@dataclass(frozen=True)
class Limits:
    """What a job's server, embedded engine and tools may use; None and empty are no limit."""

    memory_bytes: int | None = None
    cpus: int | None = None
    throttles: Sequence[Throttle] = ()

    @contextmanager
    def cgroup(self, run_id: str) -> Iterator[JobCgroup]:
        """Gone when it is left, with whatever still ran in it. Raises `JobError` with what is missing."""
        made = JobCgroup(run_id)
        try:
            made.limit(self)
            yield made
        except CgroupError as error:
            raise JobError(f"the limits cannot be kept: {error}") from error
        finally:
            made.close()


class JobCgroup:
    """The limits of one job, in force. Its figures remain when it is closed.

    A process that writes 0 into each of `doors` is in, and may use `cpus`, where there are any.
    """

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.cpus: tuple[int, ...] = ()
        self.words = ""
        self._memory: Path | None = None
        # The limits of the job's emulated disks, and where they are set.
        self.throttles: Sequence[Throttle] = ()
        self._rated: tuple[Hierarchy, Path] | None = None
        self._groups: list[Path] = []
        self.doors: list[int] = []
        self._peak_bytes: int | None = None
        self._oom_kills: int | None = None

    @property
    def memory_peak_bytes(self) -> int | None:
        """The most that was in use, page cache included; None without a limit or where the kernel does not tell."""
        self._look()
        return self._peak_bytes

    @property
    def oom_kills(self) -> int | None:
        """How many processes the kernel has killed for lack of memory; None without a limit."""
        self._look()
        return self._oom_kills

    @contextmanager
    def at_full_speed(self) -> Iterator[None]:
        """Emulated disks keep their rates for what is measured; what is not, as a copy that is put into place, need not
        wait for them. Raises `CgroupError`.
        """
        self._set_rates([throttle.lifted for throttle in self.throttles])
        try:
            yield
        finally:
            self._set_rates(self.throttles)

    def _set_rates(self, throttles: Sequence[Throttle]) -> None:
        if self._rated is None:
            return
        where, group = self._rated
        try:
            for throttle in throttles:
                set_rates(where, group, throttle)
        except OSError as error:
            raise CgroupError(f"the rates of an emulated disk cannot be set ({error.strerror})") from error

    def limit(self, limits: Limits) -> None:
        """Make what `Limits.cgroup` promises. Raises `JobError` or `CgroupError`."""
        words = []
        if limits.cpus is not None:
            available = sorted(os.sched_getaffinity(0))
            if not 1 <= limits.cpus <= len(available):
                raise JobError(f"{limits.cpus} CPUs are not possible: the agent may use {len(available)}")
            self.cpus = tuple(available[: limits.cpus])
            words.append(f"CPU {', '.join(map(str, self.cpus))}")
        if limits.memory_bytes is not None:
            # Below it nothing starts, above the machine's memory it would only seem to be a limit.
            machine_bytes = psutil.virtual_memory().total
            if not SMALLEST_MEMORY_BYTES <= limits.memory_bytes < machine_bytes:
                raise JobError(
                    f"a memory limit of {limits.memory_bytes / MIB:.0f} MiB is not possible: it has to be between "
                    f"{SMALLEST_MEMORY_BYTES // MIB} MiB and the machine's {machine_bytes // MIB} MiB"
                )
            self._limit_memory(limits.memory_bytes)
            words.append(f"{limits.memory_bytes / MIB:.0f} MiB of memory, page cache included, no swap")
        if limits.throttles:
            self._throttle(limits.throttles)
            words.append("the rates of emulated disks")
        self.words = "; ".join(words)

    def close(self) -> None:
        self._look()
        self._memory = self._rated = None
        while self.doors:
            os.close(self.doors.pop())
        while self._groups:
            remove_group(self._groups.pop())

    def _limit_memory(self, size_bytes: int) -> None:
        where = hierarchy("memory")
        group = make_group(where, self.run_id)
        self._groups.append(group)
        name = "memory.limit_in_bytes" if where.version == 1 else "memory.max"
        _write(group / name, size_bytes)
        # Two of version 1, then one of version 2; some are not there without accounting of swap.
        swap = {"memory.swappiness": 0, "memory.memsw.limit_in_bytes": size_bytes, "memory.swap.max": 0}
        for swap_file, value in swap.items():
            if (group / swap_file).exists():
                _write(group / swap_file, value)
        # A group around ours with less memory would be the real limit, and another one than the run says.
        for outer in (outer for outer in group.parents if outer.is_relative_to(where.root)):
            limit = text_of(outer / name)
            if limit.isdigit() and int(limit) < size_bytes:
                raise CgroupError(f"the agent itself runs in a group limited to {int(limit) // MIB} MiB of memory")
        self._memory = group
        self._open(group)

    def _throttle(self, throttles: Sequence[Throttle]) -> None:
        """In version 1 the topmost group has them (see `emulation`), so go there; in version 2 the cgroup."""
        where = hierarchy("blkio")
        self.throttles = throttles
        if where.version == 1:
            for throttle in throttles:
                device = throttle.device_number
                for name, value in throttle.v1_files().items():
                    if value is not None and f"{device} {value}" not in text_of(where.root / name).splitlines():
                        raise CgroupError(f"the emulated disk {device} is not throttled: {name} does not name it")
            self._rated = (where, where.root)
            if where.own != where.root:
                self._open(where.root)
            return
        make_group(hierarchy("memory"), self.run_id)  # without it the kernel's own writing back is nobody's
        group = make_group(where, self.run_id)
        self._rated = (where, group)
        self._set_rates(throttles)
        if group not in self._groups:
            self._groups.append(group)
            self._open(group)

    def _open(self, group: Path) -> None:
        try:
            self.doors.append(os.open(group / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC))
        except OSError as error:
            raise CgroupError(f"{group}: {error.strerror}; root's rights are needed") from error

    def _look(self) -> None:
        if self._memory is None:
            return
        for name in ("memory.max_usage_in_bytes", "memory.peak"):
            with suppress(OSError, ValueError):
                self._peak_bytes = int((self._memory / name).read_text())
        for name in ("memory.oom_control", "memory.events"):
            with suppress(OSError, KeyError, ValueError):
                fields = dict(line.split() for line in (self._memory / name).read_text().splitlines())
                self._oom_kills = int(fields["oom_kill"])


def remove_leftover_cgroups(run_id: str) -> int:
    """Remove what an agent that was killed has left of a run's cgroup; returns how many groups that were."""
    return sum(remove_group(group) for group in list(groups_named(run_id)))


def _write(path: Path, value: int) -> None:
    try:
        path.write_text(str(value))
    except OSError as error:
        raise CgroupError(f"{path.name} cannot be set to {value} ({error.strerror})") from error
