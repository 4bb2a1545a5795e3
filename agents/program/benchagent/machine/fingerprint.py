"""How many synchronous writes a second a storage can do one after the other: the fingerprint of a disk.

A commit that waits for the disk takes at least one of them, so that no terminal can commit more often. The fastest of
all patterns counts, because a DBMS may use any of them: only what is faster than that cannot have waited. The best of
several tries counts, because whatever else the machine does makes a disk look slower than it is, and nothing faster.
A try is quiet where machine and disk had next to nothing else to do just before and after it; only quiet ones tell what
a disk cannot do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from benchagent.catalog.durability import WITHOUT_BARRIERS
from benchagent.errors import JobError
from benchagent.machine import process
from benchagent.machine.devices import backing_file, mount_of, physical_disks
from benchagent.machine.limits import JobCgroup
from benchagent.machine.sampling import disk_counters, machine_cpu_s
from benchagent.paths import write_private

KIB = 1024
FILE_BYTES = 4 * 1024 * KIB
SLICES, SLICE_S = 2, 0.2
# A slow disk gets one long slice: its rate is not even at first.
ENOUGH_SYNCS, LONG_SLICE_S = 50, 1.0
TIMEOUT_S = 120.0
VALID_S = 86_400.0
# A day has so many quiet tries, one before each run. The fastest so many are kept.
TRIES, MOST_KEPT = 3, 10
# Quiet tries without which nobody is told that a disk cannot do something.
LEAST_QUIET = 2
# What others may have of the machine's CPU, and of the disk's reads and writes, while somebody looks for so long.
LOOK_S, MOST_CPU_PERCENT, MOST_OTHERS_IOPS = 0.5, 10.0, 50.0
# Where an agent keeps its tries, below its state folder.
SYNC_RATES = "sync_rates.json"
NOBODY_LOOKED = "nobody looked what else the machine did"
TOOL = "benchagent, one thread"
# Name: bytes a write, at the end of the file or in it, extra flag of open(2).
PATTERNS: dict[str, tuple[int, bool, int]] = {
    "append 4 KiB, fdatasync": (4 * KIB, True, 0),
    "append 8 KiB, fdatasync": (8 * KIB, True, 0),
    "overwrite 4 KiB, fdatasync": (4 * KIB, False, 0),
    "overwrite 8 KiB, fdatasync": (8 * KIB, False, 0),
    "overwrite 4 KiB, O_DSYNC": (4 * KIB, False, os.O_DSYNC),
}


@dataclass(frozen=True)
class SyncRate:
    """One try. `fdatasync_per_s` is the fastest of `patterns_per_s`; `at` is epoch seconds. `busy`: what else the
    machine did; empty for a quiet one.
    """

    fdatasync_per_s: float
    patterns_per_s: dict[str, float]
    tool: str
    at: float
    busy: str = NOBODY_LOOKED


@dataclass(frozen=True)
class BestRate:
    """The best of the `tries` of a day, one at least."""

    tries: tuple[SyncRate, ...]

    @property
    def fdatasync_per_s(self) -> float:
        return max(rate.fdatasync_per_s for rate in self.tries)

    @property
    def quiet(self) -> int:
        """How many of the tries nothing disturbed."""
        return sum(not rate.busy for rate in self.tries)

    @property
    def words(self) -> str:
        """Best of 4 tries, 3 of them quiet, 2,469 to 11,405, the oldest 2 h before."""
        rates = [rate.fdatasync_per_s for rate in self.tries]
        hours = max(time.time() - rate.at for rate in self.tries) / 3600
        age = f"{hours:.0f} h" if hours >= 1 else f"{60 * max(hours, 0):.0f} min"
        if len(rates) == 1:
            return f"one {'quiet ' * self.quiet}try, {age} before"
        tries = f"best of {len(rates)} tries, {self.quiet or 'none'} of them quiet"
        return f"{tries}, {min(rates):,.0f} to {max(rates):,.0f}, the oldest {age} before"


class SyncRates:
    """Tries of the last day, kept in `file` by the name of a device, and how it is mounted now."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def of(self, device: str, folder: Path, cgroup: JobCgroup | None = None) -> BestRate:
        """The rate of `device`, on which `folder` lies; measured until `TRIES` were quiet. Raises `JobError`.

        An emulated disk is another one with another file or with other rates.
        """
        known = BestRate(self._tries().get(_identity(device, folder, cgroup), ()))
        return known if known.quiet >= TRIES else self.again(device, folder, cgroup)

    def again(self, device: str, folder: Path, cgroup: JobCgroup | None = None) -> BestRate:
        """With one more try, now. Raises `JobError`."""
        tries, identity = self._tries(), _identity(device, folder, cgroup)
        every = (*tries.get(identity, ()), measure(folder, cgroup))
        tries[identity] = tuple(sorted(every, key=lambda rate: (bool(rate.busy), -rate.fdatasync_per_s))[:MOST_KEPT])
        write_private(self._file, {name: [asdict(rate) for rate in rates] for name, rates in tries.items()})
        return BestRate(tries[identity])

    def _tries(self) -> dict[str, tuple[SyncRate, ...]]:
        """The tries of the last day; a single rate is what an earlier version kept."""
        try:
            content = json.loads(self._file.read_text(encoding="utf-8"))
            kept = {
                name: tuple(SyncRate(**rate) for rate in (rates if isinstance(rates, list) else [rates]))
                for name, rates in content.items()
            }
        except (OSError, ValueError, TypeError, AttributeError):
            return {}
        now = time.time()
        return {name: tuple(rate for rate in rates if 0 <= now - rate.at < VALID_S) for name, rates in kept.items()}


def _identity(device: str, folder: Path, cgroup: JobCgroup | None) -> str:
    file, mount = backing_file(device), mount_of(folder)
    options = mount.options.split(",") if mount else []
    identity = device + "".join(f", {option}" for option in WITHOUT_BARRIERS if option in options)
    if not file:
        return identity
    rates = [throttle.v2_line() for throttle in cgroup.throttles] if cgroup else "no limits"
    return f"{identity}, {file}: {rates}"


def measure(folder: Path, cgroup: JobCgroup | None = None) -> SyncRate:
    """About three seconds, in a process of its own, within the limits of `cgroup`. Raises `JobError`."""
    busy_before = busy(folder)
    program = [sys.executable, "-m", "benchagent.machine.fingerprint", str(folder)]
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PATH": os.defpath}
    child = process.spawn(
        program, cgroup=cgroup, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        output, trouble = child.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.stop(child)
        raise JobError(f"the fdatasync rate could not be measured within {TIMEOUT_S:.0f} s") from None
    if child.returncode != 0:
        reason = (trouble.strip().splitlines() or ["its process was killed"])[-1]
        raise JobError(f"the fdatasync rate cannot be measured: {reason}")
    rates = {str(name): float(rate) for name, rate in json.loads(output).items()}
    return SyncRate(max(rates.values()), rates, TOOL, time.time(), busy_before or busy(folder))


def busy(folder: Path) -> str:
    """What machine and disk of `folder` do while nobody measures, in words; empty where that is next to nothing."""
    disk = next(iter(physical_disks(folder)), "")
    before, (busy_s, total_s) = disk_counters(disk), machine_cpu_s()
    time.sleep(LOOK_S)
    after, (busy_later_s, total_later_s) = disk_counters(disk), machine_cpu_s()
    found = []
    percent = 100 * (busy_later_s - busy_s) / max(total_later_s - total_s, 1e-3)
    if percent > MOST_CPU_PERCENT:
        found.append(f"{percent:.0f} % of the CPU went to others")
    if before and after:
        iops = (after.reads + after.writes - before.reads - before.writes) / LOOK_S
        if iops > MOST_OTHERS_IOPS:
            found.append(f"the disk did {iops:,.0f} reads and writes a second for others")
    return ", ".join(found)


def _rate_per_s(folder: Path, size: int, append: bool, flag: int) -> float:
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".benchagent-sync-") as made:
        if not append:
            made.write(os.urandom(FILE_BYTES))
            made.flush()
            os.fsync(made.fileno())
        file = os.open(made.name, os.O_WRONLY | flag)
        try:
            return _written_per_s(file, os.urandom(size), append, flag)
        finally:
            os.close(file)


def _written_per_s(file: int, block: bytes, append: bool, flag: int) -> float:
    """The fastest slice: what else the machine does must not make a disk look slower than it is."""
    best, at = 0.0, 0
    for _ in range(SLICES):
        count, begun = 0, time.perf_counter()
        while (elapsed := time.perf_counter() - begun) < (SLICE_S if count >= ENOUGH_SYNCS else LONG_SLICE_S):
            os.pwrite(file, block, at)
            if not flag:
                os.fdatasync(file)
            count += 1
            at += len(block)
            if not append and at >= FILE_BYTES:
                at = 0
        best = max(best, count / elapsed)
        if elapsed > 2 * SLICE_S:
            break
    return best


if __name__ == "__main__":
    print(json.dumps({name: round(_rate_per_s(Path(sys.argv[1]), *how), 1) for name, how in PATTERNS.items()}))
