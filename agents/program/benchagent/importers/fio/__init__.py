"""fio: JSON and json+ (2.x, 3.x), normal output (2.x, 3.x), and the bandwidth, IOPS and latency logs of a run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.importers.fio import json_output, logs, normal
from benchagent.importers.report import Report
from benchagent.importers.source import NotUnderstood, SourceFile

TOOL = "fio"
MARKS = re.compile(rf"{normal.CLAIM.pattern}|{json_output.DOCUMENT.pattern}", re.MULTILINE)
WORDS = ("(groupid=", "fio-", "fio: ", "Run status group ", '"fio version"')


def claims(file: SourceFile) -> bool:
    text = file.text
    if any(word in text for word in WORDS) and (json_output.CLAIM.search(text) or normal.claims(text)):
        return True
    return text.startswith(("2;fio-", "3;fio-", "4;fio-", "5;fio-")) or logs.claims(text)


def streams(head: SourceFile) -> bool:
    return logs.claims(head.text)


def read(file: SourceFile) -> Sequence[Report]:
    if logs.claims(file.head.text):
        return [logs.read(file)]
    if json_output.CLAIM.search(file.text):
        return json_output.read(file.text)
    if normal.claims(file.text):
        return normal.read(file)
    raise NotUnderstood("fio's terse output has no names; let it print JSON (--output-format=json)")


combine = logs.combine
