"""What sets machines apart, fact by fact; what one does not state is a gap, not a difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runs.formatting import byte_size
from runs.machines.facts import DEVICE_LABELS, MACHINE_LABELS
from runs.models import HardwareProfile, StorageDevice


@dataclass(frozen=True)
class FactRow:
    """One fact of several machines, in their order; "" where a machine does not state it."""

    label: str
    values: list[str]

    @property
    def differs(self) -> bool:
        return len({value for value in self.values if value}) > 1


@dataclass(frozen=True)
class DeviceRow:
    """A device by its name, with what each machine says of it; None where the machine has no such device."""

    name: str
    devices: list[StorageDevice | None]
    facts: list[FactRow]


def shown(row: HardwareProfile | StorageDevice, name: str) -> str:
    value: Any = getattr(row, "medium_label" if name == "medium" else name)
    if value in (None, ""):
        return ""
    if isinstance(value, bool):
        return "yes" if value else ""
    return byte_size(value) if name.endswith("_bytes") else str(value)


def profile_facts(profile: HardwareProfile) -> list[tuple[str, str]]:
    """(label, text) of every fact, empty ones too: "not stated" is information."""
    return [(label, shown(profile, name)) for name, label in MACHINE_LABELS.items()]


def device_facts(device: StorageDevice) -> list[tuple[str, str]]:
    return [(label, shown(device, name)) for name, label in DEVICE_LABELS.items()]


def compare_profiles(profiles: Sequence[HardwareProfile]) -> tuple[list[FactRow], list[DeviceRow]]:
    """Facts and devices side by side. `profiles` with their storage prefetched."""
    facts = [FactRow(label, [shown(profile, name) for profile in profiles]) for name, label in MACHINE_LABELS.items()]
    by_name = [{device.name: device for device in profile.storage.all()} for profile in profiles]
    rows = []
    for name in dict.fromkeys(name for known in by_name for name in known):
        devices = [known.get(name) for known in by_name]
        told = [
            FactRow(label, [shown(device, fact) if device is not None else "" for device in devices])
            for fact, label in DEVICE_LABELS.items()
        ]
        rows.append(DeviceRow(name, devices, [row for row in told if any(row.values)]))
    return facts, rows
