"""go-ycsb: `READ - Takes(s): 10.0, Count: 1234, OPS: 123.4, Avg(us): …`, running totals every ten seconds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchagent.importers.base import Metric, NotUnderstood, Report, SourceFile, Status, agree, number
from benchagent.importers.ycsb.command import Told

TOOL = "ycsb"

_ROW = re.compile(r"^\s*(?P<name>[A-Z][A-Z_]*) +- (?P<body>Takes\(s\): (?![^\n]*\bTPM: ).*)$")
_FINISHED = re.compile(r"^\s*(?:Run finished, takes|Finished:?) ?(?P<takes>[\d.hmsµ]*)")
_SIGNAL = re.compile(r"Got signal \[")
_FIELDS = {
    "Takes(s)": "takes_s", "Count": "count", "OPS": "ops", "Avg(us)": "avg", "Min(us)": "min", "Max(us)": "max",
    "50th(us)": "p50", "90th(us)": "p90", "95th(us)": "p95", "99th(us)": "p99", "99.9th(us)": "p999",
    "99.99th(us)": "p9999",
}  # fmt: skip


@dataclass
class _Run:
    told: Told = field(default_factory=Told)
    progress: list[tuple[str, dict[str, float]]] = field(default_factory=list)
    rows: list[tuple[str, dict[str, float]]] = field(default_factory=list)
    finished: bool = False
    takes: str = ""
    signalled: bool = False


def go_reports(file: SourceFile) -> list[Report]:
    """Only the rows after "Run finished" are the result; those before are running totals."""
    runs = [_Run()]
    for line_number, line in enumerate(file.lines, start=1):
        cut = line_number == len(file.lines) and not file.last_line_is_whole
        if cut:
            continue
        if match := _FINISHED.match(line):
            if runs[-1].rows:
                runs.append(_Run())
            runs[-1].finished, runs[-1].takes = True, match["takes"]
        elif match := _ROW.match(line.rstrip()):
            values = _values(line_number, match["name"], match["body"])
            (runs[-1].rows if runs[-1].finished else runs[-1].progress).append((match["name"], values))
        else:
            _tell(runs, line)
        runs[-1].signalled = runs[-1].signalled or _SIGNAL.search(line) is not None
    # A command without any output of its own is no run.
    said = [run for run in runs if run.rows or run.progress] or runs[-1:]
    return [_report(run) if run.rows else _unfinished(run) for run in said]


def _tell(runs: list[_Run], line: str) -> None:
    told = Told()
    if not told.take(line):
        return
    if runs[-1].rows:
        runs.append(_Run())
    if told.line and runs[-1].told.line:
        runs[-1].told = Told()
    runs[-1].told.take(line)


def _unfinished(run: _Run) -> Report:
    return Report(
        tool=TOOL, status=Status.ABORTED, reason="the output ends before the result", parameters=run.told.parameters,
        subject=run.told.subject(), warnings=_progress(len(run.progress)),
        command_lines=(run.told.line,) if run.told.line else (),
    )  # fmt: skip


def _seconds(text: str) -> float:
    """Go's durations: 1m24.17s, 424.77ms, 312.5µs."""
    factors = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6}
    return sum(float(value) * factors[unit] for value, unit in re.findall(r"(\d+(?:\.\d+)?)(h|ms|m|µs|s)", text))


def _check_totals(rows: Sequence[tuple[str, dict[str, float]]], progress: list[tuple[str, dict[str, float]]]) -> None:
    """Running totals never exceed the result, and TOTAL is the sum of what succeeded."""
    result = dict(rows)
    for name, values in progress:
        if name not in result or values["count"] > result[name]["count"]:
            raise NotUnderstood(f"a running total of {name} exceeds the result: lines are out of order")
    parts = [values["count"] for name, values in result.items() if name != "TOTAL" and not name.endswith("_ERROR")]
    if "TOTAL" in result and not agree(sum(parts), result["TOTAL"]["count"], relative=0.001, absolute=1):
        raise NotUnderstood("TOTAL is not the sum of the operations")


def _progress(rows: int) -> tuple[str, ...]:
    return (f"{rows} rows of progress are running totals: not read as a series",) if rows else ()


def _values(line_number: int, name: str, body: str) -> dict[str, float]:
    values: dict[str, float] = {}
    for part in body.split(", "):
        heading, separator, text = part.partition(": ")
        if not separator or heading not in _FIELDS:
            raise NotUnderstood(f"line {line_number}: unknown figure {part[:40]!r}")
        values[_FIELDS[heading]] = number(text)
    if not {"takes_s", "count", "ops"} <= set(values):
        raise NotUnderstood(f"line {line_number}: {name} lacks its time, count or rate")
    expected = values["count"] / values["takes_s"] if values["takes_s"] else values["ops"]
    if not agree(expected, values["ops"], relative=0.06 / max(values["takes_s"], 0.1), absolute=0.11):
        raise NotUnderstood(f"line {line_number}: {name}'s OPS is not Count per second")
    ranks = [values[rank] for rank in ("p50", "p90", "p95", "p99", "p999", "p9999") if rank in values]
    if ranks != sorted(ranks):
        raise NotUnderstood(f"line {line_number}: the percentiles of {name} do not rise")
    return values


def _report(run: _Run) -> Report:
    rows, told = run.rows, run.told
    _check_totals(rows, run.progress)
    takes_s = _seconds(run.takes)
    if takes_s and any(values["takes_s"] > takes_s + 0.2 for _, values in rows):
        raise NotUnderstood(f"an operation took longer than the run, {takes_s:g} s: lines have changed places")
    warnings = [*_progress(len(run.progress))]
    phase = told.phase
    if not phase and {name for name, _ in rows} <= {"INSERT", "INSERT_ERROR", "TOTAL"}:
        phase = "load"
        warnings.append("taken for the load phase: only INSERT was measured, and no property tells")
    if phase == "load" and any(name.startswith(("READ", "UPDATE", "SCAN")) for name, _ in rows):
        phase = "run"
        warnings.append("taken for a run: a load, as the command says, neither reads nor updates")
    phase = phase or "run"
    metrics: list[Metric] = []
    found: dict[str, dict[str, float]] = {}
    for name, values in rows:
        if found.setdefault(name, values) != values:
            raise NotUnderstood(f"{name} stands twice in one result")
    for name, values in found.items():
        prefix = "" if name == "TOTAL" else f"{name.lower().removesuffix('_error')}_"
        if name.endswith("_ERROR"):
            metrics.append(Metric(f"{prefix}errors", "errors", values["count"], phase, "lower"))
            continue
        metrics.append(Metric(f"{prefix}operations", "operations", values["count"], phase, "none"))
        metrics.append(Metric(f"{prefix}ops_per_s", "ops/s", values["ops"], phase, "higher"))
        metrics += [
            Metric(f"{prefix}latency_{rank}_ms", "ms", round(values[rank] / 1000, 9), phase, "lower")
            for rank in ("avg", "min", "max", "p50", "p90", "p95", "p99", "p999", "p9999")
            if rank in values
        ]
    if "TOTAL" not in found and len(found) > 1:
        warnings.append("this version prints no total: throughput is by operation")
    status = Status.ABORTED if run.signalled else Status.COMPLETE
    return Report(
        tool=TOOL, status=status, reason="stopped before its end: Got signal" if run.signalled else "",
        parameters=told.parameters, metrics=tuple(metrics), warnings=tuple(warnings), subject=told.subject(),
        command_lines=(told.line,) if told.line else (),
    )  # fmt: skip
