"""Machines and their storage devices, as an agent finds them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from benchagent.protocol import HardwareFacts, StorageFacts
from django.db import transaction
from django.db.models import CharField, Model

from runs.machines.facts import DEVICE_LABELS, MACHINE_LABELS
from runs.models import HardwareProfile, StorageDevice
from runs.models.choices import Provenance
from runs.models.text import clean

_RAM_STEP_BYTES = 256 * 1024 * 1024


def fingerprint(facts: HardwareFacts) -> str:
    """Same machine, same fingerprint. Memory is rounded: a kernel keeps a few megabytes more or less for itself."""
    ram_bytes = facts["ram_bytes"]
    ram_steps = None if ram_bytes is None else round(ram_bytes / _RAM_STEP_BYTES)
    document = [
        facts["hostname"], facts["os"], facts["kernel"], facts["cpu_model"], facts["cpu_cores"], facts["cpu_threads"],
        facts["motherboard"], facts["virtualisation"], ram_steps,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(document).encode()).hexdigest()


def upsert_hardware(*, facts: HardwareFacts, name: str, provenance: str = Provenance.MEASURED) -> HardwareProfile:
    """The profile of this machine, found by its fingerprint or made; its devices found by name, updated or made.

    Another kernel or more memory is another profile: results made before stay with the old one.
    """
    mark = fingerprint(facts)
    with transaction.atomic():
        profile = HardwareProfile.objects.filter(fingerprint=mark).select_related("merged_into").first()
        # A profile that was merged stands for the machine it was merged with.
        profile = (profile.merged_into or profile) if profile else None
        if profile is None:
            profile = HardwareProfile.objects.create(
                slug=HardwareProfile.free_slug(name),
                name=clean(name or facts["hostname"], 200),
                fingerprint=mark,
                provenance=provenance,
                details={"hostname": clean(facts["hostname"], 200)},
                **_columns(HardwareProfile, MACHINE_LABELS, facts),
            )
        known = {device.name: device for device in profile.storage.all()}
        names = [name for name in DEVICE_LABELS if name in StorageFacts.__annotations__]
        for device in facts["storage"]:
            name, columns = clean(device["name"], 200), _columns(StorageDevice, names, device)
            if name in known:
                known[name].change(**columns)
            else:
                profile.add_device(name=name, provenance=provenance, **columns)
        return profile


def _columns(model: type[Model], names: Iterable[str], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts as their columns hold them: texts cut, "" where none is known."""
    columns = {name: model._meta.get_field(name) for name in names}
    return {
        name: clean(facts.get(name), column.max_length or 0) if isinstance(column, CharField) else facts[name]
        for name, column in columns.items()
    }


def device_named(profile: HardwareProfile, name: str) -> StorageDevice:
    """A device of this machine by its name, made where the machine's list does not have it."""
    name = clean(name, 200)
    device = profile.storage.filter(name=name).first()
    return device or profile.add_device(name=name, provenance=profile.provenance)
