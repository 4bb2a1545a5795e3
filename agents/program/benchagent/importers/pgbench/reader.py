"""The lines of one file told apart: which run, or which initialisation, each of them is of, and what it says there."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchagent.importers.pgbench.load import DAMAGED_LOAD, FIRST_STEP, LOAD, Load
from benchagent.importers.pgbench.tables import COMMANDS, PROGRESS, REPORT, SCRIPT
from benchagent.importers.series import Samples
from benchagent.importers.source import FAILED_EXIT, Line, NotUnderstood, number, whole
from benchagent.importers.tables import Figures, Match, damage_of

_TABLE = re.compile(
    r"(?:- )?statement latencies in milliseconds"
    r"(?P<columns>| and failures|, failures and retries|, file (?P<file>\d+)):?"
)


@dataclass(frozen=True)
class StatementStats:
    line: int
    latency_ms: float
    failures: int | None
    retries: int | None
    text: str


@dataclass
class Script(Figures):
    """A report, or its part about one of several scripts."""

    statements: list[StatementStats] = field(default_factory=list)


@dataclass
class Run(Script):
    """One run as its lines tell it."""

    version: str = ""
    server_version: str = ""
    vacuumed: bool = False
    scripts: list[Script] = field(default_factory=list)
    progress: Samples = field(default_factory=Samples)
    several_files: bool = False
    # Why the progress cannot be read, empty where it can.
    bad_progress: str = ""
    cut: bool = False
    # How many counts stand beside each statement's latency, while statements are read.
    _columns: int | None = None

    @property
    def ended(self) -> bool:
        """Whether the report is there to its end; nothing follows the count when no transaction ended."""
        return "tps" in self.rows or self.values.get("transactions") == 0

    @property
    def has_begun(self) -> bool:
        """Whether more than a command line and its version stand there of it."""
        return bool(self.vacuumed or self.progress or self.rows or self.problems or self.refusal)

    def goes_back(self, line: Line) -> bool:
        """Whether a line behind the report is of the next one, which begins without its first lines."""
        match = REPORT.match(line)
        if match is None or match.cut or match.key == "script":
            return False
        # An extract has no first lines that tell where the next one begins: what it says already may be said anew.
        is_extract = "script" not in self.rows
        if self.rows.get(match.key) == match.values:
            return is_extract and match.rank == min(REPORT.rank[key] for key in self.rows) < self.rank
        return match.rank < self.rank or (is_extract and match.rank == self.rank)

    def add_line(self, line: Line) -> bool:
        """Whether the line is one of the report, its scripts or statements."""
        if self._columns is not None and self._add_statement(line, self._columns):
            return True
        if table := _TABLE.fullmatch(line.text):
            if not self.rows:
                raise NotUnderstood("latencies of statements before any report")
            self._columns = {" and failures": 1, ", failures and retries": 2}.get(table["columns"], 0)
            # 9.1 to 9.5 list several files one after the other, and nothing else in the report confirms the split.
            self.several_files = self.several_files or bool(table["file"])
            return True
        match = REPORT.match(line)
        if match and not match.cut:
            if self.scripts and match.key not in self.rows:
                raise NotUnderstood(f"out of order: {line.text[:60]!r}")
            self.add(line, match)
        match = match or self._add_to_script(line)
        if match:
            self._columns = None
            self.cut = self.cut or match.cut
        return match is not None

    def _add_to_script(self, line: Line) -> Match | None:
        match = SCRIPT.match(line)
        if match is None or match.cut:
            return match
        if not self.ended:
            raise NotUnderstood("a script's part before the end of the report")
        script = self.scripts[-1] if self.scripts else None
        if script and script.rows.get(match.key) == match.values:
            return match
        if match.key == "script":
            if match.values["number"] != len(self.scripts) + 1:
                raise NotUnderstood(f"script {match.values['number']} is not the next one")
            script = Script(line.number)
            self.scripts.append(script)
        if script is None or script.statements:
            raise NotUnderstood(f"out of order: {line.text[:60]!r}")
        script.add(line, match)
        return match

    def add_progress(self, line: Line) -> None:
        is_whole = line.whole or line.text.endswith(("failed", "skipped", "retries"))
        self.cut = self.cut or not is_whole
        try:
            match = PROGRESS.match(line._replace(whole=True)) if is_whole else None
        except NotUnderstood as error:
            self.bad_progress = self.bad_progress or f"line {line.number}: {error}"
            return
        if match:
            values = match.values
            if values["tps"] == 0 and values.get("latency_avg_ms") == 0:
                # Nothing ended, so nothing took 0 ms.
                values |= {name: None for name in values if name.endswith("_ms")}
            self.progress.add(line.number, values.pop("time_s"), values)

    def _add_statement(self, line: Line, columns: int) -> bool:
        counts = r"\s+(\d+)" * columns
        match = re.fullmatch(rf"(\d+\.\d+){counts}\s+(\S.*)", line.text)
        if match is None:
            if line.whole and re.match(r"\d+[.,]?\d*\s", line.text):
                raise NotUnderstood(f"{damage_of(line.text, 'pgbench')}: {line.text[:60]!r}")
            return False
        if not line.whole:
            self.cut = True
            return True
        failures, retries = [*map(whole, match.groups()[1:-1]), None, None][:2]
        statement = StatementStats(line.number, number(match[1]), failures, retries, match[match.lastindex or 1])
        (self.scripts[-1].statements if self.scripts else self.statements).append(statement)
        return True


_VERSION = re.compile(r"pgbench \((?P<version>\d[^,()]*(?:\([^()]*\))?)(?:, server (?P<server>.+?))?\)")
_PROBLEM = re.compile(
    r"^pgbench: (?:error|fatal): |^(?:\S{1,200} )?(?:FATAL|PANIC): |[Cc]lient \d{1,9} (?:script \d{1,9} )?aborted"
    r"|Run was aborted|Perhaps you need to do initialization|onnection to database .{0,500}? failed"
)
# What a shell prints of a killed program.
_STOPPED = re.compile(r"\^C|Terminated|Killed|Hangup|Interrupt|[^:]{1,200}: line \d+: +\d+ (?:Terminated|Killed).*")


def part_of(part: Run | Load, line: Line) -> Run | Load:
    """The run or the initialisation that the line is of: a new one where it begins one."""
    text, version = line.text, _VERSION.fullmatch(line.text)
    part.line = part.line if part.has_begun else line.number
    if command := COMMANDS.find(text):
        part = Run() if part.has_begun else part
        part.command_lines = [command]
    elif version or text.startswith("starting vacuum..."):
        of, server = (version["version"], version["server"] or "") if version else ("", "")
        run = part if isinstance(part, Run) and not part.has_begun else Run()
        run = Run() if of and run.version not in ("", of) else run
        if not run.version:
            run.version, run.server_version = of, server
        run.vacuumed = run.vacuumed or not version
        return run
    elif part.refusal and not (text == FIRST_STEP or text.startswith(("transaction type:", "progress:"))):
        pass  # until something plainly begins anew
    elif match := LOAD.match(line):
        if not isinstance(part, Load) or part.refusal or part.is_over(match, text):
            if match.key == "done":
                return part
            part = Load(command_lines=[] if part.has_begun else part.command_lines)
        part.add(match)
    else:
        return _run_of_line(part, line)
    return part


def _run_of_line(part: Run | Load, line: Line) -> Run | Load:
    text, run = line.text, part if isinstance(part, Run) else Run()
    if isinstance(part, Load) and line.whole and DAMAGED_LOAD.match(text):
        raise NotUnderstood(f"{damage_of(text, 'pgbench')}: {text[:80]!r}")
    if run.ended and run.goes_back(line):
        run = Run()
    if text.startswith("transaction type:"):
        script = text.removeprefix("transaction type:").strip()
        same = not run.refusal and [*run.rows] == ["script"] and run.values.get("script", "") == script
        run = Run() if (run.rows or run.refusal) and not same else run
    elif text.startswith("progress:"):
        run = Run() if run.rows or run.refusal else run
        run.add_progress(line)
        return run
    elif _PROBLEM.search(text):
        return _part_of_problem(part, line)
    elif part.has_begun and (FAILED_EXIT.fullmatch(text) or _STOPPED.fullmatch(text)):
        part.problems.append(f"line {line.number}: {text}")
        return part
    return run if run.add_line(line) else part


def _part_of_problem(part: Run | Load, line: Line) -> Run | Load:
    ours, aborted = line.text.startswith("pgbench:"), "aborted" in line.text
    if not (part.has_begun or part.command_lines or ours or aborted):
        return part
    # The error of a next call, or of another program.
    if part.finished if isinstance(part, Load) else part.ended and not aborted:
        if isinstance(part, Run) and not ours:
            return part
        part = Run()
    part.problems.append(f"line {line.number}: {line.text}")
    return part


def reunited(parts: Sequence[Run | Load]) -> list[Run | Load]:
    """Progress that stands before or behind the report of its run: standard error was kept apart."""
    united: list[Run | Load] = []
    for part in parts:
        before = united[-1] if united else None
        if not isinstance(part, Run) or not isinstance(before, Run) or part.refusal or before.refusal:
            united.append(part)
        elif _is_progress_of(before, part) or _is_progress_of(part, before):
            run, progress = (part, before) if part.rows else (before, part)
            run.progress, run.vacuumed = progress.progress, progress.vacuumed
            run.problems = progress.problems + run.problems
            run.command_lines = before.command_lines + part.command_lines
            united[-1] = run
        elif "script" in part.rows or not part.rows or part.rows != before.rows:  # not the same lines once more
            united.append(part)
    return united


def _is_progress_of(progress: Run, run: Run) -> bool:
    """Whether the one holds progress only and the other a report only, and both are of one run.

    From 14 on every run begins with its version, so progress without it is no other run's. Before, the progress must
    last as long and hold as much as the report says.
    """
    if progress.rows or progress.version or not progress.progress or not run.rows or run.progress or run.vacuumed:
        return False
    if run.version:
        return True
    seconds = [0.0, *progress.progress.times_s]
    rates = progress.progress.figures("tps")
    seen = sum((tps or 0) * (end - begin) for tps, (begin, end) in zip(rates, itertools.pairwise(seconds), strict=True))
    done: int = run.values.get("transactions", 0)
    duration_s: int = run.values.get("duration_s", 0)
    return 0.9 * done <= seen <= 1.05 * done and duration_s - seconds[-1] < 0.1 * duration_s + 1
