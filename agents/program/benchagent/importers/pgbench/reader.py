"""The lines of one file told apart: which run, or which initialisation, each of them is of."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from benchagent.importers.commands import is_failed_exit
from benchagent.importers.lines import Line
from benchagent.importers.pgbench.command import command_line
from benchagent.importers.pgbench.load import FIRST_STEP, Load
from benchagent.importers.pgbench.run import Run
from benchagent.importers.pgbench.tables import DAMAGED_LOAD, LOAD
from benchagent.importers.source import NotUnderstood
from benchagent.importers.tables import Match, Reader, Spoiled, damage_of

_VERSION = re.compile(r"pgbench \((?P<version>\d[^,()]*(?:\([^()]*\))?)(?:, server (?P<server>.+?))?\)")
_ABORTED = re.compile(r"[Cc]lient \d{1,9} (?:script \d{1,9} )?aborted")
_PROBLEM = re.compile(r"pgbench: (?:error|fatal): .*|(?:\S{1,200} )?(?:FATAL|PANIC):  ?.*")
# What a shell prints of a killed program.
_STOPPED = re.compile(r"\^C|Terminated|Killed|Hangup|Interrupt|[^:]{1,200}: line \d+: +\d+ (?:Terminated|Killed).*")


class PartsReader(Reader[Run | Load]):
    """Runs and initialisations of one file."""

    def is_reported(self, part: Run | Load | None) -> bool:
        return not isinstance(part, Run) or part.reported

    def take(self, line: Line) -> None:
        text, current = line.text, self.current
        version = _VERSION.fullmatch(text)
        if command := command_line(text):
            self.commands.append(command)
        elif isinstance(current, Spoiled) and _goes_on(current, text):
            current.reported = current.reported or text.startswith("transaction type:")
        elif version or text.startswith("starting vacuum..."):
            run = current if isinstance(current, Run) else None
            begun = run is None or run.vacuumed or run.progress or run.reported or run.problems
            if run is None or begun or (version and run.version != version["version"]):
                run = self._begin(line)
                if version:
                    run.version, run.server_version = version["version"], version["server"] or ""
            run.vacuumed = run.vacuumed or not version
        elif match := LOAD.match(line):
            self._take_load(line, match)
        else:
            self._take_line(line)

    def _take_load(self, line: Line, match: Match) -> None:
        part = self.parts[-1] if self.parts else None
        if match.key == "done" and not isinstance(part, Load):
            return
        if isinstance(part, Load) and part.finished:
            anew = match.key != "done" and not (match.key == "total" and part.total_s is not None)
        else:
            anew = isinstance(part, Load) and line.text == FIRST_STEP and bool(part.rows or part.side)
        if not isinstance(part, Load) or anew:
            part = Load(line.number)
            self.begin(part)
        part.take(line, match)

    def _take_line(self, line: Line) -> None:
        text, last = line.text, self.parts[-1] if self.parts else None
        if isinstance(last, Load) and line.whole and DAMAGED_LOAD.match(text):
            raise NotUnderstood(f"{damage_of(text, 'pgbench')}: {text[:80]!r}")
        run = self.current if isinstance(self.current, Run) else None
        if run and run.ended and run.goes_back(line):
            run = self._begin(line)
        if text.startswith("transaction type:"):
            same = run and run.rows.get("script") == {"script": text.removeprefix("transaction type:").strip()}
            if run is None or (run.reported and not (same and len(run.rows) == 1)):
                run = self._begin(line)
        elif text.startswith("progress:"):
            (self._begin(line) if run is None or run.reported else run).take_progress(line)
            return
        elif _is_problem(text):
            self._take_problem(line)
            return
        elif last and (is_failed_exit(text) or _STOPPED.fullmatch(text)):
            last.problems.append(f"line {line.number}: {text}")
            return
        if run is None:
            run = Run(line.number)
            if run.take(line):
                self.begin(run)
        else:
            run.take(line)

    def _take_problem(self, line: Line) -> None:
        part = self.parts[-1] if self.parts else None
        ours, aborted = line.text.startswith("pgbench:"), "aborted" in line.text
        if part is None and not ours and not aborted and not self.commands:
            return
        if part is None or (isinstance(part, Load) and part.finished) or (self.commands and (ours or aborted)):
            part = self._begin(line)
        if isinstance(part, Run) and part.ended and not aborted:
            # The error of a next call, or of another program.
            if not ours:
                return
            part = self._begin(line)
        part.problems.append(f"line {line.number}: {line.text}")

    def _begin(self, line: Line) -> Run:
        run = Run(line.number)
        self.begin(run)
        return run


def _goes_on(spoiled: Spoiled, text: str) -> bool:
    """Whether the line goes on with what is spoiled."""
    if _VERSION.fullmatch(text) or text.startswith("starting vacuum...") or text == FIRST_STEP:
        return False
    return not (spoiled.reported and text.startswith(("transaction type:", "progress:")))


def _is_problem(text: str) -> bool:
    if _ABORTED.search(text) or "Run was aborted" in text or "Perhaps you need to do initialization" in text:
        return True
    return ("onnection to database " in text and " failed" in text) or bool(_PROBLEM.fullmatch(text))


def reunited(parts: Sequence[Run | Load | Spoiled]) -> list[Run | Load | Spoiled]:
    """Progress that stands before or behind the report of its run: standard error was kept apart."""
    united: list[Run | Load | Spoiled] = []
    for part in parts:
        before = united[-1] if united else None
        if isinstance(part, Run) and isinstance(before, Run):
            if _is_progress_of(before, part) and not part.vacuumed:
                part.command_lines = before.command_lines + part.command_lines
                united.pop()
                _unite(part, before)
            elif _is_progress_of(part, before) and not before.vacuumed:
                _unite(before, part)
                continue
        united.append(part)
    return united


def _is_progress_of(progress: Run, run: Run) -> bool:
    """Whether the one holds progress only and the other a report only, and both are of one run.

    From 14 on every run begins with its version, so progress without it is no other run's. Before, the progress must
    last as long and hold as much as the report says.
    """
    if progress.reported or progress.version or not progress.progress or not run.reported or run.progress:
        return False
    if run.version:
        return True
    seconds = [0.0, *(line.time_s for line in progress.progress)]
    seen = sum(
        (line.values["tps"] or 0) * (end - start)
        for line, (start, end) in zip(progress.progress, itertools.pairwise(seconds), strict=True)
    )
    done, told_s = run.count("transactions"), run.number("duration_s")
    return 0.9 * done <= seen <= 1.05 * done and told_s - seconds[-1] < 0.1 * told_s + 1


def _unite(run: Run, progress: Run) -> None:
    run.progress, run.vacuumed = progress.progress, progress.vacuumed
    run.problems = progress.problems + run.problems
