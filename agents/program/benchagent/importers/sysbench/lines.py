"""The lines of sysbench's reports, in the order in which it prints them: 0.4, 0.5, 1.0, 1.1 and its builtin tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchagent.importers.base import NotUnderstood, SourceFile
from benchagent.importers.dressing import Line, undressed, without_comment

_N = r"(\d+)"
_X = r"(\d+(?:\.\d+)?)"
_RATE = rf"{_N} +\({_X} per sec\.\)"
_TIME = rf"{_X}(ms|s)?"

# (key, start of the line, whole line) in the order of printing; keys that begin with # are headings.
_RULES: tuple[tuple[str, str, str], ...] = (
    ("#sql", r"(?:SQL|OLTP test) statistics:", r"(?:SQL|OLTP test) statistics:"),
    ("#queries", r"queries performed:", r"queries performed:"),
    ("read", r"read: +[^I\s]", rf"read: +{_N}"),
    ("write", r"write: +[^I\s]", rf"write: +{_N}"),
    ("other", r"other:", rf"other: +{_N}"),
    ("total", r"total:", rf"total: +{_N}"),
    ("transactions", r"transactions:", rf"transactions: +{_RATE}"),
    ("deadlocks", r"deadlocks:", rf"deadlocks: +{_RATE}"),
    ("read_write_requests", r"read/write requests:", rf"read/write requests: +{_RATE}"),
    ("queries", r"queries:", rf"queries: +{_RATE}"),
    ("other_operations", r"other operations:", rf"other operations: +{_RATE}"),
    ("errors", r"ignored errors:", rf"ignored errors: +{_RATE}"),
    ("reconnects", r"reconnects:", rf"reconnects: +{_RATE}"),
    ("#cpu", r"CPU speed:", r"CPU speed:"),
    ("cpu_eps", r"events per second:", rf"events per second: +{_X}"),
    ("#file", r"File operations:", r"File operations:"),
    ("reads_s", r"reads/s:", rf"reads/s: +{_X}"),
    ("writes_s", r"writes/s:", rf"writes/s: +{_X}"),
    ("fsyncs_s", r"fsyncs/s:", rf"fsyncs/s: +{_X}"),
    ("read_mib_s", r"read, MiB/s:", rf"read, MiB/s: +{_X}"),
    ("written_mib_s", r"written, MiB/s:", rf"written, MiB/s: +{_X}"),
    ("file_read", r"read: +IOPS=", rf"read: +IOPS={_X} {_X} MiB/s \({_X} MB/s\)"),
    ("file_write", r"write: +IOPS=", rf"write: +IOPS={_X} {_X} MiB/s \({_X} MB/s\)"),
    ("file_fsync", r"fsync: +IOPS=", rf"fsync: +IOPS={_X}"),
    (
        "file_operations",
        r"Operations performed: +\d+ [Rr]ead",
        rf"Operations performed: +{_N} [Rr]eads?, {_N} [Ww]rites?, {_N} [Oo]ther = {_N} [Tt]otal",
    ),
    (
        "file_bytes",
        r"Read [\d.,]+ ?[KMGT]?i?b",
        r"Read (\S+) +Written (\S+) +Total transferred (\S+) +\((\d+(?:\.\d+)?[KMGT]?)i?[bB]/sec\)",
    ),
    ("file_requests_s", r"[\d.,]+ Requests/sec executed", rf"{_X} Requests/sec executed"),
    (
        "memory_operations",
        r"(?:Total operations|Operations performed):",
        rf"(?:Total operations|Operations performed): {_N} \( *{_X} (?:per second|ops/sec)\)",
    ),
    ("memory_bytes", r"[\d.,]+ Mi?B transferred", rf"{_X} Mi?B transferred \({_X} Mi?B/sec\)"),
    ("unfinished", r"Number of unfinished", rf"Number of unfinished transactions on forced shutdown: {_N}"),
    ("#general", r"General statistics:|Test execution summary:", r"General statistics:|Test execution summary:"),
    ("eps", r"events/s \(eps\):", rf"events/s \(eps\): +{_X}"),
    ("total_time", r"total time:|time elapsed:", rf"(?:total time|time elapsed): +{_X}s"),
    ("events", r"total number of events:", rf"total number of events: +{_N}"),
    ("execution", r"total time taken by event execution:", rf"total time taken by event execution: +{_X}s?"),
    (
        "#latency",
        r"(?:response time|per-request statistics|Latency \(ms\)):",
        r"(?:response time|per-request statistics|Latency \(ms\)):",
    ),
    ("min", r"min:", rf"min: +{_TIME}"),
    ("avg", r"avg:", rf"avg: +{_TIME}"),
    ("max", r"max:", rf"max: +{_TIME}"),
    (
        "percentile",
        r"approx\.|\d+th percentile|percentile stats",
        rf"(?:approx\. +)?(\d+)(?:th)? percentile: +{_TIME}|percentile stats: +disabled",
    ),
    ("sum", r"sum:", rf"sum: +{_TIME}"),
    ("#fairness", r"Threads fairness:", r"Threads fairness:"),
    ("fair_events", r"events \(avg/stddev\):", rf"events \(avg/stddev\): +{_X}/{_X}"),
    ("fair_time", r"execution time \(avg/stddev\):", rf"execution time \(avg/stddev\): +{_X}/{_X}"),
)
RULES = tuple((key, re.compile(start), re.compile(whole)) for key, start, whole in _RULES)
RANK = {key: rank for rank, (key, _, _) in enumerate(_RULES)}
# With one of these a report begins.
OPENING = frozenset(
    {"#sql", "#cpu", "#file", "file_read", "file_operations", "memory_operations", "#general", "eps", "unfinished"}
)


# With one of these begins what somebody took out of a report; a file with a line of HEADED holds whole reports.
HEADED = ("SQL statistics:", "OLTP test statistics:", "General statistics:", "Test execution summary:",
          "Threads fairness:", "Threads started!")  # fmt: skip
EXTRACT = frozenset({"#queries", "transactions", "queries"})
ANCHORS = re.compile(
    r"\[ *\d{1,9}s *\] (?:thds: |threads: |reads: )|(?:SQL|OLTP test) statistics:|queries performed:|Threads fairness:"
    r"|total number of events: +\d|total time: +\d|(?:transactions|queries): +\d+ +\(\d[\d.]{0,20} per sec"
    r"|Total operations: \d+ \( *\d[\d.]{0,20} per second|CPU speed:|General statistics:"
    r"|Number of threads: \d|sysbench v?\d[\w.+-]{0,40}(?: \(using |: +multi-threaded)"
)
_COMMAND = re.compile(r"\bsysbench\s")


def numbered(file: SourceFile) -> Iterator[Line]:
    """The lines without what stands around them."""
    return undressed(file, ANCHORS, _COMMAND)


@dataclass(frozen=True)
class Found:
    key: str
    values: tuple[str, ...]


def matched(line: Line) -> Found | None:
    """The rule that a line follows; None for a line of something else, key "cut" for a last line that is cut.

    Raises NotUnderstood for a line that begins like one of the report and goes on otherwise.
    """
    for key, start, whole in RULES:
        if not start.match(line.text):
            continue
        match = whole.fullmatch(line.text) or (whole.fullmatch(without_comment(line.text)) if line.whole else None)
        if match and (line.whole or not line.text[-1:].isdigit()):
            return Found(key, tuple(value or "" for value in match.groups()))
        if not line.whole:
            return Found("cut", ())
        raise NotUnderstood(f"line {line.number}: {why(line.text)}: {line.text[:80]!r}")
    return None


def why(text: str) -> str:
    comma = re.search(r"\d,\d", text)
    return "a decimal comma may mean two things" if comma else "not a wording or number that sysbench prints"
