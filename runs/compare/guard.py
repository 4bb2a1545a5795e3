"""The guard: says in words why two groups of runs can or cannot be compared, and refuses a bare ratio where not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    workload_name,
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
    x, y = _one_per_cell(a), _one_per_cell(b)
    found = [
        *_workload(x, y),
        *_scale(x, y),
        *_durability(a, b),
        *_conditions(x, y),
        *_machine(x, y),
        *_storage(x, y),
        *_config(x, y),
        *_demonstration(a, b),
    ]
    return sorted(found, key=lambda difference: difference.severity != "blocks")


def refusal(found: Iterable[Difference]) -> str:
    """Why there is no ratio, in one line; empty when there may be one."""
    blocking = [difference.words for difference in found if difference.severity == "blocks"]
    return "; ".join(blocking)


def _differ(field: str, label: str, a: str, b: str, severity: Severity) -> list[Difference]:
    return [Difference(field, label, a or UNKNOWN, b or UNKNOWN, severity)] if a != b else []


def _joined(values: Iterable[str]) -> str:
    return ", ".join(sorted({value for value in values if value}))


def _one_per_cell(runs: Sequence[Run]) -> list[Run]:
    """Repeats of a cell share everything that its key hashes: one of them speaks for all."""
    return list({run.cell_key or run.id: run for run in runs}.values())


def _one_publication(a: Sequence[Run], b: Sequence[Run]) -> bool:
    publications = {run.publication_id for run in (*a, *b)}
    return len(publications) == 1 and publications != {None}


def _workload(a: Sequence[Run], b: Sequence[Run]) -> list[Difference]:
    if {run.workload_id for run in a} == {run.workload_id for run in b}:
        return []
    return _differ("workload", "Workload", _joined(map(workload_name, a)), _joined(map(workload_name, b)), "blocks")


def _factor(runs: Sequence[Run], name: str) -> str:
    return _joined(found.value for run in runs if (found := facets(run).get(f"factor:{name}")))


def _scale(a: Sequence[Run], b: Sequence[Run]) -> list[Difference]:
    """Blocks when both sides state a scale and it is another one; a note when only one side states it."""
    found: list[Difference] = []
    for name in SCALE_FACTORS:
        x, y = _factor(a, name), _factor(b, name)
        found += _differ(name, factor_label(name), x, y, "blocks" if x and y else "note")
    return found


def _durability(a: Sequence[Run], b: Sequence[Run]) -> list[Difference]:
    """Blocks across two classes, between a doubtful claim and a sound one, and of databases in memory always."""
    x, y = weakest_durability(a), weakest_durability(b)
    doubts = doubt(a), doubt(b)
    if x or y or any(doubts):
        known = (x and y) or any(doubts) or Durability.MEMORY in (x, y)
        words = (claim_words(x, doubts[0]), claim_words(y, doubts[1]))
        return _differ("durability", "Durability", *words, "blocks" if known else "note")
    if _one_publication(a, b):
        return []
    return [Difference("durability", "Durability", UNKNOWN, UNKNOWN, "note")]


def _conditions(a: Sequence[Run], b: Sequence[Run]) -> list[Difference]:
    return [
        difference
        for name in CONDITIONS
        for difference in _differ(name, factor_label(name), _factor(a, name), _factor(b, name), "note")
    ]


def _machine(a: Sequence[Run], b: Sequence[Run]) -> list[Difference]:
    if {run.hardware_id for run in a} != {run.hardware_id for run in b}:
        return _differ("hardware", "Machine", _machine_name(a), _machine_name(b), "note")
    if machine_is_described(a[0].hardware) or _one_publication(a, b):
        return []
    return [Difference("hardware", "Machine", UNKNOWN, UNKNOWN, "note")]


def _machine_name(runs: Sequence[Run]) -> str:
    names = _joined(run.hardware.name for run in runs if run.hardware)
    described = any(machine_is_described(run.hardware) for run in runs)
    return names if described or not names else f"{names} (not described)"


def _storage(a: Sequence[Run], b: Sequence[Run]) -> list[Difference]:
    # Runs on two machines always sit on two devices: the machine has been named already.
    if {run.hardware_id for run in a} != {run.hardware_id for run in b}:
        return []
    x, y = (_by_field(runs, "storage:") for runs in (a, b))
    # Log and temporary files mostly lie where the data lie: what differs alike is said once.
    alike: dict[tuple[str, str], list[str]] = {}
    for field in sorted(x.keys() | y.keys()):
        alike.setdefault((x.get(field, ""), y.get(field, "")), []).append(field)
    return [
        difference
        for (of_a, of_b), fields in alike.items()
        for difference in _differ(fields[0], _storage_label(fields), of_a, of_b, "note")
    ]


def _storage_label(fields: Sequence[str]) -> str:
    return f"Storage of the {', '.join(field.removeprefix('storage:') for field in fields)}"


def _by_field(runs: Sequence[Run], prefix: str) -> dict[str, str]:
    found: dict[str, set[str]] = {}
    for run in runs:
        for field, facet in facets(run).items():
            if field.startswith(prefix):
                found.setdefault(field, set()).add(facet.value)
    return {field: _joined(values) for field, values in found.items()}


def _config(a: Sequence[Run], b: Sequence[Run]) -> list[Difference]:
    """Only within one DBMS version: two DBMSs cannot have the same configuration."""
    if {run.dbms_version_id for run in a} != {run.dbms_version_id for run in b}:
        return []
    # By slug: two revisions of one configuration have the same name.
    slugs = [{run.config.slug for run in runs if run.config} for runs in (a, b)]
    if slugs[0] == slugs[1]:
        return []
    x, y = (_joined(run.config.name for run in runs if run.config) for runs in (a, b))
    if x == y:
        x, y = (_joined(of) for of in slugs)
    return _differ("config", "Configuration", x, y, "note")


def _demonstration(a: Sequence[Run], b: Sequence[Run]) -> list[Difference]:
    x, y = (any(run.demonstration for run in runs) for runs in (a, b))
    words = {True: "demonstration, short windows", False: "full windows"}
    return _differ("demonstration", "Window", words[x], words[y], "note")
