"""Settings of an engine without a file format of its own: one `name = value` or `name` a line, `#` begins a comment."""

from __future__ import annotations

from benchagent.configfiles.model import Entry, Format, Line, LineKind, body, one_line, simple_lines, value_line


def _read(number: int, text: str) -> Line:
    content = body(text)
    bare = content.strip()
    if not bare:
        return Line(number, text, LineKind.BLANK)
    if bare[0] == "#":
        return Line(number, text, LineKind.COMMENT)
    return value_line(number, text, len(content), without_value="")


def parse(text: str) -> tuple[Line, ...]:
    return tuple(simple_lines(text, _read))


def render(entry: Entry) -> str:
    above = f"# {one_line(entry.comment)}\n" if entry.comment else ""
    return f"{above}{entry.name}" if entry.given is None else f"{above}{entry.name} = {one_line(entry.given)}"


FORMAT = Format("plain", "name = value, one a line", "", parse, render, "settings.txt")
