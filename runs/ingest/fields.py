"""The upload document's shapes as serializer fields, for forms that take parts of it."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from runs.ingest.document import HARDWARE_OR_SLUG
from runs.ingest.shapes import Shape, Wrong
from runs.ingest.values import Factor


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses keys it does not know."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            unknown = [key for key in data if key not in self.fields]
            if unknown:
                known = ", ".join(self.fields)
                raise serializers.ValidationError({str(key): [f"Unknown key. Known here: {known}."] for key in unknown})
        return super().to_internal_value(data)


class ShapeField(serializers.Field[Any, Any, Any, Any]):
    """Reads what its shape reads."""

    shape: Shape

    def to_internal_value(self, data: Any) -> Any:
        try:
            return self.shape.read(data)
        except Wrong as wrong:
            whole = [message for path, message in wrong.problems if not path]
            raise serializers.ValidationError(whole or dict(wrong.as_errors())) from None

    def to_representation(self, value: Any) -> Any:
        return value


class HardwareField(ShapeField):
    shape = HARDWARE_OR_SLUG


class FactorField(ShapeField):
    shape = Factor()
