"""redis-benchmark (Redis 2 to 8, KeyDB) and valkey-benchmark: report, `-q` and `--csv`, one run of each test."""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.importers.commands import Commands
from benchagent.importers.report import Report, Scalar, Subject, all_measured, entries, rising
from benchagent.importers.source import NotUnderstood, SourceFile, shown_by, slug
from benchagent.importers.tables import Match, Run, Runs, Table

TOOL = "redis-benchmark"
TABLE = Table(
    TOOL,
    (
        "progress", "{test:rest}: rps={:num?} (overall: {:num?}) avg_msec={:num?} (overall: {:num?})",
        r".{1,300}?: rps=-?[\dn]",
    ),
    ("title", "====== {test:rest} ======", r"====== \S"),
    ("requests", "{requests:int} requests completed in {elapsed_s:num} seconds", r"\d+ requests completed"),
    ("clients", "{terminals:int} parallel clients", r"\d+ parallel clients"),
    ("payload", "{payload_bytes:int} bytes payload", r"\d+ bytes payload"),
    ("keep alive", "keep alive: {keep_alive:int}"),
    ("cluster", "cluster mode: yes ({cluster_masters:int} masters)"),
    ("save", 'host configuration "save":[ {save:rest}]'),
    ("appendonly", 'host configuration "appendonly":[ {appendonly:word}]'),
    ("multi-thread", "multi-thread: {yes|no}"),
    ("threads", "threads: {client_threads:int}"),
    ("share", "{percent:num}% <= {ms:num} milliseconds[ (cumulative count {count:int})]", r"\d+[.,]\d+% <= "),
    ("throughput", "throughput summary: {requests_per_s:num} requests per second"),
    ("#latency", "latency summary (msec):"),
    ("#names", "avg min p50 p95 p99 max"),
    (
        "latency", "{latency_avg_ms:num} {latency_min_ms:num} {latency_p50_ms:num} {latency_p95_ms:num} "
        "{latency_p99_ms:num} {latency_max_ms:num}", r"\d+[.,]\d+ +\d+[.,]\d+ +\d+[.,]\d",
    ),
    ("rate", "{requests_per_s:num} requests per second", r"\d[\d.,]* requests per second"),
    (
        "quiet", "{test:rest}: {requests_per_s:num} requests per second[, p50={latency_p50_ms:num} msec]",
        r"[^:\"].{0,300}?: \d[\d.,]* requests per second",
    ),
    (
        "row",
        '"{test:quoted}","{requests_per_s:num}"[,"{latency_avg_ms:num}","{latency_min_ms:num}","{latency_p50_ms:num}",'
        '"{latency_p95_ms:num}","{latency_p99_ms:num}","{latency_max_ms:num}"]', r'"[^"]{1,300}","\d',
    ),
)  # fmt: skip
MARKS = re.compile(
    r"====== \S[^\n]* ======\n\s*\d+ requests completed|\S: \d+\.\d\d requests per second(?:, p50=|\s*$)"
    r'|\S: rps=\S+ \(overall: \S+\) avg_msec=|^"test","rps","avg_latency_ms","min_latency_ms","p50_latency_ms",'
    r'|\A"(?:PING_INLINE|PING_BULK|PING_MBULK|SET|GET|INCR|[LR]PUSH|[LR]POP|[SZH]\w+|MSET \(10 keys\))","\d+\.\d\d"$',
    re.MULTILINE,
)
WORDS = ("requests completed", " requests per second", " avg_msec=", '","')
claims = shown_by(MARKS, WORDS)
ENDS = frozenset({"latency", "rate", "quiet", "row"})
LATENCIES = ("latency_min_ms", "latency_p50_ms", "latency_p95_ms", "latency_p99_ms", "latency_max_ms")
COMMANDS = Commands(
    ("redis-benchmark", "valkey-benchmark"),
    follows=r"\S",
    numbers={
        "-c": "terminals", "-n": "requests", "-d": "payload_bytes", "-P": "pipeline", "-r": "keyspace",
        "--threads": "client_threads",
    },
    texts={"-t -h -p -s -a -u --user --dbnum --cert --key --cacert --cacertdir --sni -k": ""},
    switches={"-q -l -I -e -x --csv --precision --help --version": "", "--tls": "tls"},
)  # fmt: skip


def is_another(run: Run, match: Match) -> bool:
    is_same = run.values.get("test", "") == match.values["test"]
    return not is_same or bool(run.rows.keys() - {"progress"} if match.key in ENDS else ENDS & run.rows.keys())


def read(file: SourceFile) -> Sequence[Report]:
    tests = Runs(
        table=TABLE, begins={"progress", "title", "quiet", "row"}, lists={"share"}, called=COMMANDS,
        several_a_call=True, another=is_another,
    )  # fmt: skip
    return tests.reports(file, report_of, "no test of redis-benchmark")


def report_of(run: Run) -> Report:
    values = run.values
    if "test" not in values:
        raise NotUnderstood("figures without the name of their test")
    ended = bool(ENDS & {*run.rows, run.cut})
    if ended:
        check(run)
    parameters: dict[str, Scalar] = COMMANDS.parameters(run.command_lines) | entries(
        values, "terminals", "requests", "payload_bytes", "client_threads", "cluster_masters"
    )
    if "keep_alive" in values:
        parameters["keep_alive"] = values["keep_alive"] == 1
    figures = entries(values, "requests_per_s", "latency_avg_ms", *LATENCIES, "elapsed_s")
    return Report(
        TOOL, reason="" if ended else f"the output ends before the result of {values['test'][:60]}",
        parameters=parameters, metrics=all_measured(figures) if ended else (),
        subject=Subject(
            workload=f"redis-benchmark-{slug(values['test'], '-', 60)}",
            workload_name=f"redis-benchmark {values['test']}",
            settings=tuple((name, values.get(name, "")) for name in ("save", "appendonly") if name in run.rows),
        ),
        command_lines=tuple(run.command_lines),
    )  # fmt: skip


def check(run: Run) -> None:
    """What is printed twice, and what follows from other figures. Raises NotUnderstood."""
    values = run.values
    rising(values, *LATENCIES)
    rising(values, "latency_min_ms", "latency_avg_ms", "latency_max_ms")
    if "requests" in values and "requests_per_s" in values:
        by_rate_s = values["requests"] / max(values["requests_per_s"], 1e-9)
        # Time and rate have two decimals.
        if abs(by_rate_s - values["elapsed_s"]) > 0.0061 + by_rate_s * 0.0051 / max(values["requests_per_s"], 1e-9):
            raise NotUnderstood(f"requests by time are not {values['requests_per_s']} a second")
    shares = run.rows_of("share")
    if shares and "latency" in run.rows and "requests" in values:
        last = next((at for at, row in enumerate(shares) if row["percent"] == 100), None)
        first = shares[: last + 1] if last is not None else []
        counts, times = [row.get("count", 0) for row in first], [row["ms"] for row in first]
        middle = [row["ms"] for row in first if row["percent"] == 50]
        if not first or counts[-1] != values["requests"] or counts != sorted(counts) or times != sorted(times):
            raise NotUnderstood("the distribution is not all there")
        if times[-1] != values.get("latency_max_ms", times[-1]) or middle[:1] != [values["latency_p50_ms"]]:
            raise NotUnderstood("the summary contradicts the distribution")
