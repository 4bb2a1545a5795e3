"""What the re-run of a published experiment is made of: its parts, and which of their cells answer which figure.

One `Part` is one experiment with a chart of its own. An engine is named by its DBMS and how its version begins; what
no registry offers any more is a gap that is known beforehand. The matches travel in the plan of an experiment, so that
pages of results need no knowledge of agents and guess nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchagent.catalog import DBMSS, OWN_STORAGE

from agents.machines import Engine, SecondStorage, newest
from agents.models import Agent
from agents.plans.matrix import FactorValue, Settings
from agents.plans.plan import Override
from runs.models.shapes import CellFacts, Match, PlanGap

WINDOW = {"warm_up_s": 10, "duration_s": 10}
# The emulated disks of `scripts/experiments.py`; where a machine has neither, any second storage stands for both.
SLOW, SECOND = "slow", "second"
# Which cells of a part answer which figure of the article; without the second storage where the machine has one only.
Matches = Callable[[SecondStorage | None], Sequence[Match]]


@dataclass(frozen=True)
class Wanted:
    """`version`: how it begins, as "9.2" or "15"; empty takes the newest one."""

    dbms: str
    version: str = ""

    @property
    def label(self) -> str:
        return f"{DBMSS[self.dbms].name} {self.version}".rstrip()

    def is_meant_by(self, facts: CellFacts) -> bool:
        """Whether cells that are chosen so are of this engine."""
        return facts.get("dbms", self.dbms) == self.dbms and facts.get("version", self.version) == self.version

    def on(self, agent: Agent) -> Engine | None:
        """The newest installed version that fits; None when the agent has none that can be used."""
        return newest(agent, self.dbms, self.version)


@dataclass(frozen=True)
class Part:
    """`storage_factors`: factors whose values are storages; they take the machine's second storage where it has one."""

    slug: str
    title: str
    workload: str
    engines: tuple[Wanted, ...]
    factors: Mapping[str, FactorValue]
    repeats: int
    sweep: Mapping[str, tuple[FactorValue, ...]] = field(default_factory=dict)
    settings: Mapping[str, Settings] = field(default_factory=dict)
    # What people call these settings, by DBMS: names made of what differs are long, and alike at their beginning.
    called: Mapping[str, str] = field(default_factory=dict)
    storage_factors: tuple[str, ...] = ()
    # Roles that lie on the second storage in every cell, but for what `overrides` says.
    apart: tuple[str, ...] = ()
    # The storage that is the second one where the machine has several.
    second: str = ""
    # As of `Plan`.
    overrides: tuple[Override, ...] = ()
    extra: tuple[Mapping[str, FactorValue], ...] = ()
    figure: str = ""
    gaps: tuple[PlanGap, ...] = ()
    # None of a part that the article has no figure for.
    matches: Matches | None = None


@dataclass(frozen=True)
class ArticleExperiment:
    """`publication`: slug of the article that it repeats."""

    publication: str
    title: str
    parts: tuple[Part, ...]

    def part(self, slug: str) -> Part:
        """Raises KeyError."""
        return {part.slug: part for part in self.parts}[slug]


# Engines that cannot be had

NO_SERVER = "no registry offers it, and no server of it could be had here"


def _oldest(version: str) -> str:
    return f"its binaries are in no registry: {version} is the oldest that can be installed"


# What is gone, by the id of the version in the published data.
GONE: Mapping[str, PlanGap] = {
    gap.version: gap
    for gap in (
        PlanGap("Firebird 1.5.3", _oldest("3.0"), "fb-1.5.3"),
        PlanGap("Firebird 2.1", _oldest("3.0"), "fb-2.1"),
        PlanGap("Firebird 2.5.2", _oldest("3.0"), "fb-2.5.2"),
        PlanGap("InterBase 7.5.1 sp1", NO_SERVER, "ib-7.5.1sp1"),
        PlanGap("InterBase 2007", NO_SERVER, "ib-2007"),
        PlanGap("Yaffil 892", NO_SERVER, "yaffil-892"),
        PlanGap("DB2 9.7", NO_SERVER, "db2-9.7"),
        PlanGap("Oracle 10R2", NO_SERVER, "oracle-10r2"),
        PlanGap("PostgreSQL 8.3", _oldest("9.2"), "pg-8.3"),
        PlanGap("MySQL 5.0", _oldest("5.5"), "mysql-5.0"),
        PlanGap("MySQL 5.1.47", _oldest("5.5"), "mysql-5.1.47"),
        PlanGap("CUBRID 2008 R3.0", NO_SERVER, "cubrid-r3.0"),
    )
}


def gaps(*versions: str) -> tuple[PlanGap, ...]:
    return tuple(GONE[version] for version in versions)


def gone(label: str, claim: str, version: str) -> Match:
    """The match of an engine that cannot be had."""
    return Match(label, claim=claim, gap=f"{GONE[version].label}: {GONE[version].reason}")


# Words for the two storages

ONE_STORAGE = "the machine has one storage"


def storages(other: SecondStorage | None) -> tuple[str, ...]:
    """Names of the storages in a plan: the second one first."""
    return (other.name, "") if other else ("",)


def on(storage: str, other: SecondStorage | None) -> str:
    if other is None:
        return "the only storage"
    return f"storage {other.words}" if storage else OWN_STORAGE


def two_storages(other: SecondStorage) -> str:
    return f"{OWN_STORAGE} against {other.words}"


def with_nature(differs: str, other: SecondStorage) -> str:
    """What differs, and what the second storage is where it is no disk of its own."""
    return "; ".join(part for part in (differs, other.nature and f"here {other.name} is {other.nature}") if part)
