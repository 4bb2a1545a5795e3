"""The command line of go-tpc where a log shows it: flags as parameters, without the password."""

from __future__ import annotations

import re
import shlex

from benchagent.importers.base import Scalar
from benchagent.redaction import REDACTED, redact_text

_COMMAND = re.compile(
    r"(?P<command>(?:\S*go-tpc(?:\.exe)?|\btiup bench) +(?:\S+ +)*?(?P<workload>tpcc|tpch|ch|rawsql)\b.*)$"
)
_SECRET = re.compile(r"(?P<head>(?<!\S)(?:-p|--password)[= ]?\s*)(?P<value>\"[^\"]*\"|'[^']*'|\S+)")
_DURATION = re.compile(r"(?:(?P<h>\d+)h)?(?:(?P<m>\d+)m)?(?:(?P<s>\d+)s)?")
_FLAGS = {
    "-T": "terminals", "--threads": "terminals", "-t": "analytical_terminals", "--acThreads": "analytical_terminals",
    "--warehouses": "warehouses", "--parts": "partitions", "--time": "duration_s", "--count": "transactions",
    "--isolation": "isolation", "--sf": "scale_factor", "--wait": "keying_and_thinking", "--weight": "weights",
    "-d": "driver", "--driver": "driver", "--interval": "interval_s",
}  # fmt: skip


# Longer lines are no command lines, and would cost the square of their length.
MAX_COMMAND = 4000


def command_of(text: str) -> tuple[str, str, dict[str, Scalar]] | None:
    """(the redacted line, tpcc | tpch | ch | rawsql, parameters), where the line is a command line of go-tpc."""
    match = _COMMAND.search(text) if len(text) <= MAX_COMMAND else None
    if match is None:
        return None
    line = redact_text(_SECRET.sub(rf"\g<head>{REDACTED}", match["command"].strip()))
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    return line, match["workload"], _parameters(words)


def _parameters(words: list[str]) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    for place, word in enumerate(words):
        flag, separator, value = word.partition("=")
        if flag not in _FLAGS:
            continue
        name = _FLAGS[flag]
        if name == "keying_and_thinking":
            found[name] = value != "false"
            continue
        text = value if separator else words[place + 1] if place + 1 < len(words) else ""
        parsed = duration_s(text) if name in ("duration_s", "interval_s") else _scalar(text)
        if parsed is not None:
            found[name] = parsed
    return found


def duration_s(text: str) -> int | None:
    match = _DURATION.fullmatch(text)
    if not text or match is None:
        return None
    return int(match["h"] or 0) * 3600 + int(match["m"] or 0) * 60 + int(match["s"] or 0)


def _scalar(text: str) -> Scalar | None:
    if not text or text.startswith("-"):
        return None
    return int(text) if text.isascii() and text.isdecimal() else text
