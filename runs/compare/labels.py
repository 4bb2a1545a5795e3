"""Names for the cells of a comparison: by what varies between them, everything common said once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from django.utils.text import slugify

from runs.run.facets import Facet

# Consequences and bookkeeping: worth a column, never a name.
_NEVER_IN_LABELS = frozenset({"durability", "provenance"})
_NO_FACT = "–"
# A cell without a commit group must not let its configuration speak before the others' commit group.
_KINDS = ("workload", "dbms", "factor", "storage", "hardware", "config")


@dataclass(frozen=True)
class CommonFact:
    """`value` as it is stored, `words` as people read it."""

    label: str
    value: str
    words: str


@dataclass(frozen=True)
class VaryingFact:
    """A field that differs between cells, with its stored value in each cell, in the cells' order.

    `words` says what people read for each of the values.
    """

    field: str
    label: str
    values: tuple[str, ...]
    words: Mapping[str, str]

    @property
    def distinct(self) -> list[str]:
        return [self.words[value] for value in dict.fromkeys(self.values)]


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
    telling = _telling(cells, varying)
    keys = _unique(_labels(cells, telling, lambda facet: facet.key))
    return Naming(
        labels=_unique(_labels(cells, telling, lambda facet: facet.text)),
        keys=_unique([slugify(key.replace(".", "-")) or "cell" for key in keys], "-"),
        common=[_common(cells[0][field]) for field in fields if field not in varying],
        varying=[_varying(cells, field) for field in varying],
    )


def _common(facet: Facet) -> CommonFact:
    return CommonFact(facet.label, facet.value, facet.words)


def _varying(cells: Sequence[dict[str, Facet]], field: str) -> VaryingFact:
    words = {cell[field].value or _NO_FACT: cell[field].words or _NO_FACT for cell in cells if field in cell}
    values = tuple(_value(cell, field) or _NO_FACT for cell in cells)
    return VaryingFact(field, _heading(cells, field), values, {_NO_FACT: _NO_FACT, **words})


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


def _labels(cells: Sequence[dict[str, Facet]], fields: Sequence[str], said: Callable[[Facet], str]) -> list[str]:
    # The DBMS leads also where the workload varies: it is what people look for.
    ordered = sorted(fields, key=lambda field: field != "dbms")
    return [
        " · ".join(said(cell[field]) for field in ordered if field in cell) or _unset(cells, ordered[0])
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
