"""How runs look in answers. All are read-only; documents that come in are runs.results.document's."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any

from benchagent.catalog import factor_role
from benchagent.catalog.durability import Judgement
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from pydantic import TypeAdapter
from rest_framework import serializers

from runs.access.changes import history
from runs.models import Annotation, Artefact, Batch, Change, Measurement, Run
from runs.models.choices import Precision
from runs.run import quality
from runs.run.artefacts import artefacts_of
from runs.run.durability import judgement
from runs.run.latency import Latency, LatencyMap, TypeLatency
from runs.run.number import headline_numbers
from runs.run.series import Series


@lru_cache
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


class AnswerField(serializers.Field[Any, Any, Any, Any]):
    """What is a pydantic model or a dataclass already, or a list of them: that also describes it (runs.api.schema)."""

    def __init__(self, kind: Any, **options: Any) -> None:
        super().__init__(read_only=True, **options)
        self.adapter = adapter_of(kind)

    def to_representation(self, value: Any) -> Any:
        answer = self.adapter.validate_python(value, from_attributes=True)
        return self.adapter.dump_python(answer, mode="json", exclude_unset=True)


class PageField(serializers.CharField):
    """The address of a thing's page, with the host that was asked."""

    def __init__(self, **options: Any) -> None:
        super().__init__(source="get_absolute_url", read_only=True, **options)

    def to_representation(self, path: str) -> str:
        return str(self.context["request"].build_absolute_uri(path))


class WorkloadRefSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    name = serializers.CharField()
    version = serializers.CharField()


class DbmsRefSerializer(serializers.Serializer[Any]):
    """`slug` is that of the version, `dbms` that of the system."""

    slug = serializers.CharField()
    dbms = serializers.CharField(source="dbms.slug")
    name = serializers.CharField()
    version = serializers.CharField()
    architecture = serializers.CharField()


class NamedRefSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    name = serializers.CharField()


class MissingSerializer(serializers.Serializer[Run]):
    """Why a value is not known: it is a gap, never a zero."""

    metric = serializers.CharField(source="missing_metric")
    reason = serializers.CharField(source="missing_reason")

    def to_representation(self, run: Run) -> dict[str, Any] | None:  # type: ignore[override]
        return super().to_representation(run) if run.missing_reason else None


class InvalidSerializer(serializers.Serializer[Any]):
    """Why the numbers of a run count nowhere."""

    at = serializers.DateTimeField()
    reason = serializers.CharField()


class MeasurementSerializer(serializers.ModelSerializer[Measurement]):
    name = serializers.CharField(source="metric.name")
    label = serializers.CharField(source="metric.label")  # type: ignore[assignment]  # not the field's own label
    unit = serializers.CharField(source="metric.unit")
    better = serializers.CharField(source="metric.better")

    class Meta:
        model = Measurement
        fields = ["name", "label", "unit", "better", "phase", "value", "as_printed", "provenance", "note"]


class StorageSerializer(serializers.Serializer[Any]):
    role = serializers.CharField()
    device = serializers.CharField(source="device.name")
    device_slug = serializers.CharField(source="device.slug")
    medium = serializers.CharField(source="device.medium")
    path = serializers.CharField()


class StateChangeSerializer(serializers.Serializer[Any]):
    state = serializers.CharField()
    at = serializers.DateTimeField()
    message = serializers.CharField()


class ChangeSerializer(serializers.ModelSerializer[Change]):
    """An edited field; `by` is null for the system."""

    by = serializers.CharField(source="by.username", default=None, allow_null=True)
    old = serializers.JSONField(read_only=True)
    new = serializers.JSONField(read_only=True)

    class Meta:
        model = Change
        fields = ["field", "old", "new", "reason", "by", "at"]


class AnnotationSerializer(serializers.ModelSerializer[Annotation]):
    """`at_s` counts from the begin of the warm-up, as series do."""

    by = serializers.CharField(source="by.username", default=None, allow_null=True)

    class Meta:
        model = Annotation
        fields = ["id", "at_s", "text", "by", "created_at"]


class ArtefactSerializer(serializers.ModelSerializer[Artefact]):
    url = serializers.HyperlinkedIdentityField(
        view_name="api-artefact", lookup_field="pk", lookup_url_kwarg="artefact_id",
        help_text="Where the file is downloaded.",
    )  # fmt: skip

    class Meta:
        model = Artefact
        fields = ["id", "name", "media_type", "size_bytes", "sha256", "url"]


class LatencyMapSerializer(serializers.Serializer[LatencyMap]):
    """How many took how long over the time of the run; `cells`: begin in s, from ms, to below ms, transactions."""

    interval_s = serializers.IntegerField()
    cells = serializers.ListField(child=serializers.ListField(child=serializers.FloatField()))


class LatencySerializer(serializers.Serializer[Any]):
    """Milliseconds. `curve` is (percentile, ms); `beyond` counts the transactions that took longer.

    `latency` is null without a histogram, where there is only how many took how long over time.

    `types` of one run only: no histogram of a transaction type is stored, so that repeats cannot be merged.
    """

    latency = AnswerField(Latency, allow_null=True)
    types = AnswerField(list[TypeLatency])
    over_time = LatencyMapSerializer(allow_null=True)


class RunSerializer(serializers.ModelSerializer[Run]):
    url = PageField(help_text="The run's page.")
    workload = WorkloadRefSerializer()
    dbms = DbmsRefSerializer(source="dbms_version")
    hardware = NamedRefSerializer(allow_null=True)
    config = NamedRefSerializer(allow_null=True)
    status = serializers.CharField(source="state")
    experiment = serializers.CharField(source="experiment.slug", default=None, allow_null=True)
    publication = serializers.CharField(source="publication.slug", default=None, allow_null=True)
    batch = serializers.UUIDField(source="batch_id", help_text="What it was measured together with.")
    label = serializers.CharField(source="said_label", help_text="Its own, else its batch's.")  # type: ignore[assignment]  # not the field's own label
    tags = serializers.ListField(child=serializers.CharField(), source="said_tags")
    tested = serializers.DictField(child=serializers.CharField(), source="said_tested")
    factors = serializers.SerializerMethodField()
    metrics = serializers.SerializerMethodField()
    missing = MissingSerializer(source="*", allow_null=True, read_only=True)
    owner = serializers.CharField(source="owner.username", default=None, allow_null=True)
    measured_at_precision = serializers.ChoiceField(
        Precision.choices, read_only=True, help_text="How well it is known; empty for a source that does not say it."
    )
    invalid = serializers.SerializerMethodField()
    result = serializers.SerializerMethodField()

    class Meta:
        model = Run
        fields = [
            "id", "url", "workload", "dbms", "hardware", "config", "status", "provenance", "demonstration",
            "durability", "repeat", "order_index", "cell_key", "batch", "label", "tags", "tested",
            "experiment", "publication", "factors", "metrics", "result",
            "created_at", "started_at", "finished_at", "measured_on", "measured_at",
            "measured_at_precision", "message", "missing",
            "owner", "visibility", "invalid",
        ]  # fmt: skip

    @extend_schema_field(
        {"type": "object", "additionalProperties": {"oneOf": [{"type": "number"}, {"type": "string"}]}}
    )
    def get_factors(self, run: Run) -> dict[str, float | str]:
        return {factor.name: factor.value for factor in run.factors.all()}

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "number"}})
    def get_metrics(self, run: Run) -> dict[str, float]:
        """Summary values of the measured phase by metric name; all others are in `measurements`."""
        return {row.metric.name: row.value for row in run.measurements.all() if row.phase == "run"}

    @extend_schema_field(MeasurementSerializer(many=True))
    def get_result(self, run: Run) -> Any:
        """The number that counts, then those beside it; empty without one, for which `missing` or `message` say why."""
        return [self._measurement.to_representation(row) for row in headline_numbers(run)]

    @cached_property
    def _measurement(self) -> MeasurementSerializer:
        """One for all runs of a list: the fields of a serializer take longer to make than to use."""
        return MeasurementSerializer()

    @extend_schema_field(InvalidSerializer(allow_null=True))
    def get_invalid(self, run: Run) -> dict[str, Any] | None:
        return {"at": run.invalid_at, "reason": run.invalid_reason} if run.invalid_at else None


class RunDetailSerializer(RunSerializer):
    measurements = MeasurementSerializer(many=True)
    series = serializers.SerializerMethodField()
    storage = StorageSerializer(many=True)
    state_changes = StateChangeSerializer(many=True)
    factor_units = serializers.SerializerMethodField()
    factor_roles = serializers.SerializerMethodField()
    effective_settings = serializers.SerializerMethodField()
    ignored_settings = serializers.ListField(child=serializers.CharField())
    driver = serializers.DictField()
    dataset = serializers.DictField()
    command_lines = serializers.ListField(child=serializers.CharField())
    checks = serializers.ListField(child=serializers.DictField())
    not_judged = serializers.SerializerMethodField()
    warnings = serializers.ListField(child=serializers.CharField())
    per_terminal = serializers.ListField(child=serializers.FloatField())
    # What the engine counted and told of itself, and under which conditions the run was made.
    statistics = serializers.DictField()
    annotations = AnnotationSerializer(many=True)
    artefacts = serializers.SerializerMethodField()
    durability_statements = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        fields = [
            *RunSerializer.Meta.fields,
            "measurements", "series", "storage", "state_changes", "factor_units", "factor_roles", "durability_reason",
            "durability_doubt", "durability_statements", "effective_settings", "ignored_settings", "driver", "dataset",
            "command_lines", "checks", "not_judged", "warnings", "per_terminal", "statistics", "note", "annotations",
            "context", "info", "artefacts",
        ]  # fmt: skip

    @extend_schema_field(AnswerField(list[Series]))
    def get_series(self, run: Run) -> Any:
        return AnswerField(list[Series]).to_representation(self.context.get("series", []))

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_not_judged(self, run: Run) -> list[str]:
        """What nobody could judge of a finished run, and which data it lacks."""
        facts = quality.RunFacts.of(run, self.context.get("series", []))
        return quality.not_judged(facts, run.checks, run.per_terminal) if run.counts else []

    @extend_schema_field(AnswerField(Judgement))
    def get_durability_statements(self, run: Run) -> Any:
        """What is promised, what the storage can hold, what was observed; null is not known. The weakest is the run's
        `durability`, and a contradiction takes the run out of every ranking."""
        return AnswerField(Judgement).to_representation(judgement(run))

    @extend_schema_field(ArtefactSerializer(many=True))
    def get_artefacts(self, run: Run) -> Any:
        """Files kept beside the run or its upload."""
        return ArtefactSerializer(artefacts_of(run), many=True, context=self.context).data

    @extend_schema_field({"type": "object", "additionalProperties": {"type": "string"}})
    def get_factor_roles(self, run: Run) -> dict[str, str]:
        return {factor.name: factor_role(factor.name, factor.role) for factor in run.factors.all()}

    def get_factor_units(self, run: Run) -> dict[str, str]:
        return {factor.name: factor.unit for factor in run.factors.all() if factor.unit}

    @extend_schema_field(
        {"type": "array", "items": {"type": "array", "items": {"type": "string"}, "minItems": 2, "maxItems": 2}}
    )
    def get_effective_settings(self, run: Run) -> Any:
        """Pairs of name and value, as read back from the DBMS."""
        return run.effective_settings


class BatchSerializer(serializers.ModelSerializer[Batch]):
    """What was measured together. Its runs say the same unless they say something of their own."""

    url = PageField(help_text="The batch's page.")
    tags = serializers.ListField(child=serializers.CharField(), source="tag_list")
    tested = serializers.DictField(child=serializers.CharField())
    owner = serializers.CharField(source="owner.username", default=None, allow_null=True)
    runs = serializers.SerializerMethodField()
    changes = serializers.SerializerMethodField()

    class Meta:
        model = Batch
        fields = ["id", "url", "label", "tags", "note", "tested", "owner", "created_at", "runs", "changes"]

    def get_runs(self, batch: Batch) -> int:
        """How many of its runs the reader may see."""
        return batch.runs.present().readable_by(self.context["request"].user).count()

    @extend_schema_field(ChangeSerializer(many=True))
    def get_changes(self, batch: Batch) -> Any:
        """Newest first."""
        return ChangeSerializer(history(batch), many=True).data


class StoredRunSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    url = serializers.CharField()
    repeat = serializers.IntegerField()
    restore_url = serializers.CharField(required=False, help_text="POST: of a run that was deleted")
    copy_of = serializers.CharField(required=False, help_text="the run that holds the same result and counts")


class StoredResultSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    runs = StoredRunSerializer(many=True)


class ResultAnswerSerializer(serializers.Serializer[Any]):
    """The answer to one of many results; `http` is the status that it would have had alone."""

    status = serializers.ChoiceField(choices=["created", "same", "deleted", "conflict", "invalid"])
    http = serializers.ChoiceField(choices=[201, 200, 409, 400])
    id = serializers.UUIDField(allow_null=True)
    runs = StoredRunSerializer(many=True)
    errors = serializers.DictField()  # type: ignore[assignment]  # declared fields are not attributes


class BatchAnswerSerializer(serializers.Serializer[Any]):
    results = ResultAnswerSerializer(many=True)


class ErrorSerializer(serializers.Serializer[Any]):
    detail = serializers.CharField()


FIELD_ERRORS = OpenApiTypes.OBJECT
REFUSALS = {401: ErrorSerializer, 403: ErrorSerializer, 404: ErrorSerializer}
