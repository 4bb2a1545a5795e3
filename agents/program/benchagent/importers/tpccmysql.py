"""tpcc-mysql of Percona: result, constraints and intervals of `tpcc_start`, as of 2008 and of 2015 on; `tpcc_load`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from benchagent.importers.report import Report, Series, Status, Subject, measured, options_of, rising, sampled
from benchagent.importers.source import Line, NotUnderstood, SourceFile, printed_lines
from benchagent.importers.tables import Run, Runs, Spoiled, Table, reports_of

TOOL = "tpcc-mysql"
TABLE = Table(
    TOOL,
    ("#loader", "*** TPCC-mysql Data Loader ***"),
    ("#banner", "*** ###easy### TPC-C Load Generator ***"),
    ("#parameters", "\\<Parameters>"),
    ("warehouses", "\\[warehouse\\]: {warehouses:N}"),
    ("terminals", "\\[connection\\]: {terminals:N}"),
    ("ramp up", "\\[rampup\\]: {ramp_up_s:N} (sec.)"),
    ("duration", "\\[measure\\]: {duration_s:N} (sec.)"),
    ("#loading", "TPCC Data Load Started..."),
    ("loaded", "...DATA LOADING COMPLETED SUCCESSFULLY."),
    ("load time", "real {minutes:N}m{seconds:X}s"),
    ("#start", "MEASURING START."),
    (
        "interval", "{time_s:N}, trx: {count:N}, 95%: {p95_ms:X}, 99%: {p99_ms:X}, max_rt: {max_ms:X}, {:N}|{:X}, "
        "{:N}|{:X}, {:N}|{:X}, {:N}|{:X}", r"\d+, trx: ",
    ),
    (
        "interval", "{time_s:N}, {count:N}({:N}):{:X}|{:X}, {:N}({:N}):{:X}|{:X}, {:N}({:N}):{:X}|{:X}, "
        "{:N}({:N}):{:X}|{:X}, {:N}({:N}):{:X}|{:X}", r"\d+, \d+\(\d+\):",
    ),
    ("#raw", "\\<Raw Results>"),
    (
        "type", "\\[{type:0|1|2|3|4}\\] sc:{in_time:N} lt:{late:N} rt:{retries:N} fl:{failed:N}"
        "[ avg_rt: {avg_ms:X} ({:N})]", r"\[\d\] *sc:",
    ),
    ("seconds", "in {elapsed_s:N} sec."),
    ("#sum", "\\<Raw Results2(sum ver.)>"),
    ("#constraints", "\\<Constraint Check> (all must be \\[OK\\])"),
    (
        "constraint", "{name:New-Order|Payment|Order-Status|Delivery|Stock-Level}: {:X}%"
        "[ (>=[ ]{:X}%)] \\[{verdict:OK|NG}\\][ *][\\[response time (at least 90% passed)\\]]",
        r"[NPODS][a-z]+(?:-[A-Z]\w+)?: +[\d.,]+%",
    ),
    ("tpmc", "{tpmc:X} TpmC", r"\d[\d.,]* TpmC"),
)  # fmt: skip
MARKS = re.compile(
    r"###easy### TPC-C Load Generator|TPCC-mysql Data Loader"
    r"|\[\d\] sc:\d+ +lt:\d+ +rt:|<Raw Results>|^ *\d+, trx: \d+, 95%: |\d TpmC$",
    re.MULTILINE,
)
COMMAND = re.compile(r"\btpcc_(?:start|load)\b(?: +\S+)+")
TYPES = ("new_order", "payment", "order_status", "delivery", "stock_level")
OPTIONS = {"-w": "warehouses", "-c": "terminals", "-r": "ramp_up_s", "-l": "duration_s"}


class Calls(Runs):
    def take(self, line: Line, part: Run | Spoiled | None) -> None:
        # Behind the sums of the threads the same rows stand again, some a transaction or two later.
        if isinstance(part, Run) and "#sum" in part.rows and re.match(r"\[\d\] *sc:", line.text):
            return
        # What the shell's `time` says is of a load that stands before it.
        if line.text.startswith("real ") and not (isinstance(part, Run) and "loaded" in part.rows):
            return
        super().take(line, part)

    def is_another(self, part: Run | Spoiled, match: Any) -> bool:
        return super().is_another(part, match) and not (
            match.key == "#parameters" and isinstance(part, Run) and [*part.rows] in (["#banner"], ["#loader"])
        )


def claims(file: SourceFile) -> bool:
    return file.shows(MARKS)


def read(file: SourceFile) -> Sequence[Report]:
    reader = Calls(
        table=TABLE,
        begins={"#loader", "#banner", "#parameters"},
        lists={"interval", "type", "constraint"},
        command=COMMAND,
    )
    reader.read(printed_lines(file, MARKS, COMMAND))
    return reports_of(reader.parts, report_of, TOOL, "no run of tpcc-mysql")


def load_of(run: Run) -> Report:
    """`tpcc_load` says itself neither rows nor time."""
    told, ended = run.values, "loaded" in run.rows
    metrics = (measured("load_s", round(told["minutes"] * 60 + told["seconds"], 3)),) if "load time" in run.rows else ()
    return Report(
        tool=TOOL,
        status=Status.COMPLETE if ended else Status.ABORTED,
        reason="" if ended else "the output ends before the data is loaded",
        parameters=options_of(run.command_lines, OPTIONS)
        | ({"warehouses": told["warehouses"]} if "warehouses" in told else {}),
        metrics=metrics,
        warnings=("tpcc_load does not say how long it took: run it as `time tpcc_load …`",) if not metrics else (),
        subject=Subject(workload="tpcc-tpcc-mysql", workload_name="TPC-C (tpcc-mysql)"),
        command_lines=tuple(run.command_lines),
    )


def report_of(run: Run) -> Report:
    if {"#loader", "#loading", "loaded"} & {*run.rows, run.cut}:
        return load_of(run)
    told, ended = run.values, "tpmc" in run.values
    values: dict[str, float] = total_of(run) if ended else {}
    failed = [row["name"] for row in run.lists.get("constraint", []) if row["verdict"] == "NG"]
    names = ("warehouses", "terminals", "ramp_up_s", "duration_s")
    parameters = options_of(run.command_lines, OPTIONS) | {name: told[name] for name in names if name in told}
    if "elapsed_s" in told:
        parameters["duration_s"] = told["elapsed_s"]
    return Report(
        tool=TOOL,
        status=Status.COMPLETE if ended else Status.ABORTED,
        reason="" if ended else "the output ends before its TpmC",
        parameters=parameters,
        metrics=tuple(measured(name, value) for name, value in values.items()),
        series=series_of(run),
        warnings=(f"TPC-C's constraints do not hold of {', '.join(dict.fromkeys(failed))}",) if failed else (),
        subject=Subject(workload="tpcc-tpcc-mysql", workload_name="TPC-C (tpcc-mysql)"),
        command_lines=tuple(run.command_lines),
    )


def total_of(run: Run) -> dict[str, float]:
    """The result and its types, which it follows from. Raises NotUnderstood."""
    told, rows = run.values, run.lists.get("type", [])
    if [row["type"] for row in rows] != ["0", "1", "2", "3", "4"] or "elapsed_s" not in told:
        raise NotUnderstood(f"line {run.line}: the five transactions are not all there")
    counts = [row["in_time"] + row["late"] for row in rows]
    if not told["elapsed_s"] or not math.isclose(counts[0] * 60 / told["elapsed_s"], told["tpmc"], abs_tol=0.0011):
        raise NotUnderstood(f"line {run.line}: {counts[0]} new orders by time are not {told['tpmc']} a minute")
    values: dict[str, float] = {
        "tpmc": told["tpmc"], "transactions": sum(counts), "failed_transactions": sum(row["failed"] for row in rows),
        "retries": sum(row["retries"] for row in rows),
    }  # fmt: skip
    for name, row, count in zip(TYPES, rows, counts, strict=True):
        values |= {f"{name}_transactions": count, f"{name}_late_transactions": row["late"]}
        if "avg_ms" in row:
            values[f"{name}_latency_avg_ms"] = row["avg_ms"]
    return values


def series_of(run: Run) -> tuple[Series, ...]:
    """New orders a minute, and their percentiles, of each interval. Raises NotUnderstood."""
    rows = run.lists.get("interval", [])
    times = [row["time_s"] for row in rows]
    step = times[0] if times else 0
    if len(rows) < 2 or not step:
        return ()
    for row in rows:
        rising(row, "p95_ms", "p99_ms", "max_ms")
    columns = {"tpmc": [row["count"] * 60 / step for row in rows]}
    for name in ("p95", "p99"):
        if all(f"{name}_ms" in row for row in rows):
            columns[f"new_order_latency_{name}_ms"] = [row[f"{name}_ms"] for row in rows]
    return sampled(times, columns, float(step))
