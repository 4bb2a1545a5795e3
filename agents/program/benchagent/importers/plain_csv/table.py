"""Text -> a rectangular table, with its numbers in plain form."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from benchagent.importers.source import NotUnderstood, SourceFile, is_number, number, once

_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+")
_SEPARATORS = ",;\t|"
MISSING = frozenset({"", "-", "na", "n/a", "nan", "null", "none", "nil"})
_MAX_COLUMNS = 1000


@dataclass(frozen=True)
class Table:
    headings: tuple[str, ...]
    # Cells stripped; numbers with a decimal point.
    rows: tuple[tuple[str, ...], ...]
    # The line of each row in the file.
    lines: tuple[int, ...]
    # The last line had no line end, so it may be cut.
    cut: bool = False
    decimal_comma: bool = False

    def column(self, heading: str) -> list[str]:
        index = self.headings.index(heading)
        return [row[index] for row in self.rows]


def is_stamp(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return len(text) >= 10


def seconds(text: str) -> float:
    """A number, or a time of day and date as seconds since 1970. Raises NotUnderstood."""
    if is_number(text) or not is_stamp(text):
        return number(text)
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def is_missing(text: str) -> bool:
    return text.lower() in MISSING


def needed(file: SourceFile) -> Table:
    table = table_of(file)
    if table is None:
        raise NotUnderstood("not a table with a header and rows of the same width")
    return table


@once
def table_of(file: SourceFile) -> Table | None:
    """The table of a file; None for what is none. Raises NotUnderstood for one whose numbers are ambiguous."""
    if file.text.lstrip()[:1] in ("", "{", "[", "<"):
        return None
    lines = [(number, line) for number, line in enumerate(file.lines, start=1) if line.strip()]
    while lines and lines[0][1].lstrip().startswith("#"):
        lines = lines[1:]
    cut = bool(lines) and not file.last_line_is_whole
    if cut:
        lines = lines[:-1]
    if len(lines) < 2:
        return None
    for separator in _SEPARATORS:
        cells = _split([line for _, line in lines], separator)
        if cells is not None:
            return _table(cells, [number for number, _ in lines], separator, cut=cut)
    return None


def _split(lines: Sequence[str], separator: str) -> list[list[str]] | None:
    """Rows of equal width; None where they are not. A cell never holds a line end."""
    if separator not in lines[0]:
        return None
    try:
        read = csv.reader(lines, delimiter=separator, strict=True)
        rows = [[cell.strip() for cell in row] for row in read]
    except csv.Error:
        return None
    if len(rows) != len(lines):
        return None
    if separator == "|":
        rows = [row[1:-1] if row[0] == row[-1] == "" else row for row in rows]
    width = len(rows[0])
    return rows if 2 <= width <= _MAX_COLUMNS and all(len(row) == width for row in rows) else None


def _table(cells: list[list[str]], numbers: list[int], separator: str, *, cut: bool) -> Table | None:
    headings, rows = cells[0], cells[1:]
    if any(not heading or is_number(heading) or _COMMA_NUMBER.fullmatch(heading) for heading in headings):
        return None
    if len({heading.lower() for heading in headings}) != len(headings):
        return None
    commas = [cell for row in rows for cell in row if _COMMA_NUMBER.fullmatch(cell)]
    decimal_comma = bool(commas) and separator != ","
    if decimal_comma:
        if any("." in cell and is_number(cell) for row in rows for cell in row):
            raise NotUnderstood("numbers with a decimal point and numbers with a comma in one table")
        if all(len(cell.partition(",")[2]) == 3 for cell in commas):
            raise NotUnderstood("the commas of the numbers may be decimal or of thousands")
        rows = [[cell.replace(",", ".") if _COMMA_NUMBER.fullmatch(cell) else cell for cell in row] for row in rows]
    if not any(is_number(cell) for row in rows for cell in row):
        return None
    return Table(tuple(headings), tuple(map(tuple, rows)), tuple(numbers[1:]), cut=cut, decimal_comma=decimal_comma)
