"""my.cnf: groups in brackets, `name = value`, flags, `!include`. MySQL and MariaDB.

After MySQL's own option file reader: `#` and `;` begin a comment at the start of a line, `#` also within a line
outside quotes; a value may stand in quotes; dash and underscore are the same in a name.
"""

from __future__ import annotations

import re

from benchagent.configfiles.model import (
    Entry,
    Format,
    Line,
    LineKind,
    body,
    comment_behind,
    one_line,
    simple_lines,
    value_line,
    without_quotes,
)

_SECTION = re.compile(r"\s*\[(?P<name>[^\]]*)\]")
_ESCAPES = {"b": "\b", "t": "\t", "n": "\n", "r": "\r", "\\": "\\", "s": " ", '"': '"', "'": "'"}


def end_of_value(text: str, start: int = 0) -> int:
    """Where a comment begins that is not inside quotes; the length of the text where there is none."""
    quote, escaped = "", False
    for at in range(start, len(text)):
        character = text[at]
        if character in "'\"" and not escaped:
            quote = "" if quote == character else quote or character
        elif character == "#" and not quote:
            return at
        escaped = bool(quote) and character == "\\" and not escaped
    return len(text)


def unquoted(given: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match.group()), without_quotes(given))


class _Reader:
    def __init__(self) -> None:
        self.section = ""

    def read(self, number: int, text: str) -> Line:
        content = body(text)
        bare = content.strip()
        if not bare:
            return Line(number, text, LineKind.BLANK)
        if bare[0] in "#;":
            return Line(number, text, LineKind.COMMENT)
        if bare[0] == "[":
            return self._section(number, text)
        if bare[0] == "!":
            directive, _, target = bare.partition(" ")
            if directive not in ("!include", "!includedir") or not target.strip():
                return Line(number, text, LineKind.NOT_UNDERSTOOD, problem="neither !include nor !includedir")
            return Line(number, text, LineKind.INCLUDE, target=target.strip())
        problem = "" if self.section else "MySQL refuses an option before the first [group]"
        end = end_of_value(content)
        read = {"section": self.section, "without_value": problem, "with_value": problem}
        return value_line(number, text, end, unquoted=unquoted, **read)

    def _section(self, number: int, text: str) -> Line:
        match = _SECTION.match(text)
        if match is None:
            return Line(number, text, LineKind.NOT_UNDERSTOOD, problem="the bracket of a group is not closed")
        self.section = match["name"].strip()
        return Line(number, text, LineKind.SECTION, target=self.section)


def parse(text: str) -> tuple[Line, ...]:
    return tuple(simple_lines(text, _Reader().read))


def render(entry: Entry) -> str:
    comment = comment_behind(entry)
    if entry.given is None:
        return f"{entry.name}{comment}"
    given = one_line(entry.given)
    if end_of_value(given) < len(given):
        given = '"' + given.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"{entry.name} = {given}{comment}"


FORMAT = Format("my_cnf", "my.cnf (MySQL, MariaDB)", "mysql", parse, render, "my.cnf", sections=True)
