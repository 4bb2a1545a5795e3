"""Publications over REST: everything of one as JSON, every number of its page as CSV."""

from __future__ import annotations

from collections import Counter
from datetime import date
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BeforeValidator, Field
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from runs import models
from runs.api.errors import FileRenderer, JsonErrors
from runs.api.outgoing import ALL, Measurement, Missing, Outgoing, Rows, Run, SlugOf, answered, page_of, source
from runs.models.choices import Provenance, RunState
from runs.publications.article import article_of
from runs.publications.check import Check
from runs.publications.document import FactRow, IndexRow, QueryRow, SchemaRow, TableRow
from runs.publications.material import Material
from runs.publications.page import export
from runs.publications.page.claims import readings_of
from runs.publications.page.reruns import repeating
from runs.stats import CONFIDENCE, MIN_REPEATS

# What another row is, as the source calls it.
SourceId = Annotated[str, BeforeValidator(lambda row: getattr(row, "source_id", ""))]


class PublicationHead(Outgoing):
    """`page`: the page of the publication."""

    slug: str
    url: str
    page: str
    title_original: str
    title_en: str
    author: str
    publisher: str
    language: str
    published_on: date | None

    @classmethod
    def of(cls, row: models.Publication, **values: Any) -> Self:
        """`request` is in `values`."""
        request = values["request"]
        url = reverse("api-publication", args=[row.slug], request=request)
        return super().of(row, url=url, page=page_of(row, request))


class PublicationHeads(Rows[PublicationHead]):
    """Oldest first."""


class PublishedFactor(Outgoing):
    name: str
    value: int | float | str
    unit: str


class PublishedRun(Outgoing):
    id: UUID
    source_id: str
    url: str
    status: RunState
    provenance: Provenance
    workload: SourceId
    dbms: str
    config: SourceId
    hardware: SourceId
    repeat: int
    durability: str
    durability_reason: str
    factors: list[PublishedFactor]
    measurements: list[Measurement]
    missing: Missing | None
    note: str

    @classmethod
    def of(cls, row: models.Run, **values: Any) -> Self:
        return super().of(
            row, url=row.get_absolute_url(), status=row.state, dbms=row.dbms_version.name,
            factors=list(row.factors.all()), measurements=list(row.measurements.all()),
            missing=row if row.missing_reason else None,
        )  # fmt: skip


class Aggregate(Outgoing):
    """`of`: source ids of its runs; empty where the article prints no repeats."""

    source_id: str
    statistic: str
    workload: SourceId
    dbms: str
    metric: str
    unit: str
    value: float
    as_printed: str
    provenance: Provenance
    factors: dict[str, Any]
    details: dict[str, Any]
    of_runs: list[str] = Field(serialization_alias="of")

    @classmethod
    def of(cls, row: models.Aggregate, **values: Any) -> Self:
        return super().of(
            row, dbms=row.dbms_version.name if row.dbms_version else "", metric=row.metric.name, unit=row.metric.unit,
            of_runs=[run.source_id for run in row.of.all()],
        )  # fmt: skip


class Observation(Outgoing):
    metric: str
    unit: str
    value: float | None
    value_text: str
    qualifier: str
    factors: dict[str, Any]
    provenance: Provenance
    details: dict[str, Any]


class Reading(Outgoing):
    """A percentage read one way: what A then is of B, in time and in speed."""

    percent: float
    means: Literal["time", "speed"]
    time_ratio: float = source("time.value")
    speed_ratio: float = source("speed.value")
    time_formula: str = source("time.formula")
    speed_formula: str = source("speed.formula")


class Claim(Outgoing):
    """`readings` are there where the article does not say whether a percentage is one of time or of speed.

    `checks`: numbers of the checks of this claim.
    """

    source_id: str
    metric: str
    side_a: dict[str, Any]
    side_b: dict[str, Any]
    percent: float | None
    ratio: float | None
    sense: str
    approximate: bool
    ambiguous: bool
    summary: str
    where: str
    details: dict[str, Any]
    readings: list[Reading]
    checks: list[str]


class MissingItem(Outgoing):
    source_id: str = source("id")
    is_document: bool = source("document")
    kind: str
    content: str


class PublishedParameter(Outgoing):
    """A null value is a flag."""

    position: int
    section: str
    name: str
    value: str | None
    unit: str
    comment: str


class PublishedConfig(Outgoing):
    source_id: str
    name: str
    file_name: str
    note: str
    details: dict[str, Any]
    parameters: Annotated[list[PublishedParameter], ALL]


class System(Outgoing):
    """A DBMS version that the publication names, with its other names; it need not have runs."""

    source_id: str
    name: str
    dbms: SlugOf
    version: str
    architecture: str
    aliases: list[str]
    note: str


class Rerun(Outgoing):
    """An experiment that repeats the article, or one figure of it, with its runs so far."""

    experiment: str
    name: str
    figure: Annotated[str, Field(description="Id of the figure that it fills; empty: the article as a whole.")]
    runs: list[Run]


class MachineDisk(Outgoing):
    name: str
    medium: str
    bus: str
    model: str
    raid: str
    capacity_bytes: int | None
    note: str


class Machine(Outgoing):
    source_id: str
    name: str
    os: str
    cpu_model: str
    ram_bytes: int | None
    motherboard: str
    note: str
    details: dict[str, Any]
    storage: Annotated[list[MachineDisk], ALL]


class PublishedWorkload(Outgoing):
    source_id: str
    name: str
    kind: str
    summary: str
    details: dict[str, Any]


class Publication(Outgoing):
    """Everything of a publication. `article` is what our page says in our own words; null for one without a page.

    `systems`: versions that its runs, configurations and claims name, also those that were left out of the test.
    `reruns`: those that this person may see. `statistics`: how our own statistics of repeats are made.
    `check_results`: how many checks have a result.
    """

    publication: PublicationHead
    details: dict[str, Any]
    article: dict[str, Any] | None
    workloads: list[PublishedWorkload]
    systems: list[System]
    hardware: list[Machine]
    configs: list[PublishedConfig]
    schemas: list[SchemaRow]
    runs: list[PublishedRun]
    aggregates: list[Aggregate]
    observations: list[Observation]
    claims: list[Claim]
    missing_items: list[MissingItem]
    table_statistics: list[TableRow]
    index_statistics: list[IndexRow]
    query_statistics: list[QueryRow]
    facts: list[FactRow]
    reruns: list[Rerun]
    statistics: dict[str, str | int | float]
    checks: list[Check]
    check_results: dict[str, int]

    @classmethod
    def of(cls, row: Material, **values: Any) -> Self:
        """`request` is in `values`."""
        material, request, statements = row, values["request"], row.statements
        article = article_of(material.publication)
        return super().of(
            material, publication=PublicationHead.of(material.publication, request=request),
            details=material.publication.details, article=article.as_json() if article else None,
            systems=_systems(material), runs=[PublishedRun.of(run) for run in material.runs],
            aggregates=[Aggregate.of(aggregate) for aggregate in material.aggregates],
            claims=[
                Claim.of(
                    claim, source_id=claim.id, where=str(claim.details.get("where", "")), readings=readings_of(claim),
                    checks=[check.number for check in material.checks_of_claim(claim.id)],
                )
                for claim in statements.claims
            ],
            schemas=statements.schemas, observations=statements.observations, facts=statements.facts,
            missing_items=statements.missing, table_statistics=statements.table_stats,
            index_statistics=statements.index_stats, query_statistics=statements.query_stats,
            reruns=_reruns(material.publication.slug, request),
            statistics={
                "interval": "of the geometric mean", "confidence_percent": CONFIDENCE * 100,
                "least_repeats": MIN_REPEATS,
            },
            check_results=Counter(check.result.value for check in material.checks),
        )  # fmt: skip


def _systems(material: Material) -> list[models.DbmsVersion]:
    named = {run.dbms_version.source_id for run in material.runs}
    named |= {version.source_id for config in material.configs for version in config.applies_to.all()}
    named |= {version for claim in material.statements.claims for version in claim.versions}
    return list(models.DbmsVersion.objects.filter(source_id__in=named - {""}).select_related("dbms"))


def _reruns(slug: str, request: Request) -> list[Rerun]:
    experiments = repeating(slug, request.user).filter(brought=False)
    runs: dict[Any, list[Run]] = {experiment.pk: [] for experiment in experiments}
    rows = models.Run.objects.present().listed_for(request.user).filter(experiment__in=experiments)
    for run in rows.for_lists():
        runs[run.experiment_id].append(Run.of(run, request=request))
    return [
        Rerun(experiment=row.slug, name=row.name, figure=str(row.plan.get("figure", "")), runs=runs[row.pk])
        for row in experiments
    ]


FORMAT = OpenApiParameter("format", str, enum=["json", "csv"], description="csv: every number, one a line.")


class PublicationList(APIView):
    @extend_schema(operation_id="v1_publications_list", responses=PublicationHeads)
    def get(self, request: Request) -> Response:
        """All publications, oldest first."""
        rows = models.Publication.objects.all()
        return answered(PublicationHeads.of(PublicationHead.of(row, request=request) for row in rows))


class PublicationDetail(JsonErrors, APIView):
    renderer_classes = [JSONRenderer, FileRenderer]

    @extend_schema(
        parameters=[FORMAT],
        responses={(200, "application/json"): Publication, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request, slug: str) -> Response | HttpResponse:
        """Everything of a publication, with its checks; `format=csv`: the numbers of its page with their provenance."""
        material = Material(get_object_or_404(models.Publication, slug=slug))
        if request.accepted_renderer.format == "csv":
            return HttpResponse(
                export.text(material), content_type="text/csv; charset=utf-8",
                headers={"Content-Disposition": f'attachment; filename="{slug}.csv"'},
            )  # fmt: skip
        return answered(Publication.of(material, request=request))
