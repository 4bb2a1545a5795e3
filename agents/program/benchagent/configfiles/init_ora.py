"""init.ora, Oracle's text parameter file: `name = value`, several on a line, lists in parentheses over lines.

`#` begins a comment outside quotes; `*.name` and `sid.name` (files made from an spfile) give a section; a backslash
at the end continues a line (Oracle Database Administrator's Guide, "Text Initialization Parameter File").
"""

from __future__ import annotations

import re
from dataclasses import replace

from benchagent.configfiles.model import (
    Entry,
    Format,
    Line,
    LineKind,
    body,
    comment_behind,
    comment_text,
    one_line,
    physical_lines,
    without_quotes,
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


def _depth(line: str) -> tuple[int, bool]:
    """Parentheses that a line opens less those it closes, and whether a backslash asks for the next line."""
    bare = _QUOTED.sub("", line)
    return bare.count("(") - bare.count(")"), body(bare).rstrip().endswith("\\")


def parse(text: str) -> tuple[Line, ...]:
    found: list[Line] = []
    physical = physical_lines(text)
    depths = [_depth(line) for line in physical]
    at = 0
    while at < len(physical):
        count = _length(depths, at)
        found.append(_read(at + 1, "".join(physical[at : at + count])))
        at += count
    return tuple(found)


def _length(depths: list[tuple[int, bool]], at: int) -> int:
    """How many physical lines belong together; one where what was opened is never closed."""
    depth = 0
    for count, (more, continued) in enumerate(depths[at : at + MAX_CONTINUED_LINES], 1):
        depth += more
        if depth <= 0 and not continued:
            return count
    return 1


def _read(number: int, text: str) -> Line:
    bare = text.strip()
    if not bare:
        return Line(number, text, LineKind.BLANK)
    if bare[0] == "#":
        return Line(number, text, LineKind.COMMENT)
    entries: list[Entry] = []
    at = _skip(text, 0)
    while at < len(text) and text[at] != "#":
        match = _SETTING.match(text, at)
        if match is None:
            return Line(number, text, LineKind.NOT_UNDERSTOOD, problem="not `name = value`")
        entries.append(_entry(match, number))
        at = _skip(text, match.end())
    comment = comment_text(body(text[at:]))
    if len(entries) == 1 and entries[0].name.lower() in INCLUDES:
        return Line(number, text, LineKind.INCLUDE, target=entries[0].value or "")
    if entries and comment:
        entries[-1] = replace(entries[-1], comment=comment)
    return Line(number, text, LineKind.SETTINGS, tuple(entries))


def _skip(text: str, at: int) -> int:
    match = _BETWEEN.match(text, at)
    return match.end() if match else at


def _entry(match: re.Match[str], number: int) -> Entry:
    given = one_line(_CONTINUED.sub(" ", match["value"])) if "\n" in match["value"] else match["value"]
    return Entry(
        name=match["name"], given=given, value=without_quotes(given), section=match["sid"] or "", line=number,
        span=match.span("value"),
    )  # fmt: skip


def render(entry: Entry) -> str:
    comment = comment_behind(entry)
    given = one_line(entry.given or "")
    if re.search(r"[\s#()\"']", given) and without_quotes(given) == given and not given.startswith("("):
        given = f"'{given}'" if '"' in given else f'"{given}"'
    prefix = f"{entry.section}." if entry.section else ""
    return f"{prefix}{entry.name} = {given}{comment}"


FORMAT = Format("init_ora", "init.ora (Oracle)", "oracle", parse, render, "init.ora")
