"""Emulated disks: real loop devices with real limits."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchagent.machine import devices, emulation
from benchagent.machine.emulation import Emulation, EmulationError
from benchagent.machine.limits import hierarchy
from benchagent.machine.sampling import disk_counters

from tests.benchagent.storages import SIZE_BYTES, an_emulation, needs_emulation, took_s

pytestmark = needs_emulation
WRITTEN_BYTES = 8_000_000


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Emulation]:
    """16 MB/s each way."""
    made = an_emulation(tmp_path, read_mb_per_s=16, write_mb_per_s=16)
    emulation.create(made)
    yield made
    emulation.take_down(made)


def limits_of(device_number: str) -> list[str]:
    root = hierarchy("blkio").root
    files = root.glob("blkio.throttle.*_device") if hierarchy("blkio").version == 1 else ()
    lines = [line for file in files for line in file.read_text().splitlines()]
    return [line for line in lines if line.startswith(f"{device_number} ")]


def test_it_throttles_synced_direct_and_written_back_data_and_reads(slow: Emulation, tmp_path: Path):
    """Each kind of I/O is slowed down, whoever brings it to the disk: 8 MB take half a second at 16 MB/s.

    The kernel counts in slices of a tenth of a second and lets what is left of one or two of them pass at once.
    """
    folder = tmp_path / "mounted"
    device = emulation.set_up(slow, folder)
    assert (devices.SYS_BLOCK / device / "loop" / "dio").read_text() == "1\n", "past the page cache of the file beneath"
    data = os.urandom(WRITTEN_BYTES)

    def synced() -> None:
        with (folder / "synced").open("wb") as file:
            file.write(data)
            file.flush()
            os.fdatasync(file.fileno())

    def written_back() -> None:
        (folder / "written back").write_bytes(data)
        subprocess.run(["sync", "--file-system", str(folder)], check=True)  # the kernel's flusher writes

    def direct() -> None:
        argv = ["dd", "if=/dev/zero", f"of={folder}/direct", "bs=1M", "count=8", "oflag=direct"]
        subprocess.run(argv, check=True, capture_output=True)

    def read() -> None:
        argv = ["dd", f"if={folder}/direct", "of=/dev/null", "bs=1M", "iflag=direct"]
        subprocess.run(argv, check=True, capture_output=True)

    for work in (synced, written_back, direct, read):
        assert took_s(work) > 0.25, work.__name__


def test_it_limits_operations(tmp_path: Path):
    made = an_emulation(tmp_path, write_iops=50)
    emulation.create(made)
    folder = tmp_path / "mounted"
    emulation.set_up(made, folder)
    (folder / "file").write_bytes(bytes(4096 * 50))

    def overwrite() -> None:
        file = os.open(folder / "file", os.O_WRONLY | os.O_DSYNC)
        for at in range(40):
            os.pwrite(file, b"x" * 4096, at * 4096)
        os.close(file)

    subprocess.run(["sync", "--file-system", str(folder)], check=True)
    try:
        assert took_s(overwrite) > 0.6  # 40 of 50 a second; a burst of the first tenth is let through
    finally:
        emulation.take_down(made)


def test_reading_on_costs_no_operation_for_each_page(tmp_path: Path):
    """8 MB in operations of 128 KiB, the kernel's default, would be 64."""
    made = an_emulation(tmp_path)
    emulation.create(made)
    folder = tmp_path / "mounted"
    device = emulation.set_up(made, folder)
    argv = ["dd", "if=/dev/zero", f"of={folder}/file", "bs=1M", "count=8", "oflag=direct"]
    subprocess.run(argv, check=True, capture_output=True)

    try:
        before = disk_counters(device)
        with (folder / "file").open("rb") as file:
            while file.read(16384):
                pass
        after = disk_counters(device)
    finally:
        emulation.take_down(made)
    assert after.read_bytes - before.read_bytes >= 8 << 20
    assert after.reads - before.reads <= 24


def test_it_leaves_no_device_mount_or_limit_behind(slow: Emulation, tmp_path: Path):
    device = emulation.set_up(slow, tmp_path / "mounted")
    number = emulation.device_number(device)
    assert emulation.attached(slow.file) == [device]
    assert len(limits_of(number)) == (2 if hierarchy("blkio").version == 1 else 0)
    emulation.take_down(slow)
    assert emulation.attached(slow.file) == []
    assert not [mount for mount in devices.mounts() if str(tmp_path) in mount.mount_point]
    assert limits_of(number) == []


def test_it_takes_over_what_a_killed_agent_has_left(slow: Emulation, tmp_path: Path):
    """Found by the file beneath; what was written is still there."""
    code = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom benchagent.machine import emulation\n"
        "made = emulation.Emulation(Path(sys.argv[1]), int(sys.argv[2]), write_mb_per_s=16)\n"
        "emulation.set_up(made, Path(sys.argv[3]))\n(Path(sys.argv[3]) / 'kept').write_text('x')\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    folder = tmp_path / "mounted"
    killed = subprocess.run([sys.executable, "-c", code, str(slow.file), str(SIZE_BYTES), str(folder)], check=False)
    assert killed.returncode == -9
    left = emulation.attached(slow.file)
    assert len(left) == 1
    emulation.set_up(slow, folder)
    assert len(emulation.attached(slow.file)) == 1
    assert (folder / "kept").read_text() == "x"


def test_it_makes_the_file_system_anew_when_it_is_broken(slow: Emulation, tmp_path: Path):
    with slow.file.open("r+b") as file:
        file.write(bytes(1 << 20))
    emulation.set_up(slow, tmp_path / "mounted")
    (tmp_path / "mounted" / "file").write_text("x")


def test_it_refuses_to_take_down_what_is_in_use(slow: Emulation, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(emulation, "BUSY_WAIT_S", 0.2)
    device = emulation.set_up(slow, tmp_path / "mounted")
    limits = limits_of(emulation.device_number(device))
    with (tmp_path / "mounted" / "file").open("w"), pytest.raises(EmulationError, match=r"still in use.* busy"):
        emulation.take_down(slow)
    assert limits_of(emulation.device_number(device)) == limits


def test_it_does_not_wait_for_its_own_slowness_when_it_is_taken_down(tmp_path: Path):
    made = an_emulation(tmp_path, write_mb_per_s=0.2)
    emulation.create(made)
    emulation.set_up(made, tmp_path / "mounted")
    (tmp_path / "mounted" / "file").write_bytes(os.urandom(WRITTEN_BYTES))
    assert took_s(lambda: emulation.take_down(made)) < 20  # at its own rate it would take 40 s


def test_it_writes_the_whole_file_and_never_over_another(tmp_path: Path):
    made = an_emulation(tmp_path)
    emulation.create(made)
    assert made.file.stat().st_blocks * 512 >= SIZE_BYTES
    with pytest.raises(EmulationError, match="exists already"):
        emulation.create(made)


@pytest.mark.parametrize(("size_bytes", "words"), [(1000, "at least 32 MB"), (10**18, "free, too little")])
def test_it_says_why_a_disk_of_that_size_cannot_be_made(tmp_path: Path, size_bytes: int, words: str):
    with pytest.raises(EmulationError, match=words):
        emulation.create(Emulation(tmp_path / "disk.img", size_bytes))
    assert not (tmp_path / "disk.img").exists()


def test_it_says_why_a_file_cannot_be_made(tmp_path: Path):
    with pytest.raises(EmulationError, match="cannot be made: No such file"):
        emulation.create(an_emulation(tmp_path / "nowhere"))


def test_it_says_that_the_file_is_gone(tmp_path: Path):
    with pytest.raises(EmulationError, match="is gone"):
        emulation.set_up(an_emulation(tmp_path), tmp_path / "mounted")


def test_it_says_that_it_needs_root(tmp_path: Path, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(EmulationError, match="root's rights"):
        emulation.create(an_emulation(tmp_path))
    with pytest.raises(EmulationError, match="root's rights"):
        emulation.set_up(an_emulation(tmp_path), tmp_path / "mounted")


def test_it_describes_its_rates(tmp_path: Path):
    made = an_emulation(tmp_path, read_mb_per_s=60, write_mb_per_s=55.5, write_iops=120)
    assert made.words == "emulated: read 60 MB/s; write 55.5 MB/s, 120 IOPS"
    assert an_emulation(tmp_path).words == "emulated: read without limit; write without limit"
