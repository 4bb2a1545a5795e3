"""cubrid.conf: groups in brackets (`[service]`, `[common]`, `[@database]`), `name=value`, values in quotes or bare.

`#` and `;` begin a comment, at the start of a line and after a value. Where a name stands twice in a group the file
does not say which holds; we keep both and read the last.
"""

from __future__ import annotations

import re

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

MARKS = "#;"


def end_of_value(text: str) -> int:
    """Where a comment begins that is not inside quotes; the length of the text where there is none."""
    quote = ""
    for place, character in enumerate(text):
        if character in "'\"" and (not quote or quote == character):
            quote = "" if quote else character
        elif character in MARKS and not quote:
            return place
    return len(text)


def unquoted(given: str) -> str:
    return given[1:-1] if len(given) > 1 and given[0] == given[-1] and given[0] in "'\"" else given


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
        end = end_of_value(content)
        setting = content[:end].strip()
        if setting.startswith("["):
            return self._section(number, text, setting)
        name, equals, rest = content[:end].partition("=")
        if not name.strip():
            return Line(number, text, LineKind.NOT_UNDERSTOOD, problem="a value without a name")
        given, span = None, None
        if equals:
            given = rest.strip()
            begin = len(name) + 1 + (len(rest) - len(rest.lstrip()) if given else 0)
            span = (begin, begin + len(given))
        entry = Entry(
            name=name.strip(), given=given, value=None if given is None else unquoted(given), section=self.section,
            comment=comment_text(content[end:]), line=number, span=span,
            problem="" if given is not None else "a name without a value",
        )  # fmt: skip
        return Line(number, text, LineKind.SETTINGS, (entry,))

    def _section(self, number: int, text: str, setting: str) -> Line:
        if not setting.endswith("]"):
            return Line(number, text, LineKind.NOT_UNDERSTOOD, problem="the bracket of a group is not closed")
        self.section = setting[1:-1].strip()
        return Line(number, text, LineKind.SECTION, target=self.section)


def parse(text: str) -> tuple[Line, ...]:
    return tuple(simple_lines(text, _Reader().read))


def render(entry: Entry) -> str:
    comment = f"  # {one_line(entry.comment)}" if entry.comment else ""
    if entry.given is None:
        return f"{entry.name}{comment}"
    given = one_line(entry.given)
    if unquoted(given) == given and re.search(r"[#;\"']", given):
        given = f"'{given}'" if '"' in given else f'"{given}"'
    return f"{entry.name}={given}{comment}"


FORMAT = Format("cubrid", "cubrid.conf", "cubrid", parse, render, "cubrid.conf", sections=True)
