"""What a check is: something stated, something computed from rows, and a result decided from both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum
from typing import Any

from pydantic import ConfigDict, TypeAdapter, computed_field

from runs.models import Publication
from runs.models.stored import sound
from runs.publications.document import Spec

MOST_CHECKS, MOST_DIGITS = 200, 12


class Result(StrEnum):
    """`unclear`: the text allows both. `derived`: nothing is stated, we compute. `gap`: what it needs is not there."""

    AGREES = "agrees"
    ROUNDED_UP = "rounded up"
    ROUNDED_DOWN = "rounded down"
    DISAGREES = "disagrees"
    UNCLEAR = "unclear"
    DERIVED = "derived"
    GAP = "gap"


@dataclass(frozen=True)
class Stated:
    """What the article says, in words; `value` where it is one number, and `printed` its spelling.

    `where` is the line or part of its text.
    """

    text: str
    where: str = ""
    value: float | None = None
    unit: str = ""
    printed: str = ""


@dataclass(frozen=True)
class Input:
    """A value that goes into a formula by its name, or a list of them; `what` says which row it is."""

    name: str
    what: str
    value: float | Sequence[float]
    unit: str = ""
    provenance: str = "printed"


@dataclass(frozen=True)
class Computed:
    """`value` in `unit`, unrounded; `digits` decimals are shown. `formula` holds the numbers, `words` the names."""

    value: float
    formula: str
    words: str
    unit: str = ""
    digits: int = 2
    label: str = ""
    signed: bool = False

    @computed_field  # type: ignore[prop-decorator]
    @property
    def rounded(self) -> float:
        return rounded(self.value, self.digits)


@dataclass(frozen=True)
class Check:
    """`number` as in the list of checks: "2.11". `claims` are the source ids of the claims that it checks.

    `inputs` are those of all formulas, each once.
    """

    title: str
    result: Result
    explanation: str
    stated: Sequence[Stated] = ()
    computed: Sequence[Computed] = ()
    claims: Sequence[str] = ()
    number: str = ""
    topic: str = ""
    inputs: Sequence[Input] = ()


class ChecksFile(Spec):
    """checks.json: the checks as they were computed when the article was made."""

    checks: list[Check] = []

    def faults(self) -> list[str]:
        """Numbers that stand twice, too many checks, and decimals that no number has."""
        numbers = [check.number for check in self.checks]
        faults = [f"{number}: this number stands twice" for number in sorted(set(numbers)) if numbers.count(number) > 1]
        faults += [
            f"{check.number}: digits must be from 0 to {MOST_DIGITS}"
            for check in self.checks
            if any(not 0 <= row.digits <= MOST_DIGITS for row in check.computed)
        ]
        return faults + ([f"more than {MOST_CHECKS} checks"] if len(numbers) > MOST_CHECKS else [])


_STORED = TypeAdapter(list[Check], config=ConfigDict(defer_build=True))


def stored(checks: Sequence[Check]) -> list[dict[str, Any]]:
    """As JSON, for the publication's row and the API."""
    rows: list[dict[str, Any]] = _STORED.dump_python(list(checks), mode="json")
    return rows


def checks_of(publication: Publication) -> list[Check]:
    """As they stand in its checks.json."""
    return _STORED.validate_python(sound(publication.checks, _STORED.validate_python, list))


def rounded(value: float, digits: int) -> float:
    """Half away from zero, as people round; Python's own rounds half to even and trips over binary fractions."""
    quantum = Decimal(1).scaleb(-digits)
    return float(Decimal(repr(value)).quantize(quantum, rounding=ROUND_HALF_UP))
