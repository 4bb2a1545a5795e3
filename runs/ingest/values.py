"""Shapes of the upload document that take more than one form: factors, settings, metrics, series, histograms."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchagent import histogram

from runs.ingest.shapes import Components, Object, Wrong, finite
from runs.series import MAX_SAMPLES

MAX_SERIES_VALUES = min(1_000_000, MAX_SAMPLES)
MAX_HISTOGRAM_CHARACTERS = 2_000_000
_NUMBER = {"type": "number"}
_PLAIN_TYPES = frozenset({int, float})
_TYPES_WITH_GAPS = _PLAIN_TYPES | {type(None)}
# What one count of the histogram stands for, in microseconds.
HISTOGRAM_UNITS_US = {"us": 1.0, "ms": 1000.0, "ns": 0.001}


class Factor:
    """-> {"value": float | str, "unit": str}"""

    def read(self, value: Any) -> dict[str, Any]:
        unit: Any = ""
        if isinstance(value, dict):
            for key in value:
                if key not in ("value", "unit"):
                    raise Wrong(("", f"unknown key: {key}"))
            unit = value.get("unit", "")
            value = value.get("value")
        if not isinstance(unit, str) or len(unit) > 40:
            raise Wrong(("", "unit must be a text of at most 40 characters."))
        if isinstance(value, str):
            if not 0 < len(value.strip()) <= 300:
                raise Wrong(("", "A text of 1 to 300 characters is required."))
            return {"value": value.strip(), "unit": unit}
        number = finite(value)
        if number is None:
            raise Wrong(("", "A number, a text, or an object with value and unit is required."))
        return {"value": number, "unit": unit}

    def schema(self, components: Components) -> dict[str, Any]:
        plain = {"oneOf": [_NUMBER, {"type": "string", "minLength": 1, "maxLength": 300}]}
        described = {
            "type": "object",
            "required": ["value"],
            "properties": {"value": plain, "unit": {"type": "string", "maxLength": 40}},
            "additionalProperties": False,
        }
        return {"oneOf": [*plain["oneOf"], described], "description": "A number, a text, or one of these with a unit."}


class SettingValue:
    """The value of a configuration parameter as text; null is a flag, a name that stands alone."""

    def read(self, value: Any) -> str | None:
        if value is None:
            return None
        if isinstance(value, bool):
            return "true" if value else "false"
        if not isinstance(value, (str, int, float)):
            raise Wrong(("", "A text, a number, true, false or null is required."))
        return str(value)

    def schema(self, components: Components) -> dict[str, Any]:
        return {"type": ["string", "number", "boolean", "null"]}


class SettingPairs:
    """Settings as read back from a DBMS: an object, or a list of [name, value]. -> list of pairs of text."""

    MOST = 5000
    _message = "An object of names and values, or a list of [name, value], is required."

    def read(self, value: Any) -> list[list[str]]:
        pairs = list(value.items()) if isinstance(value, dict) else value
        if not isinstance(pairs, list):
            raise Wrong(("", self._message))
        if len(pairs) > self.MOST:
            raise Wrong(("", f"At most {self.MOST:,} settings are allowed."))
        found = []
        for pair in pairs:
            if not (isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], str)):
                raise Wrong(("", self._message))
            text = SettingValue().read(pair[1])
            if not 0 < len(pair[0]) <= 200:
                raise Wrong(("", "The name of a setting has 1 to 200 characters."))
            found.append([pair[0], "" if text is None else text])
        return found

    def schema(self, components: Components) -> dict[str, Any]:
        text = SettingValue().schema(components)
        pair = {"type": "array", "prefixItems": [{"type": "string"}, text], "minItems": 2, "maxItems": 2}
        return {
            "oneOf": [
                {"type": "object", "additionalProperties": text, "maxProperties": self.MOST},
                {"type": "array", "items": pair, "maxItems": self.MOST},
            ]
        }


@dataclass(frozen=True)
class Metrics:
    """A list of metrics, or an object: name -> number, or name -> metric without its name. -> list, none twice."""

    metric: Object
    most: int

    def read(self, value: Any) -> list[dict[str, Any]]:
        if not isinstance(value, (list, dict)):
            raise Wrong(("", "A list of metrics or an object is required."))
        if len(value) > self.most:
            raise Wrong(("", f"At most {self.most} metrics are allowed."))
        found: list[dict[str, Any]] = []
        problems: list[tuple[str, str]] = []
        for key, entry in _entries(value):
            try:
                found.append(self.metric.read(entry))
            except Wrong as wrong:
                problems += wrong.under(key)
                continue
            if isinstance(value, dict) and found[-1]["name"] != key.strip():
                problems.append((f"{key}.name", f"Its key says {key}."))
        if problems:
            raise Wrong(*problems)
        refuse_doubles(found, ("name", "unit", "phase"))
        return found

    def schema(self, components: Components) -> dict[str, Any]:
        reference = self.metric.schema(components)
        named = dict(components[self.metric.name])
        named["required"] = [key for key in named["required"] if key != "name"]
        components[f"{self.metric.name}WithoutName"] = named
        without_name = {"$ref": f"{reference['$ref']}WithoutName"}
        return {
            "oneOf": [
                {"type": "array", "items": reference, "maxItems": self.most},
                {
                    "type": "object",
                    "additionalProperties": {"oneOf": [_NUMBER, without_name]},
                    "maxProperties": self.most,
                },
            ]
        }


def _entries(value: list[Any] | dict[str, Any]) -> list[tuple[str, Any]]:
    if isinstance(value, list):
        return [(f"[{index}]", entry) for index, entry in enumerate(value)]
    return [
        (name, {"name": name, **entry} if isinstance(entry, dict) else {"name": name, "value": entry})
        for name, entry in value.items()
    ]


def refuse_doubles(rows: Sequence[dict[str, Any]], keys: tuple[str, ...]) -> None:
    if len({tuple([row[key] for key in keys]) for row in rows}) == len(rows):
        return
    seen = set()
    for row in rows:
        mark = tuple(row[key] for key in keys)
        if mark in seen:
            raise Wrong(("", f"{row['name']} stands there twice."))
        seen.add(mark)


class SeriesValues:
    """Samples in order; null is a gap. -> array of double, a gap is NaN. A million samples take a tenth of a second."""

    def read(self, value: Any) -> array[float]:
        if not isinstance(value, list):
            raise Wrong(("", "A list of numbers and nulls is required."))
        if not value:
            raise Wrong(("", "At least one value is required."))
        if len(value) > MAX_SERIES_VALUES:
            raise Wrong(("", f"At most {MAX_SERIES_VALUES:,} values are allowed."))
        kinds = set(map(type, value))
        if not kinds <= _TYPES_WITH_GAPS:
            raise self._wrong(value)
        try:
            known = array("d", value if kinds <= _PLAIN_TYPES else [item for item in value if item is not None])
        except OverflowError:
            raise self._wrong(value) from None
        if not all(map(math.isfinite, known)):
            raise self._wrong(value)
        if len(known) == len(value):
            return known
        return array("d", [math.nan if item is None else item for item in value])

    def _wrong(self, value: list[Any]) -> Wrong:
        index = next(index for index, item in enumerate(value) if item is not None and finite(item) is None)
        return Wrong(("", f"Value {index} is neither a finite number nor null."))

    def schema(self, components: Components) -> dict[str, Any]:
        items = {"type": ["number", "null"]}
        return {"type": "array", "items": items, "minItems": 1, "maxItems": MAX_SERIES_VALUES}


class EncodedHistogram:
    """HdrHistogram V2, compressed, base64, or an object that says the unit of its values. -> histogram.Latencies"""

    def read(self, value: Any) -> histogram.Latencies:
        unit: Any = "us"
        if isinstance(value, dict):
            if unknown := [key for key in value if key not in ("encoded", "unit")]:
                raise Wrong((unknown[0], "Unknown key. Known here: encoded, unit."))
            value, unit = value.get("encoded"), value.get("unit", "us")
        if not isinstance(unit, str) or unit not in HISTOGRAM_UNITS_US:
            raise Wrong(("unit", f"Must be one of: {', '.join(HISTOGRAM_UNITS_US)}."))
        if not isinstance(value, str) or not 0 < len(value) <= MAX_HISTOGRAM_CHARACTERS:
            raise Wrong(("", "An encoded histogram is required: HdrHistogram V2, compressed, base64."))
        try:
            return histogram.decode(value, unit_us=HISTOGRAM_UNITS_US[unit])
        except ValueError as error:
            raise Wrong(("", f"{str(error)[:1].upper()}{str(error)[1:]}.")) from None

    def schema(self, components: Components) -> dict[str, Any]:
        encoded = {"type": "string", "minLength": 1, "maxLength": MAX_HISTOGRAM_CHARACTERS}
        described = {
            "type": "object",
            "required": ["encoded"],
            "properties": {"encoded": encoded, "unit": {"enum": list(HISTOGRAM_UNITS_US), "default": "us"}},
            "additionalProperties": False,
        }
        return {
            "oneOf": [encoded, described],
            "description": "Latencies as HdrHistogram V2, compressed, base64; in microseconds unless `unit` says so.",
        }
