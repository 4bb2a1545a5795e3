"""go-tpc (TPC-C, TPC-H and CH-benCHmark of PingCAP): plain, table and JSON output of `run`, and `prepare`/`check`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.importers.gotpc.load import load_of, split_load
from benchagent.importers.gotpc.rows import Row, Total, events_of
from benchagent.importers.gotpc.runs import reports
from benchagent.importers.report import Report, as_they_are
from benchagent.importers.source import NotUnderstood, SourceFile

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
    if head is not None and any(isinstance(event, Row | Total) for event in events_of(head)):
        raise NotUnderstood("figures of a run amid the lines of a load: lines are out of order")
    runs = reports(events_of(rest))
    if head is not None:
        # Without a run after it, all of the file is the load's: a panic may follow its end.
        return [load_of(head if runs else file), *runs]
    if not runs:
        raise NotUnderstood("no figures of a run and no list of loaded tables in it")
    return runs


combine = as_they_are
