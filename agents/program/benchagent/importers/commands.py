"""Command lines that stand in a log: their words, and what their options say."""

from __future__ import annotations

import re
import shlex

from benchagent.importers.report import Scalar

# Longer lines are no command lines, and would cost the square of their length.
MAX_COMMAND = 4000
_EXIT = re.compile(r"(?:exit(?:ed)?(?: code| status| with)?|rc|exit_code)\s*[:= ]\s*(\d{1,3})", re.IGNORECASE)


def words_of(command: str, ends: str = "") -> list[str]:
    """The words as a shell takes them; `ends`: characters behind which another command or a file follows."""
    if ends:
        command = re.split(f"[{ends}]", command, maxsplit=1)[0]
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def is_failed_exit(text: str) -> bool:
    """Whether a shell echoed an exit status other than 0."""
    code = _EXIT.fullmatch(text)
    return code is not None and int(code[1]) != 0


def unquoted(arguments: str) -> str:
    """Without the closing quote of one that was opened before the command."""
    last = arguments[-1:]
    return arguments[:-1] if last in tuple("'\"`") and arguments.count(last) % 2 else arguments


def whole_or_text(text: str) -> Scalar:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 18 else text
