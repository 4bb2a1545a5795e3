"""The lines of pgbench's final report, in the order in which it prints them, through all its versions.

9.0–9.5 write "latency average: 1.2 ms" and "tps = … (including connections establishing)", 9.6 to 13
"latency average = …", 14 and later "(without initial connection time)"; failures and retries came with 15.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchagent.importers.base import NotUnderstood, SourceFile

_N = r"(\d+)"
_X = r"(-?\d+(?:\.\d+)?)"
_PERCENT = r"\((-?nan|NaN|-?\d+(?:\.\d+)?) ?%\)"

# (key, start of the line, whole line). The order is the order of printing.
_REPORT: tuple[tuple[str, str, str], ...] = (
    ("script", r"transaction type:", r"transaction type: (.+)"),
    ("scale_factor", r"scaling factor:", rf"scaling factor: {_N}"),
    ("partition_method", r"partition method:", r"partition method: (\w+)"),
    ("partitions", r"partitions:", rf"partitions: {_N}"),
    ("query_mode", r"query mode:", r"query mode: (simple|extended|prepared)"),
    ("terminals", r"number of clients:", rf"number of clients: {_N}"),
    ("threads", r"number of threads:", rf"number of threads: {_N}"),
    ("max_tries", r"maximum number of tries:", rf"maximum number of tries: {_N}"),
    ("duration_s", r"duration:", rf"duration: {_N} s"),
    ("transactions_per_client", r"number of transactions per client:", rf"number of transactions per client: {_N}"),
    (
        "transactions",
        r"number of transactions actually processed:",
        rf"number of transactions actually processed: {_N}(?:/{_N})?",
    ),
    ("failed", r"number of failed transactions:", rf"number of failed transactions: {_N} {_PERCENT}"),
    (
        "serialization_failures",
        r"number of serialization failures:",
        rf"number of serialization failures: {_N} {_PERCENT}",
    ),
    ("deadlock_failures", r"number of deadlock failures:", rf"number of deadlock failures: {_N} {_PERCENT}"),
    ("retried", r"number of transactions retried:", rf"number of transactions retried: {_N} {_PERCENT}"),
    ("retries", r"total number of retries:", rf"total number of retries: {_N}"),
    ("skipped", r"number of transactions skipped:", rf"number of transactions skipped: {_N} {_PERCENT}"),
    (
        "late",
        r"number of transactions above the",
        rf"number of transactions above the {_X} ms latency limit: {_N}(?:/{_N})? {_PERCENT}",
    ),
    ("latency_avg", r"latency average\s*[:=]", rf"latency average(?::| =) {_X} ms( \(including failures\))?"),
    ("latency_stddev", r"latency stddev\s*[:=]", rf"latency stddev(?::| =) {_X} ms"),
    ("lag", r"rate limit schedule lag:", rf"rate limit schedule lag: avg (-?nan|{_X}) \(max (-?nan|{_X})\) ms"),
    ("initial_connect", r"initial connection time\s*=", rf"initial connection time = {_X} ms"),
    ("average_connect", r"average connection time\s*=", rf"average connection time = {_X} ms"),
    ("tps_including", r"tps = \S+ \(including c", rf"tps = {_X} \(including connections establishing\)"),
    (
        "tps",
        r"tps\s*=",
        rf"tps = {_X} \((excluding connections establishing|without initial connection time"
        r"|including reconnection times)\)",
    ),
)
_SCRIPT: tuple[tuple[str, str, str], ...] = (
    ("script", r"SQL script \d", rf"SQL script {_N}: (.+)"),
    ("weight", r"- weight", rf"- weight: {_N}(?: \(targets {_X}% of total\))?"),
    ("share", r"- \d+ transactions", rf"- {_N} transactions \({_X}% of total(?:, tps = {_X})?\)"),
    (
        "processed",
        r"- number of transactions actually processed:",
        rf"- number of transactions actually processed: {_N} \(tps = {_X}\)",
    ),
    ("failed", r"- number of failed transactions:", rf"- number of failed transactions: {_N} {_PERCENT}"),
    ("serialization_failures", r"- number of serialization", rf"- number of serialization failures: {_N} {_PERCENT}"),
    ("deadlock_failures", r"- number of deadlock failures", rf"- number of deadlock failures: {_N} {_PERCENT}"),
    ("retried", r"- number of transactions retried", rf"- number of transactions retried: {_N} {_PERCENT}"),
    ("retries", r"- total number of retries", rf"- total number of retries: {_N}"),
    ("skipped", r"- number of transactions skipped", rf"- number of transactions skipped: {_N} {_PERCENT}"),
    ("latency_avg", r"- latency average", rf"- latency average = {_X} ms"),
    ("latency_stddev", r"- latency stddev", rf"- latency stddev = {_X} ms"),
)
Rules = tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...]
REPORT: Rules = tuple((key, re.compile(start), re.compile(whole)) for key, start, whole in _REPORT)
SCRIPT: Rules = tuple((key, re.compile(start), re.compile(whole)) for key, start, whole in _SCRIPT)

_CLOCK = re.compile(
    r"\[?(?:[A-Z][a-z]{2} +\d{1,2} |\d{4}-\d\d-\d\d[ T])?\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z| UTC|[+-]\d\d:?\d\d)?\]?:? +"
)
_OPEN_NUMBER = re.compile(r"[\d.,]$")


@dataclass(frozen=True)
class Line:
    number: int
    text: str
    # False for a last line without line end: it may be cut.
    whole: bool = True


def numbered(file: SourceFile) -> Iterator[Line]:
    """The lines without indentation and without the clock that `ts` and journals put before each."""
    last = len(file.lines)
    for number, raw in enumerate(file.lines, start=1):
        text = raw.strip()
        clock = _CLOCK.match(text)
        yield Line(number, text[clock.end() :] if clock else text, number < last or file.last_line_is_whole)


@dataclass(frozen=True)
class Found:
    key: str
    rank: int
    values: tuple[str, ...]


def matched(line: Line, rules: Rules) -> Found | None:
    """The rule that a line follows; None for a line of something else.

    Raises NotUnderstood for a line that begins like one of the report and goes on otherwise: a decimal comma, a
    damaged number, a wording that is not known. A cut last line is taken only where its form shows that it is whole.
    """
    for rank, (key, start, whole) in enumerate(rules):
        if not start.match(line.text):
            continue
        match = whole.fullmatch(line.text)
        if match and (line.whole or not _OPEN_NUMBER.search(line.text)) and (line.whole or key != "script"):
            return Found(key, rank, tuple(value or "" for value in match.groups()))
        if not line.whole:
            return Found("cut", rank, ())
        raise NotUnderstood(f"line {line.number}: {why(line.text)}: {line.text[:80]!r}")
    return None


def why(text: str) -> str:
    comma = re.search(r"\d,\d", text)
    return "a decimal comma may mean two things" if comma else "not a wording or number that pgbench prints"
