"""results.json of a publication: what its article prints, row by row. Unknown keys and wrong types are refused."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, ClassVar, Literal

from benchagent.catalog import Durability, refusal
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from runs.incoming.reading import messages
from runs.incoming.values import Day
from runs.models import Publication
from runs.models.choices import Provenance, StorageRole
from runs.models.stored import sound


class Spec(BaseModel):
    """Refuses keys that it does not know; made ready when it is first used."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)


Id = Annotated[str, Field(min_length=1, max_length=120, pattern=r"^[\w.+-]+$")]
# Becomes the slug of a page.
Slug = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[a-zA-Z0-9_-]+$")]
VersionText = Annotated[str, Field(min_length=1, max_length=120)]
Name = Annotated[str, Field(max_length=200)]
Short = Annotated[str, Field(max_length=40)]
FactorText = Annotated[str, Field(max_length=300)]
Count = Annotated[int, Field(ge=0, lt=2**63)]
Details = dict[str, Any]
Side = dict[str, str | int | float | list[str]]


class StatedRow(Spec):
    """What the article's text states beside runs and claims: words, or a number with its spelling."""

    id: Id
    what: str
    value: int | float | None = None
    unit: Short = ""
    as_printed: str = ""
    where: str = ""


class PublicationRow(Spec):
    """`details`: what else is known of the article; its `stated` are StatedRows, its texts lists or text."""

    slug: Slug
    language: Annotated[str, Field(max_length=10)]
    title_original: Annotated[str, Field(min_length=1, max_length=300)]
    title_en: Annotated[str, Field(min_length=1, max_length=300)]
    author: Name = ""
    publisher: Name = ""
    date: Day
    details: Details = {}


class DeviceRow(Spec):
    id: Slug
    name: Name
    medium: Short = ""
    bus: Short = ""
    model: Name = ""
    mount_point: Name = ""
    raid: Short = ""
    capacity_bytes: Count | None = None
    note: str = ""


class HardwareRow(Spec):
    id: Slug
    name: Name
    os: Name | None = None
    cpu: Name | None = None
    ram_gb: float | None = None
    motherboard: Name | None = None
    note: str = ""
    storage: list[DeviceRow] = []
    details: Details = {}


class DbmsRow(Spec):
    slug: Slug
    name: Name
    vendor: Name = ""
    aliases: list[Name] = []


class VersionRow(Spec):
    id: Id
    dbms: Slug
    version: VersionText
    version_as_printed: str = ""
    architecture: Short = ""
    note: str = ""
    aliases: list[Name] = []


class ParameterRow(Spec):
    """`value` is None for a flag without one."""

    name: Name
    value: str | None
    unit: Short = ""
    comment: str = ""
    section: Annotated[str, Field(max_length=120)] = ""


class ConfigRow(Spec):
    id: Slug
    name: Name
    applies_to: list[Id]
    file: Name = ""
    parameters: list[ParameterRow] = []
    details: Details = {}
    note: str = ""
    durability: Durability | Literal[""] = ""
    durability_reason: str = ""


class WorkloadRow(Spec):
    id: Slug
    name: Name
    kind: Short = ""
    primary_metric: Name = ""
    summary: str = ""
    details: Details = {}


class MetricRow(Spec):
    name: Annotated[str, Field(min_length=1, max_length=80)]
    unit: Short
    label: Name
    better: Literal["higher", "lower", "none"]


class SchemaRow(Spec):
    tables: list[str] | str
    columns: list[dict[str, Any]]
    primary_key: list[str] = []
    indexes: list[dict[str, Any]] = []
    details: Details = {}


class NumberRow(Spec):
    name: Name
    unit: Short
    value: float
    as_printed: Short
    better: Literal["higher", "lower", "none"] = "none"
    note: str = ""


class MissingValue(Spec):
    """The number that a run lacks, and why; `figure` is the picture that held it."""

    metric: Name
    reason: Annotated[str, Field(min_length=1)]
    figure: str = ""


class Factor(Spec):
    value: int | float | FactorText
    unit: Short = ""
    # What another value is to a comparison; without it what its name is known to be, else a question.
    role: Literal["", "question", "condition", "procedure"] = ""


def _factor(given: Any) -> Any:
    """A value stands alone, or in an object that says its unit."""
    return given if isinstance(given, dict) else {"value": given}


class RunRow(Spec):
    id: Id
    version: Id
    workload: Slug
    hardware: Slug
    config: Slug
    repeat: Annotated[int, Field(ge=1, le=10_000)] = 1
    factors: dict[Annotated[str, Field(max_length=80)], Annotated[Factor, BeforeValidator(_factor)]] = {}
    storage: dict[StorageRole, Slug] = {}
    provenance: Provenance
    note: str = ""
    metrics: list[NumberRow] = []
    missing: MissingValue | None = None


class AggregateMetric(Spec):
    name: Name
    unit: Short = ""
    better: str = ""


class AggregateRow(Spec):
    """A printed statistic of runs: never a run itself."""

    id: Id
    statistic: Short
    of: list[Id]
    workload: Slug
    version: Id
    metric: AggregateMetric
    value: float
    as_printed: Short
    details: Details = {}


class ObservationRow(Spec):
    """A number of the text that belongs to no single run; a range has both ends and no value."""

    provenance: ClassVar[Provenance] = Provenance.PRINTED
    metric: Name
    unit: Short = ""
    workload: Slug | None = None
    value: float | None = None
    value_min: int | float | None = None
    value_max: int | float | None = None
    as_printed: Short = ""
    where: str = ""
    qualifier: Name = ""
    factors: Details = {}

    @property
    def value_text(self) -> str:
        ends = (self.value_min, self.value_max)
        return self.as_printed or "–".join(f"{end:g}" for end in ends if end is not None)

    @property
    def details(self) -> Details:
        """Its ends, spelling and place, as far as the article tells them."""
        stated = self.model_dump(include={"value_min", "value_max", "as_printed", "where"})
        return {name: value for name, value in stated.items() if value not in (None, "")}


class ClaimRow(Spec):
    """A relative statement: `ratio` is A divided by B in the sense given, `percent` how much A is above B."""

    id: Id
    metric: Name
    side_a: Side
    side_b: Side
    percent: float | None = None
    ratio: float | None = None
    sense: str = ""
    approximate: bool = False
    ambiguous: bool = False
    summary: str
    details: Details = {}

    @property
    def versions(self) -> set[str]:
        """Ids of those that its sides name."""
        named = [side.get("dbms") for side in (self.side_a, self.side_b)]
        every = [version for names in named for version in (names if isinstance(names, list) else [names])]
        return {str(version) for version in every if version}


class ClaimDetails(BaseModel):
    """What the details of a claim may say of its amount."""

    percent_range: tuple[float, float] | None = None
    ratio_as_printed: Annotated[str, Field(pattern=r"^([<>]=?)?\d+(\.\d+)?$")] | None = None
    percent_as_printed: Annotated[str, Field(pattern=r"^([<>]=?)?\d+(\.\d+)?$")] | None = None
    size_ratio: float | None = None
    points_a: float | None = None
    points_b: float | None = None
    where: str = ""


class MissingRow(Spec):
    """A picture, or a linked document, that is lost."""

    id: Id
    kind: Annotated[str, Field(max_length=120)] = ""
    content: str
    document: bool = False


class TableRow(Spec):
    table: Annotated[str, Field(max_length=120)]
    records: Count | None = None
    record_length_bytes: float | None = None
    data_pages: Count | None = None
    table_size_mb: float | None = None
    indices_size_mb: float | None = None
    total_percent: float | None = None
    total_percent_as_printed: Annotated[str, Field(max_length=20, examples=["12.5"])] = ""


class IndexRow(Spec):
    index: Annotated[str, Field(max_length=120)]
    table: Annotated[str, Field(max_length=120)]
    depth: Annotated[int, Field(ge=0, le=1000)] | None = None
    keys: Count | None = None
    key_length_bytes: float | None = None
    unique_keys: Count | None = None
    size_mb: float | None = None


class QueryRow(Spec):
    number: Annotated[int, Field(ge=0, le=10_000)]
    sql: str
    plan: str = ""
    description: str = ""
    metrics: list[NumberRow] = []
    count_result: Count | None = None


class FactRow(Spec):
    """Known, but not printed in the article: recovered from another page, or inferred by us; `how` says it."""

    provenance: Provenance
    title: str
    how: str = ""
    details: Details = {}


class Statements(Spec):
    """What the article states beside its runs, in its order: kept as it is in the publication's row."""

    schemas: list[SchemaRow] = []
    observations: list[ObservationRow] = []
    claims: list[ClaimRow] = []
    missing: list[MissingRow] = []
    table_stats: list[TableRow] = []
    index_stats: list[IndexRow] = []
    query_stats: list[QueryRow] = []
    facts: list[FactRow] = []

    def claim(self, id: str) -> ClaimRow | None:
        return next((claim for claim in self.claims if claim.id == id), None)


class Results(Statements):
    publication: PublicationRow
    hardware: list[HardwareRow] = []
    dbms: list[DbmsRow] = []
    versions: list[VersionRow] = []
    configs: list[ConfigRow] = []
    workloads: list[WorkloadRow] = []
    metrics: list[MetricRow] = []
    runs: Annotated[list[RunRow], Field(max_length=5000)] = []
    aggregates: list[AggregateRow] = []

    def statements(self) -> dict[str, Any]:
        """As JSON, for the publication's row."""
        return self.model_dump(mode="json", include=set(Statements.model_fields))

    def faults(self) -> list[str]:
        """Ids that stand twice, and rows that name what is not there."""
        kinds = ("hardware", "versions", "configs", "workloads", "runs", "aggregates", "claims", "missing")
        ids = {kind: [row.id for row in getattr(self, kind)] for kind in kinds} | {
            "dbms": [dbms.slug for dbms in self.dbms],
            "metrics": [metric.name for metric in self.metrics],
            "storage": [disk.id for machine in self.hardware for disk in machine.storage],
        }
        wrong = _faults_of(list[StatedRow], self.publication.details.get("stated", []), "publication.details.stated")
        for at, claim in enumerate(self.claims):
            wrong += _faults_of(ClaimDetails, claim.details, f"claims[{at}].details")
        # (field, kind of row, the id that the field names), (field, metric, value, unit) and (field, value, spelling).
        named = [(f"versions[{at}].dbms", "dbms", version.dbms) for at, version in enumerate(self.versions)]
        values: list[tuple[str, str, float, str]] = []
        spelt: list[tuple[str, float, str]] = []
        for at, config in enumerate(self.configs):
            named += [(f"configs[{at}].applies_to", "versions", name) for name in config.applies_to]
        for at, run in enumerate(self.runs):
            named += [
                (f"runs[{at}].version", "versions", run.version), (f"runs[{at}].config", "configs", run.config),
                (f"runs[{at}].workload", "workloads", run.workload), (f"runs[{at}].hardware", "hardware", run.hardware),
                *((f"runs[{at}].storage.{role}", "storage", disk) for role, disk in run.storage.items()),
            ]  # fmt: skip
            for no, metric in enumerate(run.metrics):
                named.append((f"runs[{at}].metrics[{no}].name", "metrics", metric.name))
                values.append((f"runs[{at}].metrics[{no}]", metric.name, metric.value, metric.unit))
                spelt.append((f"runs[{at}].metrics[{no}]", metric.value, metric.as_printed))
        for at, row in enumerate(self.aggregates):
            named += [
                (f"aggregates[{at}].version", "versions", row.version),
                (f"aggregates[{at}].workload", "workloads", row.workload),
                (f"aggregates[{at}].metric.name", "metrics", row.metric.name),
                *((f"aggregates[{at}].of", "runs", run_id) for run_id in row.of),
            ]
            values.append((f"aggregates[{at}]", row.metric.name, row.value, row.metric.unit))
            spelt.append((f"aggregates[{at}]", row.value, row.as_printed))
        for at, seen in enumerate(self.observations):
            named += [(f"observations[{at}].workload", "workloads", seen.workload)] if seen.workload else []
        for field, name, value, unit in values:
            wrong += [f"{field}.value: {why}"] if (why := refusal(name, value, unit)) else []
            wrong += [f"{field}.unit: {_NO_UNIT.format(unit)}"] if ":" in unit else []
        for field, value, text in spelt:
            wrong += [f"{field}.as_printed: {text!r} is not the value {value:g}"] if _is_another(value, text) else []
        wrong += [
            f"metrics[{at}].unit: {_NO_UNIT.format(metric.unit)}"
            for at, metric in enumerate(self.metrics)
            if ":" in metric.unit
        ]
        for kind, names in ids.items():
            wrong += [f"{kind}: {name} stands twice" for name in sorted(set(names)) if names.count(name) > 1]
        unknown = [(field, kind, name) for field, kind, name in named if name not in ids[kind]]
        return wrong + [f"{field}: {name} is not one of the {kind}" for field, kind, name in unknown]


_NO_UNIT = "{!r} is a way of writing a time, no unit: give the value in s, and its spelling as as_printed"


def _is_another(value: float, as_printed: str) -> bool:
    """Whether the spelling is a number, with a point or a comma before decimals or between thousands, and not this
    value; of what is no number, as "≈ 45" or "1:23:45", nothing is known.
    """
    text = re.sub(r"[\s'’]", "", as_printed.replace("−", "-"))
    if not re.fullmatch(r"[+-]?\d[\d.,]*", text):
        return False
    meant = {text.replace(",", "."), text.replace(",", ""), text.replace(".", "").replace(",", ".")}
    numbers = [float(each) for each in meant if each.count(".") <= 1]
    return bool(numbers) and not any(math.isclose(value, number, rel_tol=1e-9) for number in numbers)


def statements_of(publication: Publication) -> Statements:
    stated = sound(publication.content.get("statements") or {}, Statements.model_validate, dict)
    return Statements.model_validate(stated)


def _faults_of(kind: Any, value: Any, path: str) -> list[str]:
    form = TypeAdapter(kind)
    try:
        form.validate_python(value)
    except ValidationError as error:
        return [f"{where}: {words[0]}" for where, words in messages(error, form, within=path).items()]
    return []
