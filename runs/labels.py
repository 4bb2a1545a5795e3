"""Names for the cells of a comparison: by what varies between them, everything common said once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.text import slugify

from runs.facets import Facet

# Consequences and bookkeeping: worth a column, never a name.
_NEVER_IN_LABELS = frozenset({"durability", "provenance"})
_NO_FACT = "–"
# A cell without a commit group must not let its configuration speak before the others' commit group.
_KINDS = ("workload", "dbms", "factor", "storage", "hardware", "config")


@dataclass(frozen=True)
class CommonFact:
    label: str
    value: str


@dataclass(frozen=True)
class VaryingFact:
    """A field that differs between cells, with its value in each cell, in the cells' order."""

    field: str
    label: str
    values: tuple[str, ...]

    @property
    def distinct(self) -> list[str]:
        return list(dict.fromkeys(self.values))


@dataclass(frozen=True)
class Naming:
    """`labels` and `keys` (URL-safe) are unique and in the order of the cells."""

    labels: list[str]
    keys: list[str]
    common: list[CommonFact]
    varying: list[VaryingFact]


def name_cells(cells: Sequence[dict[str, Facet]]) -> Naming:
    fields = sorted(dict.fromkeys(field for cell in cells for field in cell), key=_place)
    varying = [field for field in fields if len({_value(cell, field) for cell in cells}) > 1]
    labels = _unique(_labels(cells, _telling(cells, varying)))
    return Naming(
        labels=labels,
        keys=_unique([slugify(label.replace(".", "-")) or "cell" for label in labels], "-"),
        common=[CommonFact(cells[0][field].label, cells[0][field].value) for field in fields if field not in varying],
        varying=[
            VaryingFact(field, _heading(cells, field), tuple(_value(cell, field) or _NO_FACT for cell in cells))
            for field in varying
        ],
    )


def _place(field: str) -> int:
    kind = field.partition(":")[0]
    return _KINDS.index(kind) if kind in _KINDS else len(_KINDS)


def _value(cell: dict[str, Facet], field: str) -> str:
    return cell[field].value if field in cell else ""


def _heading(cells: Sequence[dict[str, Facet]], field: str) -> str:
    return next(cell[field].label for cell in cells if field in cell)


def _telling(cells: Sequence[dict[str, Facet]], varying: Sequence[str]) -> list[str]:
    """The fields that are needed to tell the cells apart, first come first taken.

    Each DBMS has a configuration of its own; once the DBMS is named, naming the configuration adds nothing.
    """
    chosen: list[str] = []
    parts = 1
    for field in varying:
        if field in _NEVER_IN_LABELS:
            continue
        finer = len({tuple(_value(cell, name) for name in (*chosen, field)) for cell in cells})
        if finer > parts:
            chosen.append(field)
            parts = finer
    return chosen or ["dbms"]


def _labels(cells: Sequence[dict[str, Facet]], fields: Sequence[str]) -> list[str]:
    # The DBMS leads also where the workload varies: it is what people look for.
    ordered = sorted(fields, key=lambda field: field != "dbms")
    return [
        " · ".join(cell[field].text for field in ordered if field in cell) or _unset(cells, ordered[0])
        for cell in cells
    ]


def _unset(cells: Sequence[dict[str, Facet]], field: str) -> str:
    heading = _heading(cells, field)
    return f"{heading[:1].lower()}{heading[1:]} not set"


def _unique(names: Sequence[str], joint: str = " #") -> list[str]:
    seen: dict[str, int] = {}
    found: list[str] = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name}{joint}{seen[name]}")
    return found
