"""firebird.conf and databases.conf: `Name = value`, `#` begins a comment outside quotes, `include`, blocks in braces.

A block (`alias = path` followed by `{ … }`) makes a section with the name of its owner.
"""

from __future__ import annotations

from dataclasses import replace

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


def end_of_value(text: str) -> int:
    quoted = False
    for at, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif character == "#" and not quoted:
            return at
    return len(text)


def unquoted(given: str) -> str:
    return without_quotes(given, '"')


class _Reader:
    def __init__(self) -> None:
        self.owner = ""
        self.blocks: list[str] = []

    def read(self, number: int, text: str) -> Line:
        content = body(text)
        end = end_of_value(content)
        setting = content[:end]
        bare = setting.strip()
        if not bare:
            return Line(number, text, LineKind.COMMENT if end < len(content) else LineKind.BLANK)
        if bare in ("{", "}"):
            return self._brace(number, text, bare)
        word, _, target = bare.partition(" ")
        if word.lower() == "include" and target and "=" not in bare:
            return Line(number, text, LineKind.INCLUDE, target=unquoted(target.strip()))
        return self._setting(number, text, content, end)

    def _brace(self, number: int, text: str, brace: str) -> Line:
        if brace == "}" and not self.blocks:
            return Line(number, text, LineKind.NOT_UNDERSTOOD, problem="a brace closes that was not opened")
        if brace == "{":
            self.blocks.append(self.owner)
        else:
            self.blocks.pop()
        return Line(number, text, LineKind.SECTION, target=self.section)

    @property
    def section(self) -> str:
        return self.blocks[-1] if self.blocks else ""

    def _setting(self, number: int, text: str, content: str, end: int) -> Line:
        setting = content[:end]
        name, equals, _ = setting.partition("=")
        section, opens = self.section, bool(equals) and setting.rstrip().endswith("{")
        line = value_line(number, text, end, section=section, unquoted=unquoted)
        if line.kind is not LineKind.SETTINGS:
            return line
        self.owner = name.strip()
        if opens:
            self.blocks.append(self.owner)
            (entry,) = line.entries
            given = (entry.given or "").removesuffix("{").rstrip()
            begin = entry.span[0] if given and entry.span else len(name) + 1
            entry = replace(entry, given=given, value=unquoted(given), span=(begin, begin + len(given)))
            line = replace(line, entries=(entry,))
        return line


def parse(text: str) -> tuple[Line, ...]:
    return tuple(simple_lines(text, _Reader().read))


def render(entry: Entry) -> str:
    comment = comment_behind(entry)
    if entry.given is None:
        return f"{entry.name}{comment}"
    given = one_line(entry.given)
    if end_of_value(given) < len(given) and '"' not in given:
        given = f'"{given}"'
    return f"{entry.name} = {given}{comment}"


FORMAT = Format("firebird", "firebird.conf", "firebird", parse, render, "firebird.conf")
