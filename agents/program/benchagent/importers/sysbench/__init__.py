"""sysbench 0.4 to 1.1: reports, progress in all its forms, checkpoints, preparations, runs that did not end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchagent.importers.report import Report
from benchagent.importers.source import FAILED_EXIT, Line, NotUnderstood, SourceFile, printed_lines, without_comment
from benchagent.importers.sysbench.report import report_of
from benchagent.importers.sysbench.run import Run
from benchagent.importers.sysbench.tables import COMMANDS, HEADED, HEADINGS
from benchagent.importers.tables import Reader, Spoiled, reports_of

TOOL = "sysbench"

_HEADER = re.compile(r"sysbench v?(?P<version>\d[\w.+-]*)(?: \(using [^)]*\)|: +multi-threaded.*)")
_MODE = "Running the test with following options:"
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
    reader = _Reader(extracts=not any(heading in text for text in file.texts() for heading in HEADED))
    reader.read(printed_lines(file))
    if any(run.has_foreign_samples for run in reader.runs):
        # Where one run has a line of another, the other lacks it or has one of this.
        for run in reader.runs:
            run.leave_out_progress("lines of one run stand in another")
    return reports_of(reader.parts, report_of, TOOL, "no run of sysbench")


@dataclass
class _Reader(Reader[Run]):
    extracts: bool = False
    # Also those that could not be read.
    runs: list[Run] = field(default_factory=list)

    def is_reported(self, part: Run | None) -> bool:
        return bool(part and part.blocks)

    def take(self, line: Line, run: Run | Spoiled | None) -> None:
        text = line.text
        bare = without_comment(text) if text.startswith(("sysbench", "Running the", "Threads")) else ""
        if command := COMMANDS.find(text):
            self.commands.append(command)
        elif header := _HEADER.fullmatch(bare):
            if not isinstance(run, Run) or run.has_begun or run.version != header["version"]:
                self._begin(line).version = header["version"]
        elif bare == _MODE:
            if not isinstance(run, Run) or run.announced or run.ran:
                run = self._begin(line)
            run.announced = True
        elif bare == "Threads started!":
            if not isinstance(run, Run) or run.ended:
                run = self._begin(line)
            if run.samples or run.blocks:
                raise NotUnderstood("threads start after a report")
            run.started = True
        else:
            self._line_of_run(line, run)

    def _line_of_run(self, line: Line, run: Run | Spoiled | None) -> None:
        if _PROBLEM.fullmatch(line.text) or FAILED_EXIT.fullmatch(line.text):
            if run or self.commands:
                run = run or self._begin(line)
                if isinstance(run, Run):
                    run.never_began = run.never_began or not run.ran
                run.problems.append(f"line {line.number}: {line.text}")
        elif run is None:
            # Without a heading: the tail of a log, or what was filtered out of one.
            run = Run(line.number, extracts=self.extracts)
            if (line.text.startswith("Number of threads: ") and run.take_option(line)) or run.take(line):
                self.runs.append(self.begin(run))
        elif isinstance(run, Spoiled):
            if run.reported and line.text in HEADINGS:
                run = self._begin(line)
                run.take(line)
        else:
            if run.is_over(line):
                run.followed = True
                run = self._begin(line)
            if not run.take_option(line):
                run.take(line)

    def _begin(self, line: Line) -> Run:
        self.runs.append(Run(line.number, extracts=self.extracts))
        return self.begin(self.runs[-1])
