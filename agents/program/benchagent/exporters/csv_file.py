"""CSV, as spreadsheets read it."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

MEDIA_TYPE = "text/csv; charset=utf-8"
# What Excel, LibreOffice and Google Sheets take for the beginning of a formula.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[-+]?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?")


class _Line:
    """What `csv.writer` writes to: gives the line back."""

    def write(self, line: str) -> str:
        return line


def export(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """One line a row, as it is asked for."""
    writer = csv.writer(_Line(), lineterminator="\r\n")
    for row in rows:
        yield writer.writerow([cell(value) for value in row])


def cell(value: Any) -> Any:
    """Numbers as they are; text that would be taken for a formula behind an apostrophe; None as nothing."""
    if isinstance(value, str) and value.startswith(FORMULA_STARTS) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return "" if value is None else value
