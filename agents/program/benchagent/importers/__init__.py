"""Results of tools that people run already, read from their files: recognised by content, never by name."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from benchagent.importers.report import Metric, Report, Series, Status, Subject, as_json, not_understood
from benchagent.importers.source import NotUnderstood, SourceFile

# Rises where files that were read are read differently from now on: imports from before are offered to be read again.
PARSER_VERSION = 1

# In the order in which they are asked; CSV takes any table, so it is the last.
MODULES = ("pgbench", "sysbench", "hammerdb", "gotpc", "benchbase", "ycsb", "fio", "gbak", "plain_csv")


class Importer(Protocol):
    """One module under `benchagent.importers`, listed in `MODULES`."""

    TOOL: str

    def claims(self, file: SourceFile) -> bool:
        """Whether the content is this tool's. Cheap, by marks that no other tool prints. May raise NotUnderstood."""

    def read(self, file: SourceFile) -> Sequence[Report]:
        """Every run of the file, in order. Raises NotUnderstood rather than guess."""

    def combine(self, read: Sequence[tuple[SourceFile, Sequence[Report]]]) -> list[tuple[SourceFile, list[Report]]]:
        """Of several files, put together what belongs together (logs of the threads of one run, files of one run).

        Gives back the same files in the same order. Files of one run: the first holds the whole, the others' reports
        have `part_of` and no numbers of their own, so that nothing counts twice.
        """


def importers() -> list[Importer]:
    return [cast(Importer, import_module(f"benchagent.importers.{name}")) for name in MODULES]


def inspect(files: Sequence[SourceFile]) -> list[tuple[SourceFile, list[Report]]]:
    """Every file with its runs; what belongs together is put together. Never raises for any content."""
    understood = [_read(file) for file in files]
    results = [(file, reports) for file, (_, reports) in zip(files, understood, strict=True)]
    for tool in dict.fromkeys(importer.TOOL for importer, _ in understood if importer):
        own = [(at, importer) for at, (importer, _) in enumerate(understood) if importer and tool == importer.TOOL]
        parts = [results[at] for at, _ in own]
        try:
            combined = own[0][1].combine(parts) if len(parts) > 1 else parts
        except NotUnderstood as error:
            combined = [(file, [not_understood(f"not understood: {error}", tool=tool)]) for file, _ in parts]
        for (at, _), part in zip(own, combined, strict=True):
            results[at] = part
    return results


def _read(file: SourceFile) -> tuple[Importer | None, list[Report]]:
    """The importer that understood the file, and what it read."""
    tool, reason = "", "no known tool wrote this"
    try:
        for importer in importers():
            if importer.claims(file):
                tool = importer.TOOL
                reports = list(importer.read(file))
                if not reports:
                    raise NotUnderstood("nothing in it could be read")
                return importer, reports
    except NotUnderstood as error:
        reason = str(error)
    except RecursionError:
        reason = "nested too deeply"
    return None, [not_understood(f"not understood: {reason}", tool=tool)]


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
