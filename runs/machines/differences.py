"""What sets machines apart, fact by fact; what one does not state is a gap, not a difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from runs.models import HardwareProfile, StorageDevice
from runs.models.machine_facts import MACHINE_FACTS, STORAGE_FACTS


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


def profile_facts(profile: HardwareProfile) -> list[tuple[str, str]]:
    """(label, text) of every fact, empty ones too: "not stated" is information."""
    return [(fact.label, fact.words(profile)) for fact in MACHINE_FACTS]


def device_facts(device: StorageDevice) -> list[tuple[str, str]]:
    return [(fact.label, fact.words(device)) for fact in STORAGE_FACTS]


def compare_profiles(profiles: Sequence[HardwareProfile]) -> tuple[list[FactRow], list[DeviceRow]]:
    """Facts and devices side by side. `profiles` with their storage prefetched."""
    facts = [FactRow(fact.label, [fact.words(profile) for profile in profiles]) for fact in MACHINE_FACTS]
    names = dict.fromkeys(device.name for profile in profiles for device in profile.storage.all())
    return facts, [_device_row(name, profiles) for name in names]


def _device_row(name: str, profiles: Sequence[HardwareProfile]) -> DeviceRow:
    devices = [next((one for one in profile.storage.all() if one.name == name), None) for profile in profiles]
    rows = [FactRow(fact.label, [fact.words(one) if one else "" for one in devices]) for fact in STORAGE_FACTS]
    return DeviceRow(name, devices, [row for row in rows if any(row.values)])
