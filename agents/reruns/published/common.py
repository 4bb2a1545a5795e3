"""What the matches of the articles have in common: engines that cannot be had, gaps, and words for the two storages."""

from __future__ import annotations

from collections.abc import Mapping

from benchagent.catalog import OWN_STORAGE

from agents.machines import SecondStorage
from runs.publications.matching import Match, PlanGap

NO_SERVER = "no registry offers it, and no server of it could be had here"


def _oldest(version: str) -> str:
    return f"its binaries are in no registry: {version} is the oldest that can be installed"


# By the id of the version in the published data.
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


ONE_STORAGE = "the machine has one storage"


def gone(label: str, claim: str, version: str) -> Match:
    """Of an engine that cannot be had."""
    return Match(label, claim=claim, gap=f"{GONE[version].label}: {GONE[version].reason}")


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
