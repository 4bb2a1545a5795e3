"""`pgbench -i`: what 9.0 ("set primary key...") to 18 ("done in 3.23 s (drop tables …)") print."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from benchagent.importers.base import Metric, NotUnderstood, Report, Scalar, Status, Subject, agree
from benchagent.importers.dressing import Line
from benchagent.importers.pgbench import commands
from benchagent.importers.pgbench.lines import why
from benchagent.redaction import redact_text

TOOL = "pgbench"
_STEP = re.compile(
    r"(?:dropping old tables|creating (?:tables|\d+ partitions)|generating data(?: \((?P<side>client|server)-side\))?"
    r"|vacuuming|vacuum|creating primary keys|set primary keys?|creating foreign keys|set foreign keys?)"
    r"\.\.\.(?P<done>done\.)?"
)
_TUPLES = re.compile(
    r"(?P<done>\d+) of (?P<all>\d+) tuples \((?P<percent>\d+)%\)(?: of (?P<table>\S+))? done"
    r" \(elapsed (?P<elapsed>\d+\.\d+) s, remaining -?(?:\d+\.\d+|inf|nan) s\)\.?"
)
_OLD_TUPLES = re.compile(r"(?P<done>\d+) tuples done\.")
_DONE = re.compile(r"done in (?P<total>\d+\.\d+) s \((?P<steps>[^)]*)\)\.?")
_PART = re.compile(r"(?P<name>[a-z -]+) (?P<time>\d+\.\d+) s")
_METRICS = {"drop tables": "drop_tables_s", "create tables": "create_tables_s", "client-side generate": "generate_s",
            "server-side generate": "generate_s", "generate": "generate_s", "vacuum": "vacuum_s",
            "primary keys": "index_s", "foreign keys": "foreign_keys_s"}  # fmt: skip
ROWS_PER_SCALE = 100_000


@dataclass
class Load:
    """One initialisation as its lines tell it."""

    line: int
    side: str = ""
    rows: tuple[int, int] | None = None
    copy_s: float | None = None
    steps: dict[str, float] = field(default_factory=dict)
    total_s: float | None = None
    finished: bool = False
    problems: list[str] = field(default_factory=list)
    command_lines: list[str] = field(default_factory=list)
    _percent: int = -1

    def take(self, line: Line) -> bool:
        """Whether the line is one of an initialisation."""
        if step := _STEP.fullmatch(line.text):
            self.side = step["side"] or self.side
            self.finished = self.finished or bool(step["done"])
            return True
        if tuples := _TUPLES.fullmatch(line.text):
            self._tuples(line, tuples)
            return True
        if old := _OLD_TUPLES.fullmatch(line.text):
            self.rows = (max(int(old["done"]), self.rows[0] if self.rows else 0), 0)
            return True
        if line.text == "done.":
            self.finished = True
            return True
        if done := _DONE.fullmatch(line.text):
            self._done(line, done)
            return True
        if line.whole and re.match(r"done in \d|\d+ of \d+ tuples \(", line.text):
            raise NotUnderstood(f"line {line.number}: {why(line.text)}: {line.text[:80]!r}")
        return False

    def _tuples(self, line: Line, match: re.Match[str]) -> None:
        done, every, percent = int(match["done"]), int(match["all"]), int(match["percent"])
        if done > every or percent != done * 100 // every:
            raise NotUnderstood(f"line {line.number}: {done} of {every} rows are not {percent} %")
        if self.rows and self.rows[1] and self.rows[1] != every and not match["table"]:
            raise NotUnderstood(f"line {line.number}: of {every} rows, before of {self.rows[1]}")
        if self.rows is None or done >= self.rows[0]:
            self.rows = (done, every)
            self.copy_s = float(match["elapsed"]) if done == every else None

    def _done(self, line: Line, match: re.Match[str]) -> None:
        steps: dict[str, float] = {}
        for text in filter(None, match["steps"].split(", ")):
            part = _PART.fullmatch(text)
            name = _METRICS.get(part["name"]) if part else None
            if part is None or name is None:
                raise NotUnderstood(f"line {line.number}: no step of pgbench: {text[:60]!r}")
            steps[name] = round(steps.get(name, 0.0) + float(part["time"]), 2)
        total_s = float(match["total"])
        if not agree(sum(steps.values()), total_s, relative=0, absolute=0.0051 * (match["steps"].count(",") + 2)):
            raise NotUnderstood(f"line {line.number}: the steps do not add up to {total_s} s")
        if self.total_s is not None and self.total_s != total_s:
            raise NotUnderstood(f"line {line.number}: {total_s} s, an earlier line says {self.total_s} s")
        self.steps, self.total_s, self.finished = steps, total_s, True


def begins(text: str) -> bool:
    return bool(
        _STEP.fullmatch(text) or _TUPLES.fullmatch(text) or _OLD_TUPLES.fullmatch(text) or _DONE.fullmatch(text)
    )


def first_step(text: str) -> bool:
    """Lines with which an initialisation begins and no other goes on."""
    return text == "dropping old tables..."


def judged(load: Load) -> Report:
    finished = load.finished and not load.problems
    reason = "" if finished else (load.problems[0] if load.problems else "the initialisation does not end with done")
    status = Status.COMPLETE if finished else Status.FAILED if load.problems else Status.ABORTED
    return Report(
        tool=TOOL,
        status=status,
        parameters=_parameters(load),
        metrics=tuple(_metrics(load)) if finished else (),
        reason=redact_text(reason),
        subject=Subject(workload="tpcb", workload_name="pgbench's tables"),
        command_lines=tuple(redact_text(command) for command in load.command_lines),
    )


def _parameters(load: Load) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    for command in load.command_lines:
        found |= commands.parameters(command)
    if load.side:
        found["generate"] = f"{load.side}-side"
    every = (load.rows[1] or (load.rows[0] if load.finished else 0)) if load.rows else 0
    if every and every % ROWS_PER_SCALE == 0:
        found["scale_factor"] = every // ROWS_PER_SCALE
    return found


def _metrics(load: Load) -> list[Metric]:
    found = [Metric("load_s", "s", load.total_s, "load", "lower")] if load.total_s is not None else []
    found += [Metric(name, "s", time_s, "load", "lower") for name, time_s in load.steps.items()]
    if load.copy_s is not None:
        found.append(Metric("copy_s", "s", load.copy_s, "load", "lower"))
    # Before 9.2 only the rows so far are printed: a lost last line shows in that they are no whole scale.
    if load.rows and load.rows[0] % ROWS_PER_SCALE == 0 and load.rows[0] == (load.rows[1] or load.rows[0]):
        found.append(Metric("rows", "rows", load.rows[0], "load", "none"))
    return found
