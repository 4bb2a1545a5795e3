"""What has been installed below STATE/engines: one folder per engine, with its record.

A folder appears by one rename when everything in it is complete, so a record means a usable engine. Files are
the marks of optional jars; names with a dot in front are work in progress.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

RECORD_NAME = "installed.json"


@dataclass(frozen=True)
class InstalledEngine:
    """`home` is the folder of the unpacked tree; `record` says more (see docs/engines-install.md)."""

    name: str
    dbms: str
    version: str
    home: Path
    library_path: list[Path]
    record: Mapping[str, Any]

    @property
    def bin_dir(self) -> Path:
        """Folder of the server and its tools."""
        return self.home / str(self.record["bin"])

    def layout(self, name: str) -> Path:
        """A place the adapter needs, as `plugins`. Raises `KeyError` for one that this engine does not have."""
        return self.home / str(self.record["layout"][name])

    def environment(self) -> dict[str, str]:
        """Variables that its programs need, beside the process's own."""
        named = {name: str(self.home / path) for name, path in self.record.get("environment", {}).items()}
        libraries = {"LD_LIBRARY_PATH": os.pathsep.join(map(str, self.library_path))} if self.library_path else {}
        return {**named, **libraries}


def installed(engines_dir: Path, dbms: str | None = None) -> list[InstalledEngine]:
    """Engines below `engines_dir`, of one DBMS or of all, by name. A folder that is not complete is not one."""
    found = [
        engine for folder in sorted(engines_dir.glob("[!.]*")) if folder.is_dir() and (engine := read_record(folder))
    ]
    return [engine for engine in found if dbms in (None, engine.dbms)]


def read_record(folder: Path) -> InstalledEngine | None:
    try:
        record = json.loads((folder / RECORD_NAME).read_text(encoding="utf-8"))
        return InstalledEngine(
            name=folder.name,
            dbms=record["dbms"],
            version=record["version"],
            home=folder,
            library_path=[folder / part for part in record["libraries"]],
            record=record,
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None
