"""go-ycsb: `READ - Takes(s): 10.0, Count: 1234, OPS: 123.4, Avg(us): …`, running totals every ten seconds."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from benchagent.catalog import too_many_failed
from benchagent.importers.report import Metric, Report, Status, all_measured, check_count, picked, rising
from benchagent.importers.source import Lines, NotUnderstood, SourceFile
from benchagent.importers.tables import Table
from benchagent.importers.ycsb.command import Command

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
_SIGNAL = re.compile(r"Got signal \[")
_RANKS = ("p50", "p90", "p95", "p99", "p999", "p9999")


@dataclass
class _Run:
    command: Command = field(default_factory=Command)
    progress: list[tuple[str, dict[str, float]]] = field(default_factory=list)
    rows: list[tuple[str, dict[str, float]]] = field(default_factory=list)
    finished: bool = False
    takes_s: float = 0.0
    signalled: bool = False


def go_reports(file: SourceFile) -> list[Report]:
    """Only the rows after "Run finished" are the result; those before are running totals."""
    runs, figures = [_Run()], 0
    with Lines(file, with_cut=True) as lines:
        for numbered in lines:
            check_count(len(runs))
            command, line = Command(), numbered.text.strip()
            match = _TABLE.match(numbered._replace(text=line))
            if match and match.key == "finished":
                if runs[-1].rows:
                    runs.append(_Run())
                runs[-1].finished, runs[-1].takes_s = True, match.values.get("takes") or 0.0
            # What may be cut has as many figures as the row before it, or one of the last of any version.
            elif match and (
                match.cut or not (numbered.whole or (line.count(": ") >= figures if figures else "99th(us): " in line))
            ):
                continue
            elif match:
                figures = line.count(": ")
                row = (match.values.pop("name"), _checked(match.values))
                (runs[-1].rows if runs[-1].finished else runs[-1].progress).append(row)
            elif not match and command.take(line):
                if runs[-1].rows:
                    runs.append(_Run())
                if command.line and runs[-1].command.line:
                    runs[-1].command = Command()
                runs[-1].command.add(command)
            runs[-1].signalled = runs[-1].signalled or _SIGNAL.search(line) is not None
    # A command without any output of its own is no run.
    with_output = [run for run in runs if run.rows or run.progress] or runs[-1:]
    return [_report(run) for run in with_output]


def _checked(values: dict[str, float]) -> dict[str, float]:
    """The figures of a row. Raises NotUnderstood where they contradict each other."""
    takes_s, ops = values["takes_s"], values["ops"]
    expected = values["count"] / takes_s if takes_s else ops
    if not math.isclose(expected, ops, rel_tol=0.06 / max(takes_s, 0.1), abs_tol=0.11):
        raise NotUnderstood(f"{ops:g} OPS are not {values['count']:g} in {takes_s:g} s")
    rising(values, *_RANKS)
    return values


def _check_totals(run: _Run) -> dict[str, dict[str, float]]:
    """The result by operation: running totals never exceed it, and TOTAL is the sum of what succeeded."""
    result = dict(run.rows)
    for name, values in run.progress:
        if name not in result or values["count"] > result[name]["count"]:
            raise NotUnderstood(f"a running total of {name} exceeds the result: lines are out of order")
    parts = [values["count"] for name, values in result.items() if name != "TOTAL" and not name.endswith("_ERROR")]
    if "TOTAL" in result and not math.isclose(sum(parts), result["TOTAL"]["count"], rel_tol=0.001, abs_tol=1):
        raise NotUnderstood("TOTAL is not the sum of the operations")
    if run.takes_s and any(values["takes_s"] > run.takes_s + 0.2 for _, values in run.rows):
        raise NotUnderstood(f"an operation took longer than the run, {run.takes_s:g} s: lines have changed places")
    for name, values in run.rows:
        if values != next(first for other, first in run.rows if other == name):
            raise NotUnderstood(f"{name} stands twice in one result")
    return result


def _report(run: _Run) -> Report:
    warnings: list[str] = []
    metrics: list[Metric] = []
    reason, failure = "stopped before its end: Got signal" if run.signalled else "", ""
    if run.progress:
        warnings.append(f"{len(run.progress)} rows of progress are running totals: not read as a series")
    if not run.rows:
        reason = "the output ends before the result"
    else:
        result, phase = _check_totals(run), run.command.phase
        if not phase and set(result) <= {"INSERT", "INSERT_ERROR", "TOTAL"}:
            phase = "load"
            warnings.append("taken for the load phase: only INSERT was measured, and no property tells")
        if phase == "load" and any(name.startswith(("READ", "UPDATE", "SCAN")) for name in result):
            phase = "run"
            warnings.append("taken for a run: a load, as the command says, neither reads nor updates")
        # The headline first.
        for name, values in sorted(result.items(), key=lambda row: row[0] != "TOTAL"):
            metrics += _of_operation(name, values, phase or "run")
        done = sum(values["count"] for name, values in result.items() if not name.endswith("_ERROR"))
        failed = sum(values["count"] for name, values in result.items() if name.endswith("_ERROR"))
        failure = too_many_failed({"transactions": done, "errors": failed})
        if "TOTAL" not in result and run.takes_s:
            metrics[:0] = all_measured({"ops_per_s": done / run.takes_s, "operations": done}, phase or "run")
            warnings.append("this version prints no total: it is what was done, by the time that the run took")
        elif "TOTAL" not in result and len(result) > 1:
            warnings.append("this version prints no total: throughput is by operation")
    return Report(
        "ycsb", Status.FAILED if failure else Status.COMPLETE, reason=failure or reason,
        parameters=run.command.parameters, metrics=tuple(metrics), warnings=tuple(warnings),
        subject=run.command.subject(), command_lines=(run.command.line,),
    )  # fmt: skip


def _of_operation(name: str, values: dict[str, float], phase: str) -> tuple[Metric, ...]:
    prefix = "" if name == "TOTAL" else f"{name.lower().removesuffix('_error')}_"
    if name.endswith("_ERROR"):
        return all_measured({f"{prefix}errors": values["count"]}, phase)
    figures = {f"{prefix}ops_per_s": values["ops"], f"{prefix}operations": values["count"]}
    for rank, value in picked(values, "avg", "min", "max", *_RANKS).items():
        figures[f"{prefix}latency_{rank}_ms"] = round(value / 1000, 9)
    return all_measured(figures, phase)
