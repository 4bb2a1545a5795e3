"""What is known of a machine and of its disks: the one list of facts, as documents, forms and tables have it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import zip_longest
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictBool

from runs.formatting import byte_size
from runs.incoming.values import Given, Line, Name, Path, Prose, Strict, Text, Word, int_if_whole
from runs.models import HardwareProfile, StorageDevice
from runs.tables import FactRow, fact_rows

# GB is 1000³ bytes, GiB 1024³: the two are never mixed.
_UNITS = {
    "": 1, "b": 1, "bytes": 1,
    "kb": 1000, "mb": 1000**2, "gb": 1000**3, "tb": 1000**4, "pb": 1000**5,
    "kib": 1024, "mib": 1024**2, "gib": 1024**3, "tib": 1024**4, "pib": 1024**5,
}  # fmt: skip
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)
MAX_BYTES = 2**63 - 1
# By which machines of one name are told apart.
MOST_FACTS = 2
Cores = Annotated[int, Field(ge=1, le=1_000_000), BeforeValidator(int_if_whole)]
Bytes = Annotated[int, Field(ge=1, le=MAX_BYTES), BeforeValidator(int_if_whole)]


def parse_size(text: str) -> int:
    """Bytes. Raises ValueError with words for the person who typed it."""
    match = _SIZE.fullmatch(text.strip())
    factor = _UNITS.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise ValueError(f"“{text}” is not a size: a number with B, KB, MB, GB, TB or KiB, MiB, GiB, TiB.")
    size_bytes = round(Decimal(match[1]) * factor)
    if not 0 < size_bytes <= MAX_BYTES:
        raise ValueError("A size is more than 0 and less than 8 EiB.")
    return size_bytes


def size_text(size_bytes: int) -> str:
    """The shortest spelling that `parse_size` reads back as the same number."""
    for unit in ("TiB", "TB", "GiB", "GB", "MiB", "MB", "KiB"):
        factor = _UNITS[unit.lower()]
        size = f"{size_bytes / factor:.3f}".rstrip("0").rstrip(".")
        if size_bytes >= factor and round(Decimal(size) * factor) == size_bytes:
            return f"{size} {unit}"
    return str(size_bytes)


class DeviceFacts(Strict):
    """A disk. What is left out is not stated."""

    name: Given[Name] = None
    medium: Annotated[Word, Field(title="Medium")] = ""
    model: Annotated[Line, Field(title="Model")] = ""
    bus: Annotated[Word, Field(title="Bus")] = ""
    capacity_bytes: Annotated[Bytes | None, Field(title="Capacity")] = None
    raid: Annotated[Word, Field(title="RAID")] = ""
    controller_cache: Annotated[str, Text(120, least=0), Field(title="Controller cache")] = ""
    write_cache: Annotated[Word, Field(title="Write cache")] = ""
    file_system: Annotated[Word, Field(title="File system")] = ""
    mount_point: Annotated[Path, Field(title="Mounted at")] = ""
    mount_options: Annotated[Path, Field(title="Mount options")] = ""
    scheduler: Annotated[Word, Field(title="I/O scheduler")] = ""
    emulated: Annotated[Given[StrictBool], Field(title="Emulated")] = None
    note: Prose = ""


class MachineFacts(Strict):
    """A machine. What is left out is not stated."""

    name: Given[Name] = None
    cpu_model: Annotated[Line, Field(title="CPU")] = ""
    cpu_cores: Annotated[Cores | None, Field(title="Cores")] = None
    cpu_threads: Annotated[Cores | None, Field(title="Threads")] = None
    ram_bytes: Annotated[Bytes | None, Field(title="RAM")] = None
    os: Annotated[Line, Field(title="Operating system")] = ""
    kernel: Annotated[Line, Field(title="Kernel")] = ""
    motherboard: Annotated[Line, Field(title="Motherboard")] = ""
    virtualisation: Annotated[str, Text(100, least=0), Field(title="Virtualisation")] = ""
    note: Prose = ""


class NewDevice(DeviceFacts):
    name: Name


class NewMachine(MachineFacts):
    name: Name


DEVICE_FIELDS, MACHINE_FIELDS = tuple(DeviceFacts.model_fields), tuple(MachineFacts.model_fields)
# The facts that tables show, with their labels.
DEVICE_LABELS, MACHINE_LABELS = (
    {name: field.title for name, field in facts.model_fields.items() if field.title}
    for facts in (DeviceFacts, MachineFacts)
)


@dataclass(frozen=True)
class DeviceRow:
    """A device of each machine, with what it says of it; None where a machine has no such device.

    Devices are set beside each other by their name, those whose name only one machine has in their order.
    """

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


def names_apart(names: Mapping[str, str]) -> dict[str, str]:
    """Slug -> name of machines; those of one name with the facts in which they differ, as a new kernel."""
    counts = Counter(names.values())
    alike = HardwareProfile.objects.filter(slug__in=[slug for slug, name in names.items() if counts[name] > 1])
    by_name: dict[str, list[HardwareProfile]] = defaultdict(list)
    for profile in alike:
        by_name[profile.name].append(profile)
    apart = dict(names)
    for name, profiles in by_name.items():
        apart |= _apart(name, [[profile] for profile in profiles])
    return apart


def _apart(name: str, machines: Sequence[Sequence[HardwareProfile]]) -> dict[str, str]:
    """Slug -> name of machines of one name, each of one profile or of several, the newest last."""
    facts = [[dict(profile_facts(profile)) for profile in profiles] for profiles in machines]
    differing = [
        row for row in fact_rows([of_machine[-1] for of_machine in facts])
        if row.differs and all(len({each[row.label] for each in of_machine}) == 1 for of_machine in facts)
    ]  # fmt: skip
    parting = [
        [f"{value} {row.label.lower()}" if value.isdecimal() else value for value in row.values]
        for row in differing[:MOST_FACTS]
    ]
    suffixes = [", ".join(values[at] for values in parting if values[at]) for at in range(len(machines))]
    apart: dict[str, str] = {}
    for profiles, words in zip(machines, suffixes, strict=True):
        is_alone = words and suffixes.count(words) == 1
        apart |= {each.slug: f"{name} ({words if is_alone else profiles[-1].slug})" for each in profiles}
    return apart


def are_different(profile: HardwareProfile, other: HardwareProfile) -> bool:
    """Whether two profiles of one name are of two machines: by the first of id, mainboard and processor that both
    state. A new kernel or more memory is another profile of the same machine.
    """
    for facts in (
        [(each.details.get("machine_id"),) for each in (profile, other)],
        [(each.motherboard,) for each in (profile, other)],
        [(each.cpu_model, each.cpu_cores) for each in (profile, other)],
    ):
        stated = [pair for pair in zip(*facts, strict=True) if all(pair)]
        if stated:
            return any(of_one != of_other for of_one, of_other in stated)
    return False


def told_apart(days: Mapping[HardwareProfile, Collection[date]]) -> dict[str, str]:
    """Slug -> name of machines that share a name, with the facts in which they differ. `days`: when each was used.

    Where one was used on several days it is a series, in which what is not a different machine goes on, whatever order
    its kernels come in; what was used on one day each is compared.
    """
    by_name: dict[str, list[HardwareProfile]] = defaultdict(list)
    for profile in sorted(days, key=lambda profile: (min(days[profile]), max(days[profile]))):
        by_name[profile.name].append(profile)
    apart: dict[str, str] = {}
    for name, profiles in by_name.items():
        is_series = any(len({*days[profile]}) > 1 for profile in profiles)
        machines: list[list[HardwareProfile]] = []
        for profile in profiles:
            same = (each for each in machines if is_series and not any(are_different(profile, one) for one in each))
            if machine := next(same, None):
                machine.append(profile)
            else:
                machines.append([profile])
        if len(machines) > 1:
            apart |= _apart(name, machines)
    return apart


def compare_profiles(profiles: Sequence[HardwareProfile]) -> tuple[list[FactRow], list[DeviceRow]]:
    """Facts and devices side by side. `profiles` with their storage prefetched."""
    facts = fact_rows([dict(profile_facts(profile)) for profile in profiles])
    by_name = [{device.name: device for device in profile.storage.all()} for profile in profiles]
    counts = Counter(name for known in by_name for name in known)
    alone = [[device for name, device in known.items() if counts[name] == 1] for known in by_name]
    beside: list[list[StorageDevice | None]] = [
        *([known.get(name) for known in by_name] for name, count in counts.items() if count > 1),
        *(list(devices) for devices in zip_longest(*alone)),
    ]
    rows = []
    for devices in beside:
        names = [device.name if device is not None else "" for device in devices]
        named = [FactRow("Name", names)] if len(set(filter(None, names))) > 1 else []
        rows_of = named + fact_rows([dict(device_facts(device)) if device is not None else {} for device in devices])
        name = " ↔ ".join(dict.fromkeys(filter(None, names)))
        rows.append(DeviceRow(name, devices, [row for row in rows_of if any(row.values)]))
    return facts, rows
