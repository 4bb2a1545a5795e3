"""The importer of a tool `minibench`: a table of its lines, and what must agree in them."""

from __future__ import annotations

import math
import re

from benchagent.importers.commands import Commands
from benchagent.importers.report import Report, Subject, all_measured, entries
from benchagent.importers.source import NotUnderstood, SourceFile
from benchagent.importers.tables import Run, Runs, Table

TOOL = "minibench"
TABLE = Table(
    TOOL,
    ("version", "minibench {version:token}"),
    ("terminals", "clients: {terminals:int}"),
    ("transactions", "transactions: {transactions:int} ({tps:num} per sec.)"),
    ("latency", "average latency: {latency_avg_ms:num} ms"),
    ("end", "done in {elapsed_s:num} s"),
)
MARKS = re.compile(r"minibench \d|transactions: \d+ \(")
WORDS = ("minibench ", "transactions: ")
COMMANDS = Commands(
    ("minibench",),
    follows="run",
    numbers={"-c --clients": "terminals"},
    switches={"-q --quiet": ""},
)
# What the page of uploads says of it.
READS = "its report of version 2"


def claims(file: SourceFile) -> bool:
    return file.shows(MARKS, WORDS)


def read(file: SourceFile) -> list[Report]:
    runs = Runs(table=TABLE, begins={"version"}, called=COMMANDS)
    return runs.reports(file, report_of, "no run of minibench")


def report_of(run: Run) -> Report:
    ended, values = "end" in run.rows, run.values
    by_time = values["transactions"] / values["elapsed_s"] if ended and "tps" in values else None
    if by_time and not math.isclose(by_time, values["tps"], rel_tol=0.01):
        raise NotUnderstood(f"line {run.line}: transactions by time are not {values['tps']} a second")
    return Report(
        TOOL,
        tool_version=values.get("version", ""),
        # A reason alone says that the run was aborted.
        reason="" if ended else "the output ends before its last line",
        parameters=COMMANDS.parameters(run.command_lines) | entries(values, "terminals"),
        metrics=all_measured(entries(values, "tps", "transactions", "latency_avg_ms", "elapsed_s")),
        subject=Subject(workload="minibench", workload_name="minibench"),
        command_lines=tuple(run.command_lines),
    )
