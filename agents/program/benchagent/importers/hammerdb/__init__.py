"""HammerDB: CLI logs (v3 to v6), schema builds, transaction counters, time profiles, answers of `jobs`, job reports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from benchagent.importers.hammerdb.jobs import job_reports, json_of
from benchagent.importers.hammerdb.log import counter_reports, log_reports
from benchagent.importers.report import ReadFile, Report, as_part_of
from benchagent.importers.source import SourceFile

TOOL = "hammerdb"

MARKS = re.compile(
    r"TEST RESULT\s*: System achieved"
    r"|HammerDB CLI v"
    r"|^Hammerdb (?:Log|Transaction Counter Log) @"
    r"|Hammerdb Time Profile Report @"
    r"|^[ \t]*hammerdb>"
    r"|\d [\w ]{1,40} (?:tpm|qph) @ \w{3} \w{3} "
    r"|Vuser \d+(?: created (?:MONITOR )?- WAIT IDLE|:RUNNING|:FINISHED (?:SUCCESS|FAILED)"
    r"|:(?:Beginning rampup|Timing test|Processing \d+ transactions|CREATING TPC|query \d+ completed in))"
    r"|Geometric mean of query times returning rows \(\d+\) is"
    r"|>>>>> (?:VIRTUAL USER \d+|SUMMARY OF \d+ ACTIVE VIRTUAL USERS|PROC: [A-Z]+\s*$)",
    re.MULTILINE,
)
WORDS = (
    "TEST RESULT", "HammerDB CLI v", "Hammerdb ", "hammerdb>", " tpm @ ", " qph @ ", "Vuser ",
    "Geometric mean of query times", ">>>>> ",
)  # fmt: skip


def claims(file: SourceFile) -> bool:
    return json_of(file) is not None or file.shows(MARKS, WORDS)


def read(file: SourceFile) -> Sequence[Report]:
    if (content := json_of(file)) is not None:
        return job_reports(content)
    return [*log_reports(file), *counter_reports(file)]


def combine(files: list[ReadFile]) -> None:
    """One log with one run takes in the one counter and the one profile that came with it and fit it.

    Several runs, or several counters, stay as they are: which belongs to which, no file says.
    """
    runs = [at for at, (_, reports) in enumerate(files) if len(reports) == 1 and reports[0].metric("nopm")]
    if len(runs) != 1 or any(len(reports) != 1 for _, reports in files):
        return
    (at,) = runs
    run_file, (run,) = files[at]
    counters, profiles = list[int](), list[int]()
    for position, (_, (report, *_)) in enumerate(files):
        if not report.metrics and [series.name for series in report.series] == ["tpm"]:
            counters.append(position)
        elif report.metric("nopm") is None and report.metric("new_order_transactions") is not None:
            profiles.append(position)
    for others in (counters, profiles):
        if len(others) != 1 or not _fits(run, files[others[0]][1][0]):
            continue
        other_file, (other,) = files[others[0]]
        run = replace(
            run, metrics=run.metrics + other.metrics, series=run.series + other.series,
            warnings=(*run.warnings, *other.warnings, f"with what {other_file.name} holds, which came with it"),
        )  # fmt: skip
        files[others[0]] = (other_file, [as_part_of(other, run_file)])
    files[at] = (run_file, [run])


def _fits(run: Report, other: Report) -> bool:
    """The same DBMS and the same virtual users, and nothing that the run has already."""
    own, more = (
        {("series", series.name) for series in report.series} | {metric.name for metric in report.metrics}
        for report in (run, other)
    )
    same_dbms = not other.subject.dbms or not run.subject.dbms or other.subject.dbms == run.subject.dbms
    terminals = run.parameters.get("terminals")
    return not own & more and same_dbms and other.parameters.get("terminals", terminals) == terminals
