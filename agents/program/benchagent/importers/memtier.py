"""memtier_benchmark (Redis and memcached): its tables on screen, 1.2 to 2.x, and `--json-out-file`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from benchagent.importers.commands import Commands
from benchagent.importers.report import Report, Scalar, Subject, all_measured, entries, rising, utc
from benchagent.importers.source import NotUnderstood, SourceFile, json_with, number, number_in, object_in, slug
from benchagent.importers.tables import Run, Runs, Table, damage_of, says_more

TOOL = "memtier"
TABLE = Table(
    TOOL,
    ("#begin", "\\[RUN #1\\] Preparing benchmark client..."),
    ("#several", "\\[RUN #2\\] Preparing benchmark client..."),
    ("threads", "{client_threads:int} Threads", r"\d+ +Threads\b"),
    ("connections", "{connections_per_thread:int} Connections per thread", r"\d+ +Connections per thread\b"),
    ("requests", "{requests_per_client:int} Requests per client", r"\d+ +Requests per client\b"),
    ("seconds", "{duration_s:int} Seconds", r"\d+ +Seconds\b"),
    ("table", "{section:ALL STATS|BEST RUN RESULTS|WORST RUN RESULTS}"),
    ("table", "AGGREGATED AVERAGE RESULTS ({runs:int} runs)"),
    ("table", "Type Ops/sec {columns:rest}", r"Type +Ops/sec\b"),
    ("table", "{type:word} {figures:cells}", r"(?:Totals|[A-Z][a-z]\w*) +(?:[\d.,]+|---) +(?:[\d.,]+|---) +[\d.-]"),
)  # fmt: skip
MARKS = re.compile(
    r"^ *Type +Ops/sec +Hits/sec|\[RUN #\d+\] (?:Preparing benchmark client|Launching threads)"
    r"|^ *AGGREGATED AVERAGE RESULTS \(",
    re.MULTILINE,
)
WORDS = ("Ops/sec", "[RUN #", "AGGREGATED AVERAGE RESULTS (")
DOCUMENT = re.compile(r'"(?:ALL STATS|AGGREGATED AVERAGE RESULTS[^"]*)"')
COLUMN = re.compile(
    r" *(Ops/sec|Hits/sec|Misses/sec|MOVED/sec|ASK/sec|Avg\. Latency|p[\d.]+ Latency|Latency|KB/sec(?: [RT]X)?"
    r"|Connection Errors)"
)
FIGURES = {
    "Ops/sec": "ops_per_s", "Hits/sec": "hit_ops_per_s", "Misses/sec": "miss_ops_per_s",
    "Latency": "latency_avg_ms", "Avg. Latency": "latency_avg_ms", "Average Latency": "latency_avg_ms",
    "Max Latency": "latency_max_ms",
}  # fmt: skip
# The options of a command line, and those that the JSON calls its configuration.
COMMANDS = Commands(
    ("memtier_benchmark",),
    numbers={
        "-t --threads threads": "client_threads", "-c --clients clients": "connections_per_thread",
        "-n --requests requests": "requests_per_client", "--test-time test_time": "duration_s",
        "--pipeline pipeline": "pipeline", "-d --data-size data_size": "data_size_bytes",
        "--key-maximum key_maximum": "key_maximum", "-x --run-count run_count": "run_count",
    },
    texts={
        "--ratio ratio": "ratio", "--key-pattern key_pattern": "key_pattern", "-P --protocol protocol": "protocol",
        "--command": "command",
        "-s -p -S -a -o --authenticate --tls-cert --tls-key --tls-cacert --json-out-file --client-stats --out-file": "",
        "--print-percentiles": "",
    },
    switches={
        "-R --random-data": "random_data", "--hide-histogram --show-config -D --debug -h --help -v --version": "",
        "--print-all-runs --tls-skip-verify": "",
    },
)  # fmt: skip
CONFIGURED = (
    "threads", "clients", "requests", "test_time", "ratio", "pipeline", "data_size", "key_pattern", "key_maximum",
    "protocol", "run_count",
)  # fmt: skip
ERROR = re.compile(
    r"^[ \t]*(?:handle error response|server .* error response|error: response parsing failed)", re.MULTILINE
)


def claims(file: SourceFile) -> bool:
    return file.shows(MARKS, WORDS) or json_with(file, DOCUMENT) is not None


def read(file: SourceFile) -> Sequence[Report]:
    if (content := json_with(file, DOCUMENT)) is not None:
        return [of_document(content)]
    calls = Runs(
        table=TABLE, begins={"#begin", "threads"}, lists={"table"}, called=COMMANDS,
        another=lambda run, match: bool(run.repeated) if match.key == "threads" else says_more(run, match),
    )  # fmt: skip
    refused = len(ERROR.findall(file.text))
    return calls.reports(file, lambda run: of_lines(run, refused), "no run of memtier_benchmark")


def of_lines(run: Run, refused: int) -> Report:
    """The whole of a call: with several runs their averages, which stand behind the best and the worst."""
    sections = sections_of(run)
    average = next((at for at, (name, _) in enumerate(sections) if name.startswith("AGGREGATED")), None)
    several = average is not None or "#several" in run.rows or any(name.endswith("RUN RESULTS") for name, _ in sections)
    if len(sections) > 1 and not several:
        raise NotUnderstood("several tables of one run")
    totals = {name.partition(" ")[0]: rows["Totals"]["Ops/sec"] or 0 for name, rows in sections if "Totals" in rows}
    rising(totals, "WORST", "AGGREGATED", "BEST")
    rows = sections[average or 0][1] if sections and not (several and average is None) else {}
    values = figures_of(rows) if "Totals" in rows else {}
    parameters = COMMANDS.parameters(run.command_lines) | entries(
        run.values, "client_threads", "connections_per_thread", "requests_per_client", "duration_s"
    )
    if average is not None:
        parameters["run_count"] = int(re.findall(r"\d+", sections[average][0])[0])
    aborted = "" if "Totals" in rows else "the output ends before its totals"
    return report_of(values, parameters, aborted, refused=refused, commands=run.command_lines)


def sections_of(run: Run) -> list[tuple[str, dict[str, dict[str, float | None]]]]:
    """The tables under their titles: a type of command -> its figures by heading."""
    sections: list[tuple[str, dict[str, dict[str, float | None]]]] = []
    columns: list[str] = []
    for row in run.rows_of("table"):
        if "columns" in row:
            columns = ["Ops/sec", *COLUMN.findall(row["columns"])]
            if COLUMN.sub("", row["columns"]).strip():
                raise NotUnderstood(f"unknown columns: {row['columns'][:60]!r}")
            if not sections or sections[-1][1]:
                sections.append(("", {}))
        elif "type" in row:
            cells = row.get("figures", "").split()
            if not cells:
                continue  # the last line, cut
            if not sections or len(cells) != len(columns) or row["type"] in sections[-1][1]:
                raise NotUnderstood(f"not the columns of the table: {row['type']} {row['figures'][:60]!r}")
            if wrong := next((cell for cell in cells if "," in cell), ""):
                raise NotUnderstood(f"{damage_of(wrong, TOOL)}: {wrong[:40]!r}")
            figures = [None if cell == "---" else number(cell) for cell in cells]
            sections[-1][1][row["type"]] = dict(zip(columns, figures, strict=True))
        else:
            sections.append((row.get("section", f"AGGREGATED {row.get('runs')}"), {}))
    return sections


def figures_of(rows: Mapping[str, Mapping[str, float | None]]) -> dict[str, float]:
    """The figures of all commands and of each type, under our names. Raises NotUnderstood if a type is missing."""
    rates = [row.get("Ops/sec") or 0.0 for name, row in rows.items() if name != "Totals"]
    total = rows["Totals"].get("Ops/sec") or 0.0
    if abs(sum(rates) - total) > 0.006 * (len(rates) + 1):
        raise NotUnderstood(f"the rates of the commands do not add up to {total:g} a second")
    values: dict[str, float] = {}
    for name in ("Totals", *(name for name in rows if name != "Totals")):
        front = "" if name == "Totals" else f"{slug(name)}_"
        named = {heading: FIGURES.get(heading) or percentile(heading) for heading in rows[name]}
        own = {named[key]: value for key, value in rows[name].items() if named[key] and value is not None}
        ranks = sorted((key for key in named if re.match(r"p\d", key)), key=lambda key: float(key[1:].split()[0]))
        rising(own, *(named[key] for key in ranks), "latency_max_ms")
        # A command that was not used stands there with zeros.
        if own.get("ops_per_s") or not front:
            values |= {f"{front}{key}": value for key, value in own.items()}
    return values


def percentile(heading: str) -> str:
    """`p99.9 Latency`, and of the JSON `p99.90` -> latency_p999_ms."""
    match = re.fullmatch(r"p(\d+(?:\.\d+)?)(?: Latency)?", heading)
    if match is None:
        return ""
    rank = f"{float(match[1]):g}"
    if rank == "100":
        return "latency_max_ms"
    return f"latency_p{rank.replace('.', '') if rank.startswith('99.9') else rank.replace('.', '_')}_ms"


def of_document(content: Mapping[str, Any]) -> Report:
    whole = next((key for key in content if key.startswith("AGGREGATED AVERAGE RESULTS")), "")
    stats = content.get(whole or "ALL STATS")
    if not isinstance(stats, dict):
        raise NotUnderstood("the JSON has no figures")
    rows: dict[str, dict[str, float | None]] = {}
    for name, figures in stats.items():
        if not isinstance(figures, dict) or "Ops/sec" not in figures:
            continue
        ranks = object_in(figures, "Percentile Latencies")
        row = {key: number_in(figures, key) for key in FIGURES if key in figures}
        rows[name] = row | {key: number_in(ranks, key) for key in ranks if percentile(key)}
    if "Totals" not in rows:
        raise NotUnderstood("the JSON has no Totals")
    parameters: dict[str, Scalar] = {}
    for key, value in entries(object_in(content, "configuration"), *CONFIGURED).items():
        if value not in ("", 0, "(null)"):
            parameters |= COMMANDS.factors(key, str(value))
    if "duration_s" in parameters:
        parameters.pop("requests_per_client", None)
    runtime = object_in(stats, "Runtime")
    interrupted = runtime.get("Interrupted") in (True, "true", "True")
    started_ms = number_in(runtime, "Start time")
    is_known = started_ms and runtime.get("Time unit") == "MILLISECONDS" and started_ms < 4e12
    return report_of(
        figures_of(rows), parameters, "the call was interrupted" if interrupted else "",
        started_at=utc(int(started_ms or 0) // 1000) if is_known else "",
    )  # fmt: skip


def report_of(
    values: Mapping[str, float], parameters: dict[str, Scalar], aborted: str, *, refused: int = 0,
    commands: Sequence[str] = (), started_at: str = "",
) -> Report:  # fmt: skip
    threads, connections = parameters.get("client_threads"), parameters.get("connections_per_thread")
    if isinstance(threads, int) and isinstance(connections, int):
        parameters["terminals"] = threads * connections
    return Report(
        TOOL, reason=aborted, parameters=parameters, started_at=started_at, command_lines=tuple(commands),
        metrics=all_measured(values), subject=Subject("memtier", "memtier_benchmark"),
        warnings=(f"{refused} answers of the server were errors, which count as operations here",) if refused else (),
    )  # fmt: skip
