"""The upload document, version 1: what POST /api/v1/results/ takes. Later versions only add.

Every object refuses keys that it does not know, by name; `context` and `info` are free for the sender's own.
"""

from __future__ import annotations

from typing import Any

from benchagent.catalog import METRICS
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from runs.choices import DURABILITY_CHOICES, Better
from runs.ingest.fields import FactorField, NumberField, SeriesValuesField, SettingValueField

SCHEMA_VERSION = 1
MAX_REPEATS = 1000
MAX_METRICS = 500
MAX_SERIES = 200
MAX_SETTINGS = 5000
MAX_FACTORS = 100
BIG = 2**63 - 1


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses keys it does not know."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            unknown = [key for key in data if key not in self.fields]
            if unknown:
                known = ", ".join(self.fields)
                raise serializers.ValidationError({str(key): [f"Unknown key. Known here: {known}."] for key in unknown})
        return super().to_internal_value(data)


@extend_schema_serializer(component_name="UploadWorkload")
class WorkloadSerializer(StrictSerializer):
    slug = serializers.SlugField(max_length=100)
    name = serializers.CharField(max_length=200, required=False)
    version = serializers.CharField(max_length=40, required=False, default="1")
    kind = serializers.CharField(max_length=60, required=False, allow_blank=True, default="")


@extend_schema_serializer(component_name="UploadDbms")
class DbmsSerializer(StrictSerializer):
    name = serializers.CharField(max_length=200)
    version = serializers.CharField(max_length=120)
    architecture = serializers.CharField(max_length=60, required=False, allow_blank=True, default="")
    slug = serializers.SlugField(max_length=100, required=False)


@extend_schema_serializer(component_name="UploadHardware")
class HardwareSerializer(StrictSerializer):
    name = serializers.CharField(max_length=200)
    slug = serializers.SlugField(max_length=100, required=False)
    os = serializers.CharField(max_length=200, required=False, allow_blank=True)
    kernel = serializers.CharField(max_length=200, required=False, allow_blank=True)
    cpu_model = serializers.CharField(max_length=200, required=False, allow_blank=True)
    cpu_cores = serializers.IntegerField(min_value=1, max_value=1_000_000, required=False, allow_null=True)
    cpu_threads = serializers.IntegerField(min_value=1, max_value=1_000_000, required=False, allow_null=True)
    ram_bytes = serializers.IntegerField(min_value=1, max_value=BIG, required=False, allow_null=True)
    motherboard = serializers.CharField(max_length=200, required=False, allow_blank=True)
    virtualisation = serializers.CharField(max_length=100, required=False, allow_blank=True)
    note = serializers.CharField(max_length=10_000, required=False, allow_blank=True)


class SlugOrObject(serializers.Field[Any, Any, Any, Any]):
    """A slug of something known, or an object that describes it."""

    object_class: type[StrictSerializer]

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, str):
            return {"slug": serializers.SlugField(max_length=120).run_validation(data), "known": True}
        serializer = self.object_class(data=data)
        serializer.is_valid(raise_exception=True)
        return dict(serializer.validated_data)

    def to_representation(self, value: Any) -> Any:
        return value


class WorkloadField(SlugOrObject):
    object_class = WorkloadSerializer


class HardwareField(SlugOrObject):
    object_class = HardwareSerializer


@extend_schema_serializer(component_name="UploadSetting")
class SettingSerializer(StrictSerializer):
    name = serializers.CharField(max_length=200)
    value = SettingValueField(allow_null=True)
    section = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    comment = serializers.CharField(max_length=10_000, required=False, allow_blank=True, default="")


@extend_schema_serializer(component_name="UploadMetric")
class MetricSerializer(StrictSerializer):
    name = serializers.CharField(max_length=120)
    value = NumberField()
    unit = serializers.CharField(max_length=40, required=False, allow_blank=True)
    better = serializers.ChoiceField(choices=Better.choices, required=False)
    phase = serializers.CharField(max_length=20, required=False, default="run")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return with_unit(attrs)


@extend_schema_serializer(component_name="UploadSeries")
class SeriesSerializer(StrictSerializer):
    name = serializers.CharField(max_length=120)
    unit = serializers.CharField(max_length=40, required=False, allow_blank=True)
    t0_s = NumberField(required=False, default=0.0)
    interval_s = NumberField(required=False, default=1.0)
    values = SeriesValuesField()

    def validate_t0_s(self, value: float) -> float:
        if abs(value) > 1e9:
            raise serializers.ValidationError("Must lie within a billion seconds of the start.")
        return value

    def validate_interval_s(self, value: float) -> float:
        if not 1e-3 <= value <= 1e6:
            raise serializers.ValidationError("Must be between 0.001 and 1,000,000 seconds.")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        return with_unit(attrs)


def with_unit(attrs: dict[str, Any]) -> dict[str, Any]:
    """A metric of the catalogue has its unit; any other must say its own (empty for a plain count)."""
    if "unit" not in attrs:
        if attrs["name"] not in METRICS:
            raise serializers.ValidationError({"unit": [f"Required: {attrs['name']} is not in the catalogue."]})
        attrs["unit"] = METRICS[attrs["name"]].unit
    return attrs


class MetricsField(serializers.Field[Any, Any, Any, Any]):
    """A list of metrics, or an object: name -> number, or name -> metric without its name.

    -> list of validated metrics, each name once per phase.
    """

    default_error_messages = {
        "invalid": "A list of metrics or an object is required.",
        "long": "At most {limit} metrics are allowed.",
    }

    def to_internal_value(self, data: Any) -> list[dict[str, Any]]:
        if not isinstance(data, (list, dict)):
            self.fail("invalid")
        if len(data) > MAX_METRICS:
            self.fail("long", limit=MAX_METRICS)
        errors: dict[str, Any] = {}
        metrics = []
        for key, entry in self._entries(data):
            serializer = MetricSerializer(data=entry)
            if serializer.is_valid():
                metrics.append(dict(serializer.validated_data))
            else:
                errors[key] = serializer.errors
        if errors:
            raise serializers.ValidationError(errors)
        _refuse_duplicates(metrics, ("name", "unit", "phase"))
        return metrics

    def _entries(self, data: list[Any] | dict[str, Any]) -> list[tuple[str, Any]]:
        if isinstance(data, list):
            return [(str(index), entry) for index, entry in enumerate(data)]
        return [
            (name, {**entry, "name": name} if isinstance(entry, dict) else {"name": name, "value": entry})
            for name, entry in data.items()
        ]

    def to_representation(self, value: Any) -> Any:
        return value


def _refuse_duplicates(rows: list[dict[str, Any]], keys: tuple[str, ...]) -> None:
    seen = set()
    for row in rows:
        mark = tuple(row[key] for key in keys)
        if mark in seen:
            raise serializers.ValidationError(f"{row['name']} stands there twice.")
        seen.add(mark)


@extend_schema_serializer(component_name="UploadRepeat")
class RepeatSerializer(StrictSerializer):
    id = serializers.UUIDField(required=False)
    metrics = MetricsField(required=False, default=list)
    series = SeriesSerializer(many=True, required=False, default=list)

    def validate_series(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if len(value) > MAX_SERIES:
            raise serializers.ValidationError(f"At most {MAX_SERIES} series are allowed.")
        _refuse_duplicates(value, ("name", "unit"))
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs["metrics"] and not attrs["series"]:
            raise serializers.ValidationError({"metrics": ["A repeat needs at least one metric or series."]})
        return attrs


@extend_schema_serializer(component_name="UploadDocument")
class ResultDocument(StrictSerializer):
    """One cell's result: everything its repeats have in common, and the repeats."""

    schema_version = serializers.IntegerField(help_text="1")
    id = serializers.UUIDField(help_text="Made by the client: the same id with the same body is stored once.")
    workload = WorkloadField()
    dbms = DbmsSerializer()
    hardware = HardwareField()
    config = SettingSerializer(many=True, required=False, help_text="In order; duplicates are kept.")
    factors = serializers.DictField(child=FactorField(), required=False, default=dict)
    measured_on = serializers.DateField(required=False)
    started_at = serializers.DateTimeField(required=False)
    durability = serializers.ChoiceField(choices=DURABILITY_CHOICES, required=False)
    note = serializers.CharField(max_length=10_000, required=False, allow_blank=True, default="")
    context = serializers.JSONField(  # type: ignore[assignment]  # declared fields do not stay attributes
        required=False, help_text="Facts that break a series when they change."
    )
    info = serializers.JSONField(required=False, help_text="Facts that do not.")
    repeats = RepeatSerializer(many=True, allow_empty=False)

    def validate_schema_version(self, value: int) -> int:
        if value != SCHEMA_VERSION:
            raise serializers.ValidationError(f"This server speaks version {SCHEMA_VERSION}.")
        return value

    def validate_config(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if len(value) > MAX_SETTINGS:
            raise serializers.ValidationError(f"At most {MAX_SETTINGS} settings are allowed.")
        return value

    def validate_factors(self, value: dict[str, Any]) -> dict[str, Any]:
        if len(value) > MAX_FACTORS:
            raise serializers.ValidationError(f"At most {MAX_FACTORS} factors are allowed.")
        for name in value:
            if not 0 < len(name) <= 80:
                raise serializers.ValidationError("The name of a factor has 1 to 80 characters.")
        return value

    def validate_context(self, value: Any) -> Any:
        return _object(value)

    def validate_info(self, value: Any) -> Any:
        return _object(value)

    def validate_repeats(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if len(value) > MAX_REPEATS:
            raise serializers.ValidationError(f"At most {MAX_REPEATS} repeats are allowed.")
        given = [repeat["id"] for repeat in value if "id" in repeat]
        if len(set(given)) != len(given):
            raise serializers.ValidationError("Two repeats have the same id.")
        return value


def _object(value: Any) -> Any:
    if not isinstance(value, dict):
        raise serializers.ValidationError("An object is required.")
    return value
