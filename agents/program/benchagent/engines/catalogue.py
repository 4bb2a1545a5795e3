"""Which engines can be had, and out of which pieces: `engines.lock.json`, pinned with checksums."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

LOCK_NAME = "engines.lock.json"


@dataclass(frozen=True)
class Unpack:
    """What of a piece goes where.

    `archive`: a tar file inside the piece, else the piece itself. `strip`: leading folders to drop. `only` and `skip`:
    patterns over the name before stripping, where `*` also matches `/`; empty `only` is everything. `to`: folder
    below the engine's.
    """

    archive: str = ""
    strip: int = 0
    only: Sequence[str] = ()
    skip: Sequence[str] = ()
    to: str = "."


@dataclass(frozen=True)
class Piece:
    """One file to fetch. `kind` says how `name` is read:

    - `maven`: group:artifact:version[:packaging[:classifier]]
    - `wheel`: name==version of a Python distribution; `file` is the wheel's file name
    - `debian`: a package; its version and checksum are what apt's signed index states, or one of `known`
    """

    kind: str
    name: str
    file: str = ""
    sha256: str = ""
    size_bytes: int = 0
    known: Mapping[str, str] = field(default_factory=dict)
    unpack: Sequence[Unpack] = ()


@dataclass(frozen=True)
class Engine:
    """`version` may be a series, as "10.11", when a package decides the rest: `version_from` then names the package.

    Paths are relative to the engine's folder. `relocate`: constants in the programs that name folders of the system,
    and what to put there. `environment`: variables whose values are such paths.
    """

    name: str
    dbms: str
    version: str
    licence: str
    why: str
    bin: str
    unpacked_bytes: int
    pieces: Sequence[Piece]
    version_from: str = ""
    note: str = ""
    libraries: Sequence[str] = ()
    layout: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    relocate: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    executable: Sequence[str] = ()
    programs: Sequence[str] = ()
    drivers: Sequence[str] = ()

    @property
    def download_bytes(self) -> int:
        return sum(piece.size_bytes for piece in self.pieces)

    def exact_version(self, package_versions: Mapping[str, str]) -> str:
        """From "1:10.11.19-0+deb12u1" of the package that decides: "10.11.19", with three numbers at most."""
        if not self.version_from:
            return self.version
        number = re.match(r"(?:\d+:)?(\d+(?:\.\d+){0,2})", package_versions[self.version_from])
        return number[1] if number else self.version


@cache
def catalogue() -> Mapping[str, Engine]:
    """Engines by name, in the order of the list."""
    lock = json.loads(files("benchagent.engines").joinpath(LOCK_NAME).read_text(encoding="utf-8"))
    return {entry["name"]: engine_of(entry) for entry in lock["engines"]}


def engine_of(entry: Mapping[str, Any]) -> Engine:
    """From the list's JSON. Raises `TypeError` for a field that is missing or unknown."""
    pieces = [
        Piece(**{**piece, "unpack": [Unpack(**step) for step in piece.get("unpack", [{}])]})
        for piece in entry["pieces"]
    ]
    return Engine(**{**entry, "pieces": pieces})
