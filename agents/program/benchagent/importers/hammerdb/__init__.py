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
    if any(len(reports) != 1 for _, reports in files):
        return
    read = [reports[0] for _, reports in files]
    runs = [at for at, report in enumerate(read) if report.metric("nopm")]
    if len(runs) != 1:
        return
    run_file, whole = files[runs[0]]
    counters = [at for at, each in enumerate(read) if not each.metrics and [s.name for s in each.series] == ["tpm"]]
    profiles = [at for at, each in enumerate(read) if not each.metric("nopm") and each.metric("new_order_transactions")]
    for others in (counters, profiles):
        if len(others) == 1 and _fits(whole[0], read[others[0]]):
            run, other, (other_file, reports) = whole[0], read[others[0]], files[others[0]]
            warning = f"with what {other_file.name} holds, which came with it"
            whole[0] = replace(
                run, metrics=run.metrics + other.metrics, series=run.series + other.series,
                warnings=(*run.warnings, *other.warnings, warning),
            )  # fmt: skip
            reports[0] = as_part_of(other, run_file)


def _fits(run: Report, other: Report) -> bool:
    """The same DBMS and the same virtual users, and nothing that the run has already."""
    own, more = (
        {("series", series.name) for series in report.series} | {metric.name for metric in report.metrics}
        for report in (run, other)
    )
    same_dbms = not other.subject.dbms or not run.subject.dbms or other.subject.dbms == run.subject.dbms
    terminals = run.parameters.get("terminals")
    return not own & more and same_dbms and other.parameters.get("terminals", terminals) == terminals
