"""What the matches of the articles have in common: gaps, and words for the two storages."""

from __future__ import annotations

from benchagent.catalog import OWN_STORAGE

from agents.machines import SecondStorage
from agents.reruns.gone import GONE
from runs.publications.matching import Match

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
