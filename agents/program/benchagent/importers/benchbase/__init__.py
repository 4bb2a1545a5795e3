"""BenchBase and its ancestor OLTP-Bench: every file that a run leaves behind, and what it prints.

Each kind of file is read by itself; `combine` makes one report of the files of one run.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchagent.importers.benchbase import console, documents, joining, tables
from benchagent.importers.report import Report
from benchagent.importers.source import NotUnderstood, SourceFile

TOOL = "benchbase"


def claims(file: SourceFile) -> bool:
    return _kind(file.text) != ""


def read(file: SourceFile) -> Sequence[Report]:
    match _kind(file.text):
        case "table":
            return [tables.read(file)]
        case "document":
            return [documents.read(file.text)]
        case "console":
            return console.read(file)
    raise NotUnderstood("not a file of BenchBase")


combine = joining.combine


def _kind(text: str) -> str:
    if tables.claims(text):
        return "table"
    if documents.claims(text):
        return "document"
    return "console" if console.claims(text) else ""
