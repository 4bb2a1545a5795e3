"""A named storage: the file that keeps them, what is told of one, and the name of its device from start to start."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchagent.errors import JobError
from benchagent.machine.devices import backing_file, device_of, physical_disks, storage_facts_of
from benchagent.machine.emulation import Emulation
from benchagent.paths import write_private
from benchagent.protocol import NamedStorageFacts

# Free space is told in steps, so that it is not news with every poll.
FREE_STEP = 500_000_000


class StorageError(JobError):
    """A storage cannot be used; the text says which and why."""


@dataclass(frozen=True)
class Storage:
    """A named folder, or an emulated disk that is mounted there while the agent runs."""

    name: str
    path: Path
    emulation: Emulation | None = None


def read_storages(file: Path) -> list[Storage]:
    """None is there before the first was named. Raises `StorageError` for a broken file."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return [_storage(entry) for entry in content["places"]]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StorageError(f"{file} cannot be read ({error}): correct or remove it") from error


def write_storages(file: Path, storages: Sequence[Storage]) -> None:
    entries = []
    for storage in storages:
        made = storage.emulation
        emulated = {**asdict(made), "file": str(made.file)} if made else None
        entries.append({"name": storage.name, "path": str(storage.path), "emulation": emulated})
    write_private(file, {"places": entries})


def _storage(entry: Mapping[str, Any]) -> Storage:
    emulated = entry["emulation"]
    made = Emulation(**{**emulated, "file": Path(emulated["file"])}) if emulated else None
    return Storage(entry["name"], Path(entry["path"]), made)


def is_set_up(storage: Storage) -> bool:
    """Mounted where it belongs, from the file it belongs to."""
    if storage.emulation is None or not storage.path.is_dir():
        return False
    return backing_file(device_of(storage.path)) == Path(os.path.realpath(storage.emulation.file))


def device_name(storage: Storage) -> str:
    """By which runs are compared: of an emulated disk what it is and does, for its loop device has another number
    with each start of the agent."""
    return f"{storage.name} ({storage.emulation.words})" if storage.emulation else device_of(storage.path)


def emulated_words(storage: Storage) -> str:
    """Of an emulated disk that is set up: what it is made of in this run."""
    made = storage.emulation
    disks = ", ".join(sorted(physical_disks(storage.path))) or "an unknown disk"
    return f"{storage.name} is {device_of(storage.path)}, a file on {disks}; {made.words}" if made else ""


def named_storage_facts(storage: Storage, problem: str) -> NamedStorageFacts:
    facts: NamedStorageFacts = {
        "name": storage.name,
        "device": "",
        "disks": [],
        "medium": None,
        "model": None,
        "bus": None,
        "emulated": storage.emulation.words if storage.emulation else "",
        "capacity_bytes": storage.emulation.size_bytes if storage.emulation else None,
        "free_bytes": None,
        "problem": problem,
    }
    device = None if problem else storage_facts_of(storage.path)
    if device:
        facts["device"] = device_name(storage)
        facts["disks"] = sorted(physical_disks(storage.path))
        facts["medium"], facts["model"], facts["bus"] = device["medium"], device["model"], device["bus"]
        facts["capacity_bytes"] = device["capacity_bytes"]
        facts["free_bytes"] = shutil.disk_usage(storage.path).free // FREE_STEP * FREE_STEP
    return facts
