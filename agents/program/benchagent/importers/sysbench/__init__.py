"""sysbench 0.4 to 1.1: reports, progress in all its forms, checkpoints, preparations, runs that did not end."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchagent.importers.base import NotUnderstood, Report, SourceFile
from benchagent.importers.sysbench import commands, judge
from benchagent.importers.sysbench.lines import Line
from benchagent.importers.sysbench.options import option
from benchagent.importers.sysbench.run import Run

TOOL = "sysbench"

_HEADER = re.compile(r"sysbench v?(?P<version>\d[\w.+-]*)(?: \(using [^)]*\)|: +multi-threaded.*)")
_MODE = "Running the test with following options:"
_MARKS = re.compile(
    r"^[ \t]{0,40}(?:\S{1,60} ){0,4}(?:sysbench v?\d[\w.+-]*(?: \(using |: +multi-threaded)"
    r"|Running the test with following options:"
    r"|\[ *\d+s *\] (?:thds: |threads: |reads: )|(?:SQL|OLTP test) statistics:|queries performed:"
    r"|total number of events: +\d|Threads fairness:)|^[ \t]{0,40}\d+,\d+(?:,\d+\.\d\d){8}[ \t\r]{0,9}$",
    re.MULTILINE,
)
_CLOCK = re.compile(
    r"\[?(?:[A-Z][a-z]{2} +\d{1,2} |\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z| UTC|[+-]\d\d:?\d\d)?\]?:? +"
)
_PROBLEM = re.compile(r"FATAL: .*|(?:Segmentation fault|Killed|Terminated|Aborted|\^C)\b.*|PANIC: .*")
_EXIT = re.compile(r"(?:exit(?:ed)?(?: code| status| with)?|rc|exit_code)\s*[:= ]\s*(\d{1,3})", re.IGNORECASE)


def claims(file: SourceFile) -> bool:
    return bool(_MARKS.search(file.text))


def read(file: SourceFile) -> Sequence[Report]:
    reader = _Reader()
    last = len(file.lines)
    for number, raw in enumerate(file.lines, start=1):
        text = raw.strip()
        clock = _CLOCK.match(text)
        text = text[clock.end() :] if clock else text
        reader.take(Line(number, text, number < last or file.last_line_is_whole))
    if any(run.has_foreign_samples for run in reader.runs):
        # Where one run has a line of another, the other lacks it or has one of this.
        for run in reader.runs:
            run.samples = []
            run.warnings.append("the progress is left out: lines of one run stand in another")
    reports = [judge.judged(run) for run in reader.runs]
    if not reports:
        raise NotUnderstood("no run of sysbench")
    return reports


def combine(read: Sequence[tuple[SourceFile, Sequence[Report]]]) -> list[tuple[SourceFile, list[Report]]]:
    return [(file, list(reports)) for file, reports in read]


@dataclass
class _Reader:
    """Runs of one file, told apart line by line."""

    runs: list[Run] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)

    def take(self, line: Line) -> None:
        text = line.text
        if command := commands.command_line(text):
            self.commands.append(command)
        elif header := _HEADER.fullmatch(text):
            self._headed(line, header["version"])
        elif text == _MODE:
            run = self._current()
            if run is None or run.announced or run.started or run.blocks or run.samples:
                run = self._begin(line)
            run.announced = True
        elif text == "Threads started!":
            run = self._current() or self._begin(line)
            if run.ended:
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
            run = Run(line.number)
            if not run.take(line):
                return
            self._add(run)
            return
        if not option(run, line):
            run.take(line)

    def _current(self) -> Run | None:
        return self.runs[-1] if self.runs and not self.commands else None

    def _begin(self, line: Line) -> Run:
        run = Run(line.number)
        self._add(run)
        return run

    def _add(self, run: Run) -> None:
        run.command_lines += self.commands[-1:]
        self.commands = []
        self.runs.append(run)
