"""go-ycsb: `READ - Takes(s): 10.0, Count: 1234, OPS: 123.4, Avg(us): …`, running totals every ten seconds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from benchagent.catalog import too_many_failed
from benchagent.importers.report import Report, all_measured, entries, rising
from benchagent.importers.source import Line, NotUnderstood, SourceFile, printed_lines
from benchagent.importers.tables import Table, Told, parts_of, reports_of
from benchagent.importers.ycsb.command import Command, called

_TABLE = Table(
    "go-ycsb",
    ("finished", "{Run finished, takes|Finished:|Finished}[ {takes:span}]"),
    (
        "row",
        "{name:word} - Takes(s): {takes_s:num}, Count: {count:int}, OPS: {ops:num}[, Avg(us): {avg:int}]"
        "[, Min(us): {min:int}][, Max(us): {max:int}][, 50th(us): {p50:int}][, 90th(us): {p90:int}]"
        "[, 95th(us): {p95:int}][, 99th(us): {p99:int}][, 99.9th(us): {p999:int}][, 99.99th(us): {p9999:int}]",
        r"[A-Z][A-Z_]* +- +Takes\(s\): (?![^\n]*\bTPM: )",
    ),
)
_RANKS = ("p50", "p90", "p95", "p99", "p999", "p9999")


@dataclass
class _Run(Told):
    command: Command = field(default_factory=Command)
    # Operations and counts of the running totals.
    progress: list[tuple[str, float]] = field(default_factory=list)
    # The figures of the result by operation, and how long it took; None before it begins.
    rows: dict[str, dict[str, float]] = field(default_factory=dict)
    takes_s: float | None = None
    signalled: bool = False
    # How many figures its last row has.
    figures: int = 0


def go_reports(file: SourceFile) -> list[Report]:
    """Only the rows after "Run finished" are the result; those before are running totals."""
    runs = parts_of(printed_lines(file), _Run(), _of_run)
    # A command without any output of its own is no run.
    with_output = [run for run in runs if run.rows or run.progress or run.refusal] or runs[-1:]
    return reports_of(with_output, _report, "ycsb")


def _of_run(run: _Run, line: Line) -> _Run:
    """The run that the line is of: a new one where it begins one."""
    match = _TABLE.match(line)
    command = "" if match else called(line.text)
    if run.rows and (command or (match and match.key == "finished")):
        run = _Run(figures=run.figures)
    if command:
        if run.command.line and not command.startswith('"'):
            run.command = Command()
        run.command.add(command)
    elif match and match.key == "finished":
        run.takes_s = match.values.get("takes") or 0.0
    elif match and not match.cut:
        # What may be cut has as many figures as the row before it, or one of the last of any version.
        count = line.text.count(": ")
        if line.whole or (count >= run.figures if run.figures else "99th(us): " in line.text):
            run.figures = count
            _add_row(run, **match.values)
    run.signalled = run.signalled or "Got signal [" in line.text
    return run


def _add_row(run: _Run, name: str, takes_s: float, count: int, ops: float, **latencies: float) -> None:
    """A row. Raises NotUnderstood where its figures contradict each other, or those of an earlier row."""
    values = {"ops": ops, "count": count, **latencies}
    is_same = run.takes_s is None or run.rows.setdefault(name, values) == values
    expected = count / takes_s if takes_s else ops
    if not math.isclose(expected, ops, rel_tol=0.06 / max(takes_s, 0.1), abs_tol=0.11):
        raise NotUnderstood(f"{ops:g} OPS are not {count} in {takes_s:g} s")
    rising(latencies, *_RANKS)
    if run.takes_s is None:
        run.progress.append((name, count))
    elif run.takes_s and takes_s > run.takes_s + 0.2:
        raise NotUnderstood(f"an operation took longer than the run, {run.takes_s:g} s: lines have changed places")
    elif not is_same:
        raise NotUnderstood(f"{name} stands twice in one result")


def _report(run: _Run) -> Report:
    if run.progress:
        run.warnings.append(f"{len(run.progress)} rows of progress are running totals: not read as a series")
    failed = sum(row["count"] for name, row in run.rows.items() if name.endswith("_ERROR"))
    done = sum(row["count"] for name, row in run.rows.items() if name != "TOTAL") - failed
    phase, reason = _phase(run), "stopped before its end: Got signal" if run.signalled else ""
    metrics = all_measured(_figures(run, done), phase)
    return Report(
        "ycsb", reason=reason if run.rows else "the output ends before the result",
        failure=too_many_failed({"transactions": done, "errors": failed}), parameters=run.command.parameters,
        metrics=metrics, warnings=tuple(run.warnings), subject=run.command.subject(), command_lines=(run.command.line,),
    )  # fmt: skip


def _phase(run: _Run) -> str:
    if run.rows and not run.command.phase and run.rows.keys() <= {"INSERT", "INSERT_ERROR", "TOTAL"}:
        run.warnings.append("taken for the load phase: only INSERT was measured, and no property tells")
        return "load"
    if run.command.phase == "load" and any(name.startswith(("READ", "UPDATE", "SCAN")) for name in run.rows):
        run.warnings.append("taken for a run: a load, as the command says, neither reads nor updates")
        return "run"
    return run.command.phase or "run"


def _figures(run: _Run, done: float) -> dict[str, float]:
    """The headline first. Running totals never exceed the result, and TOTAL is the sum of what succeeded."""
    for name, count in run.progress if run.rows else ():
        if name not in run.rows or count > run.rows[name]["count"]:
            raise NotUnderstood(f"a running total of {name} exceeds the result: lines are out of order")
    total = {"TOTAL": run.rows["TOTAL"]} if "TOTAL" in run.rows else {}
    if total and not math.isclose(done, total["TOTAL"]["count"], rel_tol=0.001, abs_tol=1):
        raise NotUnderstood("TOTAL is not the sum of the operations")
    if not total and run.rows and run.takes_s:
        total = {"TOTAL": {"ops": done / run.takes_s, "count": done}}
        run.warnings.append("this version prints no total: it is what was done, by the time that the run took")
    elif not total and len(run.rows) > 1:
        run.warnings.append("this version prints no total: throughput is by operation")
    figures: dict[str, float] = {}
    for name, row in (total | run.rows).items():
        prefix = "" if name == "TOTAL" else f"{name.lower().removesuffix('_error')}_"
        if name.endswith("_ERROR"):
            figures[f"{prefix}errors"] = row["count"]
            continue
        figures |= {f"{prefix}ops_per_s": row["ops"], f"{prefix}operations": row["count"]}
        for rank, us in entries(row, "avg", "min", "max", *_RANKS).items():
            figures[f"{prefix}latency_{rank}_ms"] = round(us / 1000, 9)
    return figures
