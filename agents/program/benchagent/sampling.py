"""What machine, DBMS, load generator and disk did since the last look: the source of the one-second series."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from benchagent.storage import SECTOR_BYTES, SYS_BLOCK

MEGABYTE = 1_000_000
READ_ATTEMPTS = 4


def cpu_seconds(roots: Sequence[int]) -> float | None:
    """CPU used so far by these processes, their living descendants and the children they have reaped.

    A child that ends moves into its parent's account, so the sum of a tree never falls; it is read again when
    somebody came or went meanwhile. None when all are gone.
    """
    members = _tree(roots)
    for _ in range(READ_ATTEMPTS):
        total = sum(_process_cpu_seconds(process) for process in members)
        now = _tree(roots)
        if [process.pid for process in now] == [process.pid for process in members]:
            break
        members = now
    return total if members else None


def _process_cpu_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)


def memory_bytes(roots: Sequence[int]) -> int | None:
    """Memory of a process tree: private pages of each, shared ones (buffer pool, program) counted once."""
    private, shared, program = 0, 0, 0
    alive = False
    for process in _tree(roots):
        fields = _status_kilobytes(process.pid)
        if fields is None:
            continue
        alive = True
        private += fields.get("RssAnon", 0)
        shared = max(shared, fields.get("RssShmem", 0))
        program = max(program, fields.get("RssFile", 0))
    return (private + shared + program) * 1024 if alive else None


def _tree(roots: Sequence[int]) -> list[psutil.Process]:
    found: dict[int, psutil.Process] = {}
    for pid in roots:
        try:
            root = psutil.Process(pid)
            found.update({process.pid: process for process in [root, *root.children(recursive=True)]})
        except psutil.Error:
            continue
    return [found[pid] for pid in sorted(found)]


def _status_kilobytes(pid: int) -> dict[str, int] | None:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return None
    pairs = (line.split(":", 1) for line in lines if line.startswith("Rss"))
    return {key: int(value.split()[0]) for key, value in pairs}


def disk_bytes(device: str) -> tuple[int, int] | None:
    """(read, written) so far by a block device, as the kernel counts (Documentation/block/stat)."""
    try:
        fields = (SYS_BLOCK / device / "stat").read_text().split()
    except OSError:
        return None
    return int(fields[2]) * SECTOR_BYTES, int(fields[6]) * SECTOR_BYTES


def _machine_cpu() -> tuple[float, float]:
    """(busy, total) CPU seconds of the machine; waiting for the disk counts as idle, as in top(1)."""
    times = psutil.cpu_times()
    total = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    return total - times.idle - getattr(times, "iowait", 0.0), total


class Sampler:
    """`sample()` once a second; every value covers the time since the call before."""

    def __init__(self, *, driver_pid: int, server_pids: Callable[[], list[int]], device: str) -> None:
        self._driver = [driver_pid]
        self._server_pids = server_pids
        self._has_server = bool(server_pids())
        self._device = device
        self._has_device = disk_bytes(device) is not None
        self._mark()

    def _mark(self) -> None:
        self._time = time.monotonic()
        self._machine = _machine_cpu()
        self._server_cpu = cpu_seconds(self._server_pids()) if self._has_server else None
        self._disk = disk_bytes(self._device)

    def sample(self) -> dict[str, float | None]:
        """Always the same metrics; None where one could not be read this time."""
        time_s, machine, server_cpu, disk = self._time, self._machine, self._server_cpu, self._disk
        self._mark()
        elapsed_s = max(self._time - time_s, 1e-3)
        total = self._machine[1] - machine[1]
        busy = self._machine[0] - machine[0]
        values: dict[str, float | None] = {
            "machine_cpu_percent": min(100.0, max(0.0, 100 * busy / total)) if total > 0 else None,
            "driver_rss_bytes": memory_bytes(self._driver),
        }
        if self._has_server:
            values["server_cpu_cores"] = _rate(server_cpu, self._server_cpu, elapsed_s)
            values["server_rss_bytes"] = memory_bytes(self._server_pids())
        if self._has_device:
            before, after = disk or (None, None), self._disk or (None, None)
            values["disk_read_mb_per_s"] = _rate(before[0], after[0], elapsed_s * MEGABYTE)
            values["disk_write_mb_per_s"] = _rate(before[1], after[1], elapsed_s * MEGABYTE)
        return values


def _rate(before: float | None, after: float | None, per: float) -> float | None:
    return None if before is None or after is None else max(0.0, after - before) / per
