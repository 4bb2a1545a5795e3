"""go-tpc (TPC-C, TPC-H and CH-benCHmark of PingCAP): plain, table and JSON output of `run`, and `prepare`/`check`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.importers.base import NotUnderstood, Report, SourceFile
from benchagent.importers.gotpc.load import loads, split_load
from benchagent.importers.gotpc.rows import Row, Total, events
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
    head, rest = split_load(file)
    if head is not None and any(isinstance(event, Row | Total) for event in events(head)):
        raise NotUnderstood("figures of a run amid the lines of a load: lines are out of order")
    runs = reports(events(rest))
    # Without a run after it, all of the file is the load's: a panic may follow its end.
    found = [*(loads(head if runs else file) if head is not None else ()), *runs]
    if not found:
        raise NotUnderstood("no figures of a run and no list of loaded tables in it")
    return found


def combine(read: Sequence[tuple[SourceFile, Sequence[Report]]]) -> list[tuple[SourceFile, list[Report]]]:
    return [(file, list(reports)) for file, reports in read]
