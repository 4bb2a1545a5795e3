"""How a publication looks in answers: its rows, what our page says of it, and its checks, computed at the request."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from runs.api.check_serializers import CheckSerializer
from runs.api.serializers import MeasurementSerializer, MissingSerializer, RunSerializer
from runs.models import Publication, Run

NUMBER_OR_TEXT = {"oneOf": [{"type": "number"}, {"type": "string"}]}


class PublicationHeadSerializer(serializers.ModelSerializer[Publication]):
    url = serializers.SerializerMethodField()
    page = serializers.SerializerMethodField()

    class Meta:
        model = Publication
        fields = [
            "slug", "url", "page", "title_original", "title_en", "author", "publisher", "language", "published_on",
        ]  # fmt: skip

    def get_url(self, publication: Publication) -> str:
        return self._absolute(f"/api/v1/publications/{publication.slug}/")

    def get_page(self, publication: Publication) -> str:
        """The page of the publication."""
        return self._absolute(publication.get_absolute_url())

    def _absolute(self, path: str) -> str:
        request = self.context.get("request")
        return str(request.build_absolute_uri(path)) if request is not None else path


class NumberSerializer(serializers.Serializer[Any]):
    """One number of the publication. `value` is null for a gap; `note` then says why."""

    kind = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # not the field's own label
    name = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    unit = serializers.CharField()
    as_printed = serializers.CharField()
    provenance = serializers.CharField()
    where = serializers.CharField()
    formula = serializers.CharField()
    note = serializers.CharField()


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
    factors = serializers.SerializerMethodField()
    measurements = MeasurementSerializer(many=True)
    missing = serializers.SerializerMethodField()
    note = serializers.CharField()

    @extend_schema_field(
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "value": NUMBER_OR_TEXT, "unit": {"type": "string"}},
            },
        }
    )
    def get_factors(self, run: Run) -> list[dict[str, Any]]:
        return [{"name": one.name, "value": one.value, "unit": one.unit} for one in run.factors.all()]

    @extend_schema_field(MissingSerializer(allow_null=True))
    def get_missing(self, run: Run) -> dict[str, str] | None:
        return {"metric": run.missing_metric, "reason": run.missing_reason} if run.missing_reason else None


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
    time_ratio = serializers.FloatField()
    speed_ratio = serializers.FloatField()
    time_formula = serializers.CharField()
    speed_formula = serializers.CharField()


class ClaimSerializer(serializers.Serializer[Any]):
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
    where = serializers.CharField()
    details = serializers.DictField()
    readings = ReadingSerializer(many=True)
    checks = serializers.ListField(child=serializers.CharField(), help_text="Numbers of the checks of this claim.")


class MissingItemSerializer(serializers.Serializer[Any]):
    source_id = serializers.CharField()
    is_document = serializers.BooleanField()
    kind = serializers.CharField()
    content = serializers.CharField()


class TableStatSerializer(serializers.Serializer[Any]):
    table = serializers.CharField()
    records = serializers.IntegerField(allow_null=True)
    record_length_bytes = serializers.FloatField(allow_null=True)
    data_pages = serializers.IntegerField(allow_null=True)
    table_size_mb = serializers.FloatField(allow_null=True)
    indices_size_mb = serializers.FloatField(allow_null=True)
    total_percent = serializers.FloatField(allow_null=True)
    total_percent_as_printed = serializers.CharField()


class IndexStatSerializer(serializers.Serializer[Any]):
    index = serializers.CharField()
    table = serializers.CharField()
    depth = serializers.IntegerField(allow_null=True)
    keys = serializers.IntegerField(allow_null=True)
    key_length_bytes = serializers.FloatField(allow_null=True)
    unique_keys = serializers.IntegerField(allow_null=True)
    size_mb = serializers.FloatField(allow_null=True)


class QueryStatSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    sql = serializers.CharField()
    plan = serializers.CharField()
    description = serializers.CharField()
    metrics = serializers.ListField(child=serializers.DictField())
    count_result = serializers.IntegerField(allow_null=True)


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


class StatisticsSerializer(serializers.Serializer[Any]):
    """How our own statistics of repeats are made."""

    interval = serializers.CharField()
    confidence_percent = serializers.FloatField()
    least_repeats = serializers.IntegerField()


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


class FactSerializer(serializers.Serializer[Any]):
    """Not in the article: recovered from another page, or inferred by us."""

    provenance = serializers.CharField()
    title = serializers.CharField()
    how = serializers.CharField()
    details = serializers.DictField()


class SchemaOfDataSerializer(serializers.Serializer[Any]):
    tables = serializers.ListField()
    columns = serializers.ListField()
    primary_key = serializers.ListField()
    indexes = serializers.ListField()
    details = serializers.DictField()


class PublishedWorkloadSerializer(serializers.Serializer[Any]):
    source_id = serializers.CharField()
    name = serializers.CharField()
    kind = serializers.CharField()
    summary = serializers.CharField()
    details = serializers.DictField()


class PublicationSerializer(serializers.Serializer[Any]):
    """Everything of a publication. `article` is what our page says in our own words; null for one without a page.

    `numbers` holds every number once more, flat: the same rows as `?format=csv`.
    """

    publication = PublicationHeadSerializer()
    details = serializers.DictField(source="publication.details")
    article = serializers.DictField(allow_null=True)
    workloads = PublishedWorkloadSerializer(many=True)
    systems = SystemSerializer(many=True)
    hardware = MachineSerializer(many=True)
    configs = PublishedConfigSerializer(many=True)
    schemas = SchemaOfDataSerializer(many=True)
    runs = PublishedRunSerializer(many=True)
    aggregates = AggregateSerializer(many=True)
    observations = ObservationSerializer(many=True)
    claims = ClaimSerializer(many=True)
    missing_items = MissingItemSerializer(many=True)
    table_statistics = TableStatSerializer(many=True)
    index_statistics = IndexStatSerializer(many=True)
    query_statistics = QueryStatSerializer(many=True)
    facts = FactSerializer(many=True)
    reruns = RerunSerializer(many=True)
    statistics = StatisticsSerializer()
    checks = CheckSerializer(many=True)
    check_results = serializers.DictField(child=serializers.IntegerField(), help_text="How many checks have a result.")
    numbers = NumberSerializer(many=True)
