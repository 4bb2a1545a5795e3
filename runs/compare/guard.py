"""The guard: says in words why two groups of runs can or cannot be compared, and refuses a bare ratio where not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from benchagent.catalog import Durability

from runs.models import Run
from runs.run.facets import (
    SCALE_FACTORS,
    claim_words,
    doubt,
    facets,
    factor_label,
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


def differences(a: Sequence[Run], b: Sequence[Run]) -> list[Difference]:
    """What to know before comparing two groups, blocking differences first. Empty: like with like.

    Facts unknown on both sides do not count within one publication: its author compared what he knew to be alike.
    """
    if not a or not b:
        return []
    x, y = _stated(a), _stated(b)
    publications = {run.publication_id for run in (*a, *b)}
    one_publication = len(publications) == 1 and publications != {None}
    differing: list[Difference] = []

    def differ(field: str, label: str, severity: Severity = "note") -> None:
        of_a, of_b = x.get(field, UNKNOWN), y.get(field, UNKNOWN)
        if of_a != of_b:
            name = field.removeprefix("factor:").removesuffix(":slug")
            differing.append(Difference(name, label, of_a, of_b, severity))

    differ("workload", "Workload", "blocks")
    for name in SCALE_FACTORS:
        # Where only one side states a scale, nobody knows that the other's is another one.
        both = all(f"factor:{name}" in stated for stated in (x, y))
        differ(f"factor:{name}", factor_label(name), "blocks" if both else "note")
    promises, doubted = (weakest_durability(a), weakest_durability(b)), doubt(a) or doubt(b)
    if any(promises) or doubted:
        # Across two classes, between a doubtful claim and a sound one, and of databases in memory always.
        known = all(promises) or doubted or Durability.MEMORY in promises
        differ("durability", "Durability", "blocks" if known else "note")
    elif not one_publication:
        differing.append(Difference("durability", "Durability", UNKNOWN, UNKNOWN, "note"))
    for name in CONDITIONS:
        differ(f"factor:{name}", factor_label(name))
    if {run.hardware_id for run in a} != {run.hardware_id for run in b}:
        # Runs on two machines always sit on two devices: those need not be named.
        differ("hardware", "Machine")
    else:
        if not machine_is_described(a[0].hardware) and not one_publication:
            differing.append(Difference("hardware", "Machine", UNKNOWN, UNKNOWN, "note"))
        differing += _storage(x, y)
    if {run.dbms_version_id for run in a} == {run.dbms_version_id for run in b}:
        # Two DBMSs cannot have the same configuration; two revisions of one have the same name.
        differ("config:slug" if x.get("config") == y.get("config") else "config", "Configuration")
    differ("demonstration", "Window")
    return sorted(differing, key=lambda difference: difference.severity != "blocks")


def refusal(differing: Iterable[Difference]) -> str:
    """Why there is no ratio, in one line; empty when there may be one."""
    return "; ".join(difference.words for difference in differing if difference.severity == "blocks")


def _stated(runs: Sequence[Run]) -> dict[str, str]:
    """By field what the runs state, each different value once."""
    values: dict[str, set[str]] = {}
    # Repeats of a cell share everything that its key hashes: one of them speaks for all.
    cells = {run.cell_key or run.id: run for run in runs}.values()
    for run in cells:
        for field, facet in facets(run).items():
            values.setdefault(field, set()).add(facet.value)
        if run.config:
            values.setdefault("config:slug", set()).add(run.config.slug)
    stated = {field: ", ".join(sorted(filter(None, words))) for field, words in values.items() if any(words)}
    if "hardware" in stated and not any(machine_is_described(run.hardware) for run in cells):
        stated["hardware"] += " (not described)"
    stated["durability"] = claim_words(weakest_durability(runs), doubt(runs))
    short = any(run.demonstration for run in runs)
    return stated | {"demonstration": "demonstration, short windows" if short else "full windows"}


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
