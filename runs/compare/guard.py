"""The guard: says in words why two groups of runs can or cannot be compared, and refuses a bare ratio where not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from benchagent.catalog import DBMSS, FACTORS, SECONDS_EACH, Durability, Role, factor_role, factor_span, factor_words
from django.db.models import prefetch_related_objects

from runs.models import Run
from runs.run.facets import (
    RECORDED,
    Facet,
    claim_words,
    doubt,
    facets,
    machine_is_described,
    reads_given_settings,
    recorded,
    weakest_durability,
)

Severity = Literal["blocks", "note"]
UNKNOWN = "not known"
FACTOR, CONTEXT = "factor:", "context:"
NONE_KNOWN: Mapping[UUID, Mapping[str, Facet]] = {}
# Of what is recorded: facts that say nothing beside a result that does not tell them.
_IF_BOTH_TELL = frozenset({"java", "agent", "jdbc"})


@dataclass(frozen=True)
class Difference:
    """One thing in which two groups differ. `blocks`: a bare ratio would mislead. `note`: read it with this in mind.

    `role`: of a factor as the catalogue or its sender says, of anything else what it is to a comparison.
    """

    field: str
    label: str
    a: str
    b: str
    severity: Severity
    role: Role = Role.CONDITION

    @property
    def words(self) -> str:
        return f"{self.label}: {self.a} against {self.b}" if self.a != self.b else f"{self.label}: {self.a}"


@dataclass(frozen=True)
class Stated:
    """What the runs of one group say of themselves: `words` and `labels` by field, each different value once.

    `declared`: roles of factors, empty where a sender says none. `numbers`: of factors that are one, times in seconds.
    `planned`: an optional factor that is not named is at its default.
    """

    words: dict[str, str]
    labels: dict[str, str]
    numbers: dict[str, float]
    declared: dict[str, str]
    planned: bool
    durability: str
    doubt: str
    publications: set[UUID | None]
    machines: set[UUID | None]
    versions: set[UUID]
    dbmss: set[str]
    machine_is_described: bool


def fetch_settings(runs: Iterable[Run]) -> None:
    """In one query the settings of uploads that do not tell which were in force; what is there is not fetched again."""
    configs = [run.config for run in runs if run.config and reads_given_settings(run)]
    prefetch_related_objects(configs, "parameters")


def stated(runs: Sequence[Run], known: Mapping[UUID, Mapping[str, Facet]] = NONE_KNOWN) -> Stated:
    """`known`: facets of some of the runs, by id, that need not be read again."""
    values: dict[str, dict[str, None]] = {}
    labels: dict[str, str] = {}
    numbers: dict[str, float] = {}
    declared: dict[str, str] = {}

    def say(field: str, label: str, words: str) -> None:
        values.setdefault(field, {})[words] = None
        labels[field] = label

    fetch_settings(runs)
    # Repeats of a cell share everything that its key hashes: one of them speaks for all.
    cells = {run.cell_key or run.id: run for run in runs}.values()
    for run in cells:
        for field, facet in (known.get(run.id) or facets(run)).items():
            say(field, facet.label, facet.words)
        if run.config:
            say("config:slug", "Configuration", run.config.slug)
        declared |= {factor.name: factor.role for factor in run.factors.all()}
        numbers |= {
            factor.name: factor.number * SECONDS_EACH.get(factor.unit, 1.0)
            for factor in run.factors.all()
            if factor.number is not None
        }
    for run in runs:
        for name, told in recorded(run).items():
            say(name, RECORDED[name], told)
    words = {field: ", ".join(sorted(filter(None, said))) for field, said in values.items() if any(said)}
    durability, doubted = weakest_durability(runs), doubt(runs)
    words["durability"] = claim_words(durability, doubted)
    if "hardware" in words and not any(machine_is_described(run.hardware) for run in cells):
        words["hardware"] += " (not described)"
    short = any(run.demonstration for run in runs)
    return Stated(
        words=words | {"demonstration": "demonstration, short windows" if short else "full windows"},
        labels=labels,
        numbers=numbers,
        declared=declared,
        planned=all(run.upload_id is None and run.publication_id is None for run in runs),
        durability=durability,
        doubt=doubted,
        publications={run.publication_id for run in runs},
        machines={run.hardware_id for run in runs},
        versions={run.dbms_version_id for run in runs},
        dbmss={run.dbms_version.dbms.slug for run in runs},
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
    differing = [
        *_differ(a, b, "workload", Role.QUESTION, blocks=True),
        *_of_factors(a, b),
        *_of_durability(a, b, one_publication),
        *_of_machine(a, b, one_publication),
    ]
    if a.versions == b.versions:
        # Two DBMSs cannot have the same configuration; two revisions of one have the same name.
        alike = a.words.get("config") == b.words.get("config")
        differing += _differ(a, b, "config:slug" if alike else "config", label="Configuration")
    differing += [*_of_records(a, b), *_differ(a, b, "demonstration", Role.PROCEDURE, "Window")]
    return sorted(differing, key=lambda difference: difference.severity != "blocks")


def _differ(
    a: Stated, b: Stated, field: str, role: Role = Role.CONDITION, label: str = "", *, blocks: bool = False
) -> list[Difference]:
    """One, or none where both say the same."""
    of_a, of_b = _said(a, field), _said(b, field)
    label = label or a.labels.get(field) or b.labels.get(field, "")
    severity: Severity = "blocks" if blocks else "note"
    return [Difference(bare_field(field), label, of_a, of_b, severity, role)] if of_a != of_b else []


def _of_factors(a: Stated, b: Stated) -> Iterator[Difference]:
    for field in {**a.words, **b.words}:
        if field.startswith(FACTOR):
            name = field.removeprefix(FACTOR)
            role = factor_role(name, *(side.declared[name] for side in (a, b) if name in side.declared))
            blocks = role == Role.QUESTION or (role == Role.PROCEDURE and _beyond_span(a, b, name))
            yield from _differ(a, b, field, role, blocks=blocks)


def _of_durability(a: Stated, b: Stated, one_publication: bool) -> list[Difference]:
    promises, doubted = (a.durability, b.durability), a.doubt or b.doubt
    if any(promises) or doubted:
        # Across two classes, between a doubtful claim and a sound one, and of databases in memory always.
        known = bool(all(promises) or doubted or Durability.MEMORY in promises)
        role = Role.QUESTION if known else Role.CONDITION
        return _differ(a, b, "durability", role, "Durability", blocks=known)
    return [] if one_publication else [Difference("durability", "Durability", UNKNOWN, UNKNOWN, "note")]


def _of_machine(a: Stated, b: Stated, one_publication: bool) -> list[Difference]:
    if a.machines != b.machines:
        # Runs on two machines always sit on two devices: those need not be named.
        return _differ(a, b, "hardware")
    unknown = not a.machine_is_described and not one_publication
    machine = [Difference("hardware", "Machine", UNKNOWN, UNKNOWN, "note")] if unknown else []
    return machine + _storage(a.words, b.words)


def _of_records(a: Stated, b: Stated) -> Iterator[Difference]:
    # Each DBMS has a driver of its own, and an embedded one is its own driver.
    drivers = a.dbmss == b.dbmss and not any(slug in DBMSS and DBMSS[slug].embedded for slug in a.dbmss)
    for field, label in RECORDED.items():
        both = field in a.words and field in b.words
        if (both or field not in _IF_BOTH_TELL) and (drivers or field != "jdbc"):
            yield from _differ(a, b, field, label=label)
    for field in {**a.words, **b.words}:
        if field.startswith(CONTEXT):
            yield from _differ(a, b, field)


def bare_field(field: str) -> str:
    """The name of a facet's field as a difference tells it."""
    return field.removeprefix(FACTOR).removeprefix(CONTEXT).removesuffix(":slug")


def _said(side: Stated, field: str) -> str:
    """In words; of an optional factor that a plan leaves out its default."""
    if field in side.words:
        return side.words[field]
    factor = FACTORS.get(field.removeprefix(FACTOR)) if side.planned and field.startswith(FACTOR) else None
    return factor_words(factor.name, factor.default) if factor and factor.optional else UNKNOWN


def _beyond_span(a: Stated, b: Stated, name: str) -> bool:
    """Whether two lengths are too far apart for a ratio: none at all is, of any. One that is not known may be near."""
    if name not in a.numbers or name not in b.numbers:
        return False
    less, more = sorted((a.numbers[name], b.numbers[name]))
    return more > less * factor_span(name)


def condition_words(differing: Iterable[Difference], named: Collection[str] = ()) -> str:
    """For a headline: in what groups are not alike, a single thing with its values; without what labels name already.

    `named`: fields of the labels. The first difference of a field speaks for it.
    """
    told = {
        difference.field: difference
        for difference in reversed([*differing])
        if difference.a != difference.b and difference.field not in named
    }
    if len(told) == 1:
        return "".join(f"{one.label} ({one.a} against {one.b})" for one in told.values())
    return ", ".join(difference.label for difference in reversed(told.values()))


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
