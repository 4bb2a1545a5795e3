"""What a workload has to offer: the steps of the load generator's job and the check of their result."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchagent.catalog import WORKLOADS
from benchagent.dbms.base import Dialect, JobError, QueryRows
from benchagent.protocol import Check

Step = dict[str, Any]
Factors = Mapping[str, int]


@dataclass(frozen=True)
class Steps:
    """`prepare` makes and fills the schema, `run` is what is measured, `queries` (SQL by name) come after it."""

    prepare: list[Step]
    run: Step
    queries: dict[str, str] = field(default_factory=dict)


class Workload(ABC):
    slug: str

    def factors(self, given: Mapping[str, int | float | str]) -> dict[str, int]:
        """All factors of the catalogue, defaults filled in. Raises `JobError` for a value out of range."""
        found = {}
        for definition in WORKLOADS[self.slug].factors:
            value = given.get(definition.name, definition.default)
            try:
                number = int(value)
            except (TypeError, ValueError):
                raise JobError(f"{definition.label} has to be a whole number, not {value!r}") from None
            if not definition.minimum <= number <= definition.maximum:
                limits = f"{definition.minimum} … {definition.maximum}"
                raise JobError(f"{definition.label} has to be {limits}, not {number}")
            found[definition.name] = number
        return found

    @abstractmethod
    def steps(self, dialect: Dialect, factors: Factors, seed: int) -> Steps: ...

    @abstractmethod
    def dataset(self, factors: Factors, seed: int) -> dict[str, Any]:
        """What was loaded: generator, its version, seed, rows per table."""

    @abstractmethod
    def disk_bytes(self, factors: Factors) -> int:
        """Space needed at most, roughly: checked before the start."""

    @abstractmethod
    def checks(self, summary: Mapping[str, Any], rows: QueryRows) -> list[Check]:
        """Integrity of the data after the run. A check that is not ok fails the run."""
