"""Command lines of pgbench that stand in a log: `+ pgbench -c 4 …` of set -x, a shell's prompt, a script's echo."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchagent.importers.commands import unquoted, words_of
from benchagent.importers.report import Scalar

_COMMAND = re.compile(r"(?:^|[\s/+$#>:'\"`])pgbench(?:\.exe)?\s+(?=[^(:\s])")
_OPTION = re.compile(r"(?:^|\s)-{1,2}[A-Za-z]")
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
_GIVEN: dict[str, tuple[str, Scalar]] = {
    "-C": ("connect_per_transaction", True), "--connect": ("connect_per_transaction", True),
    "-S": ("script", "select-only"), "--select-only": ("script", "select-only"),
    "-N": ("script", "simple-update"), "--skip-some-updates": ("script", "simple-update"),
}  # fmt: skip
_WITH_VALUE = "cjTtsRLFMbfPDhpUIV"


def command_line(text: str) -> str:
    """The command as it stands in the line, empty where it holds none."""
    match = _COMMAND.search(text) if "pgbench" in text else None
    arguments = text[match.end() :] if match else ""
    return f"pgbench {unquoted(arguments)}" if _OPTION.search(arguments) else ""


def parameters(command: str) -> dict[str, Scalar]:
    """What the options say; an option given twice counts as pgbench takes it, the last one."""
    told: dict[str, Scalar] = {}
    for name, value in _options(command):
        if name in _NUMBERS and re.fullmatch(r"\d+(?:\.\d+)?", value):
            told[_NUMBERS[name]] = float(value) if "." in value else int(value)
        elif name in _TEXTS and value:
            told[_TEXTS[name]] = value
        elif name in _GIVEN:
            key, given = _GIVEN[name]
            told[key] = given
    return told


def _options(command: str) -> Iterator[tuple[str, str]]:
    """Options with their values: `-c 4`, `-c4`, `--client=4`, `-Snc 4`."""
    words = iter(words_of(command, ends="|>")[1:])
    for word in words:
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            takes_next = not equals and (name in _NUMBERS or name in _TEXTS)
            yield name, next(words, "") if takes_next else value
        elif word.startswith("-"):
            for at, letter in enumerate(word[1:], start=2):
                if letter in _WITH_VALUE:
                    yield f"-{letter}", word[at:] or next(words, "")
                    break
                yield f"-{letter}", ""
