"""Command lines of sysbench that stand in a log."""

from __future__ import annotations

import re

from benchagent.importers.commands import unquoted, words_of
from benchagent.importers.report import Scalar

_COMMAND = re.compile(r"(?:^|[\s/+$#>:'\"`])sysbench\s+(?=\S)")
_VERB = re.compile(r"(?:^|\s)(?:run|prepare|cleanup|prewarm|warmup)\b")
_NAMES = {
    "threads": "terminals", "num-threads": "terminals", "time": "duration_s", "max-time": "duration_s",
    "events": "events", "max-requests": "events", "rate": "rate_limit_tps", "tx-rate": "rate_limit_tps",
    "warmup-time": "warm_up_s", "tables": "tables", "oltp-tables-count": "tables", "table-size": "table_size_rows",
    "oltp-table-size": "table_size_rows", "range-size": "range_size", "scale": "warehouses",
    "rand-type": "rand_type", "db-driver": "db_driver", "db-ps-mode": "ps_mode", "skip-trx": "skip_trx",
    "skip_trx": "skip_trx", "table_size": "table_size_rows", "oltp_tables_count": "tables",
}  # fmt: skip
_TESTS = {"fileio", "cpu", "memory", "threads", "mutex", "oltp"}
# What 0 means for these: no limit.
_LIMITS = {"duration_s", "events", "rate_limit_tps"}


def command_line(text: str) -> str:
    """The command as it stands in the line, empty where it holds none."""
    if "sysbench" not in text:
        return ""
    # A prompt may name a folder of that name before the command.
    starts = [match.end() for match in _COMMAND.finditer(text)][-4:]
    arguments = next((text[at:] for at in reversed(starts) if _VERB.search(text, at)), "")
    if not _VERB.search(arguments):
        return ""
    words = arguments.split(maxsplit=2)
    # `sysbench cpu run`.
    bare = len(words) == 2 and (words[0] in _TESTS or "_" in words[0] or ".lua" in words[0])
    return f"sysbench {unquoted(arguments)}" if "--" in arguments or bare else ""


def report_interval(command: str) -> str:
    match = re.search(r"--report-interval=(\d{1,6})\b", command)
    return match[1] if match and int(match[1]) else ""


def parameters(command: str) -> dict[str, Scalar]:
    told: dict[str, Scalar] = {}
    words = words_of(command, ends="|>;")[1:]
    for word in words:
        name, _, value = word.lstrip("-").partition("=")
        key = _NAMES.get(name) if word.startswith("--") else None
        if key is None:
            continue
        if re.fullmatch(r"\d+", value):
            if int(value) or key not in _LIMITS:
                told[key] = int(value)
        elif key == "skip_trx":
            told[key] = value in ("", "on", "true")
        elif value:
            told[key] = value
    # The test: `oltp_read_write`, `fileio`, or a script's name without its path.
    tests = [word.partition("=")[2] for word in words if word.startswith("--test=")]
    tests += [word for word in words if not word.startswith("-") and (word in _TESTS or "_" in word or ".lua" in word)]
    if tests and (test := re.split(r"[/\\]", tests[0])[-1].removesuffix(".lua")):
        told["script"] = test
    return told
