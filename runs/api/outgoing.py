"""What goes out over REST. Each kind is described once: it reads rows, is the answer, and is its schema.

Documents that come in are runs.results.document's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime
from typing import Annotated, Any, Generic, Literal, Self, TypeVar
from uuid import UUID

from benchagent.catalog import Durability, factor_role
from benchagent.catalog.durability import Judgement
from django.db.models import QuerySet
from django.http import HttpRequest
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from pydantic import AliasPath, BaseModel, BeforeValidator, ConfigDict, Field, RootModel
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from runs import models
from runs.access.changes import history
from runs.api.errors import refuse_unknown
from runs.models.choices import Precision, Provenance, RunState, Visibility
from runs.run import quality
from runs.run.artefacts import artefacts_of
from runs.run.durability import judgement
from runs.run.latency import Latency as MergedLatency
from runs.run.latency import TypeLatency
from runs.run.number import headline_numbers
from runs.run.series import Series, ThinnedSeries

T = TypeVar("T")


class Outgoing(BaseModel):
    """What an answer is made of. Where it is made of a row, its columns are the attributes of the same names."""

    model_config = ConfigDict(frozen=True, from_attributes=True, defer_build=True)

    @classmethod
    def of(cls, row: Any, **values: Any) -> Self:
        """`values` are those that the row does not have under the field's name."""
        return cls.model_validate(
            {name: values[name] if name in values else getattr(row, name) for name in cls.model_fields},
            from_attributes=True,
        )


class Rows(RootModel[list[T]], Generic[T]):
    """An answer that is a list, of rows of a query."""

    @classmethod
    def of(cls, rows: Iterable[Any]) -> Self:
        return cls.model_validate(list(rows), from_attributes=True)


def source(path: str, **options: Any) -> Any:
    """A field of what lies at this path of attributes; with a `default` it may end before."""
    return Field(validation_alias=AliasPath(*path.split(".")), **options)


def answered(answer: BaseModel, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(answer.model_dump(mode="json", by_alias=True), status=status, headers=headers)


def page_of(row: Any, request: Request | HttpRequest) -> str:
    """The address of a thing's page, with the host that was asked."""
    return str(request.build_absolute_uri(row.get_absolute_url()))


# The rows of a relation.
ALL = BeforeValidator(lambda rows: list(rows.all()))
# A person by name, in another's row.
Username = Annotated[str | None, BeforeValidator(lambda person: getattr(person, "username", None))]
# What another row is, by its slug.
SlugOf = Annotated[str | None, BeforeValidator(lambda row: getattr(row, "slug", None))]


class Error(Outgoing):
    detail: str


class Page(Outgoing):
    """A page of a list; `results` are its own."""

    count: int
    next: str | None
    previous: str | None


class Pages(PageNumberPagination):
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 500


PAGING = [OpenApiParameter("page", int), OpenApiParameter("page_size", int, description="50 by itself, at most 500.")]


def paged(
    request: Request, rows: QuerySet[Any], as_rows: Callable[[Sequence[Any]], Iterable[BaseModel]], *others: str
) -> Response:
    """The page of these rows that is asked for, as `as_rows`. `others`: parameters beside those of pages."""
    refuse_unknown(request.query_params, {"page", "page_size", *others})
    pages = Pages()
    shown = as_rows(pages.paginate_queryset(rows, request) or [])
    return pages.get_paginated_response([row.model_dump(mode="json") for row in shown])


# Path of each wrong field -> what is wrong with it.
FIELD_ERRORS = OpenApiTypes.OBJECT
REFUSALS = {401: Error, 403: Error, 404: Error}


class WorkloadRef(Outgoing):
    slug: str
    name: str
    version: str


class DbmsRef(Outgoing):
    """`slug` is that of the version, `dbms` that of the system."""

    slug: str
    dbms: str = source("dbms.slug")
    name: str
    version: str
    architecture: str


class NamedRef(Outgoing):
    slug: str
    name: str


class Missing(Outgoing):
    """Why a value is not known: it is a gap, never a zero."""

    metric: str = source("missing_metric")
    reason: str = source("missing_reason")


class Invalid(Outgoing):
    """Why the numbers of a run count nowhere."""

    at: datetime = source("invalid_at")
    reason: str = source("invalid_reason")


class Measurement(Outgoing):
    name: str = source("metric.name")
    label: str = source("metric.label")
    unit: str = source("metric.unit")
    better: str = source("metric.better")
    phase: str
    value: float
    as_printed: str
    provenance: Provenance
    note: str


class Storage(Outgoing):
    role: str
    device: str = source("device.name")
    device_slug: str = source("device.slug")
    medium: str = source("device.medium")
    path: str


class StateChange(Outgoing):
    state: RunState
    at: datetime
    message: str


class Change(Outgoing):
    """An edited field; `by` is null for the system."""

    field: str
    old: Any
    new: Any
    reason: str
    by: Username
    at: datetime


class Changes(Rows[Change]):
    """Newest first."""


class Annotation(Outgoing):
    """`at_s` counts from the begin of the warm-up, as series do."""

    id: UUID
    at_s: float
    text: str
    by: Username
    created_at: datetime


class Annotations(Rows[Annotation]):
    """In the order of time."""


class Artefact(Outgoing):
    """`url`: where the file is downloaded."""

    id: UUID
    name: str
    media_type: str
    size_bytes: int
    sha256: str
    url: str

    @classmethod
    def of(cls, row: models.Artefact, **values: Any) -> Self:
        return super().of(row, url=reverse("api-artefact", args=[row.pk], request=values["request"]))


class LatencyMap(Outgoing):
    """How many took how long over the time of the run; `cells`: begin in s, from ms, to below ms, transactions."""

    interval_s: int
    cells: list[list[float]]


class Latency(Outgoing):
    """Milliseconds. `curve` is (percentile, ms); `beyond` counts the transactions that took longer.

    `latency` is null without a histogram, where there is only how many took how long over time.

    `types` of one run only: no histogram of a transaction type is stored, so that repeats cannot be merged.
    """

    latency: MergedLatency | None
    types: list[TypeLatency]
    over_time: LatencyMap | None


class Run(Outgoing):
    """`result`: the number that counts, then those beside it; empty without one, for which `missing` or `message` say
    why. `metrics`: summary values of the measured phase by name; all others are in `measurements`."""

    id: UUID
    url: Annotated[str, Field(description="The run's page.")]
    workload: WorkloadRef
    dbms: DbmsRef
    hardware: NamedRef | None
    config: NamedRef | None
    status: RunState
    provenance: Provenance
    demonstration: bool
    durability: Durability | Literal[""]
    repeat: int
    order_index: int | None
    cell_key: str
    batch: Annotated[UUID | None, Field(description="What it was measured together with.")]
    label: Annotated[str, Field(description="Its own, else its batch's.")]
    tags: list[str]
    tested: dict[str, str]
    experiment: SlugOf
    publication: SlugOf
    factors: dict[str, int | float | str]
    metrics: dict[str, float]
    result: list[Measurement]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    measured_on: date | None
    measured_at: datetime | None
    measured_at_precision: Annotated[
        Precision | Literal[""], Field(description="How well it is known; empty for a source that does not say it.")
    ]
    message: str
    missing: Missing | None
    owner: Username
    visibility: Visibility
    invalid: Invalid | None

    @classmethod
    def of(cls, row: models.Run, **values: Any) -> Self:
        """`request` is in `values`."""
        run, request = row, values.pop("request")
        return super().of(
            run, url=page_of(run, request), dbms=run.dbms_version, status=run.state, batch=run.batch_id,
            label=run.effective_label, tags=run.effective_tags, tested=run.effective_tested,
            factors=run.factor_values, result=headline_numbers(run), missing=run if run.missing_reason else None,
            invalid=run if run.invalid_at else None, **values,
        )  # fmt: skip


class RunDetail(Run):
    """`statistics`: what the engine counted and told of itself, and under which conditions the run was made.

    `not_judged`: what nobody could judge of a finished run, and which data it lacks. `durability_statements`: what is
    promised, what the storage can hold, what was observed; null is not known. The weakest is the run's `durability`,
    and a contradiction takes the run out of every ranking. `effective_settings`: as read back from the DBMS.
    """

    measurements: list[Measurement]
    series: list[Series]
    storage: list[Storage]
    state_changes: list[StateChange]
    factor_units: dict[str, str]
    factor_roles: dict[str, str]
    durability_reason: str
    durability_doubt: str
    durability_statements: Judgement
    effective_settings: list[tuple[str, str]]
    ignored_settings: list[str]
    driver: dict[str, Any]
    dataset: dict[str, Any]
    command_lines: list[str]
    checks: list[dict[str, Any]]
    not_judged: list[str]
    warnings: list[str]
    per_terminal: list[float]
    statistics: dict[str, Any]
    note: str
    annotations: list[Annotation]
    context: dict[str, Any]
    info: dict[str, Any]
    artefacts: Annotated[list[Artefact], Field(description="Files kept beside the run or its upload.")]

    @classmethod
    def of(cls, row: models.Run, **values: Any) -> Self:
        """`request` and the run's `series` are in `values`."""
        run, factors, request = row, row.factors.all(), values["request"]
        return super().of(
            run, measurements=list(run.measurements.all()), storage=list(run.storage.all()),
            state_changes=list(run.state_changes.all()), annotations=list(run.annotations.all()),
            factor_units={factor.name: factor.unit for factor in factors if factor.unit},
            factor_roles={factor.name: factor_role(factor.name, factor.role) for factor in factors},
            durability_statements=judgement(run),
            not_judged=quality.not_judged(run, values["series"]),
            artefacts=[Artefact.of(each, request=request) for each in artefacts_of(run, request.user)],
            **values,
        )  # fmt: skip


class SampledRun(Outgoing):
    """`thinned` is empty unless `columns` are asked for, and `series` is then."""

    status: RunState
    series: list[Series]
    thinned: list[ThinnedSeries]


class BatchRow(Outgoing):
    """`runs`: how many of its runs the reader may see."""

    id: UUID
    url: Annotated[str, Field(description="The batch's page.")]
    label: str
    tags: list[str]
    tested: dict[str, str]
    created_at: datetime
    runs: int


class Batch(BatchRow):
    """What was measured together. Its runs say the same unless they say something of their own.

    `changes`: newest first.
    """

    note: str
    owner: Username
    changes: list[Change]

    @classmethod
    def of(cls, row: models.Batch, **values: Any) -> Self:
        request = values["request"]
        runs = row.runs.present().readable_by(request.user).count()
        return super().of(row, url=page_of(row, request), tags=row.tag_list, runs=runs, changes=list(history(row)))


# Left out where it is empty.
WHERE_IT_IS = Field(exclude_if=lambda text: not text)


class StoredRun(Outgoing):
    id: UUID
    url: str
    batch: Annotated[str, Field(description="the page of what was measured together")]
    repeat: int
    restore_url: Annotated[str, WHERE_IT_IS, Field(description="POST: of a run that was deleted")] = ""
    copy_of: Annotated[str, WHERE_IT_IS, Field(description="the run that holds the same result and counts")] = ""


# Said where there is something to say.
Warned = Annotated[
    list[str], WHERE_IT_IS, Field(description="repeats that lie several times apart; machines made beside others")
]


class StoredResult(Outgoing):
    id: UUID
    runs: list[StoredRun]
    warnings: Warned = []


class ResultAnswer(Outgoing):
    """The answer to one of many results; `http` is the status that it would have had alone."""

    status: Literal["created", "same", "deleted", "conflict", "invalid"]
    http: Literal[201, 200, 409, 400]
    id: UUID | None
    runs: list[StoredRun]
    errors: dict[str, Any]
    warnings: Warned = []


class BatchAnswer(Outgoing):
    results: list[ResultAnswer]
