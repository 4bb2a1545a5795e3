"""Every number of a publication's page as rows of a CSV file, with its provenance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runs import formatting
from runs.charts.base import Table, TableCell
from runs.models.choices import Provenance
from runs.publications.page.amounts import Amount, TextCell, Words, plain
from runs.publications.page.parts import Section

if TYPE_CHECKING:
    from runs.publications.page.page import Page

HEAD = ["section", "table", "row", "column", "value", "unit", "as_printed", "provenance", "formula", "note"]


@dataclass(frozen=True)
class Place:
    """Where on the page a number stands."""

    section: str
    table: str
    row: str = ""
    column: str = ""
    unit: str = ""

    def line(self, *, value: float | None = None, note: str = "", provenance: str = "") -> list[str]:
        return [
            self.section, self.table, self.row, self.column, formatting.plain(value), self.unit, "", provenance, "",
            note,
        ]  # fmt: skip

    def amount(self, amount: Amount, note: str = "") -> list[str]:
        return [
            self.section, self.table, self.row, self.column, formatting.plain(amount.value), amount.unit or self.unit,
            amount.printed, str(amount.provenance), amount.formula, amount.note or note,
        ]  # fmt: skip


def rows(page: Page, only: str = "") -> Iterator[list[str]]:
    """One per number or gap, in the order of the page. `only` is the id of a chart or section."""
    for section in page.sections:
        for figure in section.figures:
            if only in ("", section.id, figure.id):
                yield from _table(section.id, figure.title, figure.table)
        if only in ("", section.id):
            yield from _section(section)


def _section(section: Section) -> Iterator[list[str]]:
    """What of a section stands in no chart."""
    for named in section.tables:
        yield from _table(section.id, named.title, named.table)
    for axis in section.bounds:
        for bound in axis.bounds:
            yield from _words(Place(section.id, axis.quantity, bound.label), bound.words)
    for tile in section.tiles:
        yield from _words(Place(section.id, section.title, tile.label), tile.words)
    yield from _words(Place(section.id, section.title), section.lead)


def _table(section: str, title: str, table: Table) -> Iterator[list[str]]:
    for row in table.rows:
        name = _name(row)
        for column, cell in zip(table.columns, row, strict=False):
            yield from _cell(Place(section, title, name, column.label, column.unit), cell)


def _name(row: Sequence[TableCell]) -> str:
    first = row[0]
    return plain(first.words) if isinstance(first, TextCell) and first.words else first.text


def _cell(place: Place, cell: TableCell) -> Iterator[list[str]]:
    if cell.gap:
        yield place.line(note=cell.gap, provenance=Provenance.LOST_IN_PICTURE if "picture" in cell.gap else "")
    elif isinstance(cell, TextCell) and cell.amount:
        yield place.amount(cell.amount)
    elif isinstance(cell, TextCell) and cell.words:
        yield from _words(place, cell.words)
    elif cell.value is not None:
        yield place.line(value=cell.value)


def _words(place: Place, words: Words) -> Iterator[list[str]]:
    for part in words if not isinstance(words, str) else ():
        if isinstance(part, Amount):
            yield place.amount(part, note=plain(words))
