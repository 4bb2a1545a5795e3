"""Storage facts from a made-up /sys, and from the real one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchagent import storage
from benchagent.storage import Mount, device_facts, device_of, disks_below, mounts, storage_facts

MOUNT = Mount("8:1", "/", "/data", "rw,noatime", "xfs", "/dev/sda1")


@pytest.fixture
def sys_block(tmp_path: Path) -> Path:
    """sda (an SATA HDD with a partition), nvme0n1, a virtual disk vda that calls itself rotational, md0 on both."""
    links = tmp_path / "class"
    links.mkdir()

    def disk(name: str, place: str, **queue: str) -> Path:
        folder = tmp_path / "devices" / place / "block" / name
        (folder / "queue").mkdir(parents=True)
        for key, value in queue.items():
            (folder / "queue" / key).write_text(f"{value}\n")
        (folder / "size").write_text("2048\n")
        (folder / "slaves").mkdir()
        (links / name).symlink_to(folder)
        return folder

    sda = disk("sda", "pci0/ata1/host0", rotational="1", scheduler="none [mq-deadline]", write_cache="write back")
    (sda / "device").mkdir()
    (sda / "device" / "model").write_text("ST4000NM0035    \n")
    (sda / "sda1").mkdir()
    (sda / "sda1" / "partition").write_text("1\n")
    (sda / "sda1" / "size").write_text("1024\n")
    (links / "sda1").symlink_to(sda / "sda1")
    nvme = disk("nvme0n1", "pci0/nvme/nvme0", rotational="0", scheduler="[none]", write_cache="write through")
    disk("vda", "pci0/virtio1", rotational="1", scheduler="[mq-deadline] none", write_cache="write back")
    md = disk("md0", "virtual")
    (md / "md").mkdir()
    (md / "md" / "level").write_text("raid1\n")
    (md / "slaves" / "sda1").symlink_to(sda / "sda1")
    (md / "slaves" / "nvme0n1").symlink_to(nvme)
    return links


def test_it_describes_a_partition_by_its_disk(sys_block: Path):
    facts = device_facts("sda1", MOUNT, sys_block)
    assert facts == {
        "name": "sda1",
        "medium": "hdd",
        "model": "ST4000NM0035",
        "bus": "SATA",
        "capacity_bytes": 1024 * 512,
        "file_system": "xfs",
        "mount_point": "/data",
        "mount_options": "rw,noatime",
        "scheduler": "mq-deadline",
        "write_cache": "write back",
        "raid": None,
        "emulated": False,
    }


def test_it_calls_an_nvme_disk_an_ssd(sys_block: Path):
    facts = device_facts("nvme0n1", MOUNT, sys_block)
    assert (facts["medium"], facts["bus"], facts["scheduler"]) == ("ssd", "NVMe", "none")


def test_it_does_not_believe_that_a_virtual_disk_rotates(sys_block: Path):
    facts = device_facts("vda", MOUNT, sys_block)
    assert (facts["medium"], facts["bus"]) == ("virtual", "virtio")


def test_it_names_the_level_of_an_array_and_looks_at_the_disks_beneath(sys_block: Path):
    assert disks_below("md0", sys_block) == ["nvme0n1", "sda"]
    facts = device_facts("md0", MOUNT, sys_block)
    assert (facts["raid"], facts["medium"]) == ("raid1", "mixed")


def test_it_reads_mount_lines_with_their_escapes(tmp_path: Path):
    table = tmp_path / "mountinfo"
    table.write_text("36 35 8:1 / /my\\040disk rw,noatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n")
    assert mounts(table) == [Mount("8:1", "/", "/my disk", "rw,noatime,errors=remount-ro", "ext4", "/dev/sda1")]


def test_it_has_the_device_of_every_needed_path_among_the_facts(tmp_path: Path):
    names = [facts["name"] for facts in storage_facts(tmp_path, Path("/dev/shm"))]
    assert len(names) == len(set(names))
    assert {device_of(tmp_path), device_of(Path("/dev/shm"))} <= set(names)


def test_it_calls_a_file_system_in_memory_so():
    if not any(mount.mount_point == "/dev/shm" and mount.file_system == "tmpfs" for mount in mounts()):
        pytest.skip("no tmpfs at /dev/shm")
    (shm,) = [facts for facts in storage_facts(Path("/dev/shm")) if facts["name"] == "tmpfs"]
    assert (shm["medium"], shm["emulated"], shm["mount_point"]) == ("ram", True, "/dev/shm")
    assert "not a block device" in storage.write_cache_words(Path("/dev/shm"))


def test_it_finds_the_device_of_a_path_that_the_kernel_says(tmp_path: Path):
    number = tmp_path.stat().st_dev
    link = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not link.exists():
        pytest.skip("the temporary folder is not on a block device")
    assert device_of(tmp_path / "not" / "yet" / "made") == link.resolve().name
