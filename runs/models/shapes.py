"""What the JSON columns hold, where neither the agents' protocol nor a publication's own models say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, field
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict
from uuid import UUID

from pydantic import AfterValidator, Field
from pydantic.dataclasses import dataclass

from runs.models.choices import Visibility

Ident = Annotated[str, AfterValidator(UUID)]


def _aware(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("a time without a zone")
    return moment


Moment = Annotated[str, AfterValidator(_aware)]

# Statistics of a run: what its engine told about itself, and what the server keeps beside that.


class Age(TypedDict, total=False):
    """How old an upkeep of the engine was when the run began."""

    age_s: float | None


class Ended(TypedDict, total=False):
    """A query before the run: when it ended and how long it took."""

    t: float | None
    elapsed_s: float | None


class MemorySample(TypedDict):
    t: float
    bytes: float


class WarmUp(TypedDict, total=False):
    queries: list[Ended]
    memory: list[MemorySample]


class TypeFigures(TypedDict, total=False):
    """The figures of one transaction type that are shown; agents tell more."""

    transactions: float | None


class Statement(TypedDict, total=False):
    durability: Literal["power_loss", "dbms_crash", "bounded_loss", "none", "memory", ""] | None
    reason: str


class CheckRow(TypedDict):
    """`benchagent.protocol.Check`, of which older rows may lack the detail."""

    name: str
    ok: bool
    detail: NotRequired[str]


class Judged(TypedDict):
    promised: Statement
    storage: Statement
    observed: Statement
    contradiction: NotRequired[str]


class Observer(TypedDict, total=False):
    warning: str


class Statistics(TypedDict, total=False):
    """EngineReport as pages read it."""

    counters: dict[str, float]
    none: dict[str, str]
    waits: dict[str, float]
    tables: list[dict[str, Any]]
    indexes: list[dict[str, Any]]
    maintenance: list[Age]
    queries: list[dict[str, Any]]
    consistency: list[dict[str, Any]]
    marks: list[dict[str, Any]]
    transaction_types: dict[str, TypeFigures]
    warm_up_queries: WarmUp
    conditions: dict[str, str]
    latency_map: dict[str, Any]
    durability: Judged
    observer: Observer


# Experiments

Facts = dict[str, str | float]
CellFacts = Mapping[str, str | int | float]


@dataclass(frozen=True)
class Match:
    """One published figure of an article, and the cells of an experiment that answer it.

    `ours` and `base` choose runs of the experiment: "dbms", "version" (how it begins), else a factor. With `base` the
    line is a relation: how many times as fast `ours` is. The published side is a claim (its source id), or the
    published runs that `theirs` chooses ("version" is then a source id), again with a base or without one.
    """

    label: str
    metric: str = ""
    ours: CellFacts = field(default_factory=dict)
    base: CellFacts = field(default_factory=dict)
    claim: str = ""
    theirs: CellFacts = field(default_factory=dict)
    their_base: CellFacts = field(default_factory=dict)
    their_metric: str = ""
    # With `base`: a published observation (its metric) of how many seconds longer `ours` takes, and on how many.
    extra: str = ""
    extra_on_s: int | Annotated[float, Field(allow_inf_nan=False)] = 0
    # What differs, beyond what the rows tell.
    differs: str = ""
    # Why nothing can be run for it.
    gap: str = ""
    # A relation that is read as a loss or a gain: also said in per cent.
    percent: bool = False

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value}


class PlanGap(NamedTuple):
    """What a plan could not run. `version`: the id of the engine in the published data, where the article tested it."""

    label: str
    reason: str
    version: str = ""


class PlannedStop(TypedDict):
    """When repeats are enough: agents.plans.matrix.Stop."""

    percent: float
    baseline: Facts


class PlanDocument(TypedDict, total=False):
    """The form of the schedule as it was filled in; for an experiment that repeats an article what it answers there."""

    workload: str
    engines: list[list[str]]
    settings: dict[str, list[tuple[str, str]]]
    factors: Facts
    overrides: list[tuple[str, str | float, Facts]]
    sweep: dict[str, list[str | float]]
    extra: list[Facts]
    repeats: int
    agent: str | None
    # For each DBMS slugs of stored configurations, and values of settings that are varied.
    configs: dict[str, list[str]]
    swept: dict[str, dict[str, list[str]]]
    # Slugs of agents and labels: one of those that it may run on, or each of them.
    machines: list[str]
    labels: list[str]
    each: bool
    exclude: list[Facts]
    order: str
    order_seed: int
    stop: PlannedStop | None
    name: str
    label: str
    tags: list[str]
    tested: dict[str, str]
    note: str
    visibility: str
    publication: str
    figure: str
    published: list[Match]
    # What could not be run, why, and the id of its version where the article tested it.
    gaps: list[tuple[str, str] | tuple[str, str, str]]


# Files of tools


class Figure(TypedDict):
    name: str
    unit: str
    value: float
    phase: str


class SubjectOfFile(TypedDict):
    workload: str | None
    dbms: str | None
    dbms_version: str | None


class Item(TypedDict):
    """What an importer found of one run (`benchagent.importers.as_json`)."""

    file: str
    tool: str | None
    status: str
    reason: str | None
    parameters: dict[str, Any]
    metrics: list[Figure]
    series: list[dict[str, Any]]
    warnings: list[str]
    subject: SubjectOfFile
    part_of: str | None
    # Since histories are read: not in imports from before.
    tested: NotRequired[dict[str, str]]


class Subject(TypedDict, total=False):
    """What a person said about files: `runs.imports.documents.ImportSubject` as pages read it."""

    hardware: str | dict[str, Any]
    dbms: dict[str, str]
    workload: dict[str, str]
    config: str | dict[str, Any]
    durability: str
    measured_on: str
    visibility: str
    note: str
    label: str
    tags: list[str]
    tested: dict[str, str]
    mapping: dict[str, dict[str, Any]]
    leave_out: list[int]
    failures_expected: list[int]


class Progress(TypedDict, total=False):
    files: list[str]
    size_bytes: int
    step: str
    file: str
    read_bytes: int
    bytes_per_s: float | None
    left_s: float | None


class Document(TypedDict, total=False):
    """An upload as it was sent."""

    repeats: list[dict[str, Any]]


class FrozenRange(TypedDict, total=False):
    """An interval, or a ratio with its interval."""

    value: float
    low: float | None
    high: float | None


class Average(TypedDict):
    geometric_mean: float | None


class FrozenGroup(TypedDict):
    """One line of the table; the API gives what else it holds as it was."""

    label: str
    summary: Average | None
    value: NotRequired[float | None]
    gaps: NotRequired[list[str]]
    interval: NotRequired[FrozenRange | None]
    ratio: NotRequired[FrozenRange | None]


class FrozenComparison(TypedDict, total=False):
    headline: str
    unit: str
    warnings: list[str]
    groups: list[FrozenGroup]
    common: dict[str, str]
    varying: list[str]


class Frozen(TypedDict):
    """What a frozen report keeps: the comparison as the API answers it, its charts, and what decides who may see them.

    `visibility` is the strictest of its runs at the time, `version` that of the program, `drawn` the charts with their
    tables as our templates rendered them. What was frozen before reports told their `question` has none.
    """

    at: Annotated[str, AfterValidator(datetime.fromisoformat)]
    version: str
    visibility: Visibility
    runs: list[Ident]
    question: NotRequired[str]
    comparison: FrozenComparison
    drawn: list[str]


# Publications


class WorkloadDetails(TypedDict, total=False):
    methods: list[dict[str, Any]]
    sql: str | list[str]


class PublicationDetails(TypedDict, total=False):
    stated: list[dict[str, Any]]


# What results are about


class DatabaseDetails(TypedDict, total=False):
    page_size_bytes: int | None


class ConfigDetails(TypedDict, total=False):
    page_size_bytes: int | None
    forced_writes: bool | None
    includes_missing: list[str]
    database: DatabaseDetails


# History


class RecentBatch(TypedDict):
    """One of a benchmark's newest batches: `at` is an ISO time, `centre` the geometric mean, 0 where each repeat is."""

    at: Moment
    centre: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None


class ChangeAmount(TypedDict, total=False):
    """A share of 1 with the ends of its interval."""

    value: float
    low: float | None
    high: float | None
