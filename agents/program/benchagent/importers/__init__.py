"""Results of tools that people run already, read from their files: recognised by content, never by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Protocol, cast, runtime_checkable

from benchagent.importers.report import Metric, ReadFile, Report, Series, Status, Subject, as_json, not_understood
from benchagent.importers.source import NotUnderstood, SourceFile

# Rises where files that were read are read differently from now on: imports from before are offered to be read again.
PARSER_VERSION = 2

# In the order in which they are asked; CSV takes any table, so it is the last.
MODULES = ("pgbench", "sysbench", "hammerdb", "gotpc", "benchbase", "ycsb", "fio", "gbak", "plain_csv")


class Importer(Protocol):
    """One module under `benchagent.importers`, listed in `MODULES`."""

    TOOL: str

    def claims(self, file: SourceFile) -> bool:
        """Whether the content is this tool's. Cheap, by marks that no other tool prints. May raise NotUnderstood."""

    def read(self, file: SourceFile) -> Sequence[Report]:
        """Every run of the file, in order. Raises NotUnderstood rather than guess."""


@runtime_checkable
class Combining(Importer, Protocol):
    """One of a tool that leaves several files of one run."""

    def combine(self, files: list[ReadFile]) -> None:
        """Put together what belongs together, in place (logs of the threads of one run, files of one run).

        The files and their order stay. Files of one run: the first holds the whole, the others' reports
        have `part_of` and no numbers of their own, so that nothing counts twice.
        """


def importers() -> list[Importer]:
    return [cast(Importer, import_module(f"benchagent.importers.{name}")) for name in MODULES]


def inspect(files: Sequence[SourceFile], begin: Callable[[SourceFile], None] = lambda file: None) -> list[ReadFile]:
    """Every file with its runs; what belongs together is put together. Never raises for any content.

    `begin` is told each file before it is read.
    """
    understood = [_read(file, begin) for file in files]
    results = [(file, reports) for file, (_, reports) in zip(files, understood, strict=True)]
    for importer in importers():
        own = [at for at, (reader, _) in enumerate(understood) if reader is importer]
        if len(own) > 1 and isinstance(importer, Combining):
            parts = [results[at] for at in own]
            try:
                importer.combine(parts)
            except NotUnderstood as error:
                parts = [(file, [not_understood(f"not understood: {error}", tool=importer.TOOL)]) for file, _ in parts]
            for at, part in zip(own, parts, strict=True):
                results[at] = part
    return results


def _read(file: SourceFile, begin: Callable[[SourceFile], None]) -> tuple[Importer | None, list[Report]]:
    """The importer that understood the file, and what it read."""
    begin(file)
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
    except (ValueError, OverflowError):  # as Python says it: thousands of digits
        reason = "a number in it is larger than any that a tool prints"
    return None, [not_understood(f"not understood: {reason}", tool=tool)]


__all__ = [
    "PARSER_VERSION", "Importer", "Metric", "NotUnderstood", "Report", "Series", "SourceFile", "Status", "Subject",
    "as_json", "importers", "inspect",
]  # fmt: skip
