"""The file that keeps the named storages of this machine."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchagent.errors import JobError
from benchagent.machine.emulation import Emulation
from benchagent.paths import write_private


class PlaceError(JobError):
    """A storage cannot be used; the text says which and why."""


@dataclass(frozen=True)
class Place:
    """A named folder, or an emulated disk that is mounted there while the agent runs."""

    name: str
    path: Path
    emulation: Emulation | None = None


def read_places(file: Path) -> list[Place]:
    """None is there before the first was named. Raises `PlaceError` for a broken file."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        return [_from_json(entry) for entry in content["places"]]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PlaceError(f"{file} cannot be read ({error}): correct or remove it") from error


def write_places(file: Path, places: Sequence[Place]) -> None:
    write_private(file, {"places": [_to_json(place) for place in places]})


def _to_json(place: Place) -> dict[str, Any]:
    made = place.emulation
    emulated = {**asdict(made), "file": str(made.file)} if made else None
    return {"name": place.name, "path": str(place.path), "emulation": emulated}


def _from_json(entry: Mapping[str, Any]) -> Place:
    emulated = entry["emulation"]
    made = Emulation(**{**emulated, "file": Path(emulated["file"])}) if emulated else None
    return Place(entry["name"], Path(entry["path"]), made)
