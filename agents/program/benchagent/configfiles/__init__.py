"""Configuration files of DBMSs: read without losing a byte, recognised by content, compared by meaning.

`parse(text, format).render() == text` holds for every text and every format.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from benchagent.configfiles.engines import ENGINES
from benchagent.configfiles.formats import (
    Entry,
    Format,
    Line,
    LineKind,
    ParsedFile,
    equals,
    init_ora,
    postgresql,
    properties,
)
from benchagent.redaction import REDACTED, names_a_secret, redact_text

__all__ = [
    "FORMATS", "Entry", "Format", "Line", "LineKind", "ParsedFile", "format_of", "parse", "recognise", "redacted",
    "render",
]  # fmt: skip

BOM = "\ufeff"
# The beginning of a longer file tells its format.
TELLING_CHARACTERS = 200_000
FORMATS: dict[str, Format] = {
    format.name: format
    for format in (
        postgresql.FORMAT, equals.MY_CNF, equals.FIREBIRD, equals.CUBRID, properties.FORMAT, init_ora.FORMAT,
        equals.PLAIN,
    )
}  # fmt: skip
# Engines that read the same file format as another.
ALIASES = {"mariadb": "mysql"}


def parse(text: str, format: str) -> ParsedFile:
    """Every byte of the text as lines. Raises KeyError for an unknown format; no text is refused."""
    if not text.startswith(BOM):
        return ParsedFile(format, tuple(FORMATS[format].parse(text)))
    first, *rest = tuple(FORMATS[format].parse(text[1:])) or (Line(1, "", LineKind.BLANK),)
    # The byte order mark belongs to no parameter: each of the first line stands one character further.
    entries = tuple(
        replace(entry, span=(entry.span[0] + 1, entry.span[1] + 1)) if entry.span else entry for entry in first.entries
    )
    return ParsedFile(format, (replace(first, text=BOM + first.text, entries=entries), *rest))


def recognise(text: str) -> str | None:
    """Name of the format of a text; None where nothing tells, or two formats are as likely."""
    beginning = text[:TELLING_CHARACTERS]
    scores = [(score(parse(beginning, name), kind), name) for name, kind in FORMATS.items() if kind.dbms in ENGINES]
    (first, name), (second, _) = sorted(scores, reverse=True)[:2]
    return name if first >= SET and first > second else None


def format_of(dbms: str) -> str:
    """The format in which a DBMS's settings are written."""
    return next((kind.name for kind in FORMATS.values() if kind.dbms == ALIASES.get(dbms, dbms)), "plain")


def redacted(parsed: ParsedFile) -> ParsedFile:
    """The same file with the values of secrets replaced, everything else byte for byte as it was."""
    return parse(redact_text("".join(redacted_line(line) for line in parsed.lines)), parsed.format)


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


# A parameter that is commented out tells as much about the format as one that is set, but an editor's remark may too.
SET, COMMENTED, SECTION, PREFIX = 4, 1, 12, 6
_COMMENTED = re.compile(r"\s*[#;!]\s*([A-Za-z_][\w.-]*)\s*(?:[=:]|\Z)")
SECTIONS = {
    "my_cnf": re.compile(
        r"(?:mysqld?|client|mariadb|mariadbd|server|galera|embedded|mysqld_safe|mysqldump|mysql_safe|myisamchk|isamchk"
        r"|mysqlhotcopy|safe_mysqld|mysql-server|client-server)(?:[-.\d_]\w*)?\Z",
        re.IGNORECASE,
    ),
    "cubrid": re.compile(r"(?:service|common|@\w[\w@.-]*)\Z"),
}


def score(parsed: ParsedFile, kind: Format) -> int:
    """How much of the content is typical of the format; 0 is nothing."""
    engine = ENGINES[kind.dbms]
    points = 0
    for line in parsed.lines:
        if line.kind is LineKind.SECTION and kind.name in SECTIONS and SECTIONS[kind.name].match(line.target):
            points += SECTION
        elif line.kind is LineKind.COMMENT:
            commented = _COMMENTED.match(line.text)
            points += COMMENTED if commented and engine.knows(commented[1]) else 0
        elif line.kind is LineKind.INCLUDE and line.text.lstrip().startswith("!"):
            points += SET
        else:
            points += sum(_weight(entry.name, entry.section, kind) for entry in line.entries)
    return points


def _weight(name: str, section: str, kind: Format) -> int:
    if kind.name == "derby":
        return PREFIX if name.startswith("derby.") else 0
    if kind.name == "init_ora" and section == "*":
        return SET + PREFIX
    return SET if ENGINES[kind.dbms].knows(name) else 0


def redacted_line(line: Line) -> str:
    """The text of a line without its secrets: values of secret names, addresses with passwords, comments."""
    if line.kind is LineKind.NOT_UNDERSTOOD:
        return _unknown(line.text)
    if line.kind is not LineKind.SETTINGS:
        return redact_text(line.text)
    text, copied = [], 0
    for entry in line.entries:
        if entry.span is None:
            continue
        begin, end = entry.span
        text += [line.text[copied:begin], _value(entry, line.text[begin:end])]
        copied = end
    if not copied and line.entries:  # a name alone is left as it is; what stands behind it may be a comment
        name = line.entries[0].name
        copied = line.text.find(name) + len(name)
        text = [line.text[:copied]]
    return "".join([*text, redact_text(line.text[copied:])])


def _value(entry: Entry, given: str) -> str:
    if not names_a_secret(entry.name):
        return redact_text(given)
    if not given or REDACTED in given:
        return given
    quote = given[0] if given[0] in "'\"" and given[-1] == given[0] and len(given) > 1 else ""
    return f"{quote}{REDACTED}{quote}"


def _unknown(text: str) -> str:
    """`password hunter2` is no parameter, but a secret."""
    name = text.split(maxsplit=1)[0] if text.split() else ""
    if not name or not names_a_secret(name) or "=" in name:
        return redact_text(text)
    begin = text.index(name) + len(name)
    ending = text[len(text.rstrip()) :]
    return f"{text[:begin]} {REDACTED}{ending}" if text[begin:].strip() else text
