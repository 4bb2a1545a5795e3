"""The facts that vary among groups, and what each group has of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchagent.catalog import COUNTED

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
        return with_heading(self.label, [words]) if value in self.numbers else words


def with_heading(label: str, words: Sequence[str]) -> str:
    """Numbers of one fact: "Scale factor 10 and 100", "1 terminal", "1 and 8 terminals", "4 GB and 8 GB"."""
    noun, all_of_them = label.lower(), listed(words)
    if noun in COUNTED:
        return f"{all_of_them} {COUNTED[noun] if all_of_them == '1' else noun}"
    return f"{label} {all_of_them}" if all(each[-1:].isdigit() for each in words) else all_of_them


def listed(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def value_of(group: Group, field: str) -> str:
    return str(day_of(group.all_runs[0])) if field == DATE else group.facts.get(field, NO_FACT)


class Columns(dict[str, list[str]]):
    """By field its value in each of the groups, read once: of many groups many facts are asked many times."""

    def __init__(self, groups: Sequence[Group]) -> None:
        super().__init__()
        self.groups = groups

    def __missing__(self, name: str) -> list[str]:
        column = [value_of(group, DATE) for group in self.groups] if name == DATE else [
            group.facts.get(name, NO_FACT) for group in self.groups
        ]  # fmt: skip
        self[name] = column
        return column

    def rows(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        """What each group has for these fields."""
        return list(zip(*(self[name] for name in names), strict=True)) if names else [()] * len(self.groups)

    def follow(self, fields: Sequence[str], chosen: Sequence[str]) -> bool:
        """Whether the chosen facts determine these: a device that of its factor, a configuration that of its DBMS."""
        return len(set(self.rows([*chosen, *fields]))) == len(set(self.rows(chosen)))


def key_of(group: Group, names: Sequence[str]) -> tuple[str, ...]:
    if DATE in names:
        return tuple(value_of(group, name) for name in names)
    known = group.facts
    return tuple([known.get(name, NO_FACT) for name in names])
