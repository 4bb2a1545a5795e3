"""tpcc-mysql of Percona: result, constraints and intervals of `tpcc_start`, as of 2008 and of 2015 on; `tpcc_load`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from benchagent.importers.commands import Commands
from benchagent.importers.report import Report, Series, Subject, all_measured, entries, rising
from benchagent.importers.series import sampled
from benchagent.importers.source import Line, NotUnderstood, SourceFile, shown_by
from benchagent.importers.tables import Match, Run, Runs, Table, says_more

TOOL = "tpcc-mysql"
TABLE = Table(
    TOOL,
    ("#loader", "*** TPCC-mysql Data Loader ***"),
    ("#banner", "*** ###easy### TPC-C Load Generator ***"),
    ("#parameters", "\\<Parameters>"),
    ("warehouses", "\\[warehouse\\]: {warehouses:int}"),
    ("terminals", "\\[connection\\]: {terminals:int}"),
    ("ramp up", "\\[rampup\\]: {ramp_up_s:int} (sec.)"),
    ("duration", "\\[measure\\]: {duration_s:int} (sec.)"),
    ("#loading", "TPCC Data Load Started..."),
    ("loaded", "...DATA LOADING COMPLETED SUCCESSFULLY."),
    ("load time", "real {load_s:span}"),
    ("#start", "MEASURING START."),
    (
        "interval", "{time_s:int}, trx: {count:int}, 95%: {p95_ms:num}, 99%: {p99_ms:num}, max_rt: {max_ms:num}"
        + 4 * ", {:int}|{:num}", r"\d+, trx: ",
    ),
    (
        "interval", "{time_s:int}, {count:int}({:int}):{:num}|{:num}" + 4 * ", {:int}({:int}):{:num}|{:num}",
        r"\d+, \d+\(\d+\):",
    ),
    ("#raw", "\\<Raw Results>"),
    (
        "type", "\\[{type:0|1|2|3|4}\\] sc:{in_time:int} lt:{late:int} rt:{retries:int} fl:{failed:int}"
        "[ avg_rt: {avg_ms:num} ({:int})]", r"\[\d\] *sc:",
    ),
    ("seconds", "in {elapsed_s:int} sec."),
    ("#sum", "\\<Raw Results2(sum ver.)>"),
    ("#constraints", "\\<Constraint Check> (all must be \\[OK\\])"),
    (
        "constraint", "{name:New-Order|Payment|Order-Status|Delivery|Stock-Level}: {:num}%"
        "[ (>=[ ]{:num}%)] \\[{verdict:OK|NG}\\][ *][\\[response time (at least 90% passed)\\]]",
        r"[NPODS][a-z]+(?:-[A-Z]\w+)?: +[\d.,]+%",
    ),
    ("tpmc", "{tpmc:num} TpmC", r"\d[\d.,]* TpmC"),
)  # fmt: skip
MARKS = re.compile(
    r"###easy### TPC-C Load Generator|TPCC-mysql Data Loader"
    r"|\[\d\] sc:\d+ +lt:\d+ +rt:|<Raw Results>|^ *\d+, trx: \d+, 95%: |\d TpmC$",
    re.MULTILINE,
)
WORDS = ("TPC-C Load Generator", "TPCC-mysql Data Loader", "] sc:", "<Raw Results>", ", trx: ", " TpmC")
claims = shown_by(MARKS, WORDS)
TYPES = ("new_order", "payment", "order_status", "delivery", "stock_level")
COMMANDS = Commands(
    ("tpcc_start", "tpcc_load"),
    follows=r"\S",
    numbers={"-w": "warehouses", "-c": "terminals", "-r": "ramp_up_s", "-l": "duration_s"},
    texts={"-h -P -S -d -u -p -i -f -t -m -n": ""},
)  # fmt: skip
SUBJECT = Subject(workload="tpcc-tpcc-mysql", workload_name="TPC-C (tpcc-mysql)")


class Calls(Runs):
    def take(self, run: Run, line: Line) -> Run:
        # Behind the sums of the threads the same rows stand again, some a transaction or two later.
        if "#sum" in run.rows and re.match(r"\[\d\] *sc:", line.text):
            return run
        # What the shell's `time` says is of a load that stands before it.
        return run if line.text.startswith("real ") and "loaded" not in run.rows else super().take(run, line)


def is_another(run: Run, match: Match) -> bool:
    goes_on = match.key == "#parameters" and [*run.rows] in (["#banner"], ["#loader"])
    return says_more(run, match) and not goes_on


def read(file: SourceFile) -> Sequence[Report]:
    calls = Calls(
        table=TABLE, begins={"#loader", "#banner", "#parameters"}, lists={"interval", "type", "constraint"},
        called=COMMANDS, another=is_another,
    )  # fmt: skip
    return calls.reports(file, report_of, "no run of tpcc-mysql")


def load_of(run: Run) -> Report:
    """`tpcc_load` says itself neither rows nor time."""
    values, load_s = run.values, run.values.get("load_s")
    return Report(
        TOOL, reason="" if "loaded" in run.rows else "the output ends before the data is loaded",
        parameters=COMMANDS.parameters(run.command_lines) | entries(values, "warehouses"),
        metrics=all_measured({"load_s": load_s}),
        warnings=("tpcc_load does not say how long it took: run it as `time tpcc_load …`",) if load_s is None else (),
        subject=SUBJECT, command_lines=tuple(run.command_lines),
    )  # fmt: skip


def report_of(run: Run) -> Report:
    if {"#loader", "#loading", "loaded"} & {*run.rows, run.cut}:
        return load_of(run)
    values, ended = run.values, "tpmc" in run.values
    failed = [row["name"] for row in run.rows_of("constraint") if row["verdict"] == "NG"]
    parameters = COMMANDS.parameters(run.command_lines)
    parameters |= entries(values, "warehouses", "terminals", "ramp_up_s", "duration_s")
    if "elapsed_s" in values:
        parameters["duration_s"] = values["elapsed_s"]
    return Report(
        TOOL, reason="" if ended else "the output ends before its TpmC", parameters=parameters,
        metrics=all_measured(total_of(run) if ended else {}), series=series_of(run),
        warnings=(f"TPC-C's constraints do not hold of {', '.join(dict.fromkeys(failed))}",) if failed else (),
        subject=SUBJECT, command_lines=tuple(run.command_lines),
    )  # fmt: skip


def total_of(run: Run) -> dict[str, float]:
    """The result and its types, which it follows from. Raises NotUnderstood."""
    values, rows = run.values, run.rows_of("type")
    if [row["type"] for row in rows] != ["0", "1", "2", "3", "4"] or "elapsed_s" not in values:
        raise NotUnderstood("the five transactions are not all there")
    counts = [row["in_time"] + row["late"] for row in rows]
    elapsed_s, tpmc = values["elapsed_s"], values["tpmc"]
    if not elapsed_s or not math.isclose(counts[0] * 60 / elapsed_s, tpmc, abs_tol=0.0011):
        raise NotUnderstood(f"{counts[0]} new orders by time are not {tpmc} a minute")
    figures: dict[str, float] = {
        "tpmc": tpmc, "transactions": sum(counts), "failed_transactions": sum(row["failed"] for row in rows),
        "retries": sum(row["retries"] for row in rows),
    }  # fmt: skip
    for name, row, count in zip(TYPES, rows, counts, strict=True):
        figures |= {f"{name}_transactions": count, f"{name}_late_transactions": row["late"]}
        if "avg_ms" in row:
            figures[f"{name}_latency_avg_ms"] = row["avg_ms"]
    return figures


def series_of(run: Run) -> tuple[Series, ...]:
    """New orders a minute, and their percentiles, of each interval. Raises NotUnderstood."""
    rows = run.rows_of("interval")
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
