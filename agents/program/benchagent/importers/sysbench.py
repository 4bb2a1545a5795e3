from __future__ import annotations

from collections.abc import Sequence

from benchagent.importers.base import NotUnderstood, Report, SourceFile

TOOL = "sysbench"


def claims(file: SourceFile) -> bool:
    return False


def read(file: SourceFile) -> Sequence[Report]:
    raise NotUnderstood("no reader yet")


def combine(read: Sequence[tuple[SourceFile, Sequence[Report]]]) -> list[tuple[SourceFile, list[Report]]]:
    return [(file, list(reports)) for file, reports in read]
