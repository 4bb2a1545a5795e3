"""init.ora, Oracle's text parameter file: `name = value`, several on a line, lists in parentheses over lines.

`#` begins a comment outside quotes; `*.name` and `sid.name` (files made from an spfile) give a section; a backslash
at the end continues a line (Oracle Database Administrator's Guide, "Text Initialization Parameter File").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

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
    physical_lines,
    unquoted,
)

MAX_CONTINUED_LINES = 50
_ITEM = r"\"[^\"]*\"|'[^']*'|(?:[^\s,#()\"'\\]|\\(?!\r?\n))+"
_GAP = r"(?:\s|\\\r?\n)"
_SETTING = re.compile(
    r"(?:(?P<sid>\*|[A-Za-z][\w$#]*)\.)?(?P<name>[A-Za-z_][\w$]*)\s*=(?:[^\S\r\n]|\\\r?\n)*"
    rf"(?P<value>\((?:\"[^\"]*\"|'[^']*'|[^()\"'])*(?:\((?:[^()])*\)[^()]*)*\)|(?:{_ITEM})(?:{_GAP}*,{_GAP}*(?:{_ITEM}))*|)"
)
_CONTINUED = re.compile(r"\\\r?\n")
_BETWEEN = re.compile(r"(?:[\s,]|\\\r?\n)*")
_QUOTED = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'|#[^\n]*")
INCLUDES = ("ifile", "spfile")


def _logical(text: str) -> Iterator[tuple[int, str]]:
    physical = physical_lines(text)
    # Parentheses that a line opens less those it closes, and whether a backslash asks for the next line.
    bare = [_QUOTED.sub("", line) for line in physical]
    depths = [(line.count("(") - line.count(")"), body(line).rstrip().endswith("\\")) for line in bare]
    first = 0
    while first < len(physical):
        count = _length(depths[first : first + MAX_CONTINUED_LINES])
        yield first + 1, "".join(physical[first : first + count])
        first += count


def _length(depths: list[tuple[int, bool]]) -> int:
    """How many physical lines belong together; one where what was opened is never closed."""
    depth = 0
    for count, (more, continued) in enumerate(depths, 1):
        depth += more
        if depth <= 0 and not continued:
            return count
    return 1


def _read(number: int, text: str, section: str) -> Line:
    entries: list[Entry] = []
    position = _skip(text, 0)
    while position < len(text) and text[position] != "#":
        match = _SETTING.match(text, position)
        if match is None:
            return Line(number, text, LineKind.NOT_UNDERSTOOD, problem="not `name = value`")
        value = match["value"]
        given = one_line(_CONTINUED.sub(" ", value)) if "\n" in value else value
        entries.append(
            Entry(match["name"], given, unquoted(given), match["sid"] or "", line=number, span=match.span("value"))
        )
        position = _skip(text, match.end())
    comment = comment_text(body(text[position:]))
    if len(entries) == 1 and entries[0].name.lower() in INCLUDES:
        return Line(number, text, LineKind.INCLUDE, target=entries[0].value or "")
    if entries and comment:
        entries[-1] = replace(entries[-1], comment=comment)
    return Line(number, text, LineKind.SETTINGS, tuple(entries))


def _skip(text: str, position: int) -> int:
    match = _BETWEEN.match(text, position)
    return match.end() if match else position


def _render(entry: Entry) -> str:
    given = one_line(entry.given or "")
    if re.search(r"[\s#()\"']", given) and unquoted(given) == given and not given.startswith("("):
        given = f"'{given}'" if '"' in given else f'"{given}"'
    prefix = f"{entry.section}." if entry.section else ""
    return f"{prefix}{entry.name} = {given}{inline_comment(entry)}"


FORMAT = Format("init_ora", "init.ora (Oracle)", "oracle", by_line("#", _read, _logical), _render, "init.ora")
