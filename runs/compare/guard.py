"""The guard: says in words why two groups of runs can or cannot be compared, and refuses a bare ratio where not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal
from uuid import UUID

from benchagent.catalog import (
    DBMSS,
    EXTREMES,
    FACTORS,
    SECONDS_EACH,
    Durability,
    Role,
    factor_role,
    factor_span,
    factor_words,
)
from django.db.models import prefetch_related_objects

from runs.formatting import listed
from runs.machines.facts import profile_facts
from runs.models import HardwareProfile, Run
from runs.run.facets import (
    CONTEXT,
    DATASET,
    FACTOR,
    RECORDED,
    STORAGE,
    SWITCHED,
    Facet,
    claim_words,
    doubt,
    facets,
    machine_is_described,
    reads_given_settings,
    recorded,
    weakest_durability,
)
from runs.run.likeness import stated_alike

Severity = Literal["blocks", "note"]
UNKNOWN = "not known"
# The longer it is the higher is its maximum, of one and the same system.
WINDOW = "duration_s"
NONE_READ: Mapping[UUID, Mapping[str, Facet]] = {}
# Recorded facts that say nothing beside a result that does not tell them.
_IF_BOTH_TELL = frozenset({"java", "agent", "jdbc"})


@dataclass(frozen=True)
class Difference:
    """One thing in which two groups differ. `blocks`: a bare ratio would mislead. `note`: read it with this in mind.

    `role`: of a factor as the catalogue or its sender says, of anything else what it is to a comparison.
    `is_own_question`: of a factor whose sender may declare it a condition.
    """

    field: str
    label: str
    a: str
    b: str
    severity: Severity
    role: Role = Role.CONDITION
    is_own_question: bool = False

    @property
    def turned(self) -> Difference:
        """The difference of the second against the first."""
        return replace(self, a=self.b, b=self.a)


@dataclass(frozen=True)
class Conditions:
    """What the runs of one group say of how they were made: `words` and `labels` by field, each different value once.

    `declared`: roles of factors, empty where a sender says none. `numbers`: of factors that are one, times in seconds.
    `planned`: an optional factor that is not named is at its default. `extreme`: what is compared is a maximum.
    `counted_by`: the DBMS whose own count is compared. `same_config`: of a configuration that holds the same settings
    as others here, the name of the first of those.
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
    hardware: HardwareProfile | None = None
    extreme: bool = False
    counted_by: str = ""
    same_config: str = ""

    def with_config_called(self, short: Mapping[str, str]) -> Conditions:
        """With its configuration by the name that tells it from the others."""
        name = self.words.get("config", "")
        return replace(self, words={**self.words, "config": short[name]}) if name in short else self


def fetch_settings(runs: Iterable[Run]) -> None:
    """In one query the settings of uploads that do not tell which were in force; what is there is not fetched again."""
    configs = [run.config for run in runs if run.config and reads_given_settings(run)]
    prefetch_related_objects(configs, "parameters")


def conditions_of(
    runs: Sequence[Run], facets_read: Mapping[UUID, Mapping[str, Facet]] = NONE_READ, *, metric: str = ""
) -> Conditions:
    """Of runs whose settings `fetch_settings` has fetched; `facets_read` of some, by id, need not be read again.

    `metric`: the name of what is compared.
    """
    values: dict[str, set[str]] = {}
    labels: dict[str, str] = {}
    numbers: dict[str, float] = {}
    declared: dict[str, str] = {}

    def add(field: str, label: str, words: str) -> None:
        if words:
            values.setdefault(field, set()).add(words)
        labels[field] = label

    # Repeats of a cell share everything that its key hashes: the first of them speaks for all.
    first_of: dict[object, Run] = {}
    for run in runs:
        first_of.setdefault(run.cell_key or run.id, run)
    cells = first_of.values()
    for run in cells:
        for field, facet in (facets_read.get(run.id) or facets(run)).items():
            add(field, facet.label, facet.words)
        if run.config:
            add("config:slug", "Configuration", run.config.slug)
        for factor in run.factor_rows:
            # Nobody sends a switch as another question.
            declared[factor.name] = factor.role or ("condition" if factor.text.lower() in SWITCHED else "")
            if factor.number is not None:
                numbers[factor.name] = factor.number * SECONDS_EACH.get(factor.unit, 1.0)
    for first, *_ in stated_alike(runs):
        for name, text in recorded(first).items():
            add(name, RECORDED[name], text)
    words = {field: ", ".join(sorted(texts)) for field, texts in values.items()}
    durability, doubted = weakest_durability(runs), doubt(runs)
    words["durability"] = claim_words(durability, doubted)
    if "hardware" in words and not any(machine_is_described(run.hardware) for run in cells):
        words["hardware"] += " (not described)"
    short = any(run.demonstration for run in runs)
    return Conditions(
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
        hardware=next((run.hardware for run in cells if run.hardware), None),
        extreme=metric in EXTREMES,
        counted_by=_counted_by(runs, metric),
    )


def have_same_settings(a: Conditions, b: Conditions) -> bool:
    """Whether two configurations of theirs are one under two names."""
    are_two = a.words.get("config:slug") != b.words.get("config:slug")
    return are_two and bool(a.same_config) and a.same_config == b.same_config


def are_alike(a: Conditions, b: Conditions) -> bool:
    """Whether nothing but the name of one configuration tells them apart, so that no repeat could decide anything."""
    differ = any(each.a != each.b for each in differences(a, b))
    return a.versions == b.versions and have_same_settings(a, b) and not differ


def _counted_by(runs: Sequence[Run], metric: str) -> str:
    """The DBMSs that HammerDB asked how many transactions they counted, each in its own way; NOPM it counts itself."""
    is_own = metric == "tpm" and any(str(run.driver.get("name", "")).casefold() == "hammerdb" for run in runs)
    return listed(sorted({run.dbms_version.dbms.name for run in runs})) if is_own else ""


def differences(a: Conditions, b: Conditions) -> list[Difference]:
    """What to know before comparing two groups, blocking differences first. Empty: like with like, or no run.

    Facts unknown on both sides do not count within one publication: its author compared what he knew to be alike.
    """
    if not a.versions or not b.versions:
        return []
    publications = a.publications | b.publications
    one_publication = len(publications) == 1 and publications != {None}
    fields = {**a.words, **b.words}
    differing = _differ(a, b, "workload", Role.QUESTION, blocks=True)
    if a.counted_by and b.counted_by and a.counted_by != b.counted_by:
        of_a, of_b = (f"transactions as {group.counted_by} counts them" for group in (a, b))
        label = "What TPM counts, unlike NOPM"
        differing.append(Difference("counted_by", label, of_a, of_b, "blocks", Role.QUESTION))
    unlike_factors = [each for each in fields if each.startswith(FACTOR) and _words_of(a, each) != _words_of(b, each)]
    for name in [field.removeprefix(FACTOR) for field in unlike_factors]:
        role = factor_role(name, *(group.declared[name] for group in (a, b) if name in group.declared))
        beyond = beyond_span(a.numbers, b.numbers, [name]) or (
            a.extreme and name == WINDOW and a.numbers.get(name) != b.numbers.get(name)
        )
        blocks = role == Role.QUESTION or (role == Role.PROCEDURE and beyond)
        is_own = role == Role.QUESTION != factor_role(name, Role.CONDITION)
        differing += _differ(a, b, f"{FACTOR}{name}", role, blocks=blocks, is_own_question=is_own)

    promises, doubted = (a.durability, b.durability), a.doubt or b.doubt
    if any(promises) or doubted:
        # Across two classes, between a doubtful claim and a sound one, and of databases in memory always.
        blocks = bool(all(promises) or doubted or Durability.MEMORY in promises)
        role = Role.QUESTION if blocks else Role.CONDITION
        differing += _differ(a, b, "durability", role, "Durability", blocks=blocks)
    elif not one_publication:
        differing.append(Difference("durability", "Durability", UNKNOWN, UNKNOWN, "note"))

    if a.machines != b.machines:
        # Runs on two machines always sit on two devices: those need not be named.
        differing += _differ(a, b, "hardware") or [*machine_facts(a, b), *_storage(a.words, b.words)]
    else:
        if not a.machine_is_described and not one_publication:
            words = a.words.get("hardware", UNKNOWN)
            differing.append(Difference("hardware", "Machine", words, words, "note"))
        differing += _storage(a.words, b.words)
    if a.versions == b.versions and not have_same_settings(a, b):
        # Two DBMSs cannot have the same configuration; two revisions of one have the same name.
        same_name = a.words.get("config") == b.words.get("config")
        differing += _differ(a, b, "config:slug" if same_name else "config", label="Configuration")

    # Each DBMS has a driver of its own, and an embedded one is its own driver.
    drivers = a.dbmss == b.dbmss and not any(slug in DBMSS and DBMSS[slug].embedded for slug in a.dbmss)
    for field, label in RECORDED.items():
        both = field in a.words and field in b.words
        if field in fields and (both or field not in _IF_BOTH_TELL) and (drivers or field != "jdbc"):
            differing += _differ(a, b, field, label=label)
    for field in [field for field in fields if field.startswith((CONTEXT, DATASET))]:
        # The size of the data is a question where both tell it.
        blocks = field.startswith(DATASET) and field in a.words and field in b.words
        differing += _differ(a, b, field, Role.QUESTION if blocks else Role.CONDITION, blocks=blocks)
    differing += _differ(a, b, "demonstration", Role.PROCEDURE, "Window")
    return sorted(differing, key=lambda difference: difference.severity != "blocks")


def _differ(
    a: Conditions, b: Conditions, field: str, role: Role = Role.CONDITION, label: str = "", *, blocks: bool = False,
    is_own_question: bool = False,
) -> list[Difference]:  # fmt: skip
    """One, or none where both say the same."""
    of_a, of_b = _words_of(a, field), _words_of(b, field)
    if of_a == of_b:
        return []
    label = label or a.labels.get(field) or b.labels.get(field, "")
    return [Difference(bare_field(field), label, of_a, of_b, "blocks" if blocks else "note", role, is_own_question)]


def bare_field(field: str) -> str:
    """The name of a facet's field as a difference tells it."""
    return field.removeprefix(FACTOR).removeprefix(CONTEXT).removesuffix(":slug")


def _words_of(group: Conditions, field: str) -> str:
    """The words of a field; an optional factor that a plan leaves out has its default."""
    if field in group.words:
        return group.words[field]
    factor = FACTORS.get(field.removeprefix(FACTOR)) if group.planned and field.startswith(FACTOR) else None
    return factor_words(factor.name, factor.default) if factor and factor.optional else UNKNOWN


def beyond_span(a: Mapping[str, float], b: Mapping[str, float], names: Iterable[str]) -> bool:
    """Whether two of these lengths are too far apart for a ratio: none at all is, of any. One that is not known may be
    near.
    """
    shared = [name for name in names if name in a and name in b]
    return any(max(a[name], b[name]) > min(a[name], b[name]) * factor_span(name) for name in shared)


def unlike(differing: Iterable[Difference], named: Collection[str] = ()) -> list[Difference]:
    """In what groups are not alike, one difference a field; without `named`, the fields that labels tell already.

    A storage that is compared is told by its device and by the factor that names it. Where the configurations of one
    system are compared, what one of them makes of its buffers is told with it; and where load generators are, their
    versions.
    """
    of_config = ["buffer_pool"] if "config" in named and "dbms" not in named else []
    of_storage = [f"{name.removeprefix(STORAGE)}_storage" for name in named if name.startswith(STORAGE)]
    of_storage += [f"{STORAGE}{name.removesuffix('_storage')}" for name in named if name.endswith("_storage")]
    named_fields = {*named, *of_config, *of_storage, *(["generator"] if "tool" in named else [])}
    by_field: dict[str, Difference] = {}
    for difference in differing:
        if difference.a != difference.b and difference.field not in named_fields:
            by_field.setdefault(difference.field, difference)
    return [*by_field.values()]


def blocking(differing: Iterable[Difference]) -> list[Difference]:
    """Why there is no ratio; empty when there may be one."""
    return [difference for difference in differing if difference.severity == "blocks"]


def machine_facts(a: Conditions, b: Conditions) -> list[Difference]:
    """In what the profiles of two machines differ, as that of one does after a new kernel."""
    if a.hardware is None or b.hardware is None:
        return []
    both = zip(profile_facts(a.hardware), profile_facts(b.hardware), strict=True)
    return [
        Difference(f"machine:{label}", label, of_a or UNKNOWN, of_b or UNKNOWN, "note")
        for (label, of_a), (_, of_b) in both
        if of_a != of_b
    ]


def _storage(a: Mapping[str, str], b: Mapping[str, str]) -> list[Difference]:
    """Log and temporary files mostly lie where the data lie: what differs alike is said once."""
    roles_by_words: dict[tuple[str, str], list[str]] = {}
    for field in sorted(field for field in {**a, **b} if field.startswith(STORAGE)):
        of_both = (a.get(field, UNKNOWN), b.get(field, UNKNOWN))
        roles_by_words.setdefault(of_both, []).append(field.removeprefix(STORAGE))
    return [
        Difference(f"{STORAGE}{roles[0]}", f"Storage of the {', '.join(roles)}", of_a, of_b, "note")
        for (of_a, of_b), roles in roles_by_words.items()
        if of_a != of_b
    ]
