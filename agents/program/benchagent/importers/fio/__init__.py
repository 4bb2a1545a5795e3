"""fio: JSON and json+ (2.x, 3.x), normal output (2.x, 3.x), and the bandwidth, IOPS and latency logs of a run."""

from __future__ import annotations

from collections.abc import Sequence

from benchagent.importers.fio import json_output, logs, normal
from benchagent.importers.report import Report
from benchagent.importers.source import NotUnderstood, SourceFile

TOOL = "fio"


def claims(file: SourceFile) -> bool:
    text = file.text
    return json_output.claims(text) or normal.claims(text) or logs.claims(text) or _is_terse(text)


def read(file: SourceFile) -> Sequence[Report]:
    text = file.text
    if json_output.claims(text):
        return json_output.read(text)
    if normal.claims(text):
        return normal.read(file)
    if _is_terse(text):
        raise NotUnderstood("fio's terse output has no names; let it print JSON (--output-format=json)")
    return [logs.read(file)]


combine = logs.combine


def _is_terse(text: str) -> bool:
    return text.startswith(("2;fio-", "3;fio-", "4;fio-", "5;fio-"))
