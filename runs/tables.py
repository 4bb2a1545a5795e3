"""A table of a page: columns with their units, and cells. `templates/_data_table.html` renders it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

    `hint` says why a number is marked, or without a value why a dash stands there. `uncounted`: what the gap is of is
    known, and counts nowhere.
    """

    value: float | None = None
    text: str = ""
    gap: str = ""
    href: str = ""
    hint: str = ""
    uncounted: bool = False


@dataclass(frozen=True)
class Table:
    columns: list[Column]
    rows: list[list[TableCell]] = field(default_factory=list)


@dataclass(frozen=True)
class FactRow:
    """One fact of several things, in their order; "" where a thing does not state it. `change`: from first to last."""

    label: str
    values: list[str]
    change: str = ""
    # None: it follows from the values.
    matters: bool | None = None

    @property
    def partial(self) -> bool:
        """Stated by some of them only: a gap, which is no difference of machines, but one of settings."""
        return any(self.values) and not all(self.values)

    @property
    def differs(self) -> bool:
        return len({value for value in self.values if value}) > 1 if self.matters is None else self.matters


def fact_rows(stated: Sequence[Mapping[str, str]]) -> list[FactRow]:
    """Label -> text of each thing, side by side; labels in the order in which they first appear."""
    labels = dict.fromkeys(label for facts in stated for label in facts)
    return [FactRow(label, [facts.get(label, "") for facts in stated]) for label in labels]
