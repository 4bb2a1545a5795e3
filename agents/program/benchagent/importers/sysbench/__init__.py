"""sysbench 0.4 to 1.1: reports, progress in all its forms, checkpoints, preparations, runs that did not end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchagent.importers.base import NotUnderstood, Report, SourceFile, Status, not_understood
from benchagent.importers.dressing import Line, without_comment
from benchagent.importers.sysbench import commands, judge
from benchagent.importers.sysbench.lines import ANCHORS, HEADED, numbered
from benchagent.importers.sysbench.options import option
from benchagent.importers.sysbench.run import Run

TOOL = "sysbench"

_HEADER = re.compile(r"sysbench v?(?P<version>\d[\w.+-]*)(?: \(using [^)]*\)|: +multi-threaded.*)")
_HEADINGS = ("SQL statistics:", "OLTP test statistics:", "CPU speed:", "File operations:")
_MODE = "Running the test with following options:"
_MARKS = re.compile(
    r"^[ \t]{0,40}(?:\S{1,60} ){0,4}(?:sysbench v?\d[\w.+-]*(?: \(using |: +multi-threaded)"
    r"|Running the test with following options:"
    r"|\[ *\d+s *\] (?:thds: |threads: |reads: )|(?:SQL|OLTP test) statistics:|queries performed:"
    r"|total number of events: +\d|Threads fairness:)|^[ \t]{0,40}\d+,\d+(?:,\d+\.\d\d){8}[ \t\r]{0,9}$",
    re.MULTILINE,
)
_PROBLEM = re.compile(r"FATAL: .*|(?:Segmentation fault|Killed|Terminated|Aborted|\^C)\b.*|PANIC: .*")
_EXIT = re.compile(r"(?:exit(?:ed)?(?: code| status| with)?|rc|exit_code)\s*[:= ]\s*(\d{1,3})", re.IGNORECASE)


def claims(file: SourceFile) -> bool:
    if _MARKS.search(file.text):
        return True
    return bool(ANCHORS.search(file.text)) and any(ANCHORS.match(line.text) for line in numbered(file))


def read(file: SourceFile) -> Sequence[Report]:
    """Every run of the file; one that is not understood spoils no other."""
    reader = _Reader(extracts=not any(heading in file.text for heading in HEADED))
    for line in numbered(file):
        reader.take(line)
    if any(run.has_foreign_samples for run in reader.runs):
        # Where one run has a line of another, the other lacks it or has one of this.
        for run in reader.runs:
            run.samples = []
            run.warnings.append("the progress is left out: lines of one run stand in another")
    reports = [_judged(run) for run in reader.runs]
    spoiled = [report.reason for report in reports if report.status is Status.NOT_UNDERSTOOD]
    if len(spoiled) == len(reports):
        raise NotUnderstood(spoiled[0].removeprefix("not understood: ") if spoiled else "no run of sysbench")
    return reports


def _judged(run: Run) -> Report:
    try:
        if run.spoiled:
            raise NotUnderstood(run.spoiled)
        return judge.judged(run)
    except NotUnderstood as error:
        return not_understood(f"not understood: {error}", tool=TOOL)


def combine(read: Sequence[tuple[SourceFile, Sequence[Report]]]) -> list[tuple[SourceFile, list[Report]]]:
    return [(file, list(reports)) for file, reports in read]


@dataclass
class _Reader:
    """Runs of one file, told apart line by line."""

    extracts: bool = False
    runs: list[Run] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)

    def take(self, line: Line) -> None:
        try:
            self._take(line)
        except NotUnderstood as error:
            run = self._current() or self._begin(line)
            run.spoiled = run.spoiled or str(error)

    def _take(self, line: Line) -> None:
        text, bare = line.text, without_comment(line.text)
        if command := commands.command_line(text):
            self.commands.append(command)
        elif header := _HEADER.fullmatch(bare):
            self._headed(line, header["version"])
        elif bare == _MODE:
            run = self._current()
            if run is None or run.spoiled or run.announced or run.started or run.blocks or run.samples:
                run = self._begin(line)
            run.announced = True
        elif bare == "Threads started!":
            run = self._current() or self._begin(line)
            if run.ended or run.spoiled:
                run = self._begin(line)
            if run.samples or run.blocks:
                raise NotUnderstood(f"line {line.number}: threads start after a report")
            run.started = True
        else:
            self._line_of_run(line)

    def _headed(self, line: Line, version: str) -> None:
        run = self._current()
        fresh = run and not (run.options or run.started or run.samples or run.blocks or run.steps or run.problems)
        if run and fresh and run.version == version:
            return
        self._begin(line).version = version

    def _line_of_run(self, line: Line) -> None:
        run = self._current()
        problem = _PROBLEM.fullmatch(line.text)
        code = _EXIT.fullmatch(line.text)
        if problem or (code and int(code[1])):
            if run or self.commands:
                run = run or self._begin(line)
                run.never_began = run.never_began or not (run.started or run.samples or run.blocks)
                run.problems.append(f"line {line.number}: {line.text}")
            return
        if run is None:
            # Without a heading: the tail of a log, or what was filtered out of one.
            run = Run(line.number, extracts=self.extracts)
            announced = line.text.startswith("Number of threads: ") and option(run, line)
            if announced or run.take(line):
                self._add(run)
            return
        if run.spoiled:
            if not (run.blocks and line.text in _HEADINGS):
                return
            run = self._begin(line)
        elif run.is_over(line):
            run.followed = True
            run = self._begin(line)
        if not option(run, line):
            run.take(line)

    def _current(self) -> Run | None:
        return self.runs[-1] if self.runs and not self.commands else None

    def _begin(self, line: Line) -> Run:
        run = Run(line.number, extracts=self.extracts)
        self._add(run)
        return run

    def _add(self, run: Run) -> None:
        run.command_lines += self.commands[-1:]
        self.commands = []
        self.runs.append(run)
