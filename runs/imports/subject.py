"""What a person says about files: on which machine, which DBMS and configuration, which disks; who may see it."""

from __future__ import annotations

import json
from typing import Any

from rest_framework import serializers

from runs.models.choices import DURABILITY_CHOICES, Visibility
from runs.results.fields import FactorField, HardwareField, StrictSerializer


class DbmsSubject(StrictSerializer):
    """Fills in what the files do not say."""

    name = serializers.CharField(max_length=200, required=False, allow_blank=True, default="")
    version = serializers.CharField(max_length=120, required=False, allow_blank=True, default="")
    architecture = serializers.CharField(max_length=60, required=False, allow_blank=True, default="")


class WorkloadSubject(StrictSerializer):
    slug = serializers.SlugField(max_length=100)
    name = serializers.CharField(max_length=200, required=False)


class ImportSubject(StrictSerializer):
    """Everything optional: what is missing is told when the import is stored."""

    hardware = HardwareField(required=False)
    dbms = DbmsSubject(required=False)
    workload = WorkloadSubject(required=False)
    config = serializers.JSONField(required=False)
    storage = serializers.ListField(required=False, child=serializers.DictField(), max_length=20)
    factors = serializers.DictField(child=FactorField(), required=False)
    durability = serializers.ChoiceField(choices=DURABILITY_CHOICES, required=False)
    measured_on = serializers.DateField(required=False)
    visibility = serializers.ChoiceField(choices=Visibility.choices, required=False)
    note = serializers.CharField(max_length=10_000, required=False, allow_blank=True)
    context = serializers.DictField(required=False)  # type: ignore[assignment]  # declared fields are not attributes
    info = serializers.DictField(required=False)
    mapping = serializers.DictField(
        child=serializers.DictField(), required=False, help_text="for CSV: name of the file -> which column is what"
    )
    leave_out = serializers.ListField(
        child=serializers.IntegerField(min_value=0), required=False, help_text="`index` of items that are not wanted"
    )


def checked(given: Any) -> dict[str, Any]:
    """The subject as JSON that can be kept. Raises ValidationError naming the field."""
    serializer = ImportSubject(data=given)
    serializer.is_valid(raise_exception=True)
    return {name: given[name] for name in serializer.validated_data}


def from_text(text: str) -> Any:
    """A subject that came as a field of a form. Raises ValidationError when it is not JSON."""
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except ValueError as error:
        raise serializers.ValidationError({"subject": [f"Not JSON: {error}"]}) from error
