"""mysqlslap of MySQL and mariadb-slap: the report of each concurrency and engine, and the rows of `--csv`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.importers.report import Report, Status, Subject, all_measured, options_of, picked, rising
from benchagent.importers.source import NotUnderstood, SourceFile
from benchagent.importers.tables import Run, Runs, Table

TOOL = "mysqlslap"
TABLE = Table(
    TOOL,
    ("#benchmark", "Benchmark", r"Benchmark$"),
    ("engine", "Running for engine {storage_engine:S}"),
    ("average", "Average number of seconds to run all queries: {all_queries_s:X} seconds"),
    ("least", "Minimum number of seconds to run all queries: {all_queries_min_s:X} seconds"),
    ("most", "Maximum number of seconds to run all queries: {all_queries_max_s:X} seconds"),
    ("clients", "Number of clients running queries: {terminals:N}"),
    ("queries", "Average number of queries per client: {queries_per_client:N}"),
    (
        "row", "[{storage_engine:W}],{load_type:W},{all_queries_s:X},{all_queries_min_s:X},{all_queries_max_s:X},"
        "{terminals:N},{queries_per_client:N}", r"\w*,(?:mixed|update|write|key|read),\d",
    ),
)  # fmt: skip
MARKS = re.compile(
    r"(?:Average|Minimum|Maximum) number of seconds to run all queries: |Number of clients running queries: \d"
    r"|^\w*,(?:mixed|update|write|key|read)(?:,\d+[.,]\d{3}){3},\d+,\d+$",
    re.MULTILINE,
)
COMMAND = re.compile(r"\b(?:mysqlslap|mariadb-slap)\b(?: +\S+)+")
FIGURES = ("all_queries_s", "all_queries_min_s", "all_queries_max_s")
PARAMETERS = ("terminals", "queries_per_client", "storage_engine", "load_type")
# Of the command line; the rest of it is kept with the run as it stands there.
OPTIONS = {
    "--iterations": "iterations", "-i": "iterations", "--number-of-queries": "number_of_queries",
    "--auto-generate-sql-load-type": "load_type", "--query": "query", "-q": "query", "--create": "create",
    "--commit": "commit_every", "--detach": "detach_every", "--number-int-cols": "int_columns",
    "--number-char-cols": "char_columns", "-x": "char_columns", "-y": "int_columns",
}  # fmt: skip
# Its queries are mixed where no option says otherwise.
GENERATED = re.compile(r" (?:-a|--auto-generate-sql)(?![\w-])")
SUBJECT = Subject(workload="mysqlslap", workload_name="mysqlslap")


def claims(file: SourceFile) -> bool:
    return file.shows(MARKS)


def read(file: SourceFile) -> Sequence[Report]:
    runs = Runs(table=TABLE, begins={"#benchmark", "row"}, command=COMMAND, several_a_call=True)
    return runs.reports(file, MARKS, report_of, "no report of mysqlslap")


def report_of(run: Run) -> Report:
    values = run.values
    needed = (*FIGURES, "terminals", *(() if run.cut == "queries" else ("queries_per_client",)))
    if missing := [name for name in needed if name not in values]:
        if not picked(values, *FIGURES):
            raise NotUnderstood(f"line {run.line}: no figures of mysqlslap")
        return Report(TOOL, Status.ABORTED, reason=f"the report lacks {', '.join(missing)}", subject=SUBJECT)
    rising(values, "all_queries_min_s", "all_queries_s", "all_queries_max_s")
    mixed = {"load_type": "mixed"} if any(GENERATED.search(command) for command in run.command_lines) else {}
    parameters = mixed | options_of(run.command_lines, OPTIONS) | picked(values, *PARAMETERS)
    queries = parameters.get("number_of_queries")
    sent = values["terminals"] * values.get("queries_per_client", 0)
    if isinstance(queries, int) and sent and not 0 <= queries - sent < values["terminals"]:
        raise NotUnderstood(f"line {run.line}: clients and their queries are not the {queries} of the command line")
    return Report(
        TOOL, parameters=parameters, metrics=all_measured(picked(values, *FIGURES)), subject=SUBJECT,
        command_lines=tuple(run.command_lines),
    )  # fmt: skip
