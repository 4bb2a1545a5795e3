"""What is known of a machine and of its disks: the one list of facts, as documents, forms and tables have it."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, StrictBool

from runs.incoming.values import Given, Line, Name, Path, Prose, Strict, Text, Word, whole
from runs.machines.sizes import MAX_BYTES

Cores = Annotated[int, Field(ge=1, le=1_000_000), BeforeValidator(whole)]
Bytes = Annotated[int, Field(ge=1, le=MAX_BYTES), BeforeValidator(whole)]


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
