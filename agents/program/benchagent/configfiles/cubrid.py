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
    comment_behind,
    one_line,
    simple_lines,
    value_line,
    without_quotes,
)

MARKS = "#;"


def end_of_value(text: str) -> int:
    """Where a comment begins that is not inside quotes; the length of the text where there is none."""
    quote = ""
    for at, character in enumerate(text):
        if character in "'\"" and (not quote or quote == character):
            quote = "" if quote else character
        elif character in MARKS and not quote:
            return at
    return len(text)


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
        return value_line(number, text, end, section=self.section, unquoted=without_quotes)

    def _section(self, number: int, text: str, setting: str) -> Line:
        if not setting.endswith("]"):
            return Line(number, text, LineKind.NOT_UNDERSTOOD, problem="the bracket of a group is not closed")
        self.section = setting[1:-1].strip()
        return Line(number, text, LineKind.SECTION, target=self.section)


def parse(text: str) -> tuple[Line, ...]:
    return tuple(simple_lines(text, _Reader().read))


def render(entry: Entry) -> str:
    comment = comment_behind(entry)
    if entry.given is None:
        return f"{entry.name}{comment}"
    given = one_line(entry.given)
    if without_quotes(given) == given and re.search(r"[#;\"']", given):
        given = f"'{given}'" if '"' in given else f'"{given}"'
    return f"{entry.name}={given}{comment}"


FORMAT = Format("cubrid", "cubrid.conf", "cubrid", parse, render, "cubrid.conf", sections=True)
