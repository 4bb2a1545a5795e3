"""Numbers of a publication's page with where they come from, and the cells and words that hold them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from runs.charts.base import Column, TableCell
from runs.formatting import THIN, decimal, exact, printed
from runs.models import Aggregate, Measurement, Observation
from runs.models.choices import Provenance


@dataclass(frozen=True)
class Amount:
    """A number with where it comes from: a stored one has a `provenance`, a computed one its `formula`.

    Without `digits` a stored number shows the digits that its source prints. A computed share in % is times 100.
    """

    value: float
    unit: str = ""
    provenance: str = Provenance.PRINTED
    printed: str = ""
    formula: str = ""
    digits: int | None = None
    signed: bool = False
    note: str = ""


# Words with numbers in them.
Words = str | Sequence[str | Amount]


def plain(words: Words) -> str:
    """The words as one text, for places that hold nothing but text."""
    return words if isinstance(words, str) else "".join(one if isinstance(one, str) else shown(one) for one in words)


def shown(amount: Amount) -> str:
    if amount.digits is not None:
        text = decimal(amount.value, amount.digits, signed=amount.signed)
    else:
        text = exact(amount.value) if amount.formula else printed(amount.value, amount.printed)
    return f"{text}{THIN}{amount.unit}" if amount.unit else text


def readable(amount: Amount) -> Amount:
    """Rounded to three digits where more are printed: 3.24751604 is 3.25, 1,813.969025 is 1,814; whole numbers stay."""
    if float(amount.value).is_integer() or (amount.formula and amount.digits is not None and amount.digits <= 2):
        return amount
    digits = max(0, 2 - math.floor(math.log10(abs(amount.value))))
    shown_digits = len(shown(replace(amount, unit="")).partition(".")[2])
    return replace(amount, digits=digits) if shown_digits > digits else amount


def stored(row: Measurement | Aggregate | Observation, *, unit: str = "") -> Amount:
    """The number of a row that has one."""
    printed = getattr(row, "as_printed", "")
    return Amount(float(row.value or 0.0), unit, row.provenance, printed, note=getattr(row, "note", ""))


def origin_of(amounts: Iterable[Amount]) -> str:
    """Where these come from, for a chart: "printed", "printed or reconstructed"; empty of none."""
    return " or ".join(dict.fromkeys(str(Provenance(one.provenance).label).lower() for one in amounts))


def computed(value: float, formula: str, *, unit: str = "", digits: int | None = None, signed: bool = False) -> Amount:
    return Amount(value, unit, Provenance.COMPUTED, formula=formula, digits=digits, signed=signed)


@dataclass(frozen=True)
class TextCell(TableCell):
    """A cell with more to it: `badge` is a provenance, `mark` a warning in words, `code` sets in a fixed width.

    `amount` is its number with where it comes from; `words` a text with such numbers in it.
    """

    badge: str = ""
    mark: str = ""
    note: Words = ""
    code: bool = False
    amount: Amount | None = None
    words: Words = ""


def number_cell(amount: Amount | None, gap: str = "", mark: str = "", href: str = "") -> TableCell:
    """The number, or the gap with its reason."""
    if amount is None:
        return TableCell(gap=gap) if gap else TableCell()
    return TextCell(amount.value, text=shown(amount), amount=amount, mark=mark, href=href)


def word_columns(*labels: str) -> list[Column]:
    """Headings of columns that hold text."""
    return [Column(label, numeric=False) for label in labels]


def text(value: object) -> TableCell:
    return TableCell(text="" if value is None else str(value))
