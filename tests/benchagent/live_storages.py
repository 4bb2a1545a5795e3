"""Real storages of every kind that this machine can have, each made when it is first asked for.

All but the local disk and the machine's memory need root's rights; what cannot be had skips the test and says why.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from benchagent.catalog import Durability
from benchagent.catalog.durability import of_layers
from benchagent.machine import emulation
from benchagent.machine.devices import SYS_BLOCK, device_of, storage_layers
from benchagent.machine.emulation import Emulation

SHM, ZRAM = Path("/dev/shm"), Path("/sys/class/zram-control")
LOOP_BYTES, SMALL_BYTES = 200_000_000, 40_000_000
# Far below what an engine commits that waits for nothing.
SLOW_IOPS = 50


class Storages:
    """`folder(name)`: a new one on the storage of that name, which every user can reach."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._made: dict[str, Path] = {}
        self._numbers = 0
        self._makers: dict[str, Callable[[], Path]] = {
            "disk": self._disk,
            "tmpfs": lambda: self._temporary(SHM),
            "overlay": lambda: self._overlay(""),
            "overlay, volatile": lambda: self._overlay(",volatile"),
            "overlay, untold": lambda: self._overlay("", told=False),
            "loop": lambda: self._loop(self._temporary(None)),
            "loop on tmpfs": lambda: self._loop(self._temporary(SHM)),
            "slow loop": lambda: self._loop(self._temporary(None), SMALL_BYTES, write_iops=SLOW_IOPS),
            "zram": self._zram,
        }

    def folder(self, name: str) -> Path:
        """`name`: that of a storage, then how it is mounted and what it says of its write cache."""
        known = self.known(name)
        if known not in self._made:
            if known not in ("disk", "tmpfs") and (missing := emulation.missing()):
                pytest.skip(missing)
            self._made[known] = self._makers[known]()
        root = self._made[known]
        self.dress(name)
        self._numbers += 1
        made = root / str(self._numbers)
        made.mkdir(mode=0o755)
        return made

    def known(self, name: str) -> str:
        """The storage without how it is mounted."""
        return name if name in self._makers else name.partition(", ")[0]

    def dress(self, name: str) -> None:
        """Mount a loop device as `name` says, with what runs on it already."""
        root = self._made[self.known(name)]
        if self.known(name) in ("loop", "slow loop"):
            cache = "write through" if "write through" in name else "write back"
            (SYS_BLOCK / device_of(root) / "queue" / "write_cache").write_text(cache)
            run("mount", "-o", f"remount,{'nobarrier' if 'no barriers' in name else 'barrier'}", root)

    def close(self) -> None:
        self._stack.close()

    def _temporary(self, beneath: Path | None) -> Path:
        made = Path(tempfile.mkdtemp(prefix="benchagent-storage-", dir=beneath))
        made.chmod(0o755)
        self._stack.callback(shutil.rmtree, made)
        return made

    def _disk(self) -> Path:
        made = self._temporary(None)
        held = of_layers(storage_layers(made))
        if held.durability is Durability.DBMS_CRASH:
            pytest.skip(f"temporary files lie on no disk: {held.reason}")
        return made

    def _overlay(self, more: str, *, told: bool = True) -> Path:
        beneath = self._temporary(None)
        for name in ("lower", "upper", "work", "merged"):
            (beneath / name).mkdir(mode=0o755)
        where = f"{beneath}/" if told else ""
        options = f"lowerdir={where}lower,upperdir={where}upper,workdir={where}work{more}"
        run("mount", "-t", "overlay", "overlay", "-o", options, beneath / "merged", cwd=beneath)
        self._stack.callback(run, "umount", beneath / "merged")
        return beneath / "merged"

    def _loop(self, beneath: Path, size_bytes: int = LOOP_BYTES, write_iops: int | None = None) -> Path:
        made = Emulation(file=beneath / "disk.img", size_bytes=size_bytes, write_iops=write_iops)
        emulation.create(made)
        self._stack.callback(emulation.take_down, made)
        emulation.set_up(made, beneath / "mounted")
        return beneath / "mounted"

    def _zram(self) -> Path:
        if not ZRAM.exists():
            pytest.skip("this kernel has no zram")
        number = (ZRAM / "hot_add").read_text().strip()
        device, beneath = f"zram{number}", self._temporary(None)
        self._stack.callback((ZRAM / "hot_remove").write_text, number)
        (SYS_BLOCK / device / "disksize").write_text(str(LOOP_BYTES))
        run("mkfs.ext4", "-q", f"/dev/{device}")
        run("mount", f"/dev/{device}", beneath)
        self._stack.callback(run, "umount", beneath)
        beneath.chmod(0o755)
        return beneath


def run(*command: str | Path, cwd: Path | None = None) -> None:
    subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True)
