"""How many synchronous writes a second a storage can do one after the other: the fingerprint of a disk.

A commit that waits for the disk takes at least one of them, so that no terminal can commit more often. The fastest of
all patterns counts, because a DBMS may use any of them: only what is faster than that cannot have waited.
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
    """`fdatasync_per_s` is the fastest of `patterns_per_s`; `at` is epoch seconds."""

    fdatasync_per_s: float
    patterns_per_s: dict[str, float]
    tool: str
    at: float


class SyncRates:
    """Rates measured within the last day, kept in `file` by the name of a device, and how it is mounted now."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def of(self, device: str, folder: Path, cage: Cage | None = None) -> SyncRate:
        """The known rate of `device`, or that of `folder`, which lies on it, measured now. Raises `JobError`.

        An emulated disk is another one with another file or with other rates.
        """
        rates_by_device, identity, file = self._known(), device, backing_file(device)
        mount = mount_of(folder)
        identity += "".join(
            f", {option}" for option in WITHOUT_BARRIERS if mount and option in mount.options.split(",")
        )
        if file:
            rates = [throttle.v2_line() for throttle in cage.throttles] if cage else "no limits"
            identity = f"{identity}, {file}: {rates}"
        if identity in rates_by_device and 0 <= time.time() - rates_by_device[identity].at < VALID_S:
            return rates_by_device[identity]
        rate = measure(folder, cage)
        write_private(self._file, {name: asdict(value) for name, value in {**rates_by_device, identity: rate}.items()})
        return rate

    def _known(self) -> dict[str, SyncRate]:
        try:
            content = json.loads(self._file.read_text(encoding="utf-8"))
            return {device: SyncRate(**fields) for device, fields in content.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}


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
