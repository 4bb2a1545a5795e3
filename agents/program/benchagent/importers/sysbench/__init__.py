"""sysbench 0.4 to 1.1: reports, progress in all its forms, checkpoints, preparations, runs that did not end."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.importers.report import Report
from benchagent.importers.source import FAILED_EXIT, Line, NotUnderstood, SourceFile, printed_lines, without_comment
from benchagent.importers.sysbench.report import report_of
from benchagent.importers.sysbench.run import Run
from benchagent.importers.sysbench.tables import COMMANDS, HEADED, HEADINGS
from benchagent.importers.tables import parts_of, reports_of

TOOL = "sysbench"

_HEADER = re.compile(r"sysbench v?(?P<version>\d[\w.+-]*)(?: \(using [^)]*\)|: +multi-threaded.*)")
MARKS = re.compile(
    r"^[ \t]{0,40}(?:\S{1,60} ){0,4}(?:sysbench v?\d[\w.+-]*(?: \(using |: +multi-threaded)"
    r"|Running the test with following options:"
    r"|\[ *\d+s *\] (?:thds: |threads: |reads: )|(?:SQL|OLTP test) statistics:|queries performed:"
    r"|total number of events: +\d|Threads fairness:)",
    re.MULTILINE,
)
WORDS = (
    "sysbench ", "Running the test with", "thds: ", "threads: ", "reads: ", " statistics:", "queries performed:",
    "total number of events: ", "Threads fairness:",
)  # fmt: skip
# What may be all that was kept of a report.
_PARTS = re.compile(
    r"^[ \t]*(?:total time: +\d|(?:transactions|queries): +\d+ +\(\d[\d.]{0,20} per sec|CPU speed:|General statistics:"
    r"|Total operations: \d+ \( *\d[\d.]{0,20} per second|Number of threads: \d)",
    re.MULTILINE,
)
_PART_WORDS = ("total time:", " per sec", "CPU speed:", "General statistics:", "Number of threads: ")
# Its progress where a script prints it as CSV; what stands in every row is found faster.
_FIGURES = re.compile(r",\d+\.\d\d,\d+\.\d\d,\d+\.\d\d,")
_ROWS = re.compile(r"^[ \t]{0,40}\d+,\d+(?:,\d+\.\d\d){8}[ \t\r]{0,9}$", re.MULTILINE)
_PROBLEM = re.compile(r"FATAL: .*|(?:Segmentation fault|Killed|Terminated|Aborted|\^C)\b.*|PANIC: .*")


def claims(file: SourceFile) -> bool:
    return streams(file) or file.shows(_PARTS, _PART_WORDS)


def streams(head: SourceFile) -> bool:
    return head.shows(MARKS, WORDS) or (_FIGURES.search(head.text) is not None and head.shows(_ROWS))


def read(file: SourceFile) -> Sequence[Report]:
    """Every run of the file; one that is not understood spoils no other."""
    extracts = not any(heading in text for text in file.texts() for heading in HEADED)
    runs = parts_of(printed_lines(file), Run(extracts=extracts), _run_of)
    if any(run.has_foreign_samples for run in runs):
        # Where one run has a line of another, the other lacks it or has one of this.
        for run in runs:
            run.leave_out_progress("lines of one run stand in another")
    return reports_of([run for run in runs if run.shows], report_of, TOOL, "no run of sysbench")


def _run_of(run: Run, line: Line) -> Run:
    """The run that the line is of: a new one where it begins one."""
    text = line.text
    bare = without_comment(text) if text.startswith(("sysbench", "Running the", "Threads")) else ""
    run.line = run.line if run.shows else line.number
    if command := COMMANDS.find(text):
        run = run.another() if run.shows else run
        run.command_lines = [command]
    elif header := _HEADER.fullmatch(bare):
        if run.has_begun or run.version not in ("", header["version"]):
            run = run.another()
        run.version = header["version"]
    elif bare == "Running the test with following options:":
        run = run.another() if run.announced or run.ran or run.refusal else run
        run.announced = True
    elif bare == "Threads started!":
        run = run.another() if run.ended or run.refusal else run
        if run.samples or run.blocks:
            raise NotUnderstood("threads start after a report")
        run.started = True
    else:
        return _run_of_figures(run, line)
    return run


def _run_of_figures(run: Run, line: Line) -> Run:
    """The run of a line that is no heading of one."""
    if _PROBLEM.fullmatch(line.text) or FAILED_EXIT.fullmatch(line.text):
        if run.shows or run.command_lines:
            run.never_began = run.never_began or not run.ran
            run.problems.append(f"line {line.number}: {line.text}")
        return run
    if run.refusal:
        # Until the report of another one plainly begins.
        if not (run.blocks and line.text in HEADINGS):
            return run
        run = run.another()
    elif run.shows and run.is_over(line):
        run.followed = True
        run = run.another()
    # Without a heading it is the tail of a log, or what was filtered out of one.
    may_be_option = run.shows or line.text.startswith("Number of threads: ")
    if not (may_be_option and run.add_option(line)):
        run.add(line)
    return run
