"""Profiles and devices made and changed by hand. Every change keeps who, when and the old value."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from runs.access import changes
from runs.models import HardwareProfile, StorageDevice, User
from runs.models.choices import Provenance

Facts = dict[str, Any]


@transaction.atomic
def create_profile(*, facts: Facts, by: User) -> HardwareProfile:
    """A machine described by hand. `facts`: any of MACHINE_FIELDS, `name` among them."""
    return HardwareProfile.objects.create(
        slug=HardwareProfile.free_slug(facts["name"]), created_by=by, provenance=Provenance.UPLOADED, **facts
    )


@transaction.atomic
def edit_facts(row: HardwareProfile | StorageDevice, *, facts: Facts, by: User) -> list[str]:
    """Set facts; the slug stays, so that every address and run goes on. -> names of what changed."""
    for name, value in facts.items():
        changes.record(target=row, field=name, old=getattr(row, name), new=value, by=by)
    return row.change(**facts)


@transaction.atomic
def add_device(profile: HardwareProfile, *, facts: Facts, by: User) -> StorageDevice:
    """Raises ValueError when the machine has a device of that name."""
    if profile.storage.filter(name=facts["name"]).exists():
        raise ValueError(f"{profile} has a device called {facts['name']} already.")
    device = profile.add_device(provenance=Provenance.UPLOADED, **facts)
    changes.record(target=profile, field="storage", old=None, new=device.name, by=by)
    return device


def edit_device(device: StorageDevice, *, facts: Facts, by: User) -> list[str]:
    """Raises ValueError when another device of the machine has that name."""
    name = facts.get("name", device.name)
    if StorageDevice.objects.filter(hardware=device.hardware_id, name=name).exclude(pk=device.pk).exists():
        raise ValueError(f"Another device of this machine is called {name}.")
    return edit_facts(device, facts=facts, by=by)
