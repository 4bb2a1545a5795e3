"""Fields of the upload document that take more than one form."""

from __future__ import annotations

import math
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from runs.series import MAX_SAMPLES

MAX_SERIES_VALUES = min(1_000_000, MAX_SAMPLES)
_NUMBER = {"type": "number"}


def finite(value: Any) -> float | None:
    """The value as a float when it is a finite number (not a truth value, not text), else None."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


@extend_schema_field(_NUMBER)
class NumberField(serializers.Field[float, Any, float, Any]):
    default_error_messages = {"invalid": "A finite number is required."}

    def to_internal_value(self, data: Any) -> float:
        number = finite(data)
        if number is None:
            self.fail("invalid")
        return number

    def to_representation(self, value: float) -> float:
        return value


@extend_schema_field(
    {
        "description": "A number, a text, or an object with value and unit.",
        "oneOf": [
            _NUMBER,
            {"type": "string", "maxLength": 300},
            {
                "type": "object",
                "required": ["value"],
                "properties": {
                    "value": {"oneOf": [_NUMBER, {"type": "string", "maxLength": 300}]},
                    "unit": {"type": "string", "maxLength": 40},
                },
                "additionalProperties": False,
            },
        ],
    }
)
class FactorField(serializers.Field[dict[str, Any], Any, Any, Any]):
    """-> {"value": float | str, "unit": str}"""

    default_error_messages = {
        "invalid": "A number, a text, or an object with value and unit is required.",
        "text": "A text of 1 to 300 characters is required.",
        "unit": "unit must be a text of at most 40 characters.",
        "unknown": "unknown key: {name}",
    }

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        unit: Any = ""
        if isinstance(data, dict):
            for key in data:
                if key not in ("value", "unit"):
                    self.fail("unknown", name=key)
            unit = data.get("unit", "")
            data = data.get("value")
        if not isinstance(unit, str) or len(unit) > 40:
            self.fail("unit")
        if isinstance(data, str):
            if not 0 < len(data.strip()) <= 300:
                self.fail("text")
            return {"value": data.strip(), "unit": unit}
        number = finite(data)
        if number is None:
            self.fail("invalid")
        return {"value": number, "unit": unit}

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field({"oneOf": [{"type": "string"}, _NUMBER, {"type": "boolean"}], "nullable": True})
class SettingValueField(serializers.Field[str, Any, str, Any]):
    """The value of a configuration parameter as text; null is a flag, a name that stands alone."""

    default_error_messages = {"invalid": "A text, a number, true, false or null is required."}

    def to_internal_value(self, data: Any) -> str:
        if isinstance(data, bool):
            return "true" if data else "false"
        if not isinstance(data, (str, int, float)):
            self.fail("invalid")
        return str(data)

    def to_representation(self, value: str) -> str:
        return value


@extend_schema_field({"type": "array", "items": {"type": "number", "nullable": True}, "maxItems": MAX_SERIES_VALUES})
class SeriesValuesField(serializers.Field[list[float | None], Any, Any, Any]):
    """Samples in order; null is a gap. Checked in one pass: a series may hold a million of them."""

    default_error_messages = {
        "list": "A list of numbers and nulls is required.",
        "empty": "At least one value is required.",
        "long": "At most {limit} values are allowed.",
        "number": "Value {index} is neither a finite number nor null.",
    }

    def to_internal_value(self, data: Any) -> list[float | None]:
        if not isinstance(data, list):
            self.fail("list")
        if not data:
            self.fail("empty")
        if len(data) > MAX_SERIES_VALUES:
            self.fail("long", limit=MAX_SERIES_VALUES)
        values: list[float | None] = []
        for index, item in enumerate(data):
            number = finite(item)
            if number is None and item is not None:
                self.fail("number", index=index)
            values.append(number)
        return values

    def to_representation(self, value: Any) -> Any:
        return value
