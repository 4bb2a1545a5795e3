"""How a consistency check of a publication looks in answers."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from runs.publications.checks.model import Result


class CheckStatedSerializer(serializers.Serializer[Any]):
    text = serializers.CharField()
    printed = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    unit = serializers.CharField()
    where = serializers.CharField()


class CheckInputSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    what = serializers.CharField()
    value = serializers.JSONField(help_text="A number, or a list of them.")
    unit = serializers.CharField()
    provenance = serializers.CharField()


class CheckComputedSerializer(serializers.Serializer[Any]):
    """`formula` holds the numbers, `words` the names; `rounded` is `value` with `digits` decimals, as shown."""

    label = serializers.CharField()  # type: ignore[assignment]  # not the field's own label
    value = serializers.FloatField()
    rounded = serializers.FloatField()
    digits = serializers.IntegerField()
    unit = serializers.CharField()
    formula = serializers.CharField()
    words = serializers.CharField()


class CheckSerializer(serializers.Serializer[Any]):
    """What is stated against what its numbers give, computed at this request."""

    number = serializers.CharField()
    topic = serializers.CharField()
    title = serializers.CharField()
    result = serializers.ChoiceField([one.value for one in Result])
    explanation = serializers.CharField()
    claims = serializers.ListField(child=serializers.CharField())
    stated = CheckStatedSerializer(many=True)
    inputs = serializers.SerializerMethodField()
    computed = CheckComputedSerializer(many=True)

    @extend_schema_field(CheckInputSerializer(many=True))
    def get_inputs(self, check: Any) -> Any:
        rows = [
            {"name": name, "what": one.what, "value": one.value, "unit": one.unit, "provenance": one.provenance}
            for name, one in check.inputs
        ]
        return CheckInputSerializer(rows, many=True).data
