"""Names for the cells of a comparison: by what varies between them, everything common said once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
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
    headings = {field: facet.label for cell in reversed(cells) for field, facet in cell.items()}

    def position(field: str) -> int:
        kind = field.partition(":")[0]
        return _KINDS.index(kind) if kind in _KINDS else len(_KINDS)

    fields = sorted(dict.fromkeys(field for cell in cells for field in cell), key=position)
    values = {field: [cell[field].value if field in cell else "" for cell in cells] for field in fields}
    varying = [field for field in fields if len(set(values[field])) > 1]
    # Each DBMS has a configuration of its own; once the DBMS is named, naming the configuration adds nothing.
    chosen = telling({field: values[field] for field in varying if field not in _NEVER_IN_LABELS}) or ["dbms"]
    # The DBMS leads also where the workload varies: it is what people look for.
    chosen.sort(key=lambda field: field != "dbms")
    heading = headings.get(chosen[0], "")
    unset = f"{heading[:1].lower()}{heading[1:]} not set"
    labels = [" · ".join(cell[field].text for field in chosen if field in cell) or unset for cell in cells]
    keys = [" · ".join(cell[field].key for field in chosen if field in cell) or unset for cell in cells]
    common = [cells[0][field] for field in fields if field not in varying]
    return Naming(
        labels=_unique(labels),
        keys=_unique([slugify(key.replace(".", "-")) or "cell" for key in _unique(keys)], "-"),
        common=[CommonFact(facet.label, facet.value, facet.words) for facet in common],
        varying=[
            VaryingFact(
                field, headings[field], tuple(value or _NO_FACT for value in values[field]),
                {_NO_FACT: _NO_FACT} | {
                    cell[field].value or _NO_FACT: cell[field].words or _NO_FACT for cell in cells if field in cell
                },
            )
            for field in varying
        ],
    )  # fmt: skip


def telling(values: Mapping[str, Sequence[str]]) -> list[str]:
    """As few fields as tell apart what has these values, first come first taken."""
    chosen: list[str] = []
    parts = 1
    for field in values:
        finer = len(set(zip(*(values[name] for name in (*chosen, field)), strict=True)))
        if finer > parts:
            chosen, parts = [*chosen, field], finer
    return chosen


def _unique(names: Sequence[str], joint: str = " #") -> list[str]:
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name}{joint}{seen[name]}")
    return unique
