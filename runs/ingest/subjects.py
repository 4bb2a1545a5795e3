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

from runs.choices import Provenance
from runs.ingest.document import DEVICE_FACTS, HARDWARE_FACTS
from runs.ingest.known import Document, Known, run_ids, versioned_slug
from runs.ingest.names import Parameter, config_of, resolve_workload
from runs.models import Config, DbmsVersion, HardwareProfile, StorageDevice, User, Workload


@dataclass(frozen=True)
class Subjects:
    """`storage` is role -> (device, path)."""

    workload: Workload
    dbms_version: DbmsVersion
    hardware: HardwareProfile
    config: Config | None
    storage: dict[str, tuple[StorageDevice, str]]


def check(document: Document, known: Known) -> None:
    """Raises ValidationError, naming the field, for a document that contradicts what is stored."""
    errors: dict[str, list[str]] = {}
    slug = document["workload"]["slug"]
    if document["workload"].get("known") and slug not in WORKLOADS and _workload_row(slug, known) is None:
        errors["workload"] = [f"No workload {slug}. An object with slug, name, version adds one."]
    errors |= _taken_ids(document, known) | _hardware_errors(document, known) | _config_errors(document, known)
    if errors:
        raise ValidationError(errors)


def resolve(document: Document, known: Known, *, by: User | None) -> Subjects:
    """The rows of a document that `check` has passed; new ones are made."""
    version = known.version(document["dbms"])
    machine = _hardware(document["hardware"], known, by)
    return Subjects(
        workload=_workload(document, known),
        dbms_version=version,
        hardware=machine,
        config=_config(document.get("config"), version, known, by),
        storage={
            use["role"]: (_device(use["device"], machine, known), use.get("path", ""))
            for use in document.get("storage", [])
        },
    )


def _taken_ids(document: Document, known: Known) -> dict[str, list[str]]:
    return {
        f"repeats[{index}].id": ["Another run has this id."]
        for index, run_id in enumerate(run_ids(document))
        if run_id in known.taken
    }


def _workload_row(slug: str, known: Known) -> Workload | None:
    return next((row for row in known.workloads if row.slug == slug), None)


def _workload(document: Document, known: Known) -> Workload:
    """By slug and version; a new version of a known slug is a row of its own."""
    data = document["workload"]
    slug = data["slug"]
    found = _workload_row(slug, known) if data.get("known") else _versioned_workload(data, known)
    if found is not None:
        return found
    if slug in WORKLOADS and (data.get("known") or data["version"] == WORKLOADS[slug].version):
        made = resolve_workload(slug)
    else:
        taken = slug in WORKLOADS or _workload_row(slug, known) is not None
        made = Workload.objects.create(
            slug=Workload.free_slug(versioned_slug(slug, data["version"]) if taken else slug),
            name=data.get("name") or slug,
            version=data["version"],
            kind=data["kind"],
            primary_metric=_first_metric(document),
        )
    known.workloads.append(made)
    return made


def _versioned_workload(data: Document, known: Known) -> Workload | None:
    slugs = (data["slug"], versioned_slug(data["slug"], data["version"]))
    return next((row for row in known.workloads if row.slug in slugs and row.version == data["version"]), None)


def _first_metric(document: Document) -> str:
    entries = [one["name"] for repeat in document["repeats"] for one in (*repeat["metrics"], *repeat["series"])]
    return "tps" if "tps" in entries or not entries else str(entries[0])[:80]


def _facts(data: Document, names: Any) -> dict[str, Any]:
    return {name: data[name] for name in names if data.get(name) not in (None, "")}


def _hardware_errors(document: Document, known: Known) -> dict[str, list[str]]:
    data = document["hardware"]
    slug = data.get("slug")
    found = known.hardware(slug=slug) if slug else None
    if data.get("known") and found is None:
        return {"hardware": [f"No machine {slug}. An object with its facts adds one."]}
    if found is not None and not data.get("known"):
        facts = _facts(data, HARDWARE_FACTS)
        if errors := _contradictions("hardware", f"The machine {found.slug}", found, facts):
            return errors
    if not data.get("storage") and not document.get("storage"):
        return {}
    if found is None:
        found = known.hardware(fingerprint=_fingerprint(data))
    return _device_errors(document, known.devices(found) if found else [])


def _device_errors(document: Document, rows: list[StorageDevice]) -> dict[str, list[str]]:
    """Devices by name only must be the machine's; facts may not contradict what is known of it."""
    described = document["hardware"].get("storage", [])
    uses = document.get("storage", [])
    given = [(f"hardware.storage[{index}]", device) for index, device in enumerate(described)]
    given += [(f"storage[{index}].device", use["device"]) for index, use in enumerate(uses)]
    named = {device["name"]: device for _, device in reversed(given) if isinstance(device, dict)}
    errors: dict[str, list[str]] = {}
    for path, device in given:
        row = _find_device(device if isinstance(device, str) else device["name"], rows)
        if isinstance(device, str):
            if row is None and device not in named:
                errors[path] = [f"This machine has no device {device}. An object with its facts adds one."]
        elif row is not None:
            errors |= _contradictions(path, f"The device {row.slug}", row, _facts(device, DEVICE_FACTS))
        elif named[device["name"]] != device:
            errors[path] = [f"{device['name']} is described twice, differently."]
    return errors


def _contradictions(path: str, who: str, row: Any, facts: dict[str, Any]) -> dict[str, list[str]]:
    """What is stored is not overwritten. A device's `emulated` is false where nobody said it."""
    return {
        f"{path}.{name}": [f"{who} has {getattr(row, name)}."]
        for name, value in facts.items()
        if getattr(row, name) not in (None, "", False, value)
    }


def _fingerprint(data: Document) -> str:
    facts = _facts(data, HARDWARE_FACTS)
    document = ["upload", data.get("slug"), data["name"], facts]
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _hardware(data: Document, known: Known, by: User | None) -> HardwareProfile:
    """By slug, or by all of its facts: an equal description is the same machine. Nothing known is overwritten."""
    found = known.hardware(slug=data["slug"]) if "slug" in data else None
    if found is None:
        found = known.hardware(fingerprint=_fingerprint(data))
    if found is None:
        found = HardwareProfile.objects.create(
            slug=HardwareProfile.free_slug(data.get("slug") or data["name"]),
            name=data["name"],
            fingerprint=_fingerprint(data),
            provenance=Provenance.UPLOADED,
            created_by=by,
            **_facts(data, HARDWARE_FACTS),
        )
        known.add_hardware(found)
    for device in data.get("storage", []):
        _device(device, found, known)
    return found


def _find_device(name: str, rows: list[StorageDevice]) -> StorageDevice | None:
    return next((row for row in rows if name in (row.slug, row.name)), None)


def _device(given: Any, machine: HardwareProfile, known: Known) -> StorageDevice:
    """A device of the machine by name or slug, made where it is new; gaps in what is known of it are filled."""
    rows = known.devices(machine)
    name = given if isinstance(given, str) else given["name"]
    facts = {} if isinstance(given, str) else _facts(given, DEVICE_FACTS)
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


def _config(given: Any, version: DbmsVersion, known: Known, by: User | None) -> Config | None:
    """Equal configurations of one DBMS are one row, looked up once a request."""
    if not given:
        return None
    if isinstance(given, dict) and given.get("known"):
        return known.find_config(given["slug"])
    mark = json.dumps([version.dbms.slug, given])
    if mark not in known.configs:
        known.configs[mark] = _made_config(given, version, by)
    return known.configs[mark]


def _made_config(given: Any, version: DbmsVersion, by: User | None) -> Config:
    if isinstance(given, dict):
        return _from_files(given, version, by)
    parameters = [
        Parameter(name=entry["name"], value=entry["value"], section=entry["section"], comment=entry["comment"])
        for entry in given
    ]
    return config_of(version.dbms.slug, version.dbms.name, parameters, provenance=Provenance.UPLOADED)


def _config_errors(document: Document, known: Known) -> dict[str, list[str]]:
    given = document.get("config")
    if not isinstance(given, dict):
        return {}
    if given.get("known"):
        if known.find_config(given["slug"]) is None:
            return {"config": [f"No configuration {given['slug']}. A list of settings, or files, add one."]}
        return {}
    from runs.configs import understand

    dbms = known.find_dbms(document["dbms"])
    found = understand(_file_texts(given), dbms.slug if dbms else "")
    return {f"config.{path}": messages for path, messages in found.errors.items()}


def _from_files(given: Document, version: DbmsVersion, by: User | None) -> Config:
    """Raises ValidationError, naming the file."""
    from runs.configs import ConfigError, Content, create_config

    try:
        return create_config(Content(files=_file_texts(given), dbms=version.dbms.slug), by=by)
    except ConfigError as error:
        raise ValidationError({f"config.{path}": messages for path, messages in error.errors.items()}) from error


def _file_texts(given: Document) -> list[Any]:
    from runs.configs import FileText

    return [FileText(one["name"], one["text"], one.get("format", "")) for one in given["files"]]
