"""What a publication's page is made of: amounts, words, and sections of figures, tables, bounds and facts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from pydantic import Field

from runs.charts.base import Figure
from runs.formatting import THIN, decimal, exact, printed
from runs.models import Aggregate, Measurement
from runs.models.choices import Provenance
from runs.publications.document import ObservationRow, Spec
from runs.tables import Column, Table, TableCell


@dataclass(frozen=True)
class Amount:
    """A number with where it comes from: a stored one has a `provenance`, a computed one its `formula`.

    Without `digits` a stored number shows the digits that its source prints. A computed share in % is times 100.
    `measured_in`: the unit of its metric, which files tell and a page, whose charts and columns have it, does not.
    """

    value: float
    unit: str = ""
    provenance: str = Provenance.PRINTED
    printed: str = ""
    formula: str = ""
    digits: int | None = None
    signed: bool = False
    note: str = ""
    measured_in: str = ""


# Words with numbers in them.
Words = str | Sequence[str | Amount]


def plain(words: Words) -> str:
    """The words as one text, for places that hold nothing but text."""
    return (
        words if isinstance(words, str) else "".join(word if isinstance(word, str) else shown(word) for word in words)
    )


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


def stored(row: Measurement | Aggregate | ObservationRow, *, unit: str = "") -> Amount:
    """The number of a row that has one."""
    printed, note = getattr(row, "as_printed", ""), getattr(row, "note", "")
    measured_in = row.unit if isinstance(row, ObservationRow) else row.metric.unit
    return Amount(float(row.value or 0.0), unit, row.provenance, printed, note=note, measured_in=measured_in)


def origin_of(amounts: Iterable[Amount]) -> str:
    """Where these come from, for a chart: "printed", "printed or reconstructed"; empty of none."""
    return " or ".join(dict.fromkeys(str(Provenance(amount.provenance).label).lower() for amount in amounts))


def computed(value: float, formula: str, *, unit: str = "", digits: int | None = None, signed: bool = False) -> Amount:
    return Amount(value, unit, Provenance.COMPUTED, formula=formula, digits=digits, signed=signed)


def quotient(value: float, base: float, *, unit: str = "×") -> Amount:
    return computed(value / base, f"{value:.10g} / {base:.10g}", unit=unit, digits=2)


def change(value: float, base: float) -> Amount:
    """What it is above or below `base`, in per cent."""
    formula = f"{value:.10g} / {base:.10g} − 1"
    return computed(100 * (value / base - 1), formula, unit="%", digits=2, signed=True)


# Formulas of our own statistics of repeats.
INTERVAL = "exp(mean of ln ± t × s / √n) of"


def listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.10g}" for value in values)


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


# What stands in a cell: nothing, a number, a text with or without numbers in it, or a cell with more to it.
Content = TableCell | Amount | Words | None
Rows = list[list[Content]]


def cell(content: Content, gap: str = "", mark: str = "", href: str = "") -> TableCell:
    """`gap` says why nothing stands there; `mark` and `href` are those of a number."""
    match content:
        case None:
            return TableCell(gap=gap, href=href)
        case TableCell():
            return content
        case Amount():
            return TextCell(content.value, text=shown(content), amount=content, mark=mark, href=href)
        case str():
            return TableCell(text=content)
    return TextCell(words=content)


def table(columns: Iterable[str | Column], rows: Iterable[Sequence[Content]]) -> Table:
    """Columns of text are named, those of numbers are columns."""
    heads = [Column(column, numeric=False) if isinstance(column, str) else column for column in columns]
    return Table(heads, [[cell(content) for content in row] for row in rows])


def holds_nothing(row: Sequence[TableCell]) -> bool:
    """A heading with gaps."""
    return len(row) > 1 and all(cell.gap for cell in row[1:])


WORDY = 5


class PartSpec(Spec):
    """An entry of page.json: a kind of part (`part`) with what it shows. It makes one section of the page."""

    id: str = Field(pattern=r"^[\w-]{1,80}$")
    title: str = ""
    lead: str = ""


@dataclass(frozen=True)
class NamedTable:
    """`narrow` tables may stand side by side."""

    title: str
    table: Table
    note: Words = ""
    narrow: bool = False
    # The whole row among narrow ones.
    wide: bool = False
    href: str = ""
    durability: str = ""
    durability_reason: str = ""

    @property
    def with_values(self) -> Table:
        """Its rows without those that hold nothing."""
        return replace(self.table, rows=[row for row in self.table.rows if not holds_nothing(row)])

    @property
    def without_values(self) -> dict[str, list[str]]:
        """What the other rows are of, by the reason why there is nothing."""
        names: dict[str, list[str]] = {}
        for row in filter(holds_nothing, self.table.rows):
            names.setdefault(row[1].gap, []).append(row[0].text)
        return names

    @property
    def stacks(self) -> bool:
        """Rows of many words are cards on a phone."""
        return sum(not column.numeric for column in self.table.columns) >= WORDY


@dataclass(frozen=True)
class Facts:
    title: str
    pairs: list[tuple[str, Words]]
    badge: str = ""
    note: str = ""
    durability: str = ""
    durability_reason: str = ""


@dataclass(frozen=True)
class Tile:
    """A number to be seen at once. `href` leads to what stands behind it."""

    label: str
    words: Words
    href: str = ""


@dataclass(frozen=True)
class Ordering:
    """A claim without an amount: the most first. Nothing has a length. `sign`: ">", "≳" (slightly) or "≈" (alike)."""

    quantity: str
    names: Sequence[str]
    note: str = ""
    sign: str = ">"


@dataclass(frozen=True)
class Bound:
    """A claim of a bound or range. `low` or `high` None is open; a strict one is not reached itself."""

    label: str
    words: Words
    low: float | None
    high: float | None
    strict: bool = False
    note: str = ""
    # Stands above it and those that follow.
    head: Words = ""
    # In per cent of the axis, set by `axis_of`.
    from_percent: float = 0.0
    to_percent: float = 100.0


@dataclass(frozen=True)
class BoundsAxis:
    """Bounds of one unit on one axis from 0. `line_percent` is the place of "no difference", 0 where there is none."""

    unit: str
    quantity: str
    bounds: list[Bound]
    line_percent: float


@dataclass(frozen=True)
class Section:
    """`lead` is the message in one or two sentences, computed from the rows. `compare` is the query of compare/."""

    id: str
    title: str
    lead: Words = ""
    figures: list[Figure] = field(default_factory=list)
    tables: list[NamedTable] = field(default_factory=list)
    facts: list[Facts] = field(default_factory=list)
    compare: str = ""
    tiles: list[Tile] = field(default_factory=list)
    # Ids of the article's lost figures whose frames stand here.
    frames: tuple[str, ...] = ()
    # Frame and table side by side where there is room.
    beside: bool = False
    orderings: list[Ordering] = field(default_factory=list)
    bounds: list[BoundsAxis] = field(default_factory=list)
    # What the reader may choose as baseline, as (slug, name), and the slug of what is chosen.
    baselines: list[tuple[str, str]] = field(default_factory=list)
    baseline: str = ""
    # What only backs up the rest: only its heading is open.
    folded: bool = False
    # (words, address)
    links: list[tuple[str, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.figures or self.tables or self.facts or self.frames or self.orderings or self.bounds)

    @classmethod
    def of_table(cls, id: str, title: str, shown: Table, *, lead: Words = "", name: str = "") -> Section:
        """A table, with a name of its own where it has one; nothing of no rows."""
        return cls(id, title, lead, tables=[NamedTable(name or title, shown)] if shown.rows else [])
