"""pgbench 9.0 to 18: final reports, progress, logs of threads, initialisations, runs that did not end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.importers.pgbench import logs
from benchagent.importers.pgbench.load import Load
from benchagent.importers.pgbench.reader import Run, part_of, reunited
from benchagent.importers.pgbench.report import report_of
from benchagent.importers.pgbench.tables import has_commas, with_points
from benchagent.importers.report import Report, Status, not_understood
from benchagent.importers.source import NotUnderstood, SourceFile, printed_lines
from benchagent.importers.tables import parts_of, reports_of

TOOL = "pgbench"

MARKS = re.compile(
    r"^[ \t]*(?:transaction type: "
    r"|progress: \d+(?:[.,]\d+)? s,? |pgbench \(\d|pgbench: (?:error|fatal): "
    r"|tps = \S{1,40} \((?:including|excluding|without) |(?:\d+ of )?\d+ tuples (?:done\.|\(\d+%\))"
    r"|starting vacuum\.\.\.end\.|done in \S{1,40} s \((?:drop|create|client|server|vacuum|primary|foreign)"
    r"|SQL script \d+: |set primary keys?\.\.\.|number of transactions actually processed: "
    r"|generating data(?: \((?:client|server)-side\))?\.\.\.)",
    re.MULTILINE,
)
WORDS = (
    "transaction type: ", "progress: ", "pgbench (", "pgbench: ", "tps = ", " tuples ", "starting vacuum...",
    "done in ", "SQL script ", "set primary key", "number of transactions actually processed: ", "generating data",
)  # fmt: skip
# What may be all that was kept of a report.
_PARTS = re.compile(
    r"^[ \t]*(?:scaling factor: \d|query mode: [a-z]|number of (?:clients|threads): \d|duration: \d+ s"
    r"|starting vacuum\.\.\.|done in \d|dropping old tables\.)",
    re.MULTILINE,
)
_PART_WORDS = ("scaling factor: ", "query mode: ", "number of ", "duration: ", "done in ", "vacuum...", "dropping ")


def claims(file: SourceFile) -> bool:
    return streams(file) or file.shows(_PARTS, _PART_WORDS)


def streams(head: SourceFile) -> bool:
    return logs.is_log(head.head) or head.shows(MARKS, WORDS)


def read(file: SourceFile) -> Sequence[Report]:
    """Every run of the file; one that is not understood spoils no other."""
    if logs.is_log(file.head):
        return [logs.report([logs.log_of(file)])]
    lines = map(with_points, printed_lines(file)) if has_commas(printed_lines(file)) else printed_lines(file)
    first: Run | Load = Run()
    parts = parts_of(lines, first, part_of)
    shown = [part for part in parts if isinstance(part, Load) or part.has_begun or part.version]
    reports = reports_of(reunited(shown), report_of, TOOL, "no run and no initialisation of pgbench")
    spoiled = [report.refusal for report in reports if report.status is Status.NOT_UNDERSTOOD]
    if not spoiled:
        return reports
    # Where lines of several reports are mixed, nothing holds the parts of an extract together.
    trusted = [report for report in reports if not any(text.startswith("an extract") for text in report.warnings)]
    if all(report.status is Status.NOT_UNDERSTOOD for report in trusted):
        raise NotUnderstood(spoiled[0])
    return [report if report in trusted else not_understood(spoiled[0], tool=TOOL) for report in reports]


combine = logs.combined
