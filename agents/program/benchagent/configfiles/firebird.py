"""firebird.conf and databases.conf: `Name = value`, `#` begins a comment outside quotes, `include`, blocks in braces.

A block (`alias = path` followed by `{ … }`) makes a section with the name of its owner.
"""

from __future__ import annotations

from benchagent.configfiles.model import (
    Entry,
    Format,
    Line,
    LineKind,
    body,
    comment_text,
    one_line,
    simple_lines,
)


def end_of_value(text: str) -> int:
    quoted = False
    for place, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif character == "#" and not quoted:
            return place
    return len(text)


def unquoted(given: str) -> str:
    return given[1:-1] if len(given) > 1 and given[0] == given[-1] == '"' else given


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
        name, equals, rest = content[:end].partition("=")
        if not name.strip():
            return Line(number, text, LineKind.NOT_UNDERSTOOD, problem="a value without a name")
        section, opens = self.section, bool(equals) and rest.rstrip().endswith("{")
        given, span = None, None
        if equals:
            value = rest.rstrip()[:-1] if opens else rest
            given = value.strip()
            begin = len(name) + 1 + len(value) - len(value.lstrip()) if given else len(name) + 1
            span = (begin, begin + len(given))
        self.owner = name.strip()
        if opens:
            self.blocks.append(self.owner)
        entry = Entry(
            name=name.strip(), given=given, value=None if given is None else unquoted(given), section=section,
            comment=comment_text(content[end:]), line=number, span=span,
            problem="" if given is not None else "a name without a value",
        )  # fmt: skip
        return Line(number, text, LineKind.SETTINGS, (entry,))


def parse(text: str) -> tuple[Line, ...]:
    return tuple(simple_lines(text, _Reader().read))


def render(entry: Entry) -> str:
    comment = f"  # {one_line(entry.comment)}" if entry.comment else ""
    if entry.given is None:
        return f"{entry.name}{comment}"
    given = one_line(entry.given)
    if end_of_value(given) < len(given) and '"' not in given:
        given = f'"{given}"'
    return f"{entry.name} = {given}{comment}"


FORMAT = Format("firebird", "firebird.conf", "firebird", parse, render, "firebird.conf")
