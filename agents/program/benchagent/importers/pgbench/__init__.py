"""pgbench 9.0 to 18: final reports, progress, logs of threads, initialisations, runs that did not end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.importers.base import NotUnderstood, Report, SourceFile, Status, not_understood
from benchagent.importers.pgbench import judge, loads, logs, threads
from benchagent.importers.pgbench.lines import ANCHORS, numbered
from benchagent.importers.pgbench.loads import Load
from benchagent.importers.pgbench.reader import Reader, Spoiled, reunited
from benchagent.importers.pgbench.run import Run

TOOL = "pgbench"
_NOTHING = "no run and no initialisation of pgbench"

_MARKS = re.compile(
    r"^[ \t]{0,40}(?:\S{1,60} ){0,4}(?:transaction type: "
    r"|progress: \d+(?:\.\d+)? s,? |pgbench \(\d|pgbench: (?:error|fatal): "
    r"|tps = \S{1,40} \((?:including|excluding|without) |(?:\d+ of )?\d+ tuples (?:done\.|\(\d+%\))"
    r"|starting vacuum\.\.\.end\.|done in \S{1,40} s \((?:drop|create|client|server|vacuum|primary|foreign)"
    r"|SQL script \d+: |set primary keys?\.\.\.|number of transactions actually processed: "
    r"|generating data(?: \((?:client|server)-side\))?\.\.\.)",
    re.MULTILINE,
)


def claims(file: SourceFile) -> bool:
    if logs.is_log(file) or _MARKS.search(file.text):
        return True
    return bool(ANCHORS.search(file.text)) and any(ANCHORS.match(line.text) for line in numbered(file))


def read(file: SourceFile) -> Sequence[Report]:
    """Every run of the file; one that is not understood spoils no other."""
    if logs.is_log(file):
        return [threads.report([logs.parse(file)])]
    reader = Reader()
    for line in numbered(file):
        reader.take(line)
    reports = [_judged(part) for part in reunited(reader.parts)]
    spoiled = [report.reason for report in reports if report.status is Status.NOT_UNDERSTOOD]
    if spoiled:
        # Where lines of several reports are mixed, nothing holds the parts of an extract together.
        reports = [not_understood(spoiled[0], tool=TOOL) if _extract(report) else report for report in reports]
        spoiled = [report.reason for report in reports if report.status is Status.NOT_UNDERSTOOD]
    if len(spoiled) == len(reports):
        raise NotUnderstood(spoiled[0].removeprefix("not understood: ") if spoiled else _NOTHING)
    return reports


def combine(read: Sequence[tuple[SourceFile, Sequence[Report]]]) -> list[tuple[SourceFile, list[Report]]]:
    return threads.combined(read)


def _extract(report: Report) -> bool:
    return any(warning.startswith("an extract") for warning in report.warnings)


def _judged(part: Run | Load | Spoiled) -> Report:
    try:
        if isinstance(part, Spoiled):
            raise NotUnderstood(part.reason)
        return judge.judged(part) if isinstance(part, Run) else loads.judged(part)
    except NotUnderstood as error:
        return not_understood(f"not understood: {error}", tool=TOOL)
