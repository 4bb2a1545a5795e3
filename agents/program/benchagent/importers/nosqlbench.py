"""NoSQLBench 3 to 5: the metrics at the end of its log, and the CSV of a timer (`--report-csv-to`).

Count and mean rate are of the whole run; minimum, percentiles and mean are of the last interval, and no result.
"""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchagent.importers.commands import Commands
from benchagent.importers.report import Report, Scalar, Series, Subject, all_measured
from benchagent.importers.series import sampled
from benchagent.importers.source import Line, Lines, NotUnderstood, SourceFile, number, slug, whole
from benchagent.importers.tables import Told, parts_of, reports_of
from benchagent.redaction import redact_text

TOOL = "NoSQLBench"
MARKS = re.compile(r"-- BEGIN METRICS DETAIL --")
HEADING = (
    "t,count,max,mean,min,stddev,p50,p75,p95,p98,p99,p999,mean_rate,m1_rate,m5_rate,m15_rate,rate_unit,duration_unit"
)
WORDS = ("-- BEGIN METRICS DETAIL --",)
IN_LOGS = True
HDR_LOG = "#[Histogram log format version "
_METRIC = re.compile(r"\btype=(?P<type>TIMER|GAUGE), name=(?P<name>[\w.-]{1,200}), (?P<figures>.*)")
_RESULT = re.compile(r"(?P<activity>[\w.-]+?)\.(?P<what>result[-_]success|result)")
_RATE = re.compile(r"(?P<activity>[\w.-]+)\.cycles\.config\.(?P<what>cyclerate|burstrate)")
_COMMANDS = Commands(
    ("nosqlbench", "nb5", "nb"),
    follows=r"\S+ .*=",
    numbers={"threads": "terminals"},
    texts={"alias yaml workload --progress": ""},
)
_RATE_UNITS = ("events/second", "calls/second")
_TO_MS = {"seconds": 1000.0, "milliseconds": 1.0, "microseconds": 0.001, "nanoseconds": 1e-6}


@dataclass
class _Scenario(Told):
    # Of each activity: `result` and `result-success` -> how many, how many a second; and what it was told.
    results: dict[str, dict[str, tuple[int, float]]] = field(default_factory=dict)
    parameters: dict[str, dict[str, Scalar]] = field(default_factory=dict)
    ended: bool = False


def claims(file: SourceFile) -> bool:
    return file.shows(MARKS, WORDS) or file.head.text.startswith((HEADING, HDR_LOG))


def read(file: SourceFile) -> Sequence[Report]:
    if file.head.text.startswith(HDR_LOG):
        raise NotUnderstood(
            "a log of HdrHistograms, which does not say of which tool it is, nor in which unit; "
            "send what the tool prints beside it (of NoSQLBench its log, or the CSV of --report-csv-to)"
        )
    if file.head.text.startswith(HEADING):
        return [of_table(file)]
    return reports_of(parts_of(Lines(file), _Scenario(), _of_line), _reports, TOOL)


def _of_line(scenario: _Scenario, line: Line) -> _Scenario:
    """The scenario that a line is of. Raises NotUnderstood."""
    call = _COMMANDS.find(line.text)
    if scenario.ended and (call or MARKS.search(line.text)):
        scenario = _Scenario()
    if call:
        scenario.command_lines.append(redact_text(call))
    elif line.text.endswith("-- END METRICS DETAIL --"):
        scenario.ended = True
    elif match := _METRIC.search(line.text):
        scenario.ended = False
        _add_metric(scenario, match)
    return scenario


def _reports(scenario: _Scenario) -> list[Report]:
    timed = [name for name, results in scenario.results.items() if "result" in results]
    if not timed and scenario.ended:
        raise NotUnderstood("no timer called result; let it print its metrics, or send the CSV of the timer")
    if not timed:
        return [Report(TOOL, reason="the log ends before its metrics")]
    return reports_of(timed, lambda name: _report(name, scenario), TOOL)


def _add_metric(scenario: _Scenario, match: re.Match[str]) -> None:
    figures = dict(part.partition("=")[::2] for part in match["figures"].strip().split(", "))
    if (rate := _RATE.fullmatch(match["name"])) and "value" in figures:
        scenario.parameters.setdefault(rate["activity"], {})[rate["what"]] = number(figures["value"])
    elif match["type"] == "TIMER" and (result := _RESULT.fullmatch(match["name"])):
        what, results = result["what"].replace("_", "-"), scenario.results.setdefault(result["activity"], {})
        if figures.get("rate_unit") not in _RATE_UNITS or "mean_rate" not in figures:
            raise NotUnderstood(f"{match['name']}: not a rate a second")
        if (count := whole(figures.get("count", ""))) < results.get(what, (0, 0.0))[0]:
            raise NotUnderstood(f"{match['name']} begins anew before its scenario has ended")
        results[what] = count, number(figures["mean_rate"])


def _report(name: str, scenario: _Scenario) -> Report:
    results, command_lines = scenario.results[name], tuple(scenario.command_lines[-1:])
    operations, ops_per_s = results["result"]
    figures: dict[str, float | None] = {"ops_per_s": ops_per_s, "operations": operations}
    if "result-success" in results:
        figures["errors"] = errors = operations - results["result-success"][0]
        if errors < 0:
            raise NotUnderstood(f"{name}: more operations succeeded than there were")
    return Report(
        TOOL,
        reason="" if scenario.ended else "the log ends within its metrics",
        parameters=scenario.parameters.get(name, {}) | _COMMANDS.parameters(command_lines),
        metrics=all_measured(figures) if scenario.ended else (),
        warnings=("its latencies are of the last interval only, and no result: record them by --report-csv-to",),
        subject=Subject(workload=f"nosqlbench-{slug(name, '-', 60)}", workload_name=f"NoSQLBench {name}"),
        command_lines=command_lines,
    )


def of_table(file: SourceFile) -> Report:
    """A row an interval: seconds since 1970, how many until then, latencies of the interval."""
    with Lines(file) as lines:
        rows = [*csv.DictReader(line.text for line in lines)]
    if not rows or "duration_unit" not in rows[0] or any(None in row or None in row.values() for row in rows):
        raise NotUnderstood("a row of the timer is not whole, or there is none")
    times, counts = [whole(row["t"]) for row in rows], [whole(row["count"]) for row in rows]
    unit, to_ms = rows[0]["duration_unit"], _TO_MS.get(rows[0]["duration_unit"])
    if to_ms is None or any(row["duration_unit"] != unit or row["rate_unit"] not in _RATE_UNITS for row in rows):
        raise NotUnderstood("units that are unknown, or change")
    if counts != sorted(counts) or times != sorted({*times}):
        raise NotUnderstood("times or counts do not rise: several runs, or lines out of order")
    series: tuple[Series, ...] = ()
    if len(rows) > 2 and len(steps := {later - earlier for earlier, later in itertools.pairwise(times)}) == 1:
        step = float(steps.pop())
        # How long the first interval was, nobody says.
        rates = [None, *((after - before) / step for before, after in itertools.pairwise(counts))]
        columns: dict[str, list[float | None]] = {"ops_per_s": rates}
        for rank in ("p50", "p95", "p99", "p999"):
            columns[f"latency_{rank}_ms"] = [round(number(row[rank]) * to_ms, 9) for row in rows]
        series = sampled([time - times[0] + step for time in times], columns, step)
    return Report(
        TOOL, series=series,
        metrics=all_measured({"ops_per_s": number(rows[-1]["mean_rate"]), "operations": counts[-1]}),
        subject=Subject(workload="nosqlbench", workload_name="NoSQLBench"),
    )  # fmt: skip
