"""Which storage devices this machine has, and which one holds a path. Linux; elsewhere little is known.

One entry per file system on a block device, named as the kernel names that device; medium, model and bus come
from the disk (or disks) beneath it. A virtual disk reports ``rotational`` as it likes, so its medium is "virtual".
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from benchagent.protocol import StorageFacts

SYS_BLOCK = Path("/sys/class/block")
MOUNTINFO = Path("/proc/self/mountinfo")
SECTOR_BYTES = 512
VIRTUAL_MODELS = ("qemu", "vmware", "virtual", "vbox", "msft")
HIDDEN_MOUNTS = ("/boot", "/snap", "/var/lib/snapd")
HIDDEN_FILE_SYSTEMS = ("squashfs", "iso9660", "erofs")


@dataclass(frozen=True)
class Mount:
    device_number: str
    root: str
    mount_point: str
    options: str
    file_system: str
    source: str


def mounts(mountinfo: Path = MOUNTINFO) -> list[Mount]:
    """The mounted file systems as proc(5) describes them."""
    try:
        lines = mountinfo.read_text().splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        left, _, right = line.partition(" - ")
        head, tail = left.split(), right.split()
        options = ",".join(dict.fromkeys([*head[5].split(","), *(tail[2].split(",") if len(tail) > 2 else [])]))
        found.append(Mount(head[2], _decode(head[3]), _decode(head[4]), options, tail[0], _decode(tail[1])))
    return found


def _decode(text: str) -> str:
    """Octal escapes of spaces and the like."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text


def mount_of(path: Path) -> Mount | None:
    """The mount that holds `path` (which may not exist yet). A later mount hides an earlier one at the same place."""
    real = Path(os.path.realpath(path))
    holding = [mount for mount in mounts() if real.is_relative_to(mount.mount_point)]
    return max(holding, key=lambda mount: len(mount.mount_point), default=None)


def block_device(mount: Mount) -> str | None:
    """Kernel name of the block device beneath a mount; None for tmpfs, overlay, network file systems."""
    link = Path("/sys/dev/block") / mount.device_number
    if link.exists():
        return link.resolve().name
    try:  # btrfs has a device number of its own
        number = Path(mount.source).stat().st_rdev
    except OSError:
        return None
    link = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    return link.resolve().name if number and link.exists() else None


def device_of(path: Path) -> str:
    """`StorageFacts.name` of what holds `path`."""
    mount = mount_of(path)
    return (block_device(mount) or mount.file_system) if mount else "unknown"


def _read(path: Path) -> str | None:
    try:
        return path.read_text().strip() or None
    except OSError:
        return None


def disks_below(device: str, sys_block: Path = SYS_BLOCK) -> list[str]:
    """The physical (or virtual) disks beneath a partition, logical volume or array."""
    folder = sys_block / device
    slaves = sorted(entry.name for entry in (folder / "slaves").glob("*"))
    if slaves:
        return sorted({disk for slave in slaves for disk in disks_below(slave, sys_block)})
    if (folder / "partition").exists():
        return [folder.resolve().parent.name]
    return [device]


def _bus(disk: str, sys_block: Path) -> str | None:
    path = str((sys_block / disk).resolve())
    for mark, bus in (
        ("/virtio", "virtio"),
        ("/nvme/", "NVMe"),
        ("/usb", "USB"),
        ("/ata", "SATA"),
        ("/mmc", "MMC"),
        ("/vmbus", "Hyper-V"),
        ("/vbd-", "Xen"),
        ("/sas", "SAS"),
        ("/devices/virtual/", "virtual"),
    ):
        if mark in path:
            return bus
    return "SCSI" if disk.startswith("sd") else None


def _medium(disk: str, bus: str | None, model: str | None, sys_block: Path) -> str | None:
    if disk.startswith(("ram", "zram")):
        return "ram"
    if bus in ("virtio", "Xen", "Hyper-V", "virtual") or any(m in (model or "").lower() for m in VIRTUAL_MODELS):
        return "virtual"
    rotational = _read(sys_block / disk / "queue" / "rotational")
    return {"1": "hdd", "0": "ssd"}.get(rotational or "")


def _scheduler(disk: str, sys_block: Path) -> str | None:
    offered = _read(sys_block / disk / "queue" / "scheduler") or ""
    chosen = [word.strip("[]") for word in offered.split() if word.startswith("[")]
    return chosen[0] if chosen else None


def _raid(device: str, sys_block: Path) -> str | None:
    level = _read(sys_block / device / "md" / "level")
    if level:
        return level
    kind = (_read(sys_block / device / "dm" / "uuid") or "").split("-")[0]
    return {"LVM": "LVM", "CRYPT": "dm-crypt", "mpath": "multipath"}.get(kind)


def device_facts(device: str, mount: Mount, sys_block: Path = SYS_BLOCK) -> StorageFacts:
    disks = disks_below(device, sys_block)
    first = disks[0]
    models = [_read(sys_block / disk / "device" / "model") for disk in disks]
    bus = _bus(first, sys_block)
    media = {_medium(disk, _bus(disk, sys_block), model, sys_block) for disk, model in zip(disks, models, strict=True)}
    size = _read(sys_block / device / "size")
    return {
        "name": device,
        "medium": media.pop() if len(media) == 1 else "mixed",
        "model": " + ".join(sorted({model for model in models if model})) or None,
        "bus": bus,
        "capacity_bytes": int(size) * SECTOR_BYTES if size else None,
        "file_system": mount.file_system,
        "mount_point": mount.mount_point,
        "mount_options": mount.options,
        "scheduler": _scheduler(first, sys_block),
        "write_cache": _read(sys_block / first / "queue" / "write_cache"),
        "raid": _raid(device, sys_block),
        "emulated": first.startswith(("loop", "ram", "zram")),
    }


def _facts_without_device(mount: Mount) -> StorageFacts:
    """tmpfs, overlay, network: the file system is all there is to say."""
    try:
        capacity: int | None = shutil.disk_usage(mount.mount_point).total
    except OSError:
        capacity = None
    medium = "ram" if mount.file_system in ("tmpfs", "ramfs") else None
    return {
        "name": mount.file_system,
        "medium": medium,
        "model": None,
        "bus": None,
        "capacity_bytes": capacity,
        "file_system": mount.file_system,
        "mount_point": mount.mount_point,
        "mount_options": mount.options,
        "scheduler": None,
        "write_cache": None,
        "raid": None,
        "emulated": medium == "ram",
    }


def storage_facts(*needed: Path) -> list[StorageFacts]:
    """Every file system on a block device, once, and in any case those that hold the `needed` paths."""
    chosen: dict[str, StorageFacts] = {}
    for mount in sorted(mounts(), key=lambda mount: len(mount.mount_point)):
        device = block_device(mount)
        hidden = mount.mount_point.startswith(HIDDEN_MOUNTS) or mount.file_system in HIDDEN_FILE_SYSTEMS
        if device and not hidden and device not in chosen:
            chosen[device] = device_facts(device, mount)
    for path in needed:
        mount_ = mount_of(path)
        if mount_ is None:
            continue
        device = block_device(mount_)
        facts = device_facts(device, mount_) if device else _facts_without_device(mount_)
        chosen.setdefault(facts["name"], facts)
    return list(chosen.values())


def write_cache_words(path: Path) -> str:
    """What the machine says about the write cache beneath `path`, for a durability reason."""
    device = device_of(path)
    if not (SYS_BLOCK / device).exists():
        return f"{device} is not a block device: nothing is known about its write cache"
    modes = {disk: _read(SYS_BLOCK / disk / "queue" / "write_cache") or "unknown" for disk in disks_below(device)}
    if set(modes.values()) == {"write through"}:
        return f"{', '.join(modes)} reports no volatile write cache"
    listed = ", ".join(f"{disk} {mode}" for disk, mode in modes.items())
    return f"write cache {listed}: the kernel flushes it at each sync and the device is trusted to obey"
