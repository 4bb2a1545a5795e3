"""The lines of pgbench's final report, in the order in which it prints them, through all its versions.

9.0–9.5 write "latency average: 1.2 ms" and "tps = … (including connections establishing)", 9.6 to 13
"latency average = …", 14 and later "(without initial connection time)"; failures and retries came with 15.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from benchagent.importers.report import Scalar, further
from benchagent.importers.source import Line, words_of
from benchagent.importers.tables import Table

REPORT = Table(
    "pgbench",
    # Web pages swallow `<builtin: …>` for a tag.
    ("script", "transaction type:[ {script:T}]"),
    ("scale_factor", "scaling factor: {scale_factor:N}"),
    ("partition_method", "partition method: {partition_method:W}"),
    ("partitions", "partitions: {partitions:N}"),
    ("query_mode", "query mode: {query_mode:simple|extended|prepared}"),
    ("terminals", "number of clients: {terminals:N}"),
    ("threads", "number of threads: {threads:N}"),
    ("max_tries", "maximum number of tries: {max_tries:N}"),
    ("duration_s", "duration: {duration_s:N} s"),
    ("transactions_per_client", "number of transactions per client: {transactions_per_client:N}"),
    ("transactions", "number of transactions actually processed: {transactions:N}[/{asked:N}]"),
    ("failed", "number of failed transactions: {failed_transactions:N} ({failed_percent:Z}[ ]%)"),
    (
        "serialization_failures",
        "number of serialization failures: {serialization_failures:N} ({serialization_percent:Z}[ ]%)",
    ),
    ("deadlock_failures", "number of deadlock failures: {deadlock_failures:N} ({deadlock_percent:Z}[ ]%)"),
    ("retried", "number of transactions retried: {retried_transactions:N} ({retried_percent:Z}[ ]%)"),
    ("retries", "total number of retries: {retries:N}"),
    ("skipped", "number of transactions skipped: {skipped_transactions:N} ({skipped_percent:Z}[ ]%)"),
    (
        "late",
        "number of transactions above the {latency_limit_ms:Y} ms latency limit: "
        "{late_transactions:N}[/{:N}] ({:Z}[ ]%)",
    ),
    ("latency_avg", "latency average: {latency_avg_ms:Y} ms[ {of_failures:(including failures)}]"),
    ("latency_avg", "latency average = {latency_avg_ms:Y} ms[ {of_failures:(including failures)}]"),
    ("latency_stddev", "latency stddev: {latency_stddev_ms:Y} ms"),
    ("latency_stddev", "latency stddev = {latency_stddev_ms:Y} ms"),
    ("lag", "rate limit schedule lag: avg {lag_avg_ms:Z} (max {lag_max_ms:Z}) ms", "rate limit schedule lag:"),
    ("initial_connect", "initial connection time = {connect_ms:Y} ms"),
    ("average_connect", "average connection time = {connect_avg_ms:Y} ms"),
    (
        "tps_including",
        "tps = {tps_with_connections:Y} (including connections establishing)",
        r"tps = \S+ \(including c",
    ),
    (
        "tps",
        "tps = {tps:Y} ({kind:excluding connections establishing|without initial connection time"
        "|including reconnection times})",
        r"tps\s*=",
    ),
)
PROGRESS = Table(
    "pgbench",
    (
        "progress",
        "progress: {time_s:X} s[,] {tps:X} tps[, lat {latency_avg_ms:Z} ms stddev {latency_stddev_ms:Z}]"
        "[, {failed_transactions:N} failed][, lag {lag_avg_ms:Z} ms][, {skipped_transactions:N} skipped]"
        "[, {retried_transactions:N} retried, {retries:N} retries]",
    ),
)
# Of one of several scripts.
SCRIPT = Table(
    "pgbench",
    ("script", "SQL script {number:N}:[ {script:T}]"),
    ("weight", "- weight: {weight:N}[ (targets {target_percent:Y}% of total)]"),
    ("share", "- {counted:N} transactions ({share_percent:Y}% of total[, tps = {share_tps:Y}])", r"- \d+ transactions"),
    ("processed", "- number of transactions actually processed: {transactions:N} (tps = {tps:Y})"),
    ("failed", "- number of failed transactions: {failed_transactions:N} ({:Z}[ ]%)"),
    ("serialization_failures", "- number of serialization failures: {:N} ({:Z}[ ]%)", "- number of serialization"),
    ("deadlock_failures", "- number of deadlock failures: {:N} ({:Z}[ ]%)"),
    ("retried", "- number of transactions retried: {retried_transactions:N} ({:Z}[ ]%)"),
    ("retries", "- total number of retries: {retries:N}"),
    ("skipped", "- number of transactions skipped: {skipped_transactions:N} ({:Z}[ ]%)"),
    ("latency_avg", "- latency average = {latency_avg_ms:Y} ms", "- latency average"),
    ("latency_stddev", "- latency stddev = {latency_stddev_ms:Y} ms", "- latency stddev"),
)
ANCHORS = re.compile(
    r"transaction type: |scaling factor: \d|query mode: [a-z]|number of (?:clients|threads): \d|duration: \d+ s"
    r"|progress: \d+(?:[.,]\d+)? s,? \d|tps = \d+[.,]\d+ \((?:in|ex|wi)|starting vacuum\.\.\."
    r"|done in \d|dropping old tables\."
)
COMMAND = re.compile(r"\bpgbench\s")

# pgbench prints numbers as the locale has them, without marks of thousands: in all lines of a report or in none.
_RATE = re.compile(r"tps = \d+([.,])\d{6} \(")
_OF_NUMBERS = re.compile(
    r"(?:progress: |tps = |latency |number of |initial conn|average conn|rate limit|- |\d+[.,]\d{3} )"
)
_POINT = re.compile(r"^\d+\.\d|(?<![\w.,])\d+\.\d+ (?:s|ms|tps)\b|\(\d+\.\d+%|= \d+\.\d")


def has_commas(lines: Iterable[Line]) -> bool:
    """Whether every rate of the file, printed with six decimals, has a decimal comma, and no figure a point."""
    if {rate[1] for line in lines if (rate := _RATE.match(line.text))} != {","}:
        return False
    return not any(_OF_NUMBERS.match(line.text) and _POINT.search(line.text) for line in lines)


def with_points(line: Line) -> Line:
    text = line.text
    if not _OF_NUMBERS.match(text):
        return line
    # Behind the latency of a statement stands its text.
    count = 1 if text[0].isdigit() else 0
    return line._replace(text=re.sub(r"(?<=\d),(?=\d)", ".", text, count=count))


# What the options of a command line say.

_NUMBERS = {
    "-c": "terminals", "--client": "terminals", "-j": "threads", "--jobs": "threads", "-T": "duration_s",
    "--time": "duration_s", "-t": "transactions_per_client", "--transactions": "transactions_per_client",
    "-s": "scale_factor", "--scale": "scale_factor", "-R": "rate_limit_tps", "--rate": "rate_limit_tps",
    "-L": "latency_limit_ms", "--latency-limit": "latency_limit_ms", "--max-tries": "max_tries",
    "-F": "fillfactor", "--fillfactor": "fillfactor", "--partitions": "partitions",
    "--sampling-rate": "sampling_rate", "--random-seed": "random_seed",
}  # fmt: skip
_TEXTS = {"-M": "query_mode", "--protocol": "query_mode", "-b": "script", "--builtin": "script", "-f": "script",
          "--file": "script"}  # fmt: skip
_SWITCHES: dict[str, dict[str, Scalar]] = {
    "-C": {"connect_per_transaction": True}, "--connect": {"connect_per_transaction": True},
    "-S": {"script": "select-only"}, "--select-only": {"script": "select-only"},
    "-N": {"script": "simple-update"}, "--skip-some-updates": {"script": "simple-update"},
}  # fmt: skip
# How pgbench tells of the run, and that it vacuums before.
_REPORTING = {
    "progress", "progress-timestamp", "aggregate-interval", "log-prefix", "report-latencies", "report-per-command",
    "no-vacuum", "failures-detailed", "verbose-errors", "initialize", "show-script", "vacuum-all", "exit-on-abort",
}  # fmt: skip
# Long options that take the next word.
_TAKE_NEXT = {
    "--define", "--tablespace", "--index-tablespace", "--partition-method", "--init-steps", "--host", "--port",
    "--username", "--dbname", "--progress", "--aggregate-interval", "--log-prefix",
}  # fmt: skip
_WITH_VALUE = "cjTtsRLFMbfPDhpUIV"


def options_of_command(command: str) -> dict[str, Scalar]:
    """What the options say; an option given twice counts as pgbench takes it, the last one."""
    parameters: dict[str, Scalar] = {}
    for name, value in _options(command):
        if name in _NUMBERS and re.fullmatch(r"\d+(?:\.\d+)?", value):
            parameters[_NUMBERS[name]] = float(value) if "." in value else int(value)
        elif name in _TEXTS and value:
            parameters[_TEXTS[name]] = value
        elif name in _SWITCHES:
            parameters |= _SWITCHES[name]
        elif name in ("-D", "--define") and "=" in value:
            variable, _, text = value.partition("=")
            parameters |= {f"variable_{key}": given for key, given in further({variable: text}).items()}
        elif name.startswith("--"):
            parameters |= further({name[2:]: value}, _REPORTING)
    return parameters


def _options(command: str) -> Iterator[tuple[str, str]]:
    """Options with their values: `-c 4`, `-c4`, `--client=4`, `-Snc 4`."""
    words = iter(words_of(command, ends="|>")[1:])
    for word in words:
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            takes_next = not equals and (name in _NUMBERS or name in _TEXTS or name in _TAKE_NEXT)
            yield name, next(words, "") if takes_next else value
        elif word.startswith("-"):
            for at, letter in enumerate(word[1:], start=2):
                if letter in _WITH_VALUE:
                    yield f"-{letter}", word[at:] or next(words, "")
                    break
                yield f"-{letter}", ""
