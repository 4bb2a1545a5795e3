"""Storage facts from a made-up /sys, and from the real one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from benchagent.machine import devices as storage
from benchagent.machine.devices import (
    Mount,
    device_facts,
    device_of,
    disks_below,
    mounts,
    physical_disks,
    same_device,
    storage_facts,
    storage_layers,
)

MOUNT = Mount("8:1", "/", "/data", "rw,noatime", "xfs", "/dev/sda1")


@pytest.fixture
def sys_block(tmp_path: Path, monkeypatch) -> Path:
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
    monkeypatch.setattr(storage, "SYS_BLOCK", links)
    return links


def test_it_describes_a_partition_by_its_disk(sys_block: Path):
    facts = device_facts("sda1", MOUNT)
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
    facts = device_facts("nvme0n1", MOUNT)
    assert (facts["medium"], facts["bus"], facts["scheduler"]) == ("ssd", "NVMe", "none")


def test_it_does_not_believe_that_a_virtual_disk_rotates(sys_block: Path):
    facts = device_facts("vda", MOUNT)
    assert (facts["medium"], facts["bus"]) == ("virtual", "virtio")


def test_it_names_the_level_of_an_array_and_looks_at_the_disks_beneath(sys_block: Path):
    assert disks_below("md0") == ["nvme0n1", "sda"]
    facts = device_facts("md0", MOUNT)
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
    (layer,) = storage_layers(Path("/dev/shm"))
    assert (layer.file_system, layer.medium, layer.write_cache) == ("tmpfs", "ram", "")


def test_two_folders_of_a_file_server_are_two_devices(tmp_path: Path, monkeypatch):
    table = tmp_path / "mountinfo"
    table.write_text(
        "30 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "31 30 0:50 / /fast rw - nfs4 filer:/fast rw,sync\n"
        "32 30 0:51 / /slow rw - nfs4 filer:/slow rw,sync\n"
    )
    monkeypatch.setattr(storage, "mounts", lambda: mounts(table))
    assert [device_of(Path(path)) for path in ("/fast/db", "/slow/db")] == ["nfs4 filer:/fast", "nfs4 filer:/slow"]
    assert {facts["name"] for facts in storage_facts(Path("/fast"), Path("/slow"))} >= {
        "nfs4 filer:/fast",
        "nfs4 filer:/slow",
    }


def test_the_flushes_of_a_disk_are_counted_where_they_are_a_measure(machine: Path):
    for disk, flushes in (("sda", 700), ("nvme0n1", 70)):
        (machine / disk / "stat").write_text(" ".join(map(str, [*range(15), flushes, 0])))
    assert storage.flush_count(Path("/a")) == 700
    assert storage.flush_count(Path("/b")) is None  # it has no volatile cache
    assert storage.flush_count(Path("/md")) is None  # several disks
    (machine / "sda" / "queue" / "fua").write_text("1")
    assert storage.flush_count(Path("/a")) is None


def test_the_layers_of_an_emulated_disk_go_down_to_what_holds_its_file(machine: Path):
    """loop0 is a file on /a, which is part of sda; loop2 one in memory."""
    for path, devices in (("/loop0", ["loop0", "sda1"]), ("/loop2", ["loop2", "tmpfs"])):
        assert [layer.device for layer in storage_layers(Path(path))] == devices
    assert [layer.write_cache for layer in storage_layers(Path("/md"))] == ["write back"]


def test_it_finds_the_device_of_a_path_that_the_kernel_says(tmp_path: Path):
    number = tmp_path.stat().st_dev
    link = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    if not link.exists():
        pytest.skip("the temporary folder is not on a block device")
    assert device_of(tmp_path / "not" / "yet" / "made") == link.resolve().name


# Same or other storage


@pytest.fixture
def machine(sys_block: Path, monkeypatch) -> Path:
    """Mounts /a (part of sda), /b (nvme0n1), /lv (a volume on it), /md (both), /v (vda), and three loop devices."""
    folder = sys_block.parent / "devices"

    def beneath(name: str, slave: str) -> None:
        (folder / name / "slaves").mkdir(parents=True)
        (folder / name / "slaves" / slave).symlink_to((sys_block / slave).resolve())
        (sys_block / name).symlink_to(folder / name)

    beneath("dm-0", "nvme0n1")
    for loop, file in (("loop0", "/a/disk.img"), ("loop1", "/loop0/disk.img"), ("loop2", "/shm/disk.img (deleted)")):
        (folder / loop / "loop").mkdir(parents=True)
        (folder / loop / "loop" / "backing_file").write_text(f"{file}\n")
        (sys_block / loop).symlink_to(folder / loop)
    devices = {"/a": "sda1", "/b": "nvme0n1", "/lv": "dm-0", "/md": "md0", "/v": "vda"}
    devices |= {f"/loop{number}": f"loop{number}" for number in range(3)}
    table = [Mount(f"8:{at}", "/", point, "rw", "ext4", device) for at, (point, device) in enumerate(devices.items())]
    table += [
        Mount("0:1", "/", "/", "rw", "overlay", "overlay"),
        Mount("0:2", "/", "/shm", "rw", "tmpfs", "tmpfs"),
        Mount("0:3", "/", "/pool", "rw", "zfs", "tank/data"),
        Mount("0:4", "/", "/other", "rw", "overlay", "overlay"),
    ]
    monkeypatch.setattr(storage, "mounts", lambda: table)
    monkeypatch.setattr(storage, "block_device", lambda mount: mount.source if mount.file_system == "ext4" else None)
    return sys_block


@pytest.mark.parametrize(
    ("path", "disks"),
    [
        ("/a", {"sda"}),
        ("/lv", {"nvme0n1"}),
        ("/md", {"sda", "nvme0n1"}),
        ("/loop0", {"sda"}),
        ("/loop1", {"sda"}),
        ("/loop2", {"memory"}),
        ("/shm", {"memory"}),
        ("/pool", {"zfs tank/data"}),
        ("/", set()),
    ],
)
def test_it_finds_the_physical_disks_through_everything_above_them(machine: Path, path: str, disks: set[str]):
    assert physical_disks(Path(path)) == disks


@pytest.mark.parametrize(
    ("first", "second", "same", "words"),
    [
        ("/a/x", "/a/y", True, "sda1: the same physical disk"),
        ("/a", "/b", False, "sda1 and nvme0n1: different physical disks"),
        ("/b", "/lv", True, "nvme0n1 and dm-0: the same physical disk"),
        ("/a", "/md", True, "sda1 and md0: the same physical disk"),
        ("/a", "/v", False, "sda1 and vda: different virtual disks"),
        ("/a", "/loop1", True, "sda1 and loop1 (emulated, a file on sda): the same physical disk"),
        ("/b", "/loop0", False, "nvme0n1 and loop0 (emulated, a file on sda): different physical disks"),
        ("/a", "/shm", False, "sda1 and tmpfs: different physical disks"),
        ("/x", "/y", True, "overlay: the same physical disk"),
        ("/x", "/other", None, "overlay: this machine does not tell whether that is one physical disk"),
        ("/pool", "/a", None, "zfs and sda1: this machine does not tell whether that is one physical disk"),
    ],
)
def test_it_tells_same_from_other_storage(machine: Path, first: str, second: str, same: bool | None, words: str):
    found = same_device(Path(first), Path(second))
    assert (found.same_physical, found.words) == (same, words)
