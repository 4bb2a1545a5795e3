"""Grammars of configuration files: lines that keep every byte, and the parameters that stand in them.

`FORMATS` in `benchagent.configfiles` lists the grammars.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum


class LineKind(StrEnum):
    BLANK = "blank"
    COMMENT = "comment"
    SECTION = "section"
    SETTINGS = "settings"
    INCLUDE = "include"
    NOT_UNDERSTOOD = "not_understood"


@dataclass(frozen=True)
class Entry:
    """One parameter as it stands in a file.

    `given` is its value as written, quotes kept, continuation lines joined; `value` is what the DBMS reads. Both are
    None for a flag: a name that stands alone. `span` is where `given` stands in `Line.text`.
    """

    name: str
    given: str | None
    value: str | None
    section: str = ""
    comment: str = ""
    line: int = 0
    span: tuple[int, int] | None = None
    problem: str = ""


@dataclass(frozen=True)
class Line:
    """One logical line (a continued one is several physical lines) with its line ends. `number` counts from 1."""

    number: int
    text: str
    kind: LineKind
    entries: tuple[Entry, ...] = ()
    # What an include directive names, or the name of a section.
    target: str = ""
    problem: str = ""


@dataclass(frozen=True)
class ParsedFile:
    format: str
    lines: tuple[Line, ...]

    def render(self) -> str:
        return "".join(line.text for line in self.lines)

    @property
    def entries(self) -> list[Entry]:
        return [entry for line in self.lines for entry in line.entries]

    @property
    def includes(self) -> list[str]:
        return [line.target for line in self.lines if line.kind is LineKind.INCLUDE]

    @property
    def problems(self) -> list[tuple[int, str]]:
        """Line numbers and what is odd there."""
        of_lines = [(line.number, line.problem) for line in self.lines if line.problem]
        of_entries = [(entry.line, entry.problem) for entry in self.entries if entry.problem]
        return sorted(of_lines + of_entries)


@dataclass(frozen=True)
class Format:
    """`render` writes one parameter as a line (without section) that `parse` reads back."""

    name: str
    label: str
    dbms: str
    parse: Callable[[str], Iterator[Line]]
    render: Callable[[Entry], str]
    file_name: str
    sections: bool = False


_LINES = re.compile(r"[^\n]*\n|[^\n]+")


def physical_lines(text: str) -> list[str]:
    r"""Lines with their ends, cut at `\n` only: what joins them again is the text."""
    return _LINES.findall(text)


def body(text: str) -> str:
    """A line without its end."""
    return text.removesuffix("\n").removesuffix("\r")


def numbered(text: str) -> Iterator[tuple[int, str]]:
    return enumerate(physical_lines(text), 1)


def by_line(
    marks: str,
    read: Callable[[int, str, str], Line],
    lines: Callable[[str], Iterable[tuple[int, str]]] = numbered,
    blanks: str | None = None,
) -> Callable[[str], Iterator[Line]]:
    """What parses a text into blank lines, comments that begin with one of `marks`, and what `read` makes of the
    number, the text and the section of any other line."""

    def parse(text: str) -> Iterator[Line]:
        section = ""
        for number, line_text in lines(text):
            bare = line_text.strip(blanks)
            if not bare or bare[0] in marks:
                yield Line(number, line_text, LineKind.COMMENT if bare else LineKind.BLANK)
                continue
            line = read(number, line_text, section)
            section = line.target if line.kind is LineKind.SECTION else section
            yield line

    return parse


def unquoted(given: str, quotes: str = "'\"") -> str:
    return given[1:-1] if len(given) > 1 and given[0] == given[-1] and given[0] in quotes else given


def comment_text(raw: str) -> str:
    """An inline comment without its mark."""
    return raw.strip().lstrip("#;!").strip()


def inline_comment(entry: Entry) -> str:
    return f"  # {one_line(entry.comment)}" if entry.comment else ""


def one_line(text: str) -> str:
    return " ".join(text.split())
