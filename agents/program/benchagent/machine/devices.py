"""Which storage devices this machine has, and which one holds a path. Linux; elsewhere little is known.

One entry per file system on a block device, named as the kernel names that device; medium, model and bus come
from the disk (or disks) beneath it. A virtual disk reports ``rotational`` as it likes, so its medium is "virtual".
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import socket
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchagent.catalog.durability import OF_A_FILE_SERVER, StorageLayer
from benchagent.machine.identity import DMI, machine_id, made_of
from benchagent.machine.system import answer_of, text_of
from benchagent.protocol import HardwareFacts, StorageFacts

SYS_BLOCK = Path("/sys/class/block")
MOUNTINFO = Path("/proc/self/mountinfo")
BTRFS = Path("/sys/fs/btrfs")
SECTOR_BYTES = 512
# A file of an emulated disk on an emulated disk, and no further.
MOST_LAYERS = 5
# Among the numbers of a disk's `stat`.
FLUSHES_AT = 15
VIRTUAL_MODELS = ("qemu", "vmware", "virtual", "vbox", "msft")
# A disk's bus is told by what is in its device's path; the first that fits counts.
BUSES = {
    "/virtio": "virtio", "/nvme/": "NVMe", "/usb": "USB", "/ata": "SATA", "/mmc": "MMC", "/vmbus": "Hyper-V",
    "/vbd-": "Xen", "/sas": "SAS", "/devices/virtual/": "virtual",
}  # fmt: skip
# A mapped device's kind is told by the first word of its uuid.
MAPPED = {"LVM": "LVM", "CRYPT": "dm-crypt", "mpath": "multipath"}
HIDDEN_MOUNTS = ("/boot", "/snap", "/var/lib/snapd")
HIDDEN_FILE_SYSTEMS = ("squashfs", "iso9660", "erofs")


@dataclass(frozen=True)
class SameDevice:
    """Whether two paths end on one physical disk; None where the machine does not tell."""

    same_physical: bool | None
    words: str


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
    mounted = []
    for line in text_of(mountinfo).splitlines():
        left, _, right = line.partition(" - ")
        head, tail = left.split(), right.split()
        options = ",".join(dict.fromkeys([*head[5].split(","), *(tail[2].split(",") if len(tail) > 2 else [])]))
        mounted.append(Mount(head[2], _decode(head[3]), _decode(head[4]), options, tail[0], _decode(tail[1])))
    return mounted


def _decode(text: str) -> str:
    """Octal escapes of spaces and the like."""
    return re.sub(r"\\([0-7]{3})", lambda escape: chr(int(escape[1], 8)), text)


def mount_of(path: Path) -> Mount | None:
    """The mount that holds `path` (which may not exist yet). A later mount hides an earlier one at the same point."""
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
    return (block_device(mount) or _name_without_device(mount)) if mount else "unknown"


def _name_without_device(mount: Mount) -> str:
    """Two folders of file servers are two devices, each with a rate of its own."""
    served = mount.file_system.removeprefix("fuse.") in OF_A_FILE_SERVER
    return f"{mount.file_system} {mount.source}" if served else mount.file_system


def disks_below(device: str) -> list[str]:
    """The physical (or virtual) disks beneath a partition, logical volume or array."""
    folder = SYS_BLOCK / device
    if slaves := [entry.name for entry in (folder / "slaves").glob("*")]:
        return sorted({disk for slave in slaves for disk in disks_below(slave)})
    if (folder / "partition").exists():
        return [folder.resolve().parent.name]
    return [device]


def _bus(disk: str) -> str | None:
    path = str((SYS_BLOCK / disk).resolve())
    return next((bus for mark, bus in BUSES.items() if mark in path), "SCSI" if disk.startswith("sd") else None)


def _model(disk: str) -> str:
    return text_of(SYS_BLOCK / disk / "device" / "model")


def _medium(disk: str) -> str | None:
    bus, model = _bus(disk), _model(disk).lower()
    if disk.startswith(("ram", "zram")):
        return "ram"
    if bus in ("virtio", "Xen", "Hyper-V", "virtual") or any(name in model for name in VIRTUAL_MODELS):
        return "virtual"
    return {"1": "hdd", "0": "ssd"}.get(text_of(SYS_BLOCK / disk / "queue" / "rotational"))


def device_facts(device: str | None, mount: Mount) -> StorageFacts:
    """Without a device, as of tmpfs, overlay, network, the file system is all there is to say."""
    if device is None:
        capacity = None
        with suppress(OSError):
            capacity = shutil.disk_usage(mount.mount_point).total
        medium = "ram" if mount.file_system in ("tmpfs", "ramfs") else None
        return {
            "name": _name_without_device(mount), "medium": medium, "model": None, "bus": None,
            "capacity_bytes": capacity, "file_system": mount.file_system, "mount_point": mount.mount_point,
            "mount_options": mount.options, "scheduler": None, "write_cache": None, "raid": None,
            "emulated": medium == "ram",
        }  # fmt: skip
    disks = disks_below(device)
    first = disks[0]
    media = {_medium(disk) for disk in disks}
    size = text_of(SYS_BLOCK / device / "size")
    schedulers = text_of(SYS_BLOCK / first / "queue" / "scheduler").split()
    mapped = text_of(SYS_BLOCK / device / "dm" / "uuid").split("-")[0]
    return {
        "name": device,
        "medium": media.pop() if len(media) == 1 else "mixed",
        "model": " + ".join(sorted({model for disk in disks if (model := _model(disk))})) or None,
        "bus": _bus(first),
        "capacity_bytes": int(size) * SECTOR_BYTES if size else None,
        "file_system": mount.file_system,
        "mount_point": mount.mount_point,
        "mount_options": mount.options,
        "scheduler": next((word.strip("[]") for word in schedulers if word.startswith("[")), None),
        "write_cache": text_of(SYS_BLOCK / first / "queue" / "write_cache") or None,
        "raid": text_of(SYS_BLOCK / device / "md" / "level") or MAPPED.get(mapped),
        "emulated": first.startswith(("loop", "ram", "zram")),
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
        if facts := storage_facts_of(path):
            chosen.setdefault(facts["name"], facts)
    return list(chosen.values())


def storage_facts_of(path: Path) -> StorageFacts | None:
    """Facts of the storage that holds `path`; None when nothing is mounted there that we can see."""
    mount = mount_of(path)
    return device_facts(block_device(mount), mount) if mount else None


def storage_layers(path: Path) -> list[StorageLayer]:
    """What holds `path`, from its file system down: through overlays and the files of emulated disks to the disk."""
    layers: list[StorageLayer] = []
    at: Path | None = path
    while at is not None and len(layers) < MOST_LAYERS:
        mount = mount_of(at)
        if mount is None:
            layers.append(StorageLayer("unknown"))
            break
        device = block_device(mount)
        layers.append(_layer(mount, device))
        upper = re.search(r"(?:^|,)upperdir=([^,]+)", mount.options) if mount.file_system == "overlay" else None
        at = backing_file(device) if device else Path(upper[1]) if upper and Path(upper[1]).exists() else None
    return layers


def flush_count(path: Path) -> int | None:
    """Flushes that the disk of `path` has done so far, whoever asked for them (Documentation/block/stat.rst).

    None where they are no measure: no volatile cache, several disks, writes that are flushed by themselves (FUA).
    """
    mount = mount_of(path)
    device = block_device(mount) if mount else None
    disks = disks_below(device) if device else []
    if len(disks) != 1:
        return None
    queue, counts = SYS_BLOCK / disks[0] / "queue", text_of(SYS_BLOCK / disks[0] / "stat").split()
    if text_of(queue / "write_cache") != "write back" or text_of(queue / "fua") == "1" or len(counts) <= FLUSHES_AT:
        return None
    return int(counts[FLUSHES_AT])


def _layer(mount: Mount, device: str | None) -> StorageLayer:
    """A layer of storage. If it spans several disks, the cache that loses most counts."""
    facts = device_facts(device, mount)
    disks = [disk for each in _devices_of(mount) for disk in disks_below(each)]
    caches = {text_of(SYS_BLOCK / disk / "queue" / "write_cache") for disk in disks} or {""}
    cache = next((known for known in ("", "write back", "write through") if known in caches), "")
    return StorageLayer(
        facts["name"], mount.file_system, mount.options, facts["medium"] or "", cache, emulated=facts["emulated"]
    )


def backing_file(device: str) -> Path | None:
    """The file beneath a loop device; None for any other."""
    text = text_of(SYS_BLOCK / device / "loop" / "backing_file")
    return Path(text.removesuffix(" (deleted)")) if text else None


def physical_disks(path: Path) -> frozenset[str]:
    """The disks that hold `path`, through partitions, logical volumes, arrays and loop devices.

    Memory counts as a disk of its own, a network or pool as one by its name; empty where the machine does not tell.
    """
    mount = mount_of(path)
    if mount is None or mount.file_system == "overlay":
        return frozenset()
    disks: set[str] = set()
    for device in _devices_of(mount):
        for disk in disks_below(device):
            file = backing_file(disk)
            disks |= physical_disks(file) if file else {"memory" if disk.startswith(("ram", "zram")) else disk}
    if not disks:
        in_memory = mount.file_system in ("tmpfs", "ramfs")
        return frozenset({"memory" if in_memory else f"{mount.file_system} {mount.source}"})
    return frozenset(disks)


def _devices_of(mount: Mount) -> list[str]:
    """One device, but for btrfs, which may lie on several."""
    device = block_device(mount)
    if device and mount.file_system == "btrfs":
        for entry in BTRFS.glob(f"*/devices/{device}"):
            return sorted(member.name for member in entry.parent.iterdir())
    return [device] if device else []


def same_device(path_a: Path, path_b: Path) -> SameDevice:
    """Same or other storage, decided by the physical disks and never by the paths."""
    first, second = physical_disks(path_a), physical_disks(path_b)
    names = " and ".join(dict.fromkeys(_device_words(path) for path in (path_a, path_b)))
    mounts = [mount_of(path) for path in (path_a, path_b)]
    numbers = {mount and mount.device_number for mount in mounts}
    if first & second or (not first and not second and len(numbers) == 1):
        return SameDevice(True, f"{names}: the same physical disk")
    disks = first | second
    if not first or not second or not all(disk == "memory" or (SYS_BLOCK / disk).exists() for disk in disks):
        return SameDevice(None, f"{names}: this machine does not tell whether that is one physical disk")
    virtual = any(_medium(disk) == "virtual" for disk in disks - {"memory"})
    return SameDevice(False, f"{names}: different {'virtual' if virtual else 'physical'} disks")


def _device_words(path: Path) -> str:
    device = device_of(path)
    if not backing_file(device):
        return device
    beneath = ", ".join(sorted(physical_disks(path))) or "an unknown disk"
    return f"{device} (emulated, a file on {beneath})"


# What machine this is. Linux first; whatever cannot be found out is None, never a guess.


def hardware_facts(*storage_paths: Path) -> HardwareFacts:
    """The profile of this machine; `storage_paths` are paths whose file system has to be among the devices."""
    facts: HardwareFacts = {
        "hostname": socket.gethostname(),
        "os": _operating_system(),
        "kernel": f"{platform.system()} {platform.release()}",
        "cpu_model": _cpu_model(),
        "cpu_cores": psutil.cpu_count(logical=False),
        "cpu_threads": psutil.cpu_count(logical=True),
        "ram_bytes": psutil.virtual_memory().total,
        "motherboard": " ".join(filter(None, (text_of(DMI / "board_vendor"), text_of(DMI / "board_name")))) or None,
        "virtualisation": _virtualisation(),
        "storage": storage_facts(*storage_paths),
    }
    if known := machine_id():
        facts |= {"machine_id": known, "made_of": made_of()}
    return facts


def _operating_system() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return platform.platform() or None


def _cpu_model() -> str | None:
    fields: dict[str, str] = {}
    for line in text_of(Path("/proc/cpuinfo")).splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip().lower(), " ".join(value.split()))
    names = (fields.get(key) for key in ("model name", "cpu model", "cpu"))
    return next((name for name in names if name), None) or platform.processor() or None


def _virtualisation() -> str | None:
    """Hypervisor and container as systemd-detect-virt names them ("kvm", "kvm + docker"), "none" on bare metal."""
    tool = shutil.which("systemd-detect-virt")
    if tool:
        kinds = [_printed_by(tool, kind) for kind in ("--vm", "--container")]
        words = [word for word in kinds if word not in (None, "none")]
        if words or None not in kinds:
            return " + ".join(str(word) for word in words) or "none"
    if Path("/.dockerenv").exists():
        return "docker"
    return "virtual machine" if " hypervisor" in text_of(Path("/proc/cpuinfo")) else None


def _printed_by(tool: str, kind: str) -> str | None:
    try:
        return answer_of([tool, kind], timeout_s=5).stdout.strip() or None
    except (OSError, subprocess.TimeoutExpired):
        return None
