"""mysqlslap of MySQL and mariadb-slap: the report of each concurrency and engine, and the rows of `--csv`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.importers.commands import Commands
from benchagent.importers.report import Report, Subject, all_measured, entries, rising
from benchagent.importers.source import NotUnderstood, SourceFile, shown_by
from benchagent.importers.tables import Run, Runs, Table

TOOL = "mysqlslap"
TABLE = Table(
    TOOL,
    ("#benchmark", "Benchmark", r"Benchmark$"),
    ("engine", "Running for engine {storage_engine:token}"),
    ("average", "Average number of seconds to run all queries:[ ]{all_queries_s:num} seconds"),
    ("least", "Minimum number of seconds to run all queries:[ ]{all_queries_min_s:num} seconds"),
    ("most", "Maximum number of seconds to run all queries:[ ]{all_queries_max_s:num} seconds"),
    ("clients", "Number of clients running queries: {terminals:int}"),
    ("queries", "Average number of queries per client: {queries_per_client:int}"),
    (
        "row",
        "[{storage_engine:word}],{load_type:word},{all_queries_s:num},{all_queries_min_s:num},{all_queries_max_s:num},"
        "{terminals:int},{queries_per_client:int}", r"\w*,(?:mixed|update|write|key|read),\d",
    ),
)  # fmt: skip
MARKS = re.compile(
    r"(?:Average|Minimum|Maximum) number of seconds to run all queries:|Number of clients running queries: \d"
    r"|^\w*,(?:mixed|update|write|key|read)(?:,\d+[.,]\d{3}){3},\d+,\d+$",
    re.MULTILINE,
)
WORDS = (
    "seconds to run all queries:", "Number of clients running queries: ", ",mixed,", ",update,", ",write,", ",key,",
    ",read,",
)  # fmt: skip
claims = shown_by(MARKS, WORDS)
FIGURES = ("all_queries_s", "all_queries_min_s", "all_queries_max_s")
PARAMETERS = ("terminals", "queries_per_client", "storage_engine", "load_type")
COMMANDS = Commands(
    ("mysqlslap", "mariadb-slap"),
    numbers={
        "-i --iterations": "iterations", "--number-of-queries": "number_of_queries", "--commit": "commit_every",
        "--detach": "detach_every", "-y --number-int-cols": "int_columns", "-x --number-char-cols": "char_columns",
    },
    texts={
        "--auto-generate-sql-load-type": "load_type", "-q --query": "query", "--create": "create",
        # Each report says its own.
        "-c --concurrency -e --engine": "", "-h -u -P -S -p -F -# --csv --defaults-file --delimiter": "",
    },
    switches={"-a --auto-generate-sql": "", "--no-drop --only-print -s -v -C -T": ""},
)  # fmt: skip
# Its queries are mixed where no option says otherwise.
GENERATED = re.compile(r" (?:-a|--auto-generate-sql)(?![\w-])")
SUBJECT = Subject(workload="mysqlslap", workload_name="mysqlslap")


def read(file: SourceFile) -> Sequence[Report]:
    runs = Runs(table=TABLE, begins={"#benchmark", "row"}, called=COMMANDS, several_a_call=True)
    return runs.reports(file, report_of, "no report of mysqlslap")


def report_of(run: Run) -> Report:
    values = run.values
    needed = (*FIGURES, "terminals", *(() if run.cut == "queries" else ("queries_per_client",)))
    if missing := [name for name in needed if name not in values]:
        if not entries(values, *FIGURES):
            raise NotUnderstood("no figures of mysqlslap")
        return Report(TOOL, reason=f"the report lacks {', '.join(missing)}", subject=SUBJECT)
    rising(values, "all_queries_min_s", "all_queries_s", "all_queries_max_s")
    mixed = {"load_type": "mixed"} if any(GENERATED.search(command) for command in run.command_lines) else {}
    parameters = mixed | COMMANDS.parameters(run.command_lines) | entries(values, *PARAMETERS)
    queries = parameters.get("number_of_queries")
    sent = values["terminals"] * values.get("queries_per_client", 0)
    if isinstance(queries, int) and sent and not 0 <= queries - sent < values["terminals"]:
        raise NotUnderstood(f"clients and their queries are not the {queries} of the command line")
    return Report(
        TOOL, parameters=parameters, metrics=all_measured(entries(values, *FIGURES)), subject=SUBJECT,
        command_lines=tuple(run.command_lines),
    )  # fmt: skip
