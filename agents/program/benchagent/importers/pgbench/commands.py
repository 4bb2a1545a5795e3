"""Command lines of pgbench that stand in a log: `+ pgbench -c 4 …` of set -x, a shell's prompt, a script's echo."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from benchagent.importers.base import Scalar

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
_FLAGS = {"-C": "connect_per_transaction", "--connect": "connect_per_transaction"}
_SCRIPTS = {"-S": "select-only", "--select-only": "select-only", "-N": "simple-update", "--skip-some-updates":
            "simple-update"}  # fmt: skip
_WITH_VALUE = "cjTtsRLFMbfPDhpUIV"


def command_line(text: str) -> str:
    """The command as it stands in the line, empty where it holds none."""
    match = _COMMAND.search(text)
    arguments = text[match.end() :] if match else ""
    if not _OPTION.search(arguments):
        return ""
    # A quote that was opened before the command.
    last = arguments[-1]
    return "pgbench " + (arguments[:-1] if last in "'\"`" and arguments.count(last) % 2 else arguments)


def initialises(command: str) -> bool:
    return any(name in ("-i", "--initialize") for name, _ in _options(command))


def parameters(command: str) -> dict[str, Scalar]:
    """What the options say; an option given twice counts as pgbench takes it, the last one."""
    found: dict[str, Scalar] = {}
    for name, value in _options(command):
        if name in _NUMBERS and re.fullmatch(r"\d+(?:\.\d+)?", value):
            found[_NUMBERS[name]] = float(value) if "." in value else int(value)
        elif name in _TEXTS and value:
            found[_TEXTS[name]] = value
        elif name in _FLAGS:
            found[_FLAGS[name]] = True
        elif name in _SCRIPTS:
            found["script"] = _SCRIPTS[name]
    return found


def _options(command: str) -> Iterator[tuple[str, str]]:
    """Options with their values: `-c 4`, `-c4`, `--client=4`, `-Snc 4`."""
    try:
        words = shlex.split(command.partition("|")[0].partition(">")[0])[1:]
    except ValueError:
        words = command.split()[1:]
    place = 0
    while place < len(words):
        word = words[place]
        following = words[place + 1] if place + 1 < len(words) else ""
        place += 1
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            if not equals and name in {**_NUMBERS, **_TEXTS}:
                value, place = following, place + 1
            yield name, value
        elif word.startswith("-"):
            letters = word[1:]
            for at, letter in enumerate(letters):
                if letter in _WITH_VALUE:
                    rest = letters[at + 1 :]
                    place += 0 if rest else 1
                    yield f"-{letter}", rest or following
                    break
                yield f"-{letter}", ""
