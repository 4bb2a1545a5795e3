"""How many synchronous writes a second a storage can do one after the other: the fingerprint of a disk.

A commit that waits for the disk takes at least one of them, so that no terminal can commit more often. The fastest of
all patterns counts, because a DBMS may use any of them: only what is faster than that cannot have waited. The best of
several tries counts, because whatever else the machine does makes a disk look slower than it is, and nothing faster.
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
from benchagent.machine.devices import backing_file, mount_of
from benchagent.machine.limits import Cage
from benchagent.paths import write_private

KIB = 1024
FILE_BYTES = 4 * 1024 * KIB
SLICES, SLICE_S = 2, 0.2
# A slow disk gets one long slice: its rate is not even at first.
ENOUGH_SYNCS, LONG_SLICE_S = 50, 1.0
TIMEOUT_S = 120.0
VALID_S = 86_400.0
# Of a day; one before each run, until there are so many.
TRIES = 3
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
    """One try. `fdatasync_per_s` is the fastest of `patterns_per_s`; `at` is epoch seconds."""

    fdatasync_per_s: float
    patterns_per_s: dict[str, float]
    tool: str
    at: float


@dataclass(frozen=True)
class BestRate:
    """The best of the `tries` of a day, one at least."""

    tries: tuple[SyncRate, ...]

    @property
    def fdatasync_per_s(self) -> float:
        return max(rate.fdatasync_per_s for rate in self.tries)

    @property
    def words(self) -> str:
        """Best of 3 tries, 9,521 to 11,405, the oldest 2 h before."""
        rates = [rate.fdatasync_per_s for rate in self.tries]
        hours = max(time.time() - rate.at for rate in self.tries) / 3600
        age = f"{hours:.0f} h" if hours >= 1 else f"{60 * max(hours, 0):.0f} min"
        if len(rates) == 1:
            return f"one try, {age} before"
        return f"best of {len(rates)} tries, {min(rates):,.0f} to {max(rates):,.0f}, the oldest {age} before"


class SyncRates:
    """Tries of the last day, kept in `file` by the name of a device, and how it is mounted now."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def of(self, device: str, folder: Path, cage: Cage | None = None) -> BestRate:
        """The rate of `device`, on which `folder` lies; it is measured until there are `TRIES`. Raises `JobError`.

        An emulated disk is another one with another file or with other rates.
        """
        known = self._tries().get(_identity(device, folder, cage), ())
        return BestRate(known) if len(known) >= TRIES else self.again(device, folder, cage)

    def again(self, device: str, folder: Path, cage: Cage | None = None) -> BestRate:
        """With one more try, now. Raises `JobError`."""
        tries, identity = self._tries(), _identity(device, folder, cage)
        tries[identity] = (*tries.get(identity, ()), measure(folder, cage))
        write_private(self._file, {name: [asdict(rate) for rate in rates] for name, rates in tries.items()})
        return BestRate(tries[identity])

    def _tries(self) -> dict[str, tuple[SyncRate, ...]]:
        """Of the last day; a single rate is what an earlier version kept."""
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


def _identity(device: str, folder: Path, cage: Cage | None) -> str:
    file, mount = backing_file(device), mount_of(folder)
    options = mount.options.split(",") if mount else []
    identity = device + "".join(f", {option}" for option in WITHOUT_BARRIERS if option in options)
    if not file:
        return identity
    rates = [throttle.v2_line() for throttle in cage.throttles] if cage else "no limits"
    return f"{identity}, {file}: {rates}"


def measure(folder: Path, cage: Cage | None = None) -> SyncRate:
    """About two seconds, in a process of its own, within the limits of `cage`. Raises `JobError`."""
    program = [sys.executable, "-m", "benchagent.machine.fingerprint", str(folder)]
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PATH": os.defpath}
    child = process.spawn(
        program, cage=cage, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
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
    return SyncRate(max(rates.values()), rates, TOOL, time.time())


def _rate_per_s(folder: Path, size: int, append: bool, flag: int) -> float:
    handle, name = tempfile.mkstemp(dir=folder, prefix=".benchagent-sync-")
    try:
        with os.fdopen(handle, "wb") as opened:
            if not append:
                opened.write(os.urandom(FILE_BYTES))
                opened.flush()
                os.fsync(opened.fileno())
        file = os.open(name, os.O_WRONLY | flag)
        try:
            return _written_per_s(file, os.urandom(size), append, flag)
        finally:
            os.close(file)
    finally:
        Path(name).unlink()


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
