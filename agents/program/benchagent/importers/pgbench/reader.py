"""The lines of one file told apart: which run, or which initialisation (`pgbench -i`), each of them is of."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchagent.importers.lines import Line, is_failed_exit
from benchagent.importers.pgbench.run import Run
from benchagent.importers.pgbench.tables import DAMAGED_LOAD, LOAD, command_line, parameters
from benchagent.importers.report import Report, Scalar, Status, Subject, measured
from benchagent.importers.source import NotUnderstood, agree
from benchagent.importers.tables import Match, Reader, Spoiled, damage_of

# `pgbench -i`: what 9.0 ("set primary key...") to 18 ("done in 3.23 s (drop tables …)") print.

_PART = re.compile(r"(?P<name>[a-z -]+) (?P<time>\d+\.\d+) s")
_STEPS = {"drop tables": "drop_tables_s", "create tables": "create_tables_s", "client-side generate": "generate_s",
          "server-side generate": "generate_s", "generate": "generate_s", "vacuum": "vacuum_s",
          "primary keys": "index_s", "foreign keys": "foreign_keys_s"}  # fmt: skip
ROWS_PER_SCALE = 100_000
FIRST_STEP = "dropping old tables..."


@dataclass
class Load:
    """One initialisation as its lines tell it."""

    line: int
    side: str = ""
    # Done, and to be done; 0 where it is not told.
    rows: tuple[int, int] | None = None
    copy_s: float | None = None
    steps: dict[str, float] = field(default_factory=dict)
    total_s: float | None = None
    finished: bool = False
    problems: list[str] = field(default_factory=list)
    command_lines: list[str] = field(default_factory=list)

    def take(self, line: Line, match: Match) -> None:
        said = match.values
        if match.key == "step":
            self.side = said.get("side") or self.side
            self.finished = self.finished or bool(said["done"])
        elif match.key == "old_tuples":
            self.rows = (max(int(said["rows"]), self.rows[0] if self.rows else 0), 0)
        elif match.key == "done":
            self.finished = True
        elif match.key == "tuples":
            done, every, percent = int(said["rows"]), int(said["every"]), int(said["percent"])
            if done > every or percent != done * 100 // every:
                raise NotUnderstood(f"{done} of {every} rows are not {percent} %")
            if self.rows and self.rows[1] and self.rows[1] != every and not said["table"]:
                raise NotUnderstood(f"of {every} rows, before of {self.rows[1]}")
            if self.rows is None or done >= self.rows[0]:
                self.rows = (done, every)
                self.copy_s = float(said["elapsed"]) if done == every else None
        elif match.key == "total":
            self._take_total(line, float(said["total_s"]), said["steps"])

    def _take_total(self, line: Line, total_s: float, text: str) -> None:
        steps: dict[str, float] = {}
        for step in filter(None, text.split(", ")):
            part = _PART.fullmatch(step)
            name = _STEPS.get(part["name"]) if part else None
            if part is None or name is None:
                raise NotUnderstood(f"no step of pgbench: {step[:60]!r}")
            steps[name] = round(steps.get(name, 0.0) + float(part["time"]), 2)
        if not agree(sum(steps.values()), total_s, relative=0, absolute=0.0051 * (text.count(",") + 2)):
            raise NotUnderstood(f"the steps do not add up to {total_s} s")
        if self.total_s not in (None, total_s):
            raise NotUnderstood(f"{total_s} s, an earlier line says {self.total_s} s")
        self.steps, self.total_s, self.finished = steps, total_s, True


def load_report(load: Load) -> Report:
    finished = load.finished and not load.problems
    told: dict[str, Scalar] = {}
    for command in load.command_lines:
        told |= parameters(command)
    if load.side:
        told["generate"] = f"{load.side}-side"
    done, told_rows = load.rows or (0, 0)
    every = told_rows or (done if load.finished else 0)
    if every and every % ROWS_PER_SCALE == 0:
        told["scale_factor"] = every // ROWS_PER_SCALE
    times = {"load_s": load.total_s, **load.steps, "copy_s": load.copy_s}
    metrics = [measured(name, time_s, "load") for name, time_s in times.items() if time_s is not None]
    # Before 9.2 only the rows so far are printed: a lost last line shows in that they are no whole scale.
    if load.rows and done % ROWS_PER_SCALE == 0 and done == (told_rows or done):
        metrics.append(measured("rows", done, "load"))
    reason = load.problems[0] if load.problems else "the initialisation does not end with done"
    return Report(
        tool="pgbench", parameters=told, metrics=tuple(metrics) if finished else (),
        status=Status.COMPLETE if finished else Status.FAILED if load.problems else Status.ABORTED,
        reason="" if finished else reason,
        subject=Subject(workload="tpcb", workload_name="pgbench's tables"),
        command_lines=tuple(load.command_lines),
    )  # fmt: skip


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
