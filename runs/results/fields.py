"""Parts of the upload document as serializer fields, for forms that take them."""

from __future__ import annotations

from typing import Any

import pydantic
from rest_framework import serializers

from runs.incoming.reading import messages
from runs.results.document import HARDWARE_OR_SLUG
from runs.results.values import Factor


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses keys it does not know."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict):
            unknown = [key for key in data if key not in self.fields]
            if unknown:
                known = ", ".join(self.fields)
                raise serializers.ValidationError({str(key): [f"Unknown key. Known here: {known}."] for key in unknown})
        return super().to_internal_value(data)


class PartField(serializers.Field[Any, Any, Any, Any]):
    """Reads what its part of the document may be."""

    part: pydantic.TypeAdapter[Any]

    def to_internal_value(self, data: Any) -> Any:
        try:
            return self.part.validate_python(data)
        except pydantic.ValidationError as error:
            found = messages(error, self.part)
            raise serializers.ValidationError(found.get("detail") or dict(found)) from None

    def to_representation(self, value: Any) -> Any:
        return value


class HardwareField(PartField):
    part = HARDWARE_OR_SLUG


class FactorField(PartField):
    part: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(Factor)
