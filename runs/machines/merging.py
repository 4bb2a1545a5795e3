"""Two profiles of one machine made one, and apart again. Runs keep their pages; old addresses lead to the new one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import models, transaction

from runs.access import changes
from runs.models import HardwareProfile, Run, RunStorage, StorageDevice, User

BATCH = 500
FIELD = "merged_into"


class CannotMerge(ValueError):
    """The text says why."""


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
    devices, rows = _move_devices(source, into), _move_rows(source, into)
    runs = [*rows.get(_key(Run), []), *_runs_using(devices)]
    source.merged_into = into
    source.save(update_fields=["merged_into"])
    changes.record(
        target=source, field=FIELD, old=None, new={"into": into.slug, "devices": devices, "rows": rows}, by=by
    )
    _renew_cell_keys(runs)
    return len(set(runs))


@transaction.atomic
def unmerge(source: HardwareProfile, *, by: User) -> int:
    """Undo a merge: what it moved goes back; what came later stays. -> runs moved back."""
    into = source.merged_into
    change = changes.history(source).filter(field=FIELD, old__isnull=True).first()
    if into is None or change is None:
        raise CannotMerge(f"{source} is not merged with another machine.")
    runs = _move_back(source, change.new or {})
    source.merged_into = None
    source.save(update_fields=["merged_into"])
    changes.record(target=source, field=FIELD, old=into.slug, new=None, by=by)
    _renew_cell_keys(runs)
    return len(set(runs))


def _move_devices(source: HardwareProfile, into: HardwareProfile) -> list[dict[str, Any]]:
    """A device that `into` has by name takes over the uses of its twin; any other moves as it is."""
    known = {device.name: device for device in into.storage.all()}
    moved = []
    for device in source.storage.all():
        uses = RunStorage.objects.filter(device=device)
        entry: dict[str, Any] = {"device": str(device.pk), "uses": list(uses.values_list("pk", flat=True))}
        if device.name in known:
            uses.update(device=known[device.name])
        else:
            StorageDevice.objects.filter(pk=device.pk).update(hardware=into)
            entry["whole"] = True
        moved.append(entry)
    return moved


def _links() -> Iterable[tuple[type[models.Model], str]]:
    """(model, field) of everything that points at a profile, also in apps that this one does not know."""
    for relation in HardwareProfile._meta.related_objects:
        model = relation.related_model
        if model not in (HardwareProfile, StorageDevice):
            yield model, relation.field.name


def _key(model: type[models.Model]) -> str:
    return str(model._meta.label)


def _move_rows(source: HardwareProfile, into: HardwareProfile) -> dict[str, list[str]]:
    moved: dict[str, list[str]] = {}
    for model, field in _links():
        rows = model._default_manager.filter(**{field: source})
        moved[_key(model)] = [str(pk) for pk in rows.values_list("pk", flat=True)]
        rows.update(**{field: into})
    return moved


def _move_back(source: HardwareProfile, moved: dict[str, Any]) -> list[str]:
    for model, field in _links():
        for some in _batches(moved["rows"].get(_key(model), [])):
            model._default_manager.filter(pk__in=some, **{field: source.merged_into}).update(**{field: source})
    for entry in moved["devices"]:
        if entry.get("whole"):
            StorageDevice.objects.filter(pk=entry["device"]).update(hardware=source)
        else:
            for some in _batches(entry["uses"]):
                RunStorage.objects.filter(pk__in=some).update(device=entry["device"])
    return [*moved["rows"].get(_key(Run), []), *_runs_using(moved["devices"])]


def _runs_using(devices: list[dict[str, Any]]) -> list[str]:
    uses = [use for entry in devices for use in entry["uses"]]
    return [
        str(run_id)
        for some in _batches(uses)
        for run_id in RunStorage.objects.filter(pk__in=some).values_list("run", flat=True)
    ]


def _renew_cell_keys(run_ids: Iterable[str]) -> None:
    """Machine and devices are part of the key: repeats on the merged machine belong to one cell."""
    related = ("workload", "dbms_version", "config", "hardware")
    for some in _batches(sorted(set(run_ids))):
        rows = Run.objects.filter(pk__in=some).select_related(*related).prefetch_related("factors", "storage__device")
        runs = list(rows)
        for run in runs:
            run.set_cell_key()
        Run.objects.bulk_update(runs, ["cell_key"])


def _batches(items: list[Any]) -> Iterable[list[Any]]:
    for start in range(0, len(items), BATCH):
        yield items[start : start + BATCH]
