"""Machines and their storage devices: reported by an agent, made and changed by hand, merged and taken apart again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from benchagent.protocol import HardwareFacts, StorageFacts
from django.db import transaction
from django.db.models import CharField, Model
from rest_framework.exceptions import APIException, ValidationError

from runs.access import changes
from runs.machines.facts import DEVICE_LABELS, MACHINE_LABELS
from runs.models import Batch, HardwareProfile, Run, RunStorage, StorageDevice, User
from runs.models.base import clean, in_parts
from runs.models.choices import Provenance

_RAM_STEP_BYTES = 256 * 1024 * 1024
Facts = dict[str, Any]
BATCH = 500
MERGED_INTO = "merged_into"


def fingerprint(facts: HardwareFacts, machine: str = "") -> str:
    """Same machine with the same parts and system, same fingerprint; `machine` (`machine_key`) stands for its name.

    Memory is rounded: a kernel keeps a few megabytes more or less for itself.
    """
    ram_bytes = facts["ram_bytes"]
    ram_steps = None if ram_bytes is None else round(ram_bytes / _RAM_STEP_BYTES)
    document = [
        f"id {machine}" if machine else facts["hostname"],
        facts["os"], facts["kernel"], facts["cpu_model"], facts["cpu_cores"], facts["cpu_threads"],
        facts["motherboard"], facts["virtualisation"], ram_steps,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(document).encode()).hexdigest()


def machine_key(facts: HardwareFacts) -> str:
    """What tells this machine from all others; empty where it has no id, and goes by its host name.

    One that shares no part with a known machine of the same id runs a copy of its image: it is a machine of its own.
    """
    given, made_of = facts.get("machine_id", ""), set(facts.get("made_of", ()))
    known = list(HardwareProfile.objects.filter(details__reported_id=given).order_by("created_at")) if given else []
    for profile in known:
        theirs = set(profile.details.get("made_of", ()))
        if not made_of or not theirs or made_of & theirs:
            return str(profile.details["machine_id"])
    return f"{given}-{hashlib.sha256(json.dumps(sorted(made_of)).encode()).hexdigest()[:8]}" if known else given


def upsert_hardware(*, facts: HardwareFacts, name: str, agent: str = "") -> HardwareProfile:
    """The profile of this machine, found by its fingerprint or made; its devices found by name, updated or made.

    Another kernel or more memory is another profile: results made before stay with the old one. `agent`: whose slug
    tells that both are the same machine where it has no id.
    """
    with transaction.atomic():
        machine = machine_key(facts)
        mark = fingerprint(facts, machine)
        profile = HardwareProfile.objects.filter(fingerprint=mark).select_related("merged_into").first()
        profile = profile or (_without_id(facts, agent) if machine else None)
        own: Facts = {"hostname": clean(facts["hostname"], 200), **({"agent": agent} if agent else {})}
        if machine:
            own |= {"machine_id": machine, "reported_id": facts["machine_id"], "made_of": facts.get("made_of", [])}
        if profile is None:
            before = HardwareProfile.objects.filter(details__machine_id=machine) if machine else []
            profile = HardwareProfile.objects.create(
                slug=HardwareProfile.free_slug(name),
                name=clean(name or facts["hostname"], 200),
                fingerprint=mark,
                provenance=Provenance.MEASURED,
                # Its benchmarks go on, also those from before it had told its id.
                filed_as=next((row.filed_as for row in before if row.filed_as), ""),
                details=own,
                **_columns(HardwareProfile, MACHINE_LABELS, facts),
            )
        elif machine:
            profile.change(fingerprint=mark, details=profile.details | own)
        # A profile that was merged stands for the machine it was merged with.
        profile = profile.merged_into or profile
        devices = {device.name: device for device in profile.storage.all()}
        names = [name for name in DEVICE_LABELS if name in StorageFacts.__annotations__]
        for device in facts["storage"]:
            name, columns = clean(device["name"], 200), _columns(StorageDevice, names, device)
            if name in devices:
                devices[name].change(**columns)
            else:
                profile.add_device(name=name, provenance=Provenance.MEASURED, **columns)
        return profile


def _without_id(facts: HardwareFacts, agent: str) -> HardwareProfile | None:
    """The profile that this agent's machine had before it told its id: its runs and benchmarks are the machine's."""
    rows = HardwareProfile.objects.filter(fingerprint=fingerprint(facts)).select_related("merged_into")
    return next((row for row in rows if row.details.get("agent", agent) == agent), None)


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
    """Raises ValidationError when the machine has a device of that name."""
    if profile.storage.filter(name=facts["name"]).exists():
        raise ValidationError({"name": [f"{profile} has a device called {facts['name']} already."]})
    device = profile.add_device(provenance=Provenance.UPLOADED, **facts)
    changes.record(target=profile, field="storage", old=None, new=device.name, by=by)
    return device


def edit_device(device: StorageDevice, *, facts: Facts, by: User) -> list[str]:
    """Raises ValidationError when another device of the machine has that name."""
    name = facts.get("name", device.name)
    if StorageDevice.objects.filter(hardware=device.hardware_id, name=name).exclude(pk=device.pk).exists():
        raise ValidationError({"name": [f"Another device of this machine is called {name}."]})
    return edit_facts(device, facts=facts, by=by)


class CannotMerge(APIException):
    """The text says why."""

    status_code = 409


@transaction.atomic
def merge(source: HardwareProfile, *, into: HardwareProfile, by: User) -> int:
    """Everything of `source` becomes `into`'s; devices of the same name are taken for the same. -> runs moved.

    What was moved is recorded, so that `unmerge` can put it back.
    """
    if source.pk == into.pk:
        raise CannotMerge("A machine cannot be merged with itself.")
    for profile in (source, into):
        if profile.merged_into_id is not None:
            raise CannotMerge(f"{profile} is merged with another machine already.")
    devices = _move_devices(source, into)
    rows: dict[str, list[str]] = {}
    for model, field in _links():
        moved = model._default_manager.filter(**{field: source})
        rows[model._meta.label] = [str(pk) for pk in moved.values_list("pk", flat=True)]
        moved.update(**{field: into})
    runs = [*rows.get(Run._meta.label, []), *_runs_using(devices)]
    source.merged_into = into
    source.save(update_fields=["merged_into"])
    changes.record(
        target=source, field=MERGED_INTO, old=None, new={"into": into.slug, "devices": devices, "rows": rows}, by=by
    )
    _renew_cell_keys(runs)
    return len(set(runs))


@transaction.atomic
def unmerge(source: HardwareProfile, *, by: User) -> int:
    """Undo a merge: what it moved goes back; what came later stays. -> runs moved back."""
    into = source.merged_into
    change = changes.history(source).filter(field=MERGED_INTO, old__isnull=True).first()
    if into is None or change is None:
        raise CannotMerge(f"{source} is not merged with another machine.")
    runs = _move_back(source, change.new or {})
    source.merged_into = None
    source.save(update_fields=["merged_into"])
    changes.record(target=source, field=MERGED_INTO, old=into.slug, new=None, by=by)
    _renew_cell_keys(runs)
    return len(set(runs))


def _move_devices(source: HardwareProfile, into: HardwareProfile) -> list[dict[str, Any]]:
    """A device that `into` has by name takes over the uses of its twin; any other moves as it is."""
    by_name = {device.name: device for device in into.storage.all()}
    moved = []
    for device in source.storage.all():
        uses = RunStorage.objects.filter(device=device)
        entry: dict[str, Any] = {"device": str(device.pk), "uses": list(uses.values_list("pk", flat=True))}
        if device.name in by_name:
            uses.update(device=by_name[device.name])
        else:
            StorageDevice.objects.filter(pk=device.pk).update(hardware=into)
            entry["whole"] = True
        moved.append(entry)
    return moved


def _links() -> Iterable[tuple[type[Model], str]]:
    """(model, field) of everything that points at a profile, also in apps that this one does not know."""
    for relation in HardwareProfile._meta.related_objects:
        model = relation.related_model
        if model not in (HardwareProfile, StorageDevice):
            yield model, relation.field.name


def _move_back(source: HardwareProfile, moved: dict[str, Any]) -> list[str]:
    for model, field in _links():
        for some in in_parts(moved["rows"].get(model._meta.label, []), BATCH):
            model._default_manager.filter(pk__in=some, **{field: source.merged_into}).update(**{field: source})
    for entry in moved["devices"]:
        if entry.get("whole"):
            StorageDevice.objects.filter(pk=entry["device"]).update(hardware=source)
        else:
            for some in in_parts(entry["uses"], BATCH):
                RunStorage.objects.filter(pk__in=some).update(device=entry["device"])
    return [*moved["rows"].get(Run._meta.label, []), *_runs_using(moved["devices"])]


def _runs_using(devices: list[dict[str, Any]]) -> list[str]:
    uses = [use for entry in devices for use in entry["uses"]]
    return [
        str(run_id)
        for some in in_parts(uses, BATCH)
        for run_id in RunStorage.objects.filter(pk__in=some).values_list("run", flat=True)
    ]


def _renew_cell_keys(run_ids: Iterable[str]) -> None:
    """Machine and devices are part of the key: repeats on the merged machine belong to one cell."""
    related = ("workload", "dbms_version", "config", "hardware")
    for some in in_parts(sorted(set(run_ids)), BATCH):
        rows = Run.objects.filter(pk__in=some).select_related(*related).prefetch_related("factors", "storage__device")
        runs = list(rows)
        for run in runs:
            run.set_cell_key()
        Run.objects.bulk_update(runs, ["cell_key"])
        Batch.objects.refile(Run.objects.filter(pk__in=some))
