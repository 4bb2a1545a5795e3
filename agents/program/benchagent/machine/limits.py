"""Limits on what a job may use: memory (page cache included), CPUs, and the rates of emulated disks.

A cage is entered by a child between fork and exec, after a change of its user. The files through which it enters
were opened by the agent: the kernel judges by who opened them. What a child cannot be given ends it, so that nothing
ever runs unlimited in silence.

Memory is counted where a page is first touched. Files that were read or written outside the cage (a restored copy
of the data, for instance) have to be dropped from the page cache before the DBMS starts: see `caches`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchagent.errors import JobError
from benchagent.machine.cgroups import (
    CgroupError,
    Hierarchy,
    Throttle,
    groups_named,
    hierarchy,
    make_group,
    remove_group,
    set_rates,
)
from benchagent.machine.devices import text_of

MIB = 1 << 20
SMALLEST_MEMORY_BYTES = 16 * MIB


@dataclass(frozen=True)
class Limits:
    """What a job's server, embedded engine and tools may use; None and empty are no limit."""

    memory_bytes: int | None = None
    cpus: int | None = None
    throttles: Sequence[Throttle] = ()

    @contextmanager
    def cage(self, run_id: str) -> Iterator[Cage]:
        """Gone when it is left, with whatever still ran in it. Raises `JobError` with what is missing."""
        made = Cage(run_id)
        try:
            made.limit(self)
            yield made
        except CgroupError as error:
            raise JobError(f"the limits cannot be kept: {error}") from error
        finally:
            made.close()


class Cage:
    """The limits of one job, in force. `enter` is for `preexec_fn`; its figures remain when it is closed."""

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.cpus: tuple[int, ...] = ()
        self.words = ""
        self._memory: Path | None = None
        # Of the emulated disks of the job, and where they are set.
        self.throttles: Sequence[Throttle] = ()
        self._rated: tuple[Hierarchy, Path] | None = None
        self._groups: list[Path] = []
        self._doors: list[int] = []
        self._peak_bytes: int | None = None
        self._oom_kills: int | None = None

    def enter(self) -> None:
        """Move the calling process in. Raises `OSError` when the kernel refuses."""
        for door in self._doors:
            os.write(door, b"0")
        if self.cpus:
            os.sched_setaffinity(0, self.cpus)

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
        """Make what `Limits.cage` promises. Raises `JobError` or `CgroupError`."""
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
        while self._doors:
            os.close(self._doors.pop())
        while self._groups:
            remove_group(self._groups.pop())

    def _limit_memory(self, size_bytes: int) -> None:
        where = hierarchy("memory")
        group = make_group(where, self.run_id)
        self._groups.append(group)
        v1, v2 = {"memory.limit_in_bytes": size_bytes, "memory.swappiness": 0}, {"memory.max": size_bytes}
        for name, value in (v1 if where.version == 1 else v2).items():
            _write(group / name, str(value))
        for name in ("memory.memsw.limit_in_bytes", "memory.swap.max"):  # not there without accounting of swap
            if (group / name).exists():
                _write(group / name, "0" if name == "memory.swap.max" else str(size_bytes))
        _check_outer_limits(where, group, size_bytes)
        self._memory = group
        self._open(group)

    def _throttle(self, throttles: Sequence[Throttle]) -> None:
        """In version 1 the topmost group has them (see `emulation`), so go there; in version 2 the cage."""
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
            self._doors.append(os.open(group / "cgroup.procs", os.O_WRONLY | os.O_CLOEXEC))
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


def remove_leftover_cages(run_id: str) -> int:
    """Remove what an agent that was killed has left of a run's cage; returns how many groups that were."""
    return sum(remove_group(group) for group in list(groups_named(run_id)))


def _check_outer_limits(where: Hierarchy, group: Path, size_bytes: int) -> None:
    """A group around ours with less memory would be the real limit, and another one than the run says."""
    name = "memory.limit_in_bytes" if where.version == 1 else "memory.max"
    for outer in group.parents:
        if not outer.is_relative_to(where.root):
            return
        limit = text_of(outer / name)
        if limit.isdigit() and int(limit) < size_bytes:
            raise CgroupError(f"the agent itself runs in a group limited to {int(limit) // MIB} MiB of memory")


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text)
    except OSError as error:
        raise CgroupError(f"{path.name} cannot be set to {text} ({error.strerror})") from error
