"""What tells old results apart: names of files that say a date, a label, a commit, and the order of commits."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentTypeError
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

# What a pattern may name -> what may stand there.
_FIELDS = {
    "date": r"\d{4}-?\d{2}-?\d{2}", "commit": r"[0-9a-f]{7,40}", "label": r"[^/]+?", "branch": r"[^/]+?",
    "build": r"[^/]+?",
}  # fmt: skip
NAMES_HELP = "what names tell, as nightly-{date}-{commit}.log: date, commit, label, branch, build; * is anything"
_PIECE = re.compile(r"\{(\w+)\}|\*|[^{*]+|\{")


@dataclass(frozen=True)
class Names:
    """The parts of a pattern of names, in their order: as they are written, and as regular expressions."""

    written: tuple[str, ...]
    parts: tuple[str, ...]


def pattern(text: str) -> Names:
    """`nightly-{date}/{commit}-*.log`, read. Raises ArgumentTypeError."""
    written, parts, named = [], [], set()
    for piece in _PIECE.finditer(text):
        field = piece[1]
        if field is not None and (field not in _FIELDS or field in named):
            raise ArgumentTypeError(f"{text!r}: {{{field}}} is twice in it, or none of {', '.join(_FIELDS)}")
        named.add(field)
        written.append(piece[0])
        parts.append(f"(?P<{field}>{_FIELDS[field]})" if field else "[^/]*" if piece[0] == "*" else re.escape(piece[0]))
    if named <= {None}:
        raise ArgumentTypeError(f"{text!r}: say what the names tell, as nightly-{{date}}-{{commit}}.log")
    return Names(tuple(written), tuple(parts))


def details_in_name(name: str, names: Names) -> dict[str, Any] | None:
    """What a file's name says, as the API takes it; None where it does not fit. The folders above may be left out."""
    whole = "".join(names.parts)
    match = re.fullmatch(whole, name) or re.fullmatch(f"(?:.*/)?{whole}", name)
    if match is None:
        return None
    named = match.groupdict()
    said: dict[str, Any] = {"label": named["label"]} if named.get("label") else {}
    if day := named.get("date"):
        try:
            said["measured_on"] = date.fromisoformat(day).isoformat()
        except ValueError:
            return None
    tested = {field: named[field] for field in ("commit", "branch", "build") if named.get(field)}
    return said | ({"tested": tested} if tested else {})


def why_not(name: str, names: Names) -> str:
    """Which part of the pattern a name that does not fit lacks."""
    for count in range(len(names.parts), 0, -1):
        if begins := re.match(f"(?:.*/)?{''.join(names.parts[:count])}", name):
            if count < len(names.parts):
                return f"no {names.written[count]} follows {''.join(names.written[:count])}"
            rest = name[begins.end() :]
            return f"{rest!r} is left over" if rest else "its date is no day"
    return f"it has no {names.written[0]}"


def merged(details: Mapping[str, Any], said: Mapping[str, Any]) -> dict[str, Any]:
    """What options say of all files, with what the name of one tells."""
    both = {**details, **said}
    tested = {**details.get("tested", {}), **said.get("tested", {})}
    return both | ({"tested": tested} if tested else {})


class Commits:
    """The order of commits: what `git rev-list BRANCH` prints, the newest first."""

    def __init__(self, file: str) -> None:
        """Raises ArgumentTypeError."""
        try:
            text = sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ArgumentTypeError(f"{file}: {error}") from error
        words = [line.split()[0] for line in text.splitlines() if line.strip()]
        if wrong := next((word for word in words if not re.fullmatch("[0-9a-f]{7,64}", word)), ""):
            raise ArgumentTypeError(f"{file}: {wrong[:40]!r} is no commit; `git rev-list BRANCH` prints such a list")
        self._numbers = {word: len(words) - at for at, word in enumerate(words)}

    def number(self, commit: str) -> str:
        """How many commits there are up to it; empty of one that the list does not hold, or of which it holds several.

        `commit` may be the beginning of one.
        """
        if found := self._numbers.get(commit):
            return str(found)
        fitting = [number for each, number in self._numbers.items() if len(commit) >= 7 and each.startswith(commit)]
        return str(fitting[0]) if len(fitting) == 1 else ""

    def ordered(self, tested: Mapping[str, str]) -> dict[str, str]:
        """What was tested, with the number of its commit."""
        number = self.number(tested.get("commit", ""))
        return {**tested, "commit_number": number} if number and not tested.get("commit_number") else {**tested}
