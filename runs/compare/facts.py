"""The facts that vary among groups, and what each group has of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from runs.compare.grouping import day_of
from runs.compare.groups import NO_FACT, Group

DATE = "date"
FACTOR = "factor:"
# Bookkeeping and consequences: offered, never taken by the rule; what they alone tell apart is pooled.
NEVER_TAKEN = frozenset({"durability", "provenance", "publication", "experiment", "label", "tags", "factor:test_no"})


@dataclass(frozen=True)
class Fact:
    """A fact that varies. `values`: numbers by size, others as they come; `numbers` of those that are one."""

    field: str
    label: str
    values: list[str]
    words: Mapping[str, str]
    numbers: Mapping[str, float]

    @property
    def is_number(self) -> bool:
        return all(value in self.numbers for value in self.values if value != NO_FACT)

    @cached_property
    def ranks(self) -> dict[str, int]:
        """Value -> its position."""
        return {value: rank for rank, value in enumerate(self.values)}

    def said(self, value: str) -> str:
        """In a legend: what has a name by its name, a number with its heading."""
        words = self.words.get(value, value)
        if value == NO_FACT:
            return f"{self.label[:1].lower()}{self.label[1:]} not set"
        return f"{self.label} {words}" if value in self.numbers and words[-1:].isdigit() else words


def value_of(group: Group, field: str) -> str:
    return str(day_of(group.all_runs[0])) if field == DATE else group.facts.get(field, NO_FACT)


def follows(fields: Sequence[str], chosen: Sequence[str], groups: Iterable[Group]) -> bool:
    """Whether the chosen facts determine these: a device that of its factor, a configuration that of its DBMS."""
    told: dict[tuple[str, ...], tuple[str, ...]] = {}
    for group in groups:
        of = key_of(group, fields)
        if told.setdefault(key_of(group, chosen), of) != of:
            return False
    return True


def key_of(group: Group, names: Sequence[str]) -> tuple[str, ...]:
    if DATE in names:
        return tuple(value_of(group, name) for name in names)
    known = group.facts
    return tuple([known.get(name, NO_FACT) for name in names])


def keys_of(groups: Sequence[Group], names: Sequence[str]) -> list[tuple[str, ...]]:
    """That of each group; a column after the other, as many groups are asked many times."""
    return list(zip(*(column_of(groups, name) for name in names), strict=True)) if names else [()] * len(groups)


def column_of(groups: Sequence[Group], name: str) -> list[str]:
    if name == DATE:
        return [value_of(group, DATE) for group in groups]
    return [group.facts.get(name, NO_FACT) for group in groups]
