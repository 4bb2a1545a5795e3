"""Publications over REST: everything of one as JSON, every number of its page as CSV."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from pydantic import BaseModel
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api.errors import FileRenderer, JsonErrors
from runs.api.serializers import (
    AnswerField,
    MeasurementSerializer,
    MissingSerializer,
    PageField,
    RunSerializer,
)
from runs.models import Claim, DbmsVersion, Publication, Run
from runs.publications.article import article_of
from runs.publications.check import Check
from runs.publications.document import FactRow, IndexRow, QueryRow, SchemaRow, TableRow
from runs.publications.matching import versions_of
from runs.publications.material import Material
from runs.publications.page import export
from runs.publications.page.claims import readings_of
from runs.publications.page.reruns import experiments_of
from runs.stats import CONFIDENCE, MIN_REPEATS


class PublicationHeadSerializer(serializers.ModelSerializer[Publication]):
    url = serializers.HyperlinkedIdentityField(view_name="api-publication", lookup_field="slug")
    page = PageField(help_text="The page of the publication.")

    class Meta:
        model = Publication
        fields = [
            "slug", "url", "page", "title_original", "title_en", "author", "publisher", "language", "published_on",
        ]  # fmt: skip


class PublishedFactor(BaseModel):
    name: str
    value: int | float | str
    unit: str


class PublishedRunSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    source_id = serializers.CharField()
    url = serializers.CharField(source="get_absolute_url")
    status = serializers.CharField(source="state")
    provenance = serializers.CharField()
    workload = serializers.CharField(source="workload.source_id")
    dbms = serializers.CharField(source="dbms_version.name")
    config = serializers.CharField(source="config.source_id", default="")
    hardware = serializers.CharField(source="hardware.source_id", default="")
    repeat = serializers.IntegerField()
    durability = serializers.CharField()
    durability_reason = serializers.CharField()
    factors = AnswerField(list[PublishedFactor], source="factors.all")
    measurements = MeasurementSerializer(many=True)
    missing = MissingSerializer(source="*", allow_null=True, read_only=True)
    note = serializers.CharField()


class AggregateSerializer(serializers.Serializer[Any]):
    source_id = serializers.CharField()
    statistic = serializers.CharField()
    value = serializers.FloatField()
    as_printed = serializers.CharField()
    provenance = serializers.CharField()
    of = serializers.SerializerMethodField()

    def get_of(self, aggregate: Any) -> list[str]:
        """Source ids of its runs."""
        return [run.source_id for run in aggregate.of.all()]


class ObservationSerializer(serializers.Serializer[Any]):
    metric = serializers.CharField()
    unit = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    value_text = serializers.CharField()
    qualifier = serializers.CharField()
    factors = serializers.DictField()
    provenance = serializers.CharField()
    details = serializers.DictField()


class ReadingSerializer(serializers.Serializer[Any]):
    """A percentage read one way: what A then is of B, in time and in speed."""

    percent = serializers.FloatField()
    means = serializers.ChoiceField(["time", "speed"])
    time_ratio = serializers.FloatField(source="time.value")
    speed_ratio = serializers.FloatField(source="speed.value")
    time_formula = serializers.CharField(source="time.formula")
    speed_formula = serializers.CharField(source="speed.formula")


class ClaimSerializer(serializers.Serializer[Claim]):
    """`readings` are there where the article does not say whether a percentage is one of time or of speed."""

    source_id = serializers.CharField()
    metric = serializers.CharField()
    side_a = serializers.DictField()
    side_b = serializers.DictField()
    percent = serializers.FloatField(allow_null=True)
    ratio = serializers.FloatField(allow_null=True)
    sense = serializers.CharField()
    approximate = serializers.BooleanField()
    ambiguous = serializers.BooleanField()
    summary = serializers.CharField()
    where = serializers.CharField(source="details.where", default="")
    details = serializers.DictField()
    readings = serializers.SerializerMethodField()
    checks = serializers.SerializerMethodField()

    @extend_schema_field(ReadingSerializer(many=True))
    def get_readings(self, claim: Claim) -> Any:
        return ReadingSerializer(readings_of(claim), many=True).data

    def get_checks(self, claim: Claim) -> list[str]:
        """Numbers of the checks of this claim."""
        return [check.number for check in self.context["material"].checks_of_claim(claim.source_id)]


class MissingItemSerializer(serializers.Serializer[Any]):
    source_id = serializers.CharField()
    is_document = serializers.BooleanField()
    kind = serializers.CharField()
    content = serializers.CharField()


class PublishedParameterSerializer(serializers.Serializer[Any]):
    """A null value is a flag."""

    position = serializers.IntegerField()
    section = serializers.CharField()
    name = serializers.CharField()
    value = serializers.CharField(allow_null=True)
    unit = serializers.CharField()
    comment = serializers.CharField()


class PublishedConfigSerializer(serializers.Serializer[Any]):
    source_id = serializers.CharField()
    name = serializers.CharField()
    file_name = serializers.CharField()
    note = serializers.CharField()
    details = serializers.DictField()
    parameters = PublishedParameterSerializer(many=True)


class SystemSerializer(serializers.Serializer[Any]):
    """A DBMS version that the publication names, with its other names; it need not have runs."""

    source_id = serializers.CharField()
    name = serializers.CharField()
    dbms = serializers.CharField(source="dbms.slug")
    version = serializers.CharField()
    architecture = serializers.CharField()
    aliases = serializers.ListField(child=serializers.CharField())
    note = serializers.CharField()


class RerunSerializer(serializers.Serializer[Any]):
    """An experiment that repeats the article, or one figure of it, with its runs so far."""

    experiment = serializers.CharField(source="experiment.slug")
    name = serializers.CharField(source="experiment.name")
    figure = serializers.CharField(help_text="Id of the figure that it fills; empty: the article as a whole.")
    runs = RunSerializer(many=True)


class MachineDiskSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    medium = serializers.CharField()
    bus = serializers.CharField()
    model = serializers.CharField()
    raid = serializers.CharField()
    capacity_bytes = serializers.IntegerField(allow_null=True)
    note = serializers.CharField()


class MachineSerializer(serializers.Serializer[Any]):
    source_id = serializers.CharField()
    name = serializers.CharField()
    os = serializers.CharField()
    cpu_model = serializers.CharField()
    ram_bytes = serializers.IntegerField(allow_null=True)
    motherboard = serializers.CharField()
    note = serializers.CharField()
    details = serializers.DictField()
    storage = MachineDiskSerializer(many=True)


class PublishedWorkloadSerializer(serializers.Serializer[Any]):
    source_id = serializers.CharField()
    name = serializers.CharField()
    kind = serializers.CharField()
    summary = serializers.CharField()
    details = serializers.DictField()


class PublicationSerializer(serializers.Serializer[Material]):
    """Everything of a publication. `article` is what our page says in our own words; null for one without a page."""

    publication = PublicationHeadSerializer()
    details = serializers.DictField(source="publication.details")
    article = serializers.SerializerMethodField()
    workloads = PublishedWorkloadSerializer(many=True)
    systems = serializers.SerializerMethodField()
    hardware = MachineSerializer(many=True)
    configs = PublishedConfigSerializer(many=True)
    schemas = AnswerField(list[SchemaRow])
    runs = PublishedRunSerializer(many=True)
    aggregates = AggregateSerializer(many=True)
    observations = ObservationSerializer(many=True)
    claims = ClaimSerializer(many=True)
    missing_items = MissingItemSerializer(many=True, source="missing")
    table_statistics = AnswerField(list[TableRow], source="table_stats")
    index_statistics = AnswerField(list[IndexRow], source="index_stats")
    query_statistics = AnswerField(list[QueryRow], source="query_stats")
    facts = AnswerField(list[FactRow])
    reruns = serializers.SerializerMethodField()
    statistics = serializers.SerializerMethodField()
    checks = AnswerField(list[Check])
    check_results = serializers.SerializerMethodField()

    def get_article(self, material: Material) -> dict[str, Any] | None:
        article = article_of(material.publication)
        return article.as_json() if article else None

    @extend_schema_field(SystemSerializer(many=True))
    def get_systems(self, material: Material) -> Any:
        """Versions that its runs, configurations and claims name: also those that were left out of the test."""
        named = {run.dbms_version.source_id for run in material.runs}
        named |= {version.source_id for config in material.configs for version in config.applies_to.all()}
        named |= {version for claim in material.claims for version in versions_of(claim)}
        rows = DbmsVersion.objects.filter(source_id__in=named - {""}).select_related("dbms")
        return SystemSerializer(rows, many=True).data

    @extend_schema_field(RerunSerializer(many=True))
    def get_reruns(self, material: Material) -> Any:
        """Those that this person may see."""
        user = self.context["request"].user
        experiments = experiments_of(material.publication.slug, user)
        runs: dict[Any, list[Run]] = {experiment.pk: [] for experiment in experiments}
        for run in Run.objects.present().listed_for(user).filter(experiment__in=experiments).for_lists():
            runs[run.experiment_id].append(run)
        rows = [
            {"experiment": row, "figure": str(row.plan.get("figure", "")), "runs": runs[row.pk]} for row in experiments
        ]
        return RerunSerializer(rows, many=True, context=self.context).data

    def get_statistics(self, material: Material) -> dict[str, str | float]:
        """How our own statistics of repeats are made."""
        return {
            "interval": "of the geometric mean", "confidence_percent": CONFIDENCE * 100, "least_repeats": MIN_REPEATS,
        }  # fmt: skip

    def get_check_results(self, material: Material) -> dict[str, int]:
        """How many checks have a result."""
        return Counter(check.result.value for check in material.checks)


FORMAT = OpenApiParameter("format", str, enum=["json", "csv"], description="csv: every number, one a line.")


class PublicationList(APIView):
    @extend_schema(responses=PublicationHeadSerializer(many=True))
    def get(self, request: Request) -> Response:
        """All publications, oldest first."""
        rows = Publication.objects.all()
        return Response(PublicationHeadSerializer(rows, many=True, context={"request": request}).data)


class PublicationDetail(JsonErrors, APIView):
    renderer_classes = [JSONRenderer, FileRenderer]

    @extend_schema(
        parameters=[FORMAT],
        responses={(200, "application/json"): PublicationSerializer, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request, slug: str) -> Response | HttpResponse:
        """Everything of a publication, with its checks; `format=csv`: the numbers of its page with their provenance."""
        material = Material.of(get_object_or_404(Publication, slug=slug))
        if request.accepted_renderer.format == "csv":
            return HttpResponse(
                export.text(material), content_type="text/csv; charset=utf-8",
                headers={"Content-Disposition": f'attachment; filename="{slug}.csv"'},
            )  # fmt: skip
        return Response(PublicationSerializer(material, context={"request": request, "material": material}).data)
