"""Configuration files of DBMSs: read without losing a byte, recognised by content, compared by meaning.

`parse(text, format).render() == text` holds for every text and every format.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from benchagent.configfiles import cubrid, derby, firebird, init_ora, my_cnf, plain, postgresql, recognition
from benchagent.configfiles.model import Entry, Format, Line, LineKind, ParsedFile
from benchagent.configfiles.redact import redacted_line

__all__ = [
    "FORMATS", "Entry", "Format", "Line", "LineKind", "ParsedFile", "format_of", "parse", "recognise", "redacted",
    "render",
]  # fmt: skip

BOM = "\ufeff"
# Of a longer file the beginning tells its format.
TELLING_CHARACTERS = 200_000
FORMATS: dict[str, Format] = {
    module.FORMAT.name: module.FORMAT for module in (postgresql, my_cnf, firebird, cubrid, derby, init_ora, plain)
}


def parse(text: str, format: str) -> ParsedFile:
    """Every byte of the text as lines. Raises KeyError for an unknown format; no text is refused."""
    if not text.startswith(BOM):
        return ParsedFile(format, FORMATS[format].parse(text))
    first, *rest = FORMATS[format].parse(text[1:]) or (Line(1, "", LineKind.BLANK),)
    return ParsedFile(format, (_behind_mark(first), *rest))


def _behind_mark(line: Line) -> Line:
    """The first line of a file that begins with a byte order mark, which belongs to no parameter."""
    entries = [
        replace(entry, span=(entry.span[0] + 1, entry.span[1] + 1)) if entry.span else entry for entry in line.entries
    ]
    return replace(line, text=BOM + line.text, entries=tuple(entries))


def recognise(text: str) -> str | None:
    """Name of the format of a text; None where nothing tells, or two formats are as likely."""
    own = {name: kind for name, kind in FORMATS.items() if kind.dbms}
    beginning = text[:TELLING_CHARACTERS]
    return recognition.best({name: (kind, parse(beginning, name)) for name, kind in own.items()})


def format_of(dbms: str) -> str:
    """The format in which a DBMS's settings are written."""
    return next((kind.name for kind in FORMATS.values() if kind.dbms == ALIASES.get(dbms, dbms)), "plain")


# Engines that read the same file format as another.
ALIASES = {"mariadb": "mysql"}


def redacted(parsed: ParsedFile) -> ParsedFile:
    """The same file with the values of secrets replaced, everything else byte for byte as it was."""
    return parse("".join(redacted_line(line) for line in parsed.lines), parsed.format)


def render(entries: Iterable[Entry], format: str) -> str:
    """A file with these parameters in this order; a section begins where the one of a parameter differs."""
    kind = FORMATS[format]
    lines: list[str] = []
    section = ""
    for entry in entries:
        if kind.sections and entry.section != section:
            section = entry.section
            lines += ([""] if lines else []) + [f"[{section}]"]
        lines.append(kind.render(entry))
    return "".join(f"{line}\n" for line in lines)
