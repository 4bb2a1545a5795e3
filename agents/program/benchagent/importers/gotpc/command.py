"""The command line of go-tpc where a log shows it: flags as parameters, without the password."""

from __future__ import annotations

import re

from benchagent.importers.commands import MAX_COMMAND, whole_or_text, words_of
from benchagent.importers.report import Scalar
from benchagent.redaction import REDACTED

_COMMAND = re.compile(
    r"(?P<command>(?:\S*go-tpc(?:\.exe)?|\btiup bench) +(?:\S+ +)*?(?P<workload>tpcc|tpch|ch|rawsql)\b.*)$"
)
_SECRET = re.compile(r"(?P<head>(?<!\S)(?:-p|--password)[= ]?\s*)(?P<value>\"[^\"]*\"|'[^']*'|\S+)")
_DURATION = re.compile(r"(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s)?")
_FLAGS = {
    "-T": "terminals", "--threads": "terminals", "-t": "analytical_terminals", "--acThreads": "analytical_terminals",
    "--warehouses": "warehouses", "--parts": "partitions", "--time": "duration_s", "--count": "transactions",
    "--isolation": "isolation", "--sf": "scale_factor", "--wait": "keying_and_thinking", "--weight": "weights",
    "-d": "driver", "--driver": "driver",
}  # fmt: skip


def command_of(text: str) -> tuple[str, str, dict[str, Scalar]] | None:
    """(the redacted line, tpcc | tpch | ch | rawsql, parameters), where the line is a command line of go-tpc."""
    match = _COMMAND.search(text) if len(text) <= MAX_COMMAND else None
    if match is None:
        return None
    line = _SECRET.sub(rf"\g<head>{REDACTED}", match["command"].strip())
    told: dict[str, Scalar] = {}
    words = words_of(line)
    for word, following in zip(words, [*words[1:], ""], strict=True):
        flag, separator, value = word.partition("=")
        name, value = _FLAGS.get(flag, ""), value if separator else following
        if name == "keying_and_thinking":
            told[name] = not (separator and value == "false")
        elif name == "duration_s":
            duration = _DURATION.fullmatch(value)
            if value and duration:
                hours, minutes, seconds = (int(duration[unit] or 0) for unit in "hms")
                told[name] = hours * 3600 + minutes * 60 + seconds
        elif name and value and not value.startswith("-"):
            told[name] = whole_or_text(value)
    return line, match["workload"], told
