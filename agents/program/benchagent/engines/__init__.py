"""Engines that are fetched into the agent's own folder: which can be had (`engines.lock.json`), and which are there.

Below STATE/engines each has one folder with its record. It appears by one rename when everything in it is complete, so
a record means a usable engine, unless an older agent wrote it, which recorded less than is needed today. Files are the
marks of optional jars; names with a dot in front are work in progress.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
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


RECORD_NAME = "installed.json"
NEEDED = {"dbms": str, "version": str, "bin": str, "libraries": list, "layout": dict}


@dataclass(frozen=True)
class InstalledEngine:
    """`home` is the folder of the unpacked tree; `record` says more (see docs/operate/engines-install.md)."""

    name: str
    dbms: str
    version: str
    home: Path
    record: Mapping[str, Any]

    @property
    def bin_dir(self) -> Path:
        """Folder of the server and its tools."""
        return self.home / str(self.record["bin"])

    def layout(self, name: str) -> Path:
        """A path the adapter needs, as `plugins`. Raises `KeyError` for one that this engine does not have."""
        return self.home / str(self.record["layout"][name])

    def environment(self) -> dict[str, str]:
        """Variables that its programs need, beside the process's own."""
        named = {name: str(self.home / path) for name, path in self.record.get("environment", {}).items()}
        libraries = [str(self.home / part) for part in self.record["libraries"]]
        return named | ({"LD_LIBRARY_PATH": os.pathsep.join(libraries)} if libraries else {})


@dataclass(frozen=True)
class BrokenRecord:
    """An engine's folder that cannot be used; `reason` says what to do. `dbms` is empty where nothing tells."""

    name: str
    dbms: str
    version: str
    home: Path
    reason: str


def installed(engines_dir: Path, dbms: str | None = None) -> list[InstalledEngine]:
    """Engines below `engines_dir`, of one DBMS or of all, by name. A folder that is not complete is not one."""
    complete = [engine for folder in _folders(engines_dir) if (engine := read_record(folder))]
    return [engine for engine in complete if dbms in (None, engine.dbms)]


def broken_records(engines_dir: Path) -> list[BrokenRecord]:
    """The folders below `engines_dir` that are none of `installed`, of all DBMSs, by name."""
    broken = []
    for folder in _folders(engines_dir):
        record, known = _record(folder), catalogue().get(folder.name)
        if not (lacking := _lacking(folder.name, record)):
            continue
        todo = f"remove it (`benchagent engines remove {folder.name}`), this agent cannot install it again"
        if known:
            todo = f"install it again (`benchagent engines install {folder.name}`)"
        broken.append(
            BrokenRecord(
                name=folder.name,
                dbms=known.dbms if known else str(record.get("dbms", "")),
                version=str(record.get("version") or (known.version if known else "unknown")),
                home=folder,
                reason=f"{todo}: the record of its installation lacks {', '.join(lacking)}",
            )
        )
    return broken


def read_record(folder: Path) -> InstalledEngine | None:
    record = _record(folder)
    if _lacking(folder.name, record):
        return None
    return InstalledEngine(folder.name, record["dbms"], record["version"], folder, record)


def _folders(engines_dir: Path) -> list[Path]:
    return [folder for folder in sorted(engines_dir.glob("[!.]*")) if folder.is_dir()]


def _record(folder: Path) -> Mapping[str, Any]:
    """Empty when there is none that can be read."""
    try:
        record = json.loads((folder / RECORD_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _lacking(name: str, record: Mapping[str, Any]) -> list[str]:
    """What is not in a record, or not as it has to be: of what every engine needs, and of what this one does."""
    lacking = [field for field, kind in NEEDED.items() if not isinstance(record.get(field), kind)]
    if lacking:
        return lacking
    lacking += [f"layout {part}" for part in sorted(_layout(name, record["dbms"]) - record["layout"].keys())]
    environment = record.get("environment", {})
    if not isinstance(environment, dict):
        return [*lacking, "environment"]
    engine = catalogue().get(name)
    variables = engine.environment.keys() - environment.keys() if engine else ()
    return [*lacking, *(f"environment {variable}" for variable in sorted(variables))]


def _layout(name: str, dbms: str) -> set[str]:
    """Names that an adapter will ask for: of an engine that is no longer in the list, those that all others have."""
    if name in catalogue():
        return set(catalogue()[name].layout)
    others: list[Engine] = [engine for engine in catalogue().values() if engine.dbms == dbms]
    return set.intersection(*(set(engine.layout) for engine in others)) if others else set()
