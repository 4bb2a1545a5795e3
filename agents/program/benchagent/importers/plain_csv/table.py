"""Text -> a rectangular table, with its numbers in plain form."""

from __future__ import annotations

import csv
import math
import re
from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from functools import cached_property
from itertools import filterfalse, islice
from typing import TypeVar

from benchagent.importers.source import NotUnderstood, SourceFile, is_number, number, once

_COMMA_CELL = re.compile(r"^([+-]?\d+),(\d+)$", re.MULTILINE)
THOUSANDS = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_THOUSANDS_AND_MORE = re.compile(r"^[+-]?\d{1,3}(?:,\d{3})+\.\d+$", re.MULTILINE)
# Points between thousands, as only a comma behind them shows.
_POINTED = re.compile(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_POINTED_AND_MORE = re.compile(r"^[+-]?\d{1,3}(?:\.\d{3})+,\d+$", re.MULTILINE)
_WHOLE = re.compile(r"[+-]?(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)")
# A day with points has the month in the middle.
_DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})(?![\d.])")
_DOCUMENT = re.compile(r"\s*(?:[{\[<]|\Z)")
# What Markdown, psql and mysql draw between rows, and say below them.
_RULE = re.compile(r"(?=[^-]*--)[-+|:=\s]+|\(\d+ rows?\)\s*|\d+ rows? in set\b.*")
_BLOCK_ROWS = 4096
Number = TypeVar("Number", float, float | None)
# Names of zones that are one place's only, by their hours before UTC; CST and IST are several.
ZONES = {"UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3}
MISSING = frozenset({"", "-", "na", "n/a", "nan", "null", "none", "nil"})
# Of what was set these are values: no compression, no cache.
SETTINGS = frozenset({"none", "nil"})
_MAX_COLUMNS = 1000
MOST_SHOWN = 10_000
# So many lines may stand around a table.
MOST_WORDS = 3


class Column:
    """The cells of a column, stripped, numbers with a decimal point; kept in blocks, which take as much as the file."""

    def __init__(self) -> None:
        # Each with the cells of so many rows, joined by line ends: no cell holds one.
        self.blocks: list[str] = []

    def __iter__(self) -> Iterator[str]:
        for block in self.blocks:
            yield from block.split("\n")

    @property
    def stated(self) -> Iterator[str]:
        """Cells that say something."""
        return (cell for cell in self if not is_missing(cell))

    @cached_property
    def shown(self) -> list[str]:
        """As many of them as are looked at to say what is wrong in it."""
        return [*islice(self.stated, MOST_SHOWN)]

    @cached_property
    def is_numeric(self) -> bool:
        """Whether whatever it says is a number."""
        return next(self.stated, None) is not None and all(
            _plain_numbers(block) is not None or all(map(is_number, filterfalse(is_missing, block.split("\n"))))
            for block in self.blocks
        )

    @cached_property
    def is_constant(self) -> bool:
        first = next(iter(self))
        return all(cell == first for cell in self)


def _plain_numbers(block: str) -> list[float] | None:
    """The numbers of a block; None where not every cell is a finite one in plain digits."""
    if block.strip("0123456789+-.eE\n"):
        return None
    try:
        numbers = [*map(float, block.split("\n"))]
    except ValueError:
        return None
    return numbers if math.isfinite(sum(numbers)) else None


@dataclass(frozen=True)
class CsvTable:
    headings: tuple[str, ...]
    columns: tuple[Column, ...]
    # The line of each row in the file.
    lines: array[int]
    separator: str
    # The line in which the header stands again.
    headed_again: int = 0
    # The last line had no line end, so it may be cut.
    cut: bool = False
    decimal_comma: bool = False

    def column(self, heading: str) -> Column:
        return self.columns[self.headings.index(heading)]

    @property
    def rows(self) -> Iterator[tuple[str, ...]]:
        return zip(*self.columns, strict=True)

    def numbers(self, heading: str, read: Callable[[str], Number]) -> Iterator[Number | float]:
        """A column by `read`, which is not asked of plain numbers. Raises NotUnderstood naming line and column."""
        row = 0
        for block in self.column(heading).blocks:
            cells = block.split("\n")
            if plain := _plain_numbers(block):
                yield from plain
            else:
                for at, cell in enumerate(cells, start=row):
                    try:
                        value = read(cell)
                    except NotUnderstood as error:
                        raise NotUnderstood(f"line {self.lines[at]}, column {heading!r}: {error}") from error
                    yield value
            row += len(cells)


def moment_of(text: str) -> datetime | None:
    """A date with or without a time of day, the year first or as 14.06.2023; None for anything else, as for a zone that
    may be two.
    """
    if day := _DAY_FIRST.match(text):
        text = f"{day[3]}-{day[2]:>02}-{day[1]:>02}{text[day.end() :]}"
    begin, _, zone = text.rpartition(" ")
    is_named = zone.upper() in ZONES
    try:
        moment = datetime.fromisoformat((begin.rstrip() if is_named else text).replace("/", "-"))
    except ValueError:
        return None
    if is_named and moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone(timedelta(hours=ZONES[zone.upper()])))
    return moment if len(text) >= len("2026-05-04") else None


def is_day(text: str) -> bool:
    """Whether a text that has a moment tells no time of day."""
    day = _DAY_FIRST.match(text)
    return day.end() == len(text) if day else len(text) == len("2026-05-04")


def seconds(text: str) -> float:
    """A number, or a time of day and date as seconds since 1970. Raises NotUnderstood."""
    if is_number(text) or (moment := moment_of(text)) is None:
        return number(text)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def is_missing(text: str) -> bool:
    return text.lower() in MISSING


def needed(file: SourceFile) -> CsvTable:
    table = table_of(file)
    if table is None:
        raise NotUnderstood("not a table with a header and rows of the same width")
    return table


@once
def table_of(file: SourceFile) -> CsvTable | None:
    """The table of a file; None for what is none. Raises NotUnderstood for one whose numbers are ambiguous."""
    if _DOCUMENT.match(file.head.text):
        return None
    first = next((text for _, text, is_whole in _lines_of(file) if is_whole and not _RULE.fullmatch(text)), "")
    titled = _is_titled(file)
    tables = (
        _split(file, separator, titled=titled) for separator in ",;\t|" if separator in ("|" if titled else first)
    )
    table = next(filter(None, tables), None)
    return None if table is None else _checked(table, with_commas=table.separator != ",")


def _is_titled(file: SourceFile) -> bool:
    """Whether some words stand around a table whose rows begin with a bar."""
    lines = [line for line in file.head.text.split("\n") if line.strip()]
    rows = sum(line.lstrip().startswith("|") for line in lines)
    return rows > MOST_WORDS and 0 < len(lines) - rows <= MOST_WORDS


def _lines_of(file: SourceFile) -> Iterator[tuple[int, str, bool]]:
    """Number, text and wholeness of lines that say something, without comments before them."""
    begun = False
    for at, line, is_whole in file.streamed():
        if line.strip():
            begun = begun or not line.lstrip().startswith("#")
            if begun:
                yield at, line, is_whole


def _split(file: SourceFile, separator: str, *, titled: bool = False) -> CsvTable | None:
    """Rows of equal width; None where they are not. A cell never holds a line end."""
    numbers, cut = array("L"), False

    def lines() -> Iterator[str]:
        nonlocal cut
        for at, text, is_whole in _lines_of(file):
            if separator == "|" and (_RULE.fullmatch(text) or (titled and not text.lstrip().startswith("|"))):
                continue
            if is_whole:
                numbers.append(at)
                yield text
            cut = not is_whole

    rows: Iterator[list[str]] = csv.reader(lines(), delimiter=separator, strict=True)
    if separator == "|":
        rows = (row[1:-1] if not (row[0].strip() or row[-1].strip()) else row for row in rows)
    try:
        headings, read, headed_again = [heading.strip() for heading in next(rows, ())], 1, 0
        columns = tuple(Column() for _ in headings)
        while block := [*islice(rows, _BLOCK_ROWS)]:
            read += len(block)
            if read != len(numbers) or {*map(len, block)} != {len(headings)}:
                return None
            cells = [[*map(str.strip, column)] for column in zip(*block, strict=True)]
            if not headed_again and headings[0] in cells[0]:
                lines_again = numbers[-len(block) :]
                again = (line for line, *row in zip(lines_again, *cells, strict=True) if row == headings)
                headed_again = next(again, 0)
            for column, stripped in zip(columns, cells, strict=True):
                column.blocks.append("\n".join(stripped))
    except csv.Error:
        return None
    if read < 2 or not 2 <= len(headings) <= _MAX_COLUMNS:
        return None
    return CsvTable(tuple(headings), columns, numbers[1:], separator, headed_again, cut=cut)


def _without_thousands(column: Column, *, may_be_decimal: bool) -> None:
    """`1,102.7` says of a column what its commas are; so does `1,500` among whole numbers, some of them plain."""
    with_commas = [block for block in column.blocks if "," in block]
    is_certain = any(map(_THOUSANDS_AND_MORE.search, with_commas))
    if with_commas and not (is_certain or may_be_decimal):
        is_certain = all(map(_WHOLE.fullmatch, column.stated)) and any(map(str.isdecimal, column))
    if is_certain:
        grouped = [
            [cell.replace(",", "") if THOUSANDS.fullmatch(cell) else cell for cell in block.split("\n")]
            for block in column.blocks
        ]
        column.blocks = ["\n".join(cells) for cells in grouped]


def _without_points(column: Column) -> None:
    """`2.345,67` says of a column that its points stand between thousands."""
    if any(map(_POINTED_AND_MORE.search, column.blocks)):
        grouped = [
            [cell.replace(".", "") if _POINTED.fullmatch(cell) else cell for cell in block.split("\n")]
            for block in column.blocks
        ]
        column.blocks = ["\n".join(cells) for cells in grouped]


def _checked(table: CsvTable, *, with_commas: bool) -> CsvTable | None:
    """With its numbers in plain form; None for what has no headings or no numbers."""
    headings = table.headings
    if any(not heading or is_number(heading) or _COMMA_CELL.fullmatch(heading) for heading in headings):
        return None
    if len({heading.lower() for heading in headings}) != len(headings):
        return None
    for column in table.columns:
        _without_thousands(column, may_be_decimal=with_commas)
        if with_commas:
            _without_points(column)
    # A version has points whatever numbers have.
    of_numbers = {
        heading: column
        for heading, column in zip(headings, table.columns, strict=True)
        if "version" not in heading.lower()
    }
    blocks = [block for column in of_numbers.values() for block in column.blocks]
    decimal_comma = with_commas and any("," in block and _COMMA_CELL.search(block) for block in blocks)
    if decimal_comma:
        for heading, column in of_numbers.items():
            if bad := next((cell for cell in column if "." in cell and is_number(cell)), ""):
                words = "numbers with a decimal point and numbers with a comma in one table"
                raise NotUnderstood(f"{words}: {bad[:40]!r} of column {heading!r} may be either")
        if all(len(match[2]) == 3 for block in blocks for match in _COMMA_CELL.finditer(block)):
            raise NotUnderstood("the commas of the numbers may be decimal or of thousands")
        for column in of_numbers.values():
            column.blocks = [_COMMA_CELL.sub(r"\1.\2", block) for block in column.blocks]
    if not any(is_number(cell) or THOUSANDS.fullmatch(cell) for column in table.columns for cell in column):
        return None
    return replace(table, decimal_comma=decimal_comma)
