"""go-tpc (TPC-C, TPC-H and CH-benCHmark of PingCAP): plain, table and JSON output of `run`, and `prepare`/`check`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.importers.base import NotUnderstood, Report, SourceFile
from benchagent.importers.gotpc.load import loads
from benchagent.importers.gotpc.rows import Event, events
from benchagent.importers.gotpc.runs import reports

TOOL = "go-tpc"

_MARK = re.compile(
    r"^[^\n]{0,80}?(?:"
    r"\[(?:Current|Summary)\] [A-Z][\w-]*\s*(?:- (?:Takes\(s\)|Count): |: \d+\.\d+s\s*$)"
    r"|\[\{\"[^\n]*\"Prefix\":\s*\"\[(?:Current|Summary)\]"
    r"|[|│]\s*\[(?:Current|Summary)\]\s*[|│]"
    r"|tpmC: [\d.]+(?:,|$)"
    r"|load to \w+ in warehouse \d+(?: district \d+)?\s*$"
    r"|begin to check warehouse \d+ at condition )",
    re.MULTILINE,
)


def claims(file: SourceFile) -> bool:
    return _MARK.search(file.text) is not None


def read(file: SourceFile) -> Sequence[Report]:
    found: list[Event] = events(file)
    runs = reports(file, found)
    if not runs:
        runs = loads(file)
    if not runs:
        raise NotUnderstood("no figures of a run and no complete list of loaded tables in it")
    return runs


def combine(read: Sequence[tuple[SourceFile, Sequence[Report]]]) -> list[tuple[SourceFile, list[Report]]]:
    return [(file, list(reports)) for file, reports in read]
