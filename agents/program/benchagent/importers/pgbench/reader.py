"""The lines of one file told apart: which run, or which initialisation, each of them is of."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field

from benchagent.importers.base import NotUnderstood
from benchagent.importers.dressing import Line
from benchagent.importers.pgbench import commands, loads
from benchagent.importers.pgbench.loads import Load
from benchagent.importers.pgbench.run import Run

_VERSION = re.compile(r"pgbench \((?P<version>\d[^,()]*(?:\([^()]*\))?)(?:, server (?P<server>.+?))?\)")
_ABORTED = re.compile(r"[Cc]lient \d{1,9} (?:script \d{1,9} )?aborted")
_PROBLEM = re.compile(r"pgbench: (?:error|fatal): .*|(?:\S{1,200} )?(?:FATAL|PANIC):  ?.*")
_EXIT = re.compile(r"(?:exit(?:ed)?(?: code| status| with)?|rc|exit_code)\s*[:= ]\s*(\d{1,3})", re.IGNORECASE)
_STOPPED = re.compile(r"\^C|Terminated|Killed|Hangup|Interrupt|[^:]{1,200}: line \d+: +\d+ (?:Terminated|Killed).*")


@dataclass
class Spoiled:
    """A run that could not be read; its further lines belong to it until something plainly begins anew."""

    line: int
    reason: str
    reported: bool
    problems: list[str] = field(default_factory=list)
    command_lines: list[str] = field(default_factory=list)


Part = Run | Load | Spoiled


@dataclass
class Reader:
    """Runs and initialisations of one file, told apart line by line."""

    parts: list[Part] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)

    def take(self, line: Line) -> None:
        try:
            self._take(line)
        except NotUnderstood as error:
            self._spoil(line, str(error))

    def _take(self, line: Line) -> None:
        text = line.text
        if command := commands.command_line(text):
            self.commands.append(command)
        elif self._of_spoiled(text):
            return
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

    def _spoil(self, line: Line, reason: str) -> None:
        part = self.parts[-1] if self.parts and not self.commands else None
        if isinstance(part, Spoiled):
            return
        reported = not isinstance(part, Run) or part.reported
        spoiled = Spoiled(part.line if part else line.number, reason, reported)
        if part is None:
            self._add(spoiled)
        else:
            self.parts[-1] = spoiled

    def _of_spoiled(self, text: str) -> bool:
        """Whether the line goes on with what is spoiled."""
        part = self.parts[-1] if self.parts and not self.commands else None
        if not isinstance(part, Spoiled):
            return False
        if _VERSION.fullmatch(text) or text.startswith("starting vacuum...") or loads.first_step(text):
            return False
        if text.startswith(("transaction type:", "progress:")) and part.reported:
            return False
        part.reported = part.reported or text.startswith("transaction type:")
        return True

    def _versioned(self, line: Line, match: re.Match[str]) -> None:
        run = self._current_run()
        if (
            run
            and run.version == match["version"]
            and not (run.vacuumed or run.progress or run.reported or run.problems)
        ):
            return
        run = self._begin(Run(line.number))
        run.version, run.server_version = match["version"], match["server"] or ""

    def _line_of_run(self, line: Line) -> None:
        text = line.text
        current = self.parts[-1] if self.parts else None
        if isinstance(current, Load) and current.take(line):
            return
        run = self._current_run()
        if run and run.ended and run.goes_back(line):
            run = self._begin(Run(line.number))
        if text.startswith("transaction type:") and run and run.reported and _another(run, text):
            run = self._begin(Run(line.number))
        elif text.startswith("progress:"):
            if run is None or run.reported:
                run = self._begin(Run(line.number))
            run.take_progress(line)
            return
        elif _is_problem(text):
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
                self._add(run)
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

    def _add(self, part: Part) -> None:
        part.command_lines += self.commands[-1:]
        self.commands = []
        self.parts.append(part)


def _is_problem(text: str) -> bool:
    if _ABORTED.search(text) or "Run was aborted" in text or "Perhaps you need to do initialization" in text:
        return True
    lost = "onnection to database " in text and " failed" in text
    return lost or bool(_PROBLEM.fullmatch(text))


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


def reunited(parts: list[Part]) -> list[Part]:
    """Progress that stands before or behind the report of its run: standard error was kept apart."""
    found: list[Part] = []
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
