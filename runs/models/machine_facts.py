"""What is recorded of a machine and of a storage device: one list for documents, forms, the API and comparisons.

Each is a column of HardwareProfile or StorageDevice. What is empty or null was not stated.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from runs.formatting import byte_size
from runs.models.hardware import HardwareProfile, StorageDevice


class Kind(StrEnum):
    TEXT = "text"
    COUNT = "count"
    BYTES = "bytes"
    FLAG = "flag"


@dataclass(frozen=True)
class MachineFact:
    """`name` is that of the column."""

    name: str
    label: str
    kind: Kind = Kind.TEXT

    def most_characters(self, model: type[HardwareProfile | StorageDevice]) -> int:
        """Of a text: as many as its column holds."""
        return int(getattr(model._meta.get_field(self.name), "max_length", None) or 0)

    def words(self, thing: HardwareProfile | StorageDevice) -> str:
        """What a machine or device states of it; "" where it states nothing."""
        # Media have a spelling that people read.
        value = getattr(thing, "medium_label" if self.name == "medium" else self.name)
        if not value:
            return ""
        return byte_size(value) if self.kind == Kind.BYTES else "yes" if self.kind == Kind.FLAG else str(value)


MACHINE_FACTS = (
    MachineFact("cpu_model", "CPU"),
    MachineFact("cpu_cores", "Cores", Kind.COUNT),
    MachineFact("cpu_threads", "Threads", Kind.COUNT),
    MachineFact("ram_bytes", "RAM", Kind.BYTES),
    MachineFact("os", "Operating system"),
    MachineFact("kernel", "Kernel"),
    MachineFact("motherboard", "Motherboard"),
    MachineFact("virtualisation", "Virtualisation"),
)
STORAGE_FACTS = (
    MachineFact("medium", "Medium"),
    MachineFact("model", "Model"),
    MachineFact("bus", "Bus"),
    MachineFact("capacity_bytes", "Capacity", Kind.BYTES),
    MachineFact("raid", "RAID"),
    MachineFact("controller_cache", "Controller cache"),
    MachineFact("write_cache", "Write cache"),
    MachineFact("file_system", "File system"),
    MachineFact("mount_point", "Mounted at"),
    MachineFact("mount_options", "Mount options"),
    MachineFact("scheduler", "I/O scheduler"),
    MachineFact("emulated", "Emulated", Kind.FLAG),
)
