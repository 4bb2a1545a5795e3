"""Every number of a publication's page as rows of a CSV file, with its provenance."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchagent.exporters import csv_file

from runs.formatting import plain as exactly
from runs.models.choices import Provenance
from runs.publications.check import Check
from runs.publications.material import Material
from runs.publications.page.page import sections
from runs.publications.page.parts import Amount, Section, TextCell, Words, computed, plain
from runs.tables import Table, TableCell

HEAD = ["section", "table", "row", "column", "value", "unit", "as_printed", "provenance", "formula", "note"]
_NUMBER = re.compile(r"[+-]?[\d.,]+(e[+-]?\d+)? ?%?")


@dataclass(frozen=True)
class Position:
    """Where on the page a number stands."""

    section: str
    table: str
    row: str = ""
    column: str = ""
    unit: str = ""

    def line(self, amount: Amount | None, note: str = "") -> list[str]:
        """A gap without an amount, whose reason is the note."""
        place = [self.section, self.table, self.row, self.column]
        if amount is None:
            origin = Provenance.LOST_IN_PICTURE.value if "picture" in note else ""
            number = ["", self.unit, "", origin, "", note]
        else:
            unit = amount.unit or self.unit or amount.measured_in
            # 1 − 32 / 100 is 0.68, and not 0.6799999999999999.
            value = float(f"{amount.value:.12g}") if amount.formula else amount.value
            number = [exactly(value), unit, amount.printed, str(amount.provenance)]
            number += [amount.formula, amount.note or note]
        return [cell if _NUMBER.fullmatch(cell) else csv_file.cell(cell) for cell in [*place, *number]]

    def words(self, words: Words) -> Iterator[list[str]]:
        for part in words if not isinstance(words, str) else ():
            if isinstance(part, Amount):
                yield self.line(part, note=plain(words))


def text(material: Material, only: str = "") -> str:
    """The file. `only` is the id of a chart or section."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([HEAD, *rows(material, only)])
    return out.getvalue()


def rows(material: Material, only: str = "") -> Iterator[list[str]]:
    """One per number or gap, in the order of the page."""
    for section in sections(material):
        for figure in section.figures:
            if only in ("", section.id, figure.id):
                yield from _table(section.id, figure.title, figure.table)
        if only in ("", section.id):
            yield from _section(section)
    if only in ("", "checks"):
        for check in material.checks:
            yield from _check(check)


def _section(section: Section) -> Iterator[list[str]]:
    """What of a section stands in no chart."""
    for named in section.tables:
        yield from _table(section.id, named.title, named.table)
    for axis in section.bounds:
        for bound in axis.bounds:
            yield from Position(section.id, axis.quantity, bound.label).words(bound.words)
    for tile in section.tiles:
        yield from Position(section.id, section.title, tile.label).words(tile.words)
    yield from Position(section.id, section.title).words(section.lead)


def _table(section: str, title: str, table: Table) -> Iterator[list[str]]:
    for row in table.rows:
        head = row[0]
        name = plain(head.words) if isinstance(head, TextCell) and head.words else head.text
        for column, cell in zip(table.columns, row, strict=False):
            yield from _cell(Position(section, title, name, column.label, column.unit), cell)


def _cell(position: Position, cell: TableCell) -> Iterator[list[str]]:
    if cell.gap:
        yield position.line(None, cell.gap)
    elif isinstance(cell, TextCell) and cell.amount:
        yield position.line(cell.amount)
    elif isinstance(cell, TextCell) and cell.words:
        yield from position.words(cell.words)
    elif cell.value is not None:
        yield position.line(Amount(cell.value, provenance=""))


def _check(check: Check) -> Iterator[list[str]]:
    for stated in check.stated:
        if stated.value is not None:
            position = Position("checks", check.title, check.number, stated.text)
            yield position.line(Amount(stated.value, stated.unit, printed=stated.printed, note=stated.where))
    for result in check.computed:
        position = Position("checks", check.title, check.number, result.label or check.title)
        amount = computed(result.value, result.formula, unit=result.unit)
        yield position.line(amount, f"{check.result}: {check.explanation}")
