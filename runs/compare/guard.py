"""The guard: says in words why two groups of runs can or cannot be compared, and refuses a bare ratio where not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from benchagent.catalog import Durability

from runs.models import Run
from runs.run.facets import (
    SCALE_FACTORS,
    claim_words,
    doubt,
    facets,
    machine_is_described,
    weakest_durability,
)

Severity = Literal["blocks", "note"]
UNKNOWN = "not known"
# Factors that change what a rate means, though not what is measured.
CONDITIONS = ("duration_s", "warm_up_s", "terminals", "threads")


@dataclass(frozen=True)
class Difference:
    """One thing in which two groups differ. `blocks`: a bare ratio would mislead. `note`: read it with this in mind."""

    field: str
    label: str
    a: str
    b: str
    severity: Severity

    @property
    def words(self) -> str:
        return f"{self.label}: {self.a} against {self.b}" if self.a != self.b else f"{self.label}: {self.a}"


@dataclass(frozen=True)
class Stated:
    """What the runs of one group say of themselves: `words` and `labels` by field, each different value once."""

    words: dict[str, str]
    labels: dict[str, str]
    durability: str
    doubt: str
    publications: set[UUID | None]
    machines: set[UUID | None]
    versions: set[UUID]
    machine_is_described: bool


def stated(runs: Sequence[Run]) -> Stated:
    values: dict[str, set[str]] = {}
    labels: dict[str, str] = {}
    # Repeats of a cell share everything that its key hashes: one of them speaks for all.
    cells = {run.cell_key or run.id: run for run in runs}.values()
    for run in cells:
        for field, facet in facets(run).items():
            values.setdefault(field, set()).add(facet.value)
            labels[field] = facet.label
        if run.config:
            values.setdefault("config:slug", set()).add(run.config.slug)
    words = {field: ", ".join(sorted(filter(None, said))) for field, said in values.items() if any(said)}
    durability, doubted = weakest_durability(runs), doubt(runs)
    words["durability"] = claim_words(durability, doubted)
    if "hardware" in words and not any(machine_is_described(run.hardware) for run in cells):
        words["hardware"] += " (not described)"
    short = any(run.demonstration for run in runs)
    return Stated(
        words=words | {"demonstration": "demonstration, short windows" if short else "full windows"},
        labels=labels,
        durability=durability,
        doubt=doubted,
        publications={run.publication_id for run in runs},
        machines={run.hardware_id for run in runs},
        versions={run.dbms_version_id for run in runs},
        machine_is_described=bool(runs) and machine_is_described(runs[0].hardware),
    )


def differences(a: Stated, b: Stated) -> list[Difference]:
    """What to know before comparing two groups, blocking differences first. Empty: like with like, or no run.

    Facts unknown on both sides do not count within one publication: its author compared what he knew to be alike.
    """
    if not a.versions or not b.versions:
        return []
    publications = a.publications | b.publications
    one_publication = len(publications) == 1 and publications != {None}
    differing: list[Difference] = []

    def differ(field: str, severity: Severity = "note", label: str = "") -> None:
        of_a, of_b = a.words.get(field, UNKNOWN), b.words.get(field, UNKNOWN)
        if of_a != of_b:
            label = label or a.labels.get(field) or b.labels[field]
            name = field.removeprefix("factor:").removesuffix(":slug")
            differing.append(Difference(name, label, of_a, of_b, severity))

    differ("workload", "blocks")
    for name in SCALE_FACTORS:
        # Where only one side states a scale, nobody knows that the other's is another one.
        both = all(f"factor:{name}" in words for words in (a.words, b.words))
        differ(f"factor:{name}", "blocks" if both else "note")
    promises, doubted = (a.durability, b.durability), a.doubt or b.doubt
    if any(promises) or doubted:
        # Across two classes, between a doubtful claim and a sound one, and of databases in memory always.
        known = all(promises) or doubted or Durability.MEMORY in promises
        differ("durability", "blocks" if known else "note", "Durability")
    elif not one_publication:
        differing.append(Difference("durability", "Durability", UNKNOWN, UNKNOWN, "note"))
    for name in CONDITIONS:
        differ(f"factor:{name}")
    if a.machines != b.machines:
        # Runs on two machines always sit on two devices: those need not be named.
        differ("hardware")
    else:
        if not a.machine_is_described and not one_publication:
            differing.append(Difference("hardware", "Machine", UNKNOWN, UNKNOWN, "note"))
        differing += _storage(a.words, b.words)
    if a.versions == b.versions:
        # Two DBMSs cannot have the same configuration; two revisions of one have the same name.
        alike = a.words.get("config") == b.words.get("config")
        differ("config:slug" if alike else "config", label="Configuration")
    differ("demonstration", label="Window")
    return sorted(differing, key=lambda difference: difference.severity != "blocks")


def refusal(differing: Iterable[Difference]) -> str:
    """Why there is no ratio, in one line; empty when there may be one."""
    return "; ".join(difference.words for difference in differing if difference.severity == "blocks")


def _storage(a: Mapping[str, str], b: Mapping[str, str]) -> list[Difference]:
    """Log and temporary files mostly lie where the data lie: what differs alike is said once."""
    alike: dict[tuple[str, str], list[str]] = {}
    for field in sorted(a.keys() | b.keys()):
        if field.startswith("storage:"):
            said = (a.get(field, UNKNOWN), b.get(field, UNKNOWN))
            alike.setdefault(said, []).append(field.removeprefix("storage:"))
    return [
        Difference(f"storage:{roles[0]}", f"Storage of the {', '.join(roles)}", of_a, of_b, "note")
        for (of_a, of_b), roles in alike.items()
        if of_a != of_b
    ]
