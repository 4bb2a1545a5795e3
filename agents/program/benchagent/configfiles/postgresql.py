"""postgresql.conf: `name = value`, the equals sign may be missing, `#` begins a comment outside quotes.

The grammar is that of PostgreSQL's own configuration file scanner (manual, "Parameter Interaction via the
Configuration File"): a value with a blank or a sign needs single quotes, a quote inside is doubled or escaped.
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
    comment_text,
    one_line,
    simple_lines,
)

_LINE = re.compile(
    r"(?P<name>[A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)*)"
    r"(?P<separator>[ \t\r\f\v]*=[ \t\r\f\v]*|[ \t\r\f\v]+|(?='))"
    r"(?P<value>'(?:[^'\\]|\\.|'')*'|[^\s'#=]+)?"
    r"[ \t\r\f\v]*(?P<comment>#.*)?\Z"
)
_ESCAPE = re.compile(r"''|\\([0-7]{1,3}|.)")
_CONTROL = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
INCLUDES = ("include", "include_if_exists", "include_dir")


def unquoted(given: str) -> str:
    if not (len(given) > 1 and given[0] == given[-1] == "'"):
        return given
    return _ESCAPE.sub(_unescaped, given[1:-1])


def _unescaped(match: re.Match[str]) -> str:
    escaped = match[1]
    if escaped is None:
        return "'"
    return chr(int(escaped, 8) & 0xFF) if escaped[0] in "01234567" else _CONTROL.get(escaped, escaped)


def _read(number: int, text: str) -> Line:
    content = body(text)
    start = len(content) - len(content.lstrip())
    if start == len(content):
        return Line(number, text, LineKind.BLANK)
    if content[start] == "#":
        return Line(number, text, LineKind.COMMENT)
    match = _LINE.match(content + " ", start)
    if match is None:
        return Line(number, text, LineKind.NOT_UNDERSTOOD, problem=_why(content))
    given, comment = match["value"], comment_text(match["comment"] or "")
    if match["name"].lower() in INCLUDES and given is not None:
        return Line(number, text, LineKind.INCLUDE, target=unquoted(given))
    entry = Entry(
        name=match["name"], given=given, value=None if given is None else unquoted(given), comment=comment, line=number,
        span=None if given is None else match.span("value"),
        problem="" if given is not None else "PostgreSQL refuses a parameter without a value",
    )  # fmt: skip
    return Line(number, text, LineKind.SETTINGS, (entry,))


def _why(content: str) -> str:
    if content.count("'") % 2:
        return "a quote is not closed"
    return "not `name = value`; a value with a blank or a sign in it needs single quotes"


def parse(text: str) -> tuple[Line, ...]:
    return tuple(simple_lines(text, _read))


_PLAIN = re.compile(r"[^\s'#=]+\Z")


def render(entry: Entry) -> str:
    given = entry.given
    comment = comment_behind(entry)
    if given is None:
        return f"{entry.name} {comment}".rstrip()
    quoted = len(given) > 1 and given[0] == given[-1] == "'"
    if not quoted and not _PLAIN.match(given):
        given = "'" + one_line(given).replace("\\", "\\\\").replace("'", "''") + "'"
    return f"{entry.name} = {given}{comment}"


FORMAT = Format("postgresql", "postgresql.conf", "postgresql", parse, render, "postgresql.conf")
