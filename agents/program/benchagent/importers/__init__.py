"""Results of tools that people run already, read from their files: recognised by content, never by name."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import cast

from benchagent.importers.base import (
    Importer,
    Metric,
    NotUnderstood,
    Report,
    Series,
    SourceFile,
    Status,
    Subject,
    as_json,
    not_understood,
)

# Rises with every change that reads a file differently: a stored file is parsed again when its report is older.
PARSER_VERSION = 1

# In the order in which they are asked; CSV takes any table, so it is the last.
MODULES = ("pgbench", "sysbench", "hammerdb", "gotpc", "benchbase", "ycsb", "fio", "gbak", "plain_csv")


def importers() -> list[Importer]:
    return [cast(Importer, import_module(f"benchagent.importers.{name}")) for name in MODULES]


def inspect(files: Sequence[SourceFile]) -> list[tuple[SourceFile, list[Report]]]:
    """Every file with its runs; what belongs together is put together. Never raises for any content."""
    owners: dict[int, Importer] = {}
    found: dict[int, list[Report]] = {}
    for place, file in enumerate(files):
        owner, reports = _one(file)
        found[place] = reports
        if owner is not None:
            owners[place] = owner
    for importer in {id(owner): owner for owner in owners.values()}.values():
        places = [place for place, owner in owners.items() if owner is importer]
        try:
            combined = importer.combine([(files[place], found[place]) for place in places])
        except NotUnderstood as error:
            failure = f"not understood: {error}"
            combined = [(files[place], [not_understood(failure, tool=importer.TOOL)]) for place in places]
        for place, (_, reports) in zip(places, combined, strict=True):
            found[place] = reports
    return [(file, found[place]) for place, file in enumerate(files)]


def _one(file: SourceFile) -> tuple[Importer | None, list[Report]]:
    claimed: Importer | None = None
    try:
        for importer in importers():
            if importer.claims(file):
                claimed = importer
                reports = list(importer.read(file))
                if not reports:
                    raise NotUnderstood("nothing in it could be read")
                return importer, reports
    except NotUnderstood as error:
        return None, [not_understood(f"not understood: {error}", tool=claimed.TOOL if claimed else "")]
    except RecursionError:
        return None, [not_understood("not understood: nested too deeply", tool=claimed.TOOL if claimed else "")]
    return None, [not_understood("not understood: no known tool wrote this")]


__all__ = [
    "PARSER_VERSION",
    "Importer",
    "Metric",
    "NotUnderstood",
    "Report",
    "Series",
    "SourceFile",
    "Status",
    "Subject",
    "as_json",
    "importers",
    "inspect",
]
