"""What is told of a storage, and the name of its device, which stays the same from start to start."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from benchagent.machine.devices import backing_file, device_of, physical_disks, storage_facts_of
from benchagent.machine.storages_file import Place
from benchagent.protocol import PlaceFacts

# Free space is told in steps, so that it is not news with every poll.
FREE_STEP = 500_000_000


def is_set_up(place: Place) -> bool:
    """Mounted where it belongs, from the file it belongs to."""
    if place.emulation is None or not place.path.is_dir():
        return False
    return backing_file(device_of(place.path)) == Path(os.path.realpath(place.emulation.file))


def device_name(place: Place) -> str:
    """By which runs are compared: of an emulated disk what it is and does, for its loop device has another number
    with each start of the agent."""
    return f"{place.name} ({place.emulation.words})" if place.emulation else device_of(place.path)


def emulated_words(place: Place) -> str:
    """Of an emulated disk that is set up: what it is made of in this run."""
    made = place.emulation
    disks = ", ".join(sorted(physical_disks(place.path))) or "an unknown disk"
    return f"{place.name} is {device_of(place.path)}, a file on {disks}; {made.words}" if made else ""


def place_facts(place: Place, problem: str) -> PlaceFacts:
    facts: PlaceFacts = {
        "name": place.name,
        "device": "",
        "disks": [],
        "medium": None,
        "model": None,
        "bus": None,
        "emulated": place.emulation.words if place.emulation else "",
        "capacity_bytes": place.emulation.size_bytes if place.emulation else None,
        "free_bytes": None,
        "problem": problem,
    }
    device = None if problem else storage_facts_of(place.path)
    if device:
        facts["device"] = device_name(place)
        facts["disks"] = sorted(physical_disks(place.path))
        facts["medium"], facts["model"], facts["bus"] = device["medium"], device["model"], device["bus"]
        facts["capacity_bytes"] = device["capacity_bytes"]
        facts["free_bytes"] = shutil.disk_usage(place.path).free // FREE_STEP * FREE_STEP
    return facts
