"""A table of a page: columns with their units, and cells. `templates/_data_table.html` renders it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Column:
    label: str
    unit: str = ""
    numeric: bool = True

    @property
    def heading(self) -> str:
        return f"{self.label} ({self.unit})" if self.unit else self.label


@dataclass(frozen=True)
class TableCell:
    """A number (`value`, shown rounded or as `text`, exact in `data-value`), a text, or a gap with its reason.

    `hint` says why a number is marked, or without a value why a dash stands there.
    """

    value: float | None = None
    text: str = ""
    gap: str = ""
    href: str = ""
    hint: str = ""


@dataclass(frozen=True)
class Table:
    columns: list[Column]
    rows: list[list[TableCell]] = field(default_factory=list)
