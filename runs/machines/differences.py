"""What sets machines apart, fact by fact; what one does not state is a gap, not a difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runs.models import HardwareProfile, StorageDevice

_PROFILE_LABELS = {
    "cpu_model": "CPU", "cpu_cores": "Cores", "cpu_threads": "Threads", "ram_bytes": "RAM", "os": "Operating system",
    "kernel": "Kernel", "motherboard": "Motherboard", "virtualisation": "Virtualisation",
}  # fmt: skip
_DEVICE_LABELS = {
    "medium_label": "Medium", "model": "Model", "bus": "Bus", "capacity_bytes": "Capacity", "raid": "RAID",
    "controller_cache": "Controller cache", "write_cache": "Write cache", "file_system": "File system",
    "mount_point": "Mounted at", "mount_options": "Mount options", "scheduler": "Scheduler",
}  # fmt: skip
_BYTES = ("ram_bytes", "capacity_bytes")
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


@dataclass(frozen=True)
class FactRow:
    """One fact of several machines, in their order; "" where a machine does not state it."""

    label: str
    values: list[str]

    @property
    def differs(self) -> bool:
        return len({value for value in self.values if value}) > 1

    @property
    def has_gap(self) -> bool:
        return any(self.values) and not all(self.values)


@dataclass(frozen=True)
class DeviceRow:
    """A device by its name, with what each machine says of it; None where the machine has no such device."""

    name: str
    devices: list[StorageDevice | None]
    facts: list[FactRow]


def shown(name: str, value: Any) -> str:
    if value in (None, ""):
        return ""
    return binary_size(int(value)) if name in _BYTES else str(value)


def binary_size(size_bytes: int) -> str:
    """16 GiB; the exact number of bytes where the rounding would hide more than half a percent."""
    size, unit = float(size_bytes), 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.4g} {_UNITS[unit]}"


def profile_facts(profile: HardwareProfile) -> list[tuple[str, str]]:
    """(label, text) of every fact, empty ones too: "not stated" is information."""
    return [(label, shown(name, getattr(profile, name))) for name, label in _PROFILE_LABELS.items()]


def device_facts(device: StorageDevice) -> list[tuple[str, str]]:
    facts = [(label, shown(name, getattr(device, name))) for name, label in _DEVICE_LABELS.items()]
    return [*facts, ("Emulated", "yes" if device.emulated else "")]


def compare_profiles(profiles: Sequence[HardwareProfile]) -> tuple[list[FactRow], list[DeviceRow]]:
    """Facts and devices side by side. `profiles` with their storage prefetched."""
    facts = [
        FactRow(label, [shown(name, getattr(profile, name)) for profile in profiles])
        for name, label in _PROFILE_LABELS.items()
    ]
    names = dict.fromkeys(device.name for profile in profiles for device in profile.storage.all())
    return facts, [_device_row(name, profiles) for name in names]


def _device_row(name: str, profiles: Sequence[HardwareProfile]) -> DeviceRow:
    devices = [next((one for one in profile.storage.all() if one.name == name), None) for profile in profiles]
    known = [dict(device_facts(device)) if device is not None else {} for device in devices]
    labels = [*_DEVICE_LABELS.values(), "Emulated"]
    rows = [FactRow(label, [facts.get(label, "") for facts in known]) for label in labels]
    return DeviceRow(name, devices, [row for row in rows if any(row.values)])
