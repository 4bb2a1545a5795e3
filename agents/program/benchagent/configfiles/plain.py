"""Settings of an engine without a file format of its own: one `name = value` or `name` a line, `#` begins a comment."""

from __future__ import annotations

from benchagent.configfiles.model import Entry, Format, Line, LineKind, body, one_line, simple_lines


def _read(number: int, text: str) -> Line:
    content = body(text)
    bare = content.strip()
    if not bare:
        return Line(number, text, LineKind.BLANK)
    if bare[0] == "#":
        return Line(number, text, LineKind.COMMENT)
    name, equals, rest = content.partition("=")
    if not name.strip():
        return Line(number, text, LineKind.NOT_UNDERSTOOD, problem="a value without a name")
    given, span = None, None
    if equals:
        given = rest.strip()
        begin = len(name) + 1 + (len(rest) - len(rest.lstrip()) if given else 0)
        span = (begin, begin + len(given))
    entry = Entry(name=name.strip(), given=given, value=given, line=number, span=span)
    return Line(number, text, LineKind.SETTINGS, (entry,))


def parse(text: str) -> tuple[Line, ...]:
    return tuple(simple_lines(text, _read))


def render(entry: Entry) -> str:
    above = f"# {one_line(entry.comment)}\n" if entry.comment else ""
    return f"{above}{entry.name}" if entry.given is None else f"{above}{entry.name} = {one_line(entry.given)}"


FORMAT = Format("plain", "name = value, one a line", "", parse, render, "settings.txt")
