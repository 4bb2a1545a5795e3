r"""derby.properties: a Java properties file (java.util.Properties.load).

`#` or `!` begins a comment only at the start of a line, `=`, `:` or a blank ends the name, a backslash at the end
continues a line, blanks at the end belong to the value. There are no inline comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchagent.configfiles.formats import Entry, Format, Line, LineKind, by_line

_PHYSICAL = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_CONTINUATION = re.compile(r"\\(?:\r\n|\r|\n)[ \t\f]*")
_NAME = re.compile(r"[ \t\f]*(?P<name>(?:[^\\ \t\f=:]|\\(?s:.))*)")
_SEPARATOR = re.compile(r"(?:[ \t\f]|\\(?:\r\n|\r|\n))*[=:]?(?:[ \t\f]|\\(?:\r\n|\r|\n))*")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|(?s:(.)))")
BLANKS = " \t\f\r\n"
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}


def unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)) if match[1] else _CONTROL.get(match[2], match[2]), text)


def _continues(line: str) -> bool:
    content = line.rstrip("\r\n")
    return line != content and (len(content) - len(content.rstrip("\\"))) % 2 == 1


def _logical(text: str) -> Iterator[tuple[int, str]]:
    """Number of the first physical line, and the text with everything that is continued."""
    number, first, held = 0, 1, ""
    for line in _PHYSICAL.findall(text):
        number += 1
        if not held:
            first = number
            if line.strip(BLANKS)[:1] in ("", "#", "!"):
                yield number, line
                continue
        held += line
        if not _continues(line):
            yield first, held
            held = ""
    if held:
        yield first, held


def _read(number: int, text: str, section: str) -> Line:
    content = text.rstrip("\r\n") if not _continues(text) else text
    name = _NAME.match(content)
    separator = _SEPARATOR.match(content, name.end() if name else 0)
    begin = separator.end() if separator else len(content)
    if name is None or not name["name"]:
        return Line(number, text, LineKind.NOT_UNDERSTOOD, problem="a value without a name")
    alone = separator is None or not separator.group()
    given = None if alone else _CONTINUATION.sub("", content[begin:])
    problem = ""
    if given is None:
        problem = "a name without a value: Java reads an empty text"
    elif given != given.rstrip():
        problem = "the blank at the end belongs to the value"
    entry = Entry(
        name=unescaped(_CONTINUATION.sub("", name["name"])), given=given, line=number,
        value=None if given is None else unescaped(given), span=None if alone else (begin, len(content)),
        problem=problem,
    )  # fmt: skip
    return Line(number, text, LineKind.SETTINGS, (entry,))


def _render(entry: Entry) -> str:
    """Without inline comments, a comment becomes a line above."""
    above = "".join(f"# {line}\n" for line in entry.comment.splitlines() if line.strip())
    name = re.sub(r"([\\ =:])", r"\\\1", entry.name).replace("\n", "\\n")
    if entry.given is None:
        return f"{above}{name}"
    given = entry.given.replace("\r", "\\r").replace("\n", "\\n")
    return f"{above}{name}={given}"


FORMAT = Format(
    "derby", "derby.properties", "derby", by_line("#!", _read, _logical, BLANKS), _render, "derby.properties"
)
