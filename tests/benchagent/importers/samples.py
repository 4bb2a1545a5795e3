"""Files of tools as the importers' tests read them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from benchagent.importers import Report, SourceFile, inspect

DATA = Path(__file__).parent / "data"


def sample(tool: str, name: str) -> bytes:
    return (DATA / tool / name).read_bytes()


def reports(name: str, data: bytes) -> list[Report]:
    return reports_of([SourceFile(name, data)])


@cache
def of_file(path: Path) -> tuple[Report, ...]:
    """Of a stored sample, read once for all tests of a process."""
    return tuple(reports(path.name, path.read_bytes()))


def reports_of(files: Sequence[SourceFile]) -> list[Report]:
    return [report for _, told in inspect(files) for report in told]


def report_of(tool: str, name: str) -> Report:
    told = reports(name, sample(tool, name))
    assert len(told) == 1, [report.reason for report in told]
    return told[0]


def values(report: Report) -> dict[str, float]:
    return {metric.name: metric.value for metric in report.metrics}
