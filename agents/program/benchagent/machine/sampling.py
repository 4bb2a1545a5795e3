"""What machine, processes and disks did since the last look: the source of the one-second series."""

from __future__ import annotations

import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

from benchagent.machine.devices import SECTOR_BYTES, SYS_BLOCK
from benchagent.protocol import DISK_MEANS, DISK_SHARES

READ_ATTEMPTS = 4
READ_ALL_EVERY = 30
STAT_BYTES = 4096
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
# The parent of the kernel's threads.
KERNEL_THREADS = 2
# If more of the other processes may not be read, nobody knows what others write.
MOST_HIDDEN = 0.1
MEMORY_FIELDS = (b"RssAnon:", b"RssFile:", b"RssShmem:")


@dataclass(frozen=True)
class Stat:
    """Parent and CPU time of a process, with that of the children it has reaped (proc(5), "stat")."""

    parent: int
    ticks: int


class ProcessTable:
    """The processes of this machine as they were at the last look, straight from /proc: cheap enough for every second.

    A look lists the processes and reads only those that are new or that are asked for. Parents hardly ever change; now
    and then everything is read again, in case they did or a number was given to another process.
    """

    def __init__(self) -> None:
        self._parents: dict[int, int] = {}
        self._looks = 0

    def look(self) -> None:
        """See who came and who went."""
        present = set(psutil.pids())
        if self._looks % READ_ALL_EVERY == 0:
            self._parents.clear()
        self._looks += 1
        for gone in self._parents.keys() - present:
            del self._parents[gone]
        for pid in present - self._parents.keys():
            if stat := read_stat(pid):
                self._parents[pid] = stat.parent

    def tree(self, roots: Sequence[int]) -> list[int]:
        """These processes, as far as they are alive, and all their descendants."""
        children: defaultdict[int, list[int]] = defaultdict(list)
        for pid, parent in self._parents.items():
            children[parent].append(pid)
        members: set[int] = set()
        left = [root for root in roots if root in self._parents]
        while left:
            pid = left.pop()
            if pid not in members:
                members.add(pid)
                left += children[pid]
        return sorted(members)

    def cpu_seconds(self, roots: Sequence[int]) -> float | None:
        """CPU used so far by a tree and the children that its members have reaped; None when all are gone.

        A child that ends moves into its parent's account, so the sum of a tree never falls; it is read again when
        somebody came or went meanwhile.
        """
        members = self.tree(roots)
        for _ in range(READ_ATTEMPTS):
            stats = [read_stat(pid) for pid in members]
            self.look()
            now = self.tree(roots)
            if now == members:
                break
            members = now
        return sum(stat.ticks for stat in stats if stat) / TICKS_PER_S if members else None

    def written_bytes(self, roots: Sequence[int]) -> tuple[int | None, int | None]:
        """That these trees have brought to disks so far, and that all others have; None where it may not be read.

        A child that ends moves into its parent's account. The kernel's own threads write for others: they count not.
        """
        own, kernel = set(self.tree([*roots, os.getpid()])), set(self.tree([KERNEL_THREADS]))
        return _written(own, most_hidden=0.0), _written(self._parents.keys() - own - kernel, most_hidden=MOST_HIDDEN)

    def memory_bytes(self, roots: Sequence[int]) -> int | None:
        """Memory of a tree: private pages of each, shared ones (buffer pool, program) counted once."""
        sizes = [size for size in map(_memory_kilobytes, self.tree(roots)) if size]
        if not sizes:
            return None
        private = sum(size[0] for size in sizes)
        return (private + max(size[1] for size in sizes) + max(size[2] for size in sizes)) * 1024


def read_stat(pid: int) -> Stat | None:
    """None when it is gone."""
    text = _read(f"/proc/{pid}/stat")
    fields = text[text.rfind(b")") + 2 :].split(None, 16)
    return Stat(int(fields[1]), sum(map(int, fields[11:15]))) if len(fields) > 15 else None


def _written(pids: Collection[int], *, most_hidden: float) -> int | None:
    """Bytes written at most by these processes and the children they have reaped, less what was thrown away before
    (proc(5), "io"). `wchar` is no such limit: it lacks what is written by libaio and io_uring (MariaDB: 6 of 21 MB).

    None where a greater share of them than `most_hidden` may not be read.
    """
    total = hidden = 0
    for pid in pids:
        counts = dict(line.split(b": ") for line in _read(f"/proc/{pid}/io").splitlines())
        if counts:
            total += int(counts[b"write_bytes"]) - int(counts[b"cancelled_write_bytes"])
        elif read_stat(pid):
            hidden += 1
    return total if hidden <= most_hidden * len(pids) else None


def _memory_kilobytes(pid: int) -> tuple[int, int, int] | None:
    """Private, of files, shared; None for a process that is gone or has ended."""
    text = _read(f"/proc/{pid}/status")
    kilobytes = []
    for field in MEMORY_FIELDS:
        at = text.find(field)
        if at < 0:
            return None
        kilobytes.append(int(text[at + len(field) : text.index(b"kB", at)]))
    return kilobytes[0], kilobytes[1], kilobytes[2]


def _read(path: str) -> bytes:
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, STAT_BYTES)
    except OSError:  # it has ended since
        return b""
    finally:
        os.close(file)


MEGABYTE = 1_000_000
# Root processes: fixed ones, or asked for each time, because a server may be started anew.
Pids = Sequence[int] | Callable[[], Sequence[int]]
# The load generator, which metrics and results call so, tells its own CPU.
WITHOUT_CPU = ("driver",)
DATA = "data"
# Series of a device by its role; of the log's and the backup's only where they are other devices than the data's, and
# with the role before their names.
DISK_SERIES: dict[str, tuple[str, ...]] = {
    DATA: DISK_MEANS,
    "log": ("disk_write_mb_per_s", "disk_write_iops"),
    "backup": ("disk_read_mb_per_s", "disk_write_mb_per_s", "disk_write_iops"),
}


def disk_metric(role: str, rate: str) -> str:
    return rate if role == DATA else f"{role}_{rate}"


@dataclass(frozen=True)
class DiskCounters:
    """What a block device did since the machine was started (Documentation/block/stat of the kernel)."""

    reads: int
    read_bytes: int
    writes: int
    written_bytes: int
    busy_ms: int

    def rates_since(self, before: DiskCounters, elapsed_s: float) -> dict[str, float]:
        return {
            "disk_read_mb_per_s": (self.read_bytes - before.read_bytes) / MEGABYTE / elapsed_s,
            "disk_write_mb_per_s": (self.written_bytes - before.written_bytes) / MEGABYTE / elapsed_s,
            "disk_read_iops": (self.reads - before.reads) / elapsed_s,
            "disk_write_iops": (self.writes - before.writes) / elapsed_s,
            "disk_util_percent": min(100.0, (self.busy_ms - before.busy_ms) / 10 / elapsed_s),
        }


def disk_counters(device: str) -> DiskCounters | None:
    """None for what is no block device."""
    try:
        fields = [int(field) for field in (SYS_BLOCK / device / "stat").read_text().split()]
    except OSError:
        return None
    return DiskCounters(fields[0], fields[2] * SECTOR_BYTES, fields[4], fields[6] * SECTOR_BYTES, fields[9])


def machine_cpu_s() -> tuple[float, float]:
    """(busy, total) CPU seconds of the machine; waiting for the disk counts as idle, as in top(1)."""
    times = psutil.cpu_times()
    total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    return total - times.idle - getattr(times, "iowait", 0.0), total


@contextmanager
def repeated(look: Callable[[], None], *, every_s: float) -> Iterator[None]:
    """Calls it again and again in a thread of its own, for the first time after `every_s`, until the block ends."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(every_s):
            look()

    thread = threading.Thread(target=watch, name="watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class Sampler:
    """`sample()` once a second; every value covers the time since the call before.

    `processes` has the root processes by the name of their group ("server", "tool", "driver"), `devices` the kernel's
    name of a device by its role ("data", "log", "backup").
    """

    def __init__(self, processes: Mapping[str, Pids], devices: Mapping[str, str]) -> None:
        self._table = ProcessTable()
        self._processes = processes
        # By the name of the group: what was there at the last look, and what it had used.
        self._roots: dict[str, list[int]] = {name: [] for name in processes}
        self._cpu_s: dict[str, float | None] = {}
        self._devices = {
            role: device
            for role, device in devices.items()
            if role in DISK_SERIES
            and (role == DATA or device != devices.get(DATA))
            and disk_counters(device) is not None
        }
        self._counters: dict[str, DiskCounters | None] = {}
        self._time, self._machine = 0.0, (0.0, 0.0)
        self._written: tuple[int | None, ...] = (None, None)
        self.sample()

    def sample(self, elapsed_s: float | None = None) -> dict[str, float | None]:
        """Always the same metrics; None where one could not be read this time.

        `elapsed_s`: how long it was since the call before, where somebody nearer to the work has timed it.
        """
        time_s, machine = self._time, self._machine
        self._time, self._machine = time.monotonic(), machine_cpu_s()
        elapsed_s = max(self._time - time_s if elapsed_s is None else elapsed_s, 1e-3)
        busy, total = self._machine[0] - machine[0], self._machine[1] - machine[1]
        values: dict[str, float | None] = {
            "machine_cpu_percent": min(100.0, max(0.0, 100 * busy / total)) if total > 0 else None
        }
        self._table.look()
        for name in self._processes:
            values |= self._of_processes(name, elapsed_s)
        for role in self._devices:
            values |= self._of_device(role, elapsed_s)
        return values | self._shares(elapsed_s) if self._devices else values

    def _of_processes(self, name: str, elapsed_s: float) -> dict[str, float | None]:
        """None in the second in which the processes of a group were not there or became others."""
        pids, before = self._processes[name], self._roots[name]
        roots = self._roots[name] = list(pids() if callable(pids) else pids)
        values: dict[str, float | None] = {}
        if name not in WITHOUT_CPU:
            was, now = self._cpu_s.get(name), self._table.cpu_seconds(roots)
            self._cpu_s[name] = now
            cores = None if was is None or now is None or before != roots else max(0.0, now - was) / elapsed_s
            values[f"{name}_cpu_cores"] = cores
        return {**values, f"{name}_rss_bytes": self._table.memory_bytes(roots)}

    def _of_device(self, role: str, elapsed_s: float) -> dict[str, float | None]:
        before, now = self._counters.get(role), disk_counters(self._devices[role])
        self._counters[role] = now
        rates = now.rates_since(before, elapsed_s) if before and now else {}
        return {disk_metric(role, rate): rates.get(rate) for rate in DISK_SERIES[role]}

    def _shares(self, elapsed_s: float) -> dict[str, float | None]:
        """Who wrote to disks: the processes of the run, and all others."""
        roots = [pid for roots in self._roots.values() for pid in roots]
        before, self._written = self._written, self._table.written_bytes(roots)
        return {
            name: None if was is None or now is None else max(0, now - was) / MEGABYTE / elapsed_s
            for name, was, now in zip(DISK_SHARES, before, self._written, strict=True)
        }
