"""BenchBase and its ancestor OLTP-Bench: every file that a run leaves behind, and what it prints.

Each kind of file is read by itself; `combine` makes one report of the files of one run.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchagent.importers.benchbase import console, documents, joining, tables
from benchagent.importers.report import Report
from benchagent.importers.source import SourceFile

TOOL = "benchbase"


def claims(file: SourceFile) -> bool:
    return any(kind.claims(file.text) for kind in (tables, documents, console))


def read(file: SourceFile) -> Sequence[Report]:
    if tables.claims(file.text):
        return [tables.read(file)]
    return [documents.read(file.text)] if documents.claims(file.text) else console.read(file)


combine = joining.combine
