"""postgresql.conf: `name = value`, the equals sign may be missing, `#` begins a comment outside quotes.

The grammar is that of PostgreSQL's own configuration file scanner (manual, "Parameter Interaction via the
Configuration File"): a value with a blank or a sign needs single quotes, a quote inside is doubled or escaped.
"""

from __future__ import annotations

import re

from benchagent.configfiles.formats import (
    Entry,
    Format,
    Line,
    LineKind,
    body,
    by_line,
    comment_text,
    inline_comment,
    one_line,
)

_LINE = re.compile(
    r"(?P<name>[A-Za-z_][\w$]*(?:\.[A-Za-z_][\w$]*)*)"
    r"(?P<separator>[ \t\r\f\v]*=[ \t\r\f\v]*|[ \t\r\f\v]+|(?='))"
    r"(?P<value>'(?:[^'\\]|\\.|'')*'|[^\s'#=]+)?"
    r"[ \t\r\f\v]*(?P<comment>#.*)?\Z"
)
_ESCAPE = re.compile(r"''|\\([0-7]{1,3}|.)")
_CONTROL = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_PLAIN = re.compile(r"[^\s'#=]+\Z")
INCLUDES = ("include", "include_if_exists", "include_dir")


def _value(given: str) -> str:
    if not (len(given) > 1 and given[0] == given[-1] == "'"):
        return given
    return _ESCAPE.sub(_unescaped, given[1:-1])


def _unescaped(match: re.Match[str]) -> str:
    escaped = match[1]
    if escaped is None:
        return "'"
    return chr(int(escaped, 8) & 0xFF) if escaped[0] in "01234567" else _CONTROL.get(escaped, escaped)


def _read(number: int, text: str, section: str) -> Line:
    content = body(text)
    match = _LINE.match(content + " ", len(content) - len(content.lstrip()))
    if match is None:
        why = "not `name = value`; a value with a blank or a sign in it needs single quotes"
        why = "a quote is not closed" if content.count("'") % 2 else why
        return Line(number, text, LineKind.NOT_UNDERSTOOD, problem=why)
    given, comment = match["value"], comment_text(match["comment"] or "")
    if match["name"].lower() in INCLUDES and given is not None:
        return Line(number, text, LineKind.INCLUDE, target=_value(given))
    entry = Entry(
        name=match["name"], given=given, value=None if given is None else _value(given), comment=comment, line=number,
        span=None if given is None else match.span("value"),
        problem="" if given is not None else "PostgreSQL refuses a parameter without a value",
    )  # fmt: skip
    return Line(number, text, LineKind.SETTINGS, (entry,))


def _render(entry: Entry) -> str:
    given = entry.given
    if given is None:
        return f"{entry.name} {inline_comment(entry)}".rstrip()
    quoted = len(given) > 1 and given[0] == given[-1] == "'"
    if not quoted and not _PLAIN.match(given):
        given = "'" + one_line(given).replace("\\", "\\\\").replace("'", "''") + "'"
    return f"{entry.name} = {given}{inline_comment(entry)}"


FORMAT = Format("postgresql", "postgresql.conf", "postgresql", by_line("#", _read), _render, "postgresql.conf")
