"""What a publication's page is made of: sections of figures, frames, tables, bounds, orderings and facts."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import Field

from runs.charts.base import Column, Figure, Table, TableCell
from runs.publications.page.amounts import Words
from runs.publications.spec import Spec

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
    """A claim without an amount: the most first, each with its sign to the one before it. Nothing has a length.

    Signs are ">", "≳" (slightly) and "≈" (alike); the first has none.
    """

    quantity: str
    items: list[tuple[str, str]]
    note: str = ""


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
    # Places in per cent of the axis, set by `BoundsAxis.of`.
    from_percent: float = 0.0
    to_percent: float = 100.0


@dataclass(frozen=True)
class BoundsAxis:
    """Bounds of one unit on one axis from 0. `line_percent` is the place of "no difference", where there is one."""

    unit: str
    quantity: str
    bounds: list[Bound]
    line_percent: float | None = None
    line_label: str = ""


@dataclass(frozen=True)
class Choice:
    """Something of a section that the reader may choose; works as a form with GET."""

    name: str
    label: str
    options: list[tuple[str, str]]
    chosen: str


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
    choices: list[Choice] = field(default_factory=list)
    # What only backs up the rest: only its heading is open.
    folded: bool = False
    # (words, address)
    links: list[tuple[str, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.figures or self.tables or self.facts or self.frames or self.orderings or self.bounds)

    @classmethod
    def of_table(
        cls, id: str, title: str, columns: list[Column], rows: list[list[TableCell]], *, lead: Words = "",
        table: str = "",
    ) -> Section:  # fmt: skip
        """A table, with a title of its own where it has one; nothing of no rows."""
        return cls(id, title, lead, tables=[NamedTable(table or title, Table(columns, rows))] if rows else [])
