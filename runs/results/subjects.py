"""What an uploaded result is about: workload, DBMS, machine, storage, configuration; found, or made where it is new.

`check` raises ValidationError for what a document may not say, and writes nothing: so that a document that is refused
leaves nothing behind, however many others of its request are stored.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from benchagent.catalog import WORKLOADS
from rest_framework.exceptions import ValidationError

from runs.configs import ConfigError, Content, FileText, Parameter, config_of, create_config, understand
from runs.machines import DEVICE_FIELDS, MACHINE_FIELDS
from runs.models import Config, DbmsVersion, HardwareProfile, StorageDevice, User, Workload
from runs.models.choices import Provenance
from runs.results.document import (
    UploadConfigFiles,
    UploadDevice,
    UploadDocument,
    UploadHardware,
    UploadSetting,
    UploadWorkload,
)
from runs.results.known import Known, run_ids, versioned_slug
from runs.results.names import resolve_workload


@dataclass(frozen=True)
class Subjects:
    """`storage` is role -> (device, path)."""

    workload: Workload
    dbms_version: DbmsVersion
    hardware: HardwareProfile
    config: Config | None
    storage: dict[str, tuple[StorageDevice, str]]


def check(document: UploadDocument, known: Known) -> None:
    """Raises ValidationError, naming the field, for a document that contradicts what is stored."""
    errors: dict[str, list[str]] = {}
    workload = document.workload
    if isinstance(workload, str) and workload not in WORKLOADS and _workload_row(workload, known) is None:
        errors["workload"] = [f"No workload {workload}. An object with slug, name, version adds one."]
    errors |= _taken_ids(document, known) | _hardware_errors(document, known) | _config_errors(document, known)
    if errors:
        raise ValidationError(errors)


def resolve(document: UploadDocument, known: Known, *, by: User | None) -> Subjects:
    """The rows of a document that `check` has passed; new ones are made."""
    version = known.version(document.dbms)
    machine = _hardware(document.hardware, known, by)
    return Subjects(
        workload=_workload(document, known),
        dbms_version=version,
        hardware=machine,
        config=_config(document.config, version, known, by),
        storage={use.role: (_device(use.device, machine, known), use.path) for use in document.storage},
    )


def _taken_ids(document: UploadDocument, known: Known) -> dict[str, list[str]]:
    return {
        f"repeats[{index}].id": ["Another run has this id."]
        for index, run_id in enumerate(run_ids(document))
        if run_id in known.taken
    }


def _workload_row(slug: str, known: Known) -> Workload | None:
    return next((row for row in known.workloads if row.slug == slug), None)


def _workload(document: UploadDocument, known: Known) -> Workload:
    """By slug and version; a new version of a known slug is a row of its own."""
    data = document.workload
    found = _workload_row(data, known) if isinstance(data, str) else _versioned_workload(data, known)
    if found is None:
        found = resolve_workload(data) if isinstance(data, str) else _made_workload(data, document, known)
        known.workloads.append(found)
    return found


def _made_workload(data: UploadWorkload, document: UploadDocument, known: Known) -> Workload:
    slug = data.slug
    if slug in WORKLOADS and data.version == WORKLOADS[slug].version:
        return resolve_workload(slug)
    taken = slug in WORKLOADS or _workload_row(slug, known) is not None
    return Workload.objects.create(
        slug=Workload.free_slug(versioned_slug(slug, data.version) if taken else slug),
        name=data.name or slug,
        version=data.version,
        kind=data.kind,
        primary_metric=_first_metric(document),
    )


def _versioned_workload(data: UploadWorkload, known: Known) -> Workload | None:
    slugs = (data.slug, versioned_slug(data.slug, data.version))
    return next((row for row in known.workloads if row.slug in slugs and row.version == data.version), None)


def _first_metric(document: UploadDocument) -> str:
    entries: list[str] = []
    for repeat in document.repeats:
        entries += [*(entry["name"] for entry in repeat["metrics"]), *(one.name for one in repeat["series"])]
    return "tps" if "tps" in entries or not entries else entries[0][:80]


def _facts(data: UploadHardware | UploadDevice) -> dict[str, Any]:
    """What is stated of it, but for its name."""
    names = MACHINE_FIELDS if isinstance(data, UploadHardware) else DEVICE_FIELDS
    return {name: value for name in names if name != "name" and (value := getattr(data, name)) not in (None, "")}


def _hardware_errors(document: UploadDocument, known: Known) -> dict[str, list[str]]:
    data = document.hardware
    named = known.hardware(slug=slug) if (slug := data if isinstance(data, str) else data.slug) else None
    if isinstance(data, str):
        if named is None:
            return {"hardware": [f"No machine {data}. An object with its facts adds one."]}
    else:
        facts = _facts(data)
        if named is not None and (errors := _contradictions("hardware", f"The machine {named.slug}", named, facts)):
            return errors
    if not document.storage and (isinstance(data, str) or not data.storage):
        return {}
    found = named or _known_hardware(data, known)
    return _device_errors(document, known.devices(found) if found else [])


def _device_errors(document: UploadDocument, rows: list[StorageDevice]) -> dict[str, list[str]]:
    """Devices by name only must be the machine's; facts may not contradict what is known of it."""
    described = [] if isinstance(document.hardware, str) else document.hardware.storage
    given: list[tuple[str, str | UploadDevice]] = [
        (f"hardware.storage[{index}]", device) for index, device in enumerate(described)
    ]
    given += [(f"storage[{index}].device", use.device) for index, use in enumerate(document.storage)]
    named = {device.name: device for _, device in reversed(given) if not isinstance(device, str)}
    errors: dict[str, list[str]] = {}
    for path, device in given:
        row = _find_device(device if isinstance(device, str) else device.name, rows)
        if isinstance(device, str):
            if row is None and device not in named:
                errors[path] = [f"This machine has no device {device}. An object with its facts adds one."]
        elif row is not None:
            errors |= _contradictions(path, f"The device {row.slug}", row, _facts(device))
        elif named[device.name] != device:
            errors[path] = [f"{device.name} is described twice, differently."]
    return errors


def _contradictions(path: str, who: str, row: Any, facts: dict[str, Any]) -> dict[str, list[str]]:
    """What is stored is not overwritten. A device's `emulated` is false where nobody said it."""
    return {
        f"{path}.{name}": [f"{who} has {getattr(row, name)}."]
        for name, value in facts.items()
        if getattr(row, name) not in (None, "", False, value)
    }


def _fingerprint(data: UploadHardware) -> str:
    facts = _facts(data)
    document = ["upload", data.slug, data.name, facts]
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _known_hardware(data: str | UploadHardware, known: Known) -> HardwareProfile | None:
    """By slug, or by all of its facts: an equal description is the same machine."""
    if isinstance(data, str):
        return known.hardware(slug=data)
    found = known.hardware(slug=data.slug) if data.slug else None
    return found or known.hardware(fingerprint=_fingerprint(data))


def _hardware(data: str | UploadHardware, known: Known, by: User | None) -> HardwareProfile:
    """Made where it is new; nothing known is overwritten."""
    found = _known_hardware(data, known)
    if isinstance(data, str):
        if found is None:
            raise ValidationError({"hardware": [f"No machine {data}."]})  # `check` was not called, or has not passed
        return found
    if found is None:
        found = HardwareProfile.objects.create(
            slug=HardwareProfile.free_slug(data.slug or data.name),
            name=data.name,
            fingerprint=_fingerprint(data),
            provenance=Provenance.UPLOADED,
            created_by=by,
            **_facts(data),
        )
        known.add_hardware(found)
    for device in data.storage:
        _device(device, found, known)
    return found


def _find_device(name: str, rows: list[StorageDevice]) -> StorageDevice | None:
    return next((row for row in rows if name in (row.slug, row.name)), None)


def _device(given: str | UploadDevice, machine: HardwareProfile, known: Known) -> StorageDevice:
    """A device of the machine by name or slug, made where it is new; gaps in what is known of it are filled."""
    rows = known.devices(machine)
    name = given if isinstance(given, str) else given.name
    facts = {} if isinstance(given, str) else _facts(given)
    found = _find_device(name, rows)
    if found is None:
        slug = StorageDevice.free_slug(f"{machine.slug}-{name}")
        found = StorageDevice.objects.create(
            hardware=machine, slug=slug, name=name, provenance=Provenance.UPLOADED, **facts
        )
        rows.append(found)
        return found
    if fills := {name: value for name, value in facts.items() if getattr(found, name) != value}:
        for name, value in fills.items():
            setattr(found, name, value)
        found.save(update_fields=list(fills))
    return found


def _config(
    given: list[UploadSetting] | UploadConfigFiles | str | None, version: DbmsVersion, known: Known, by: User | None
) -> Config | None:
    """Equal configurations of one DBMS are one row, looked up once a request."""
    if not given:
        return None
    if isinstance(given, str):
        return known.find_config(given)
    mark = (version.dbms.slug, *_marks(given))
    if mark not in known.configs:
        known.configs[mark] = _made_config(given, version, by)
    return known.configs[mark]


def _marks(given: list[UploadSetting] | UploadConfigFiles) -> list[tuple[str | None, ...]]:
    if isinstance(given, UploadConfigFiles):
        return [(one.name, one.text, one.format) for one in given.files]
    return [(one["name"], one["value"], one.get("section"), one.get("comment")) for one in given]


def _made_config(given: list[UploadSetting] | UploadConfigFiles, version: DbmsVersion, by: User | None) -> Config:
    if isinstance(given, UploadConfigFiles):
        return _from_files(given, version, by)
    parameters = [Parameter(one["name"], one["value"], one.get("section", ""), one.get("comment", "")) for one in given]
    return config_of(version.dbms.slug, version.dbms.name, parameters, provenance=Provenance.UPLOADED)[0]


def _config_errors(document: UploadDocument, known: Known) -> dict[str, list[str]]:
    given = document.config
    if isinstance(given, str) and known.find_config(given) is None:
        return {"config": [f"No configuration {given}. A list of settings, or files, add one."]}
    if not isinstance(given, UploadConfigFiles):
        return {}
    dbms = known.find_dbms(document.dbms)
    found = understand(_file_texts(given), dbms.slug if dbms else "")
    return {f"config.{path}": messages for path, messages in found.errors.items()}


def _from_files(given: UploadConfigFiles, version: DbmsVersion, by: User | None) -> Config:
    """Raises ValidationError, naming the file."""
    try:
        return create_config(Content(files=_file_texts(given), dbms=version.dbms.slug), by=by)
    except ConfigError as error:
        raise ValidationError({f"config.{path}": messages for path, messages in error.errors.items()}) from error


def _file_texts(given: UploadConfigFiles) -> list[FileText]:
    return [FileText(one.name, one.text, one.format or "") for one in given.files]
