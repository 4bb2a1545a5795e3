"""DBT-3: the scores of its report or of `dbt3 post-process`, and `q_time.csv` with the times of all queries.

A score that was not measured is printed as `N/A` or, by printf, as 0.00. Streams of the throughput test are told apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from statistics import geometric_mean

from benchagent.importers.report import ReadFile, Report, Subject, all_measured, as_part_of, dbms_called, entries
from benchagent.importers.source import Lines, NotUnderstood, SourceFile, number
from benchagent.importers.tables import Run, Runs, Table

TOOL = "DBT-3"
TABLE = Table(
    TOOL,
    ("size", "* Database Size: {scale_factor:num} GB"),
    ("manager", "* Database Manager: {manager:rest}"),
    ("composite", "Composite Score[:] {composite:token}[ {:rest}]"),
    ("load", "Load Test Time (hours)[:] {load_hours:token}[ {:rest}]"),
    ("power", "Power Test Score[:] {power:token}[ {:rest}]"),
    ("throughput", "Throughput Test Score[:] {throughput:token}[ {:rest}]"),
)
MARKS = re.compile(r"^ *Composite Score:? +(?:N/A|\d*(?:\.\d+)?) *\n *Load Test Time \(hours\)", re.MULTILINE)
_TIMES = re.compile(r"^PERF\d*\.(?:POWER|THRUPUT)\.[\w.]+,[^,\n]*,[^,\n]*,[^,\n]*,", re.MULTILINE)
# `PERF.POWER.Q14,2024-…,2024-…,00:00:01.2,1.2`, `PERF.THRUPUT.QS2.Q14`, `PERF.THRUPUT.RFST1.RF1`; a whole ends in ALL.
_TASK = re.compile(
    r"(?:PERF\d*\.)?(?P<test>LOAD|POWER|THRUPUT)(?:\.(?:QS|RFST)(?P<stream>\d{1,3}))?(?:\.(?P<what>Q\d{1,2}|RF[12]|ALL))?"
)
WORDS = ("Composite Score",)
QUERIES = 22
SUBJECT = Subject(workload="tpch-dbt3", workload_name="TPC-H (DBT-3)")


def claims(file: SourceFile) -> bool:
    return file.shows(MARKS, WORDS) or file.shows(_TIMES, ("PERF",))


def read(file: SourceFile) -> Sequence[Report]:
    if not file.shows(MARKS, WORDS):
        return [times_of(file)]
    # The size of the database stands before the scores, which stand alone elsewhere.
    scores = Runs(table=TABLE, begins={"size", "composite"}, another=lambda run, _: "composite" in run.rows)
    return scores.reports(file, scores_of, "no score of DBT-3")


def scores_of(run: Run) -> Report:
    printed = entries(run.values, "composite", "load_hours", "power", "throughput")
    scores = {name: number(text.replace("N/A", "0")) for name, text in printed.items()}
    if "throughput" not in run.rows and run.cut != "throughput":
        return Report(TOOL, reason="the output ends before the score of its throughput", subject=SUBJECT)
    # Both are cut, not rounded, to two decimals.
    mean = math.sqrt(scores.get("power", 0) * scores.get("throughput", 0))
    if "throughput" in scores and not math.isclose(scores.get("composite", 0), mean, rel_tol=1e-4, abs_tol=0.02):
        raise NotUnderstood("the composite score is not the mean of power and throughput")
    figures = {f"{name}_qphh": scores.get(name) for name in ("composite", "power", "throughput")}
    figures["load_s"] = round(scores.get("load_hours", 0) * 3600, 3)
    metrics = all_measured({name: value or None for name, value in figures.items()})
    manager = run.values.get("manager", "").split()
    return Report(
        TOOL, failure="" if metrics else "none of its tests has a score", metrics=metrics,
        parameters=entries(run.values, "scale_factor"),
        subject=replace(SUBJECT, dbms=dbms_called(manager[0]) if manager else "", dbms_version=" ".join(manager[1:2])),
    )  # fmt: skip


def times_of(file: SourceFile) -> Report:
    """The report of a table of times, one row a task: name, beginning, end, their difference, seconds."""
    times: dict[tuple[str, str, str], float] = {}
    with Lines(file) as lines:
        for line in lines:
            cells = [cell.strip().strip('"') for cell in line.text.split(",")]
            task = _TASK.fullmatch(cells[0])
            if task is None:
                if line.text.strip() and cells[0] != "task_name":
                    raise NotUnderstood(f"not a task of DBT-3: {cells[0][:40]!r}")
                continue
            key = (task["test"], task["stream"] or "", task["what"] or "")
            if len(cells) != 5 or key in times:
                raise NotUnderstood(f"{cells[0]} is not five values, or stands there twice")
            times[key] = number(cells[4])
    figures: dict[str, float | None] = {}
    for (test, stream, what), seconds in times.items():
        whole = {"LOAD": "load_s", "POWER": "power_elapsed_s", "THRUPUT": "throughput_elapsed_s"}[test]
        name = {"Q": f"query_{what[1:]}_s", "R": f"refresh_{what[2:]}_s"}.get(what[:1], whole)
        if stream:
            name = f"stream_{stream}_{'elapsed_s' if name == whole else name}"
        figures[name] = seconds
    streams = {stream for _, stream, _ in times if stream}
    for test, stream in dict.fromkeys((test, stream) for test, stream, what in times if what.startswith("Q")):
        if missing := [f"Q{query}" for query in range(1, QUERIES + 1) if (test, stream, f"Q{query}") not in times]:
            raise NotUnderstood(
                f"{test.lower()}{f', stream {stream}' if stream else ''} lacks {', '.join(missing[:5])}"
            )
    unfinished = {test for test, *_ in times} - {test for test, stream, what in times if not stream + what}
    return Report(
        TOOL, reason=f"no time of the whole test: {', '.join(sorted(unfinished))}" if unfinished else "",
        parameters={"streams": len(streams)} if streams and not unfinished else {},
        metrics=all_measured(figures, "query", better="lower"), subject=SUBJECT,
    )  # fmt: skip


def combine(files: list[ReadFile]) -> None:
    """The scores of one run get the times of its queries, which they follow from. Raises NotUnderstood."""
    read = [reports[0] for _, reports in files if len(reports) == 1]
    scores = [at for at, report in enumerate(read) if report.metric("power_qphh") or report.metric("throughput_qphh")]
    if len(files) != 2 or len(read) != 2 or len(scores) != 1:  # of several runs nobody can tell
        return
    at = scores[0]
    whole, times = read[at], read[1 - at]
    power, scale = whole.metric("power_qphh"), whole.parameters.get("scale_factor")
    seconds = [metric.value for metric in times.metrics if metric.name.startswith(("query_", "refresh_"))]
    if power and isinstance(scale, int | float) and seconds and all(seconds):
        computed = 3600 * scale / geometric_mean(seconds)
        if not math.isclose(computed, power, rel_tol=0.005):
            raise NotUnderstood("the times of the queries are not those of this score; send one run's files alone")
    exact = {metric.name for metric in times.metrics}
    rest = tuple(metric for metric in whole.metrics if metric.name not in exact)
    files[at][1][:] = [replace(whole, metrics=rest + times.metrics, parameters=times.parameters | whole.parameters)]
    files[1 - at][1][:] = [as_part_of(times, files[at][0])]
