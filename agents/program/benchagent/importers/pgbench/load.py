"""`pgbench -i`: what 9.0 ("set primary key...") to 18 ("done in 3.23 s (drop tables …)") print."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from benchagent.importers.pgbench.tables import options_of_command
from benchagent.importers.report import Report, Subject, all_measured
from benchagent.importers.source import NotUnderstood
from benchagent.importers.tables import Match, Table, Told

LOAD = Table(
    "pgbench",
    ("step", "generating data[ ({side:client|server}-side)]...[{done:done.}]", r"generating data"),
    (
        "step",
        "{dropping old tables|creating tables|vacuuming|vacuum|creating primary keys|set primary keys|set primary key"
        "|creating foreign keys|set foreign keys|set foreign key}...[{done:done.}]",
    ),
    ("step", "creating {:int} partitions...[{done:done.}]", r"creating \d+ partitions"),
    (
        "tuples",
        r"{rows:int} of {every:int} tuples ({percent:int}%)[ of {table:token}] done (elapsed {elapsed:num} s, "
        r"remaining {remaining:token} s)[.]",
        r"\d+ of \d+ tuples \(",
    ),
    ("tuples", "{rows:int} tuples done.", r"\d+ tuples done\.$"),
    ("done", "done."),
    ("total", "done in {total_s:num} s ([{steps:rest}])[.]", r"done in \d"),
    strict=False,
)
DAMAGED_LOAD = re.compile(r"done in \d|\d+ of \d+ tuples \(")

_STEPS = {"drop tables": "drop_tables_s", "create tables": "create_tables_s", "client-side generate": "generate_s",
          "server-side generate": "generate_s", "generate": "generate_s", "vacuum": "vacuum_s",
          "primary keys": "index_s", "foreign keys": "foreign_keys_s"}  # fmt: skip
_STEP = re.compile(rf"({'|'.join(_STEPS)}) (\d+\.\d+) s(?:, |$)")
ROWS_PER_SCALE = 100_000
FIRST_STEP = "dropping old tables..."


@dataclass
class Load(Told):
    """One initialisation as its lines tell it."""

    side: str = ""
    rows: int | None = None
    # How many are to be loaded; 0 where it is not told, before 9.2.
    every: int = 0
    copy_s: float | None = None
    steps: dict[str, float] = field(default_factory=dict)
    total_s: float | None = None
    finished: bool = False
    has_begun = True

    def is_over(self, match: Match, text: str) -> bool:
        """Whether the line is of a next one."""
        if self.finished:
            return match.key != "done" and not (match.key == "total" and self.total_s is not None)
        return text == FIRST_STEP and (self.rows is not None or bool(self.side))

    def add(self, match: Match) -> None:
        values = match.values
        if match.key == "step":
            self.side = values.get("side") or self.side
            self.finished = self.finished or "done" in values
        elif match.key == "done":
            self.finished = True
        elif match.key == "tuples":
            done, every = values["rows"], values.get("every", 0)
            if every and (done > every or values["percent"] != done * 100 // every):
                raise NotUnderstood(f"{done} of {every} rows are not {values['percent']} %")
            if every and self.every not in (0, every) and "table" not in values:
                raise NotUnderstood(f"of {every} rows, before of {self.every}")
            if done >= (self.rows or 0):
                self.rows, self.every = done, every
                self.copy_s = values["elapsed"] if done == every else None
        elif match.key == "total":
            self._add_total(values["total_s"], values.get("steps", ""))

    def _add_total(self, total_s: float, text: str) -> None:
        if left_over := _STEP.sub("", text):
            raise NotUnderstood(f"no step of pgbench: {left_over[:60]!r}")
        steps: dict[str, float] = {}
        for name, time_s in _STEP.findall(text):
            steps[_STEPS[name]] = round(steps.get(_STEPS[name], 0.0) + float(time_s), 2)
        if not math.isclose(sum(steps.values()), total_s, rel_tol=0, abs_tol=0.0051 * (text.count(",") + 2)):
            raise NotUnderstood(f"the steps do not add up to {total_s} s")
        self.steps, self.total_s, self.finished = steps, total_s, True


def load_report(load: Load) -> Report:
    finished = load.finished and not load.problems
    parameters = options_of_command(load.command_lines)
    if load.side:
        parameters["generate"] = f"{load.side}-side"
    every = load.every or (load.rows if load.finished else 0)
    if every and every % ROWS_PER_SCALE == 0:
        parameters["scale_factor"] = every // ROWS_PER_SCALE
    # Before 9.2 only the rows so far are printed: a lost last line shows in that they are no whole scale.
    has_all = load.rows is not None and load.rows % ROWS_PER_SCALE == 0 and load.every in (0, load.rows)
    figures = {"load_s": load.total_s, **load.steps, "copy_s": load.copy_s, "rows": load.rows if has_all else None}
    return Report(
        "pgbench", parameters=parameters, metrics=all_measured(figures if finished else {}, "load"),
        failure="".join(load.problems[:1]), reason="" if finished else "the initialisation does not end with done",
        subject=Subject("tpcb", "pgbench's tables"), command_lines=tuple(load.command_lines),
    )  # fmt: skip
