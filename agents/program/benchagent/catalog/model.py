"""Shapes of the catalogue's entries."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from enum import StrEnum

# Characters of a factor that is a text, such as a script.
TEXT_LIMIT = 100_000


class Durability(StrEnum):
    """What a successful COMMIT promises, strongest first."""

    POWER_LOSS = "power_loss"
    DBMS_CRASH = "dbms_crash"
    BOUNDED_LOSS = "bounded_loss"
    NONE = "none"
    MEMORY = "memory"


DURABILITY_WORDS: dict[Durability, str] = {
    Durability.POWER_LOSS: "a commit survives power loss",
    Durability.DBMS_CRASH: "a commit survives a crash of the DBMS, not of the machine",
    Durability.BOUNDED_LOSS: "the last moments of commits may be lost in a crash",
    Durability.NONE: "a commit may be lost in any crash",
    Durability.MEMORY: "the database is in memory: nothing outlives the process",
}


class Role(StrEnum):
    """What a factor is to a comparison: what becomes of two results that have different values of it.

    question: another value is another question, so there is no ratio. condition: a ratio may stand, the difference is
    named beside it. procedure: how long was measured and the like; named, and no ratio beyond the factor's span.
    """

    QUESTION = "question"
    CONDITION = "condition"
    PROCEDURE = "procedure"


# The strictest first: where two sides declare a factor differently, the stricter of them counts.
STRICTEST = (Role.QUESTION, Role.PROCEDURE, Role.CONDITION)
# A procedure's larger value may be so many times the smaller one.
SPAN = 10.0


@dataclass(frozen=True)
class DbmsEntry:
    """One DBMS, as an entry point of `benchsite.engines` offers it. Server and agent read it: it imports no adapter.

    `module` has the `ADAPTER` of what an agent starts, `external` the `external_server` of servers that somebody else
    runs; empty where there is none. The top package of both holds the list of their jars. `settings`: the default
    configuration of a scheduled run, in order. `unverified` says why no test of ours ever met a live server of it;
    empty where one did.

    `configuration`: as "package.module:NAME", what is known of its settings; without it a commit's promise is not
    known. `backup_methods`: the ways to back up by the slug that a run stores, as people read them. `external_methods`:
    those of them that are there on servers that the agent did not start. `branch_bytes`: of tpcb after the load,
    `warehouse_bytes`: of tpcc, measured; 0 takes a common value. `order`: where it stands in lists.
    """

    slug: str
    name: str
    vendor: str
    _: KW_ONLY
    module: str = ""
    external: str = ""
    embedded: bool = False
    settings: tuple[tuple[str, str], ...] = ()
    settings_help: str = ""
    unverified: str = ""
    configuration: str = ""
    backup_methods: Mapping[str, str] = field(default_factory=dict, hash=False)
    external_methods: Sequence[str] = ()
    branch_bytes: int = 0
    warehouse_bytes: int = 0
    order: int = 1_000


class FactorKind(StrEnum):
    NUMBER = "number"
    CHOICE = "choice"
    TEXT = "text"
    # The name of a storage of the agent's machine; empty means its state folder.
    STORAGE = "storage"


@dataclass(frozen=True)
class FactorDef:
    """A factor of a workload that the schedule form asks for. Numbers are whole, unless they may have `decimals`.

    An `optional` one that was not asked for is left out of the stored run, so that a run of the plain workload does
    not name a dozen things that were not varied.

    `words` says what a stored value is called where it stands alone, among the values of other factors: of each
    choice, of the known values of a text, of a number that means something special. `spoken` says so of all others.

    `engine_values`: by DBMS, the values that it has besides the default one; empty where all have the same.
    `external_values`: the same of servers that the agent did not start.

    `rows_each`: rows that are loaded for each unit of the factor that says how much is loaded; 0 of all others.

    `span`, of a procedure: how many times the smaller value the larger one may be for a ratio to stand.
    """

    name: str
    label: str
    unit: str = ""
    default: int | str = 0
    minimum: int = 0
    maximum: int = 2**31 - 1
    help: str = ""
    kind: FactorKind = FactorKind.NUMBER
    words: Mapping[str, str] = field(default_factory=dict)
    spoken: str = ""
    engine_values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    external_values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    optional: bool = False
    rows_each: int = 0
    decimals: bool = False
    role: Role = field(kw_only=True)
    span: float = field(default=SPAN, kw_only=True)

    def refusal(self, value: object) -> str:
        """Why it can have this value nowhere; empty where it can, as far as machine and engine allow."""
        if self.kind == FactorKind.NUMBER:
            within = f"between {self.minimum} and {self.maximum}"
            if not isinstance(value, int | float if self.decimals else int):
                of_unit = f" of {'seconds' if self.unit == 's' else self.unit}" if self.unit else ""
                return f"{self.label} must be a {'' if self.decimals else 'whole '}number{of_unit}, {within}."
            if not self.minimum <= value <= self.maximum:
                return f"{self.label} must be {within}."
        elif self.kind == FactorKind.CHOICE:
            if value not in self.words:
                return f"{self.label} must be one of {', '.join(choice or '(empty)' for choice in self.words)}."
        elif len(str(value)) > TEXT_LIMIT:
            return f"{self.label}: at most {TEXT_LIMIT:,} characters."
        return ""


def number_in(text: str) -> int | float | str:
    """The number that a text says, whole or with decimals; else the text as it is."""
    if re.fullmatch(r"-?[0-9]{1,18}", text):
        return int(text)
    return float(text) if re.fullmatch(r"-?[0-9]{1,18}\.[0-9]{1,18}", text) else text


@dataclass(frozen=True)
class Range:
    """Both ends belong to it."""

    least: float
    most: float

    def __contains__(self, value: float) -> bool:
        return self.least <= value <= self.most


@dataclass(frozen=True)
class MetricDef:
    """A measured quantity. `better` is ``higher``, ``lower`` or ``none`` (descriptive).

    `threshold`: a smaller difference, as a share of 1, is too small to matter.
    """

    name: str
    label: str
    unit: str
    better: str
    threshold: float = 0.03


@dataclass(frozen=True)
class WorkloadEntry:
    """One workload, as an entry point of `benchsite.workloads` names it. Server and agent read it.

    `module` has `WORKLOAD`, which only an agent imports. `version` breaks comparability; `primary_metric` is what
    charts show first. `beside`: what a result's line says after the primary metric, as far as a run has it. `order`:
    where it stands in lists.
    """

    slug: str
    name: str
    version: str
    summary: str
    factors: tuple[FactorDef, ...]
    primary_metric: str
    beside: tuple[str, ...] = ("latency_p99_ms",)
    module: str = field(kw_only=True)
    order: int = field(kw_only=True, default=1_000)

    def refusals(self, given: Mapping[str, Sequence[object]]) -> dict[str, dict[object, str]]:
        """The given values that no engine can take, by factor, each with the reason."""
        return {
            factor.name: {value: words for value in given[factor.name] if (words := factor.refusal(value))}
            for factor in self.factors
            if factor.name in given
        }

    @property
    def size_factor(self) -> FactorDef | None:
        """The factor that says how much is loaded; None where a script does."""
        return next((factor for factor in self.factors if factor.rows_each), None)
