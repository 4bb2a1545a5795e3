"""pgbench 9.0 to 18: final reports, progress, logs of threads, initialisations, runs that did not end."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchagent.importers.base import NotUnderstood, Report, SourceFile
from benchagent.importers.pgbench import commands, judge, loads, logs, threads
from benchagent.importers.pgbench.lines import Line, numbered
from benchagent.importers.pgbench.loads import Load
from benchagent.importers.pgbench.run import Run

TOOL = "pgbench"

_VERSION = re.compile(r"pgbench \((?P<version>\d[^,()]*(?:\([^()]*\))?)(?:, server (?P<server>.+?))?\)")
_MARKS = re.compile(
    r"^[ \t]{0,40}(?:\S{1,60} ){0,4}(?:transaction type: "
    r"|progress: \d+(?:\.\d+)? s,? |pgbench \(\d|pgbench: (?:error|fatal): "
    r"|tps = \S+ \((?:including|excluding|without) |(?:\d+ of )?\d+ tuples (?:done\.|\(\d+%\))"
    r"|starting vacuum\.\.\.end\.|done in \S+ s \((?:drop|create|client|server|vacuum|primary|foreign)"
    r"|SQL script \d+: |set primary keys?\.\.\.|number of transactions actually processed: "
    r"|generating data(?: \((?:client|server)-side\))?\.\.\.)",
    re.MULTILINE,
)
_PROBLEM = re.compile(
    r"pgbench: (?:error|fatal): .*|.*[Cc]lient \d+ (?:script \d+ )?aborted.*|.*Run was aborted.*"
    r"|(?:\S+ )?(?:FATAL|PANIC):  ?.*|[Cc]onnection to database .* failed.*|.*Perhaps you need to do initialization.*"
)
_EXIT = re.compile(r"(?:exit(?:ed)?(?: code| status| with)?|rc|exit_code)\s*[:= ]\s*(\d{1,3})", re.IGNORECASE)
_STOPPED = re.compile(r"\^C|Terminated|Killed|Hangup|Interrupt|.*: line \d+: +\d+ (?:Terminated|Killed).*")


def claims(file: SourceFile) -> bool:
    return logs.is_log(file) or bool(_MARKS.search(file.text))


def read(file: SourceFile) -> Sequence[Report]:
    if logs.is_log(file):
        return [threads.report([logs.parse(file)])]
    reader = _Reader()
    for line in numbered(file):
        reader.take(line)
    parts = _reunited(reader.parts)
    reports = [judge.judged(part) if isinstance(part, Run) else loads.judged(part) for part in parts]
    if not reports:
        raise NotUnderstood("no run and no initialisation of pgbench")
    return reports


def combine(read: Sequence[tuple[SourceFile, Sequence[Report]]]) -> list[tuple[SourceFile, list[Report]]]:
    return threads.combined(read)


@dataclass
class _Reader:
    """Runs and initialisations of one file, told apart line by line."""

    parts: list[Run | Load] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)

    def take(self, line: Line) -> None:
        text = line.text
        if command := commands.command_line(text):
            self.commands.append(command)
        elif match := _VERSION.fullmatch(text):
            self._versioned(line, match)
        elif re.match(r"starting vacuum\.\.\.", text):
            run = self._run(line)
            if run.vacuumed or run.progress or run.reported or run.problems:
                run = self._begin(Run(line.number))
            run.vacuumed = True
        elif loads.begins(text) or text == "done.":
            self._load(line)
        else:
            self._line_of_run(line)

    def _versioned(self, line: Line, match: re.Match[str]) -> None:
        run = self._current_run()
        if run and run.version == match[0] and not (run.vacuumed or run.progress or run.reported or run.problems):
            return
        run = self._begin(Run(line.number))
        run.version, run.server_version = match["version"], match["server"] or ""

    def _line_of_run(self, line: Line) -> None:
        text = line.text
        current = self.parts[-1] if self.parts else None
        if isinstance(current, Load) and current.take(line):
            return
        run = self._current_run()
        if text.startswith("transaction type:") and run and run.reported and _another(run, text):
            run = self._begin(Run(line.number))
        elif text.startswith("progress:"):
            if run is None or run.reported:
                run = self._begin(Run(line.number))
            run.take_progress(line)
            return
        elif _PROBLEM.fullmatch(text):
            self._problem(line)
            return
        elif self.parts and _stopped(text):
            self.parts[-1].problems.append(f"line {line.number}: {text}")
            return
        if run is None and text.startswith("transaction type:"):
            run = self._begin(Run(line.number))
        if run is None:
            run = Run(line.number)
            if run.take(line):
                raise NotUnderstood(f"line {line.number}: a report without its beginning: {text[:60]!r}")
            return
        run.take(line)

    def _problem(self, line: Line) -> None:
        part = self.parts[-1] if self.parts else None
        ours = line.text.startswith("pgbench:") or "aborted" in line.text
        if part is None and not ours and not self.commands:
            return
        if part is None or (isinstance(part, Load) and part.finished) or (self.commands and ours):
            part = self._begin(Run(line.number))
        if isinstance(part, Run) and part.ended and "aborted" not in line.text:
            # The error of a next call, or of another program.
            if not ours:
                return
            part = self._begin(Run(line.number))
        part.problems.append(f"line {line.number}: {line.text}")

    def _load(self, line: Line) -> None:
        current = self.parts[-1] if self.parts else None
        if line.text == "done." and not isinstance(current, Load):
            return
        if not isinstance(current, Load) or _begins_anew(line.text, current):
            current = Load(line.number)
            self._add(current)
        current.take(line)

    def _current_run(self) -> Run | None:
        last = self.parts[-1] if self.parts else None
        return last if isinstance(last, Run) and not self.commands else None

    def _run(self, line: Line) -> Run:
        return self._current_run() or self._begin(Run(line.number))

    def _begin(self, run: Run) -> Run:
        self._add(run)
        return run

    def _add(self, part: Run | Load) -> None:
        part.command_lines += self.commands[-1:]
        self.commands = []
        self.parts.append(part)


def _stopped(text: str) -> bool:
    """An exit status other than 0 that a shell echoed, or what it prints of a killed program."""
    code = _EXIT.fullmatch(text)
    return bool(code and int(code[1])) or bool(_STOPPED.fullmatch(text))


def _begins_anew(text: str, load: Load) -> bool:
    if load.finished:
        return text != "done." and not (text.startswith("done in") and load.total_s is not None)
    return loads.first_step(text) and bool(load.rows or load.side)


def _another(run: Run, text: str) -> bool:
    same = run.value("script") == text.removeprefix("transaction type:").strip()
    return not (same and len(run.figures) == 1)


def _reunited(parts: list[Run | Load]) -> list[Run | Load]:
    """Progress that stands before or behind the report of its run: standard error was kept apart."""
    found: list[Run | Load] = []
    for part in parts:
        before = found[-1] if found else None
        if isinstance(part, Run) and isinstance(before, Run):
            if _errors_of(before, part) and not part.vacuumed:
                part.command_lines = before.command_lines + part.command_lines
                found.pop()
                _unite(part, before)
            elif _errors_of(part, before) and not before.vacuumed:
                _unite(before, part)
                continue
        found.append(part)
    return found


def _errors_of(errors: Run, run: Run) -> bool:
    """Whether the one holds progress only and the other a report only, and both are of one run.

    From 14 on every run begins with its version, so progress without it is no other run's. Before, the progress must
    last as long and hold as much as the report says.
    """
    if errors.reported or errors.version or not errors.progress or not run.reported or run.progress:
        return False
    if run.version:
        return True
    seconds = [0.0, *(line.time_s for line in errors.progress)]
    seen = sum(
        (line.values["tps"] or 0) * (end - start)
        for line, (start, end) in zip(errors.progress, itertools.pairwise(seconds), strict=True)
    )
    done, told = int(run.value("transactions") or 0), float(run.value("duration_s") or 0)
    return 0.9 * done <= seen <= 1.05 * done and told - seconds[-1] < 0.1 * told + 1


def _unite(run: Run, errors: Run) -> None:
    run.progress, run.vacuumed = errors.progress, errors.vacuumed
    run.problems = errors.problems + run.problems
