"""The lines of pgbench's final report, in the order in which it prints them, through all its versions.

9.0–9.5 write "latency average: 1.2 ms" and "tps = … (including connections establishing)", 9.6 to 13
"latency average = …", 14 and later "(without initial connection time)"; failures and retries came with 15.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchagent.importers.base import NotUnderstood, SourceFile
from benchagent.importers.dressing import Line, undressed, without_comment

_N = r"(\d+)"
_X = r"(-?\d+(?:\.\d+)?)"
_PERCENT = r"\((-?nan|NaN|-?\d+(?:\.\d+)?) ?%\)"

# (key, start of the line, whole line). The order is the order of printing.
_REPORT: tuple[tuple[str, str, str], ...] = (
    # Web pages swallow `<builtin: …>` for a tag.
    ("script", r"transaction type:", r"transaction type:(?: (.+))?"),
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
    ("script", r"SQL script \d", rf"SQL script {_N}:(?: (.+))?"),
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

ANCHORS = re.compile(
    r"transaction type: |scaling factor: \d|query mode: [a-z]|number of (?:clients|threads): \d|duration: \d+ s"
    r"|progress: \d+(?:\.\d+)? s,? \d|tps = \d+\.\d+ \((?:in|ex|wi)|starting vacuum\.\.\."
    r"|done in \d|dropping old tables\."
)
_COMMAND = re.compile(r"\bpgbench\s")
_NOTE = re.compile(r" {2}(?:#|--|//)")
_OPEN_NUMBER = re.compile(r"[\d.,]$")


def numbered(file: SourceFile) -> Iterator[Line]:
    """The lines without what stands around them."""
    return undressed(file, ANCHORS, _COMMAND)


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
        match = whole.fullmatch(line.text) or (whole.fullmatch(without_comment(line.text)) if line.whole else None)
        if match and key == "script":
            match = whole.fullmatch(_NOTE.split(line.text, maxsplit=1)[0])
        if match and (line.whole or not _OPEN_NUMBER.search(line.text)) and (line.whole or key != "script"):
            return Found(key, rank, tuple(value or "" for value in match.groups()))
        if not line.whole:
            return Found("cut", rank, ())
        raise NotUnderstood(f"line {line.number}: {why(line.text)}: {line.text[:80]!r}")
    return None


def why(text: str) -> str:
    comma = re.search(r"\d,\d", text)
    return "a decimal comma may mean two things" if comma else "not a wording or number that pgbench prints"
