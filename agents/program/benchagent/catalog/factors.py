"""Factors and their values in words: what pages, forms, charts and commands say."""

from __future__ import annotations

from benchagent.catalog.model import FactorDef, FactorKind
from benchagent.catalog.workloads import WORKLOADS

# By name. Workloads that share a factor share its words.
FACTORS: dict[str, FactorDef] = {
    factor.name: factor for entry in reversed(WORKLOADS.values()) for factor in reversed(entry.factors)
}
OWN_STORAGE = "agent's own storage"
# Units that a number alone is not understood without; all others repeat what the label says.
SPOKEN_UNITS = ("s", "GB", "MB", "transactions/s")
_SINGULAR = {
    "branches": "branch",
    "warehouses": "warehouse",
    "connections": "connection",
    "CPUs": "CPU",
    "rows": "row",
    "jobs": "job",
}

FactorValue = int | float | str


def factor_words(name: str, value: FactorValue, unit: str | None = None) -> str:
    """A value under its factor's heading: "160 MB", "restored copy". A factor that is not known says what it stores.

    `unit` is the stored one; None takes the catalogue's.
    """
    factor = FACTORS.get(name)
    if factor is None:
        return amount(value, unit or "")
    if factor.kind == FactorKind.STORAGE:
        return str(value) or OWN_STORAGE
    return factor.words.get(_key(value)) or amount(value, factor.unit if unit is None else unit)


def factor_phrase(name: str, value: FactorValue, unit: str | None = None) -> str:
    """A value that stands alone, among those of other factors: "memory limit 160 MB", "data on slow"."""
    factor, words = FACTORS.get(name), factor_words(name, value, unit)
    if factor is None:
        return words
    if factor.kind == FactorKind.STORAGE:
        return factor.spoken.format(value or "own storage")
    if isinstance(value, str) or _key(value) in factor.words:
        return words
    if factor.spoken:
        return factor.spoken.format(words)
    said = factor.unit if unit is None else unit
    return f"{factor.label[:1].lower()}{factor.label[1:]} {amount(value, said if said in SPOKEN_UNITS else '')}"


def amount(value: FactorValue, unit: str) -> str:
    """With thousands separators, and one thing in the singular."""
    if isinstance(value, str):
        return f"{value} {unit}".strip()
    return f"{value:,.10g} {_SINGULAR.get(unit, unit) if value == 1 else unit}".strip()


def _key(value: FactorValue) -> str:
    return value if isinstance(value, str) else f"{value:g}"
