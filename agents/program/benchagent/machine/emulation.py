"""An emulated disk: ext4 on a loop device on a file, with limits on its rates. Linux, root only.

The file is written in full when it is made, so that no later write has to allocate space beneath. The loop device
opens it for direct I/O: nothing is cached twice, and what the emulated disk is asked to read or to flush really goes
to the disk beneath. The limits are on the loop device itself. Version 1 of the control groups keeps them for all
processes and for the kernel's own writing back, from the topmost group; version 2 has none there, so each job's cgroup
has them (see `limits`).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from benchagent.errors import JobError
from benchagent.machine.devices import SYS_BLOCK, backing_file, mounts
from benchagent.machine.limits import CgroupError, Throttle, hierarchy, set_rates
from benchagent.machine.system import answer_of

MEGABYTE = 1_000_000
SMALLEST_BYTES = 32 * MEGABYTE
SPARE_BYTES = 500 * MEGABYTE
TOOLS = ("losetup", "mkfs.ext4", "mount", "umount")
SEARCH_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
COMMAND_TIMEOUT_S = 120
BUSY_WAIT_S = 5.0
# A drive that reads on where it stands makes no new operation of each 128 KiB, which is the kernel's default.
READ_AHEAD_KB = 1024


class EmulationError(JobError):
    """The emulated disk cannot be had; the text says why."""


@dataclass(frozen=True)
class Emulation:
    """What an emulated disk is made of; None is no limit. Rates in megabytes (10^6 bytes) a second."""

    file: Path
    size_bytes: int
    read_mb_per_s: float | None = None
    write_mb_per_s: float | None = None
    read_iops: int | None = None
    write_iops: int | None = None

    @property
    def words(self) -> str:
        """Stands wherever something comes from this disk."""
        return f"emulated: {_rates('read', self.read_mb_per_s, self.read_iops)}; " + _rates(
            "write", self.write_mb_per_s, self.write_iops
        )

    def throttle(self, device_number: str) -> Throttle | None:
        limits = (_bytes(self.read_mb_per_s), _bytes(self.write_mb_per_s), self.read_iops, self.write_iops)
        return Throttle(device_number, *limits) if any(limits) else None


def _rates(what: str, mb_per_s: float | None, iops: int | None) -> str:
    words = [words for words, value in ((f"{mb_per_s or 0:g} MB/s", mb_per_s), (f"{iops} IOPS", iops)) if value]
    return f"{what} {', '.join(words) or 'without limit'}"


def _bytes(mb_per_s: float | None) -> int | None:
    return round(mb_per_s * MEGABYTE) if mb_per_s else None


def missing() -> str:
    """What stands in the way of emulated disks on this machine; empty when nothing does."""
    if os.geteuid() != 0:
        return "emulated disks need root's rights (loop device, mount, control group)"
    lacking = [tool for tool in TOOLS if shutil.which(tool, path=SEARCH_PATH) is None]
    if lacking:
        return f"emulated disks need {', '.join(lacking)}, not found on this machine"
    try:
        hierarchy("blkio")
    except CgroupError as error:
        return f"emulated disks need limits on block devices: {error}"
    return ""


def create(emulation: Emulation) -> None:
    """Write the file and an empty file system in it. Never over a file that exists. Raises `EmulationError`."""
    _require()
    file, size = emulation.file, emulation.size_bytes
    if size < SMALLEST_BYTES:
        raise EmulationError(f"an emulated disk has at least {SMALLEST_BYTES // MEGABYTE} MB")
    try:
        free = shutil.disk_usage(file.parent).free
        if free < size + SPARE_BYTES:
            raise EmulationError(f"{file.parent} has {free // MEGABYTE} MB free, too little for {size // MEGABYTE} MB")
        with file.open("xb"):
            pass
    except FileExistsError:
        raise EmulationError(f"{file} exists already; say a file that is to be made") from None
    except OSError as error:
        raise EmulationError(f"{file} cannot be made: {error.strerror}") from error
    try:
        chunk = bytes(8 * 1024 * 1024)
        with file.open("wb", buffering=0) as opened:
            for at in range(0, size, len(chunk)):
                opened.write(chunk[: size - at])
            os.fsync(opened.fileno())
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        _make_file_system(file)
    except BaseException as error:
        file.unlink()
        if isinstance(error, OSError):
            raise EmulationError(f"{file} cannot be written: {error.strerror}") from error
        raise


def _make_file_system(target: Path) -> None:
    """Everything is initialised now: no thread of the kernel does it during a measurement."""
    options = "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
    _command("mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-E", options, target)


def attached(file: Path) -> list[str]:
    """The loop devices on a file, also those that an earlier life of the agent has left."""
    real = Path(os.path.realpath(file))
    return [folder.name for folder in sorted(SYS_BLOCK.glob("loop*")) if backing_file(folder.name) == real]


def device_number(device: str) -> str:
    """ "major:minor" of a block device."""
    return (SYS_BLOCK / device / "dev").read_text().strip()


def set_up(emulation: Emulation, mount_point: Path) -> str:
    """Attach, throttle and mount; what was left of it before is taken down first. Returns the loop device's name.

    Raises `EmulationError` and leaves nothing half done.
    """
    _require()
    take_down(emulation)
    if not emulation.file.is_file():
        raise EmulationError(f"{emulation.file} is gone: remove this storage and make it again")
    try:
        path = _command("losetup", "--find", "--show", "--direct-io=on", emulation.file)
        device = Path(path).name
        _throttle(emulation.throttle(device_number(device)))
        try:
            (SYS_BLOCK / device / "queue" / "read_ahead_kb").write_text(str(READ_AHEAD_KB))
        except OSError as error:
            raise EmulationError(f"the read-ahead of {device} cannot be set: {error.strerror}") from error
        mount_point.mkdir(mode=0o755, parents=True, exist_ok=True)
        try:
            _command("mount", "-t", "ext4", path, mount_point)
        except EmulationError:  # it holds nothing but the folders of jobs that are over
            _make_file_system(Path(path))
            _command("mount", "-t", "ext4", path, mount_point)
        mount_point.chmod(0o755)
    except BaseException:
        take_down(emulation)
        raise
    return device


def take_down(emulation: Emulation) -> None:
    """Unmount and detach every loop device on the file. Raises `EmulationError` when something still uses it."""
    deadline = time.monotonic() + BUSY_WAIT_S
    while devices := attached(emulation.file):
        problem = "it does not go away"
        try:
            for device in devices:
                _detach(device)
        except EmulationError as error:
            problem = str(error)
        if time.monotonic() > deadline:
            for device in attached(emulation.file):
                _throttle(emulation.throttle(device_number(device)))
            raise EmulationError(f"{', '.join(devices)} on {emulation.file} is still in use: {problem}")
        time.sleep(0.02)


def _detach(device: str) -> None:
    """Without limits: what is still to be written out is nobody's measurement."""
    number = device_number(device)
    _throttle(Throttle(number).lifted)
    for mount in mounts():
        if mount.device_number == number:
            _command("umount", mount.mount_point)
    _command("losetup", "--detach", f"/dev/{device}")


def _throttle(throttle: Throttle | None) -> None:
    """Set the limits of version 1 (0 takes one away); those of version 2 are set for each job."""
    if throttle is None:
        return
    try:
        where = hierarchy("blkio")
        if where.version == 1:
            set_rates(where, where.root, throttle)
    except (CgroupError, OSError) as error:
        raise EmulationError(f"the rates of an emulated disk cannot be limited: {error}") from error


def _require() -> None:
    if problem := missing():
        raise EmulationError(problem)


def _command(tool: str, *arguments: str | Path) -> str:
    environment = {"PATH": SEARCH_PATH, "LC_ALL": "C.UTF-8"}
    try:
        done = answer_of([tool, *arguments], timeout_s=COMMAND_TIMEOUT_S, env=environment)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise EmulationError(f"{tool}: {error}") from error
    if done.returncode != 0:
        raise EmulationError(f"{tool}: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout.strip()
