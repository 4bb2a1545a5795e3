"""What comes in, as pydantic models: their base, and the kinds of values that they hold, with problems in our words.

The last ones take more than one form: factors, settings, samples, histograms.
"""

from __future__ import annotations

import datetime
import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from types import NoneType
from typing import Annotated, Any, TypeVar, Union, get_args

from benchagent import histogram
from benchagent.catalog import ANY, Role
from benchagent.redaction import redact_text
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, core_schema
from typing_extensions import TypedDict

T = TypeVar("T")
# Branches of a union by JSON type; they stand in pydantic's paths, not in ours.
TEXT, OBJECT, LIST = "<text>", "<object>", "<list>"
BRANCH_TYPES = {TEXT: "string", OBJECT: "object", LIST: "array"}
_BRANCHES: dict[type, str] = {str: TEXT, dict: OBJECT, list: LIST}
STRICT = ConfigDict(extra="forbid", strict=True, defer_build=True)
# No database that anybody compares is older.
FIRST_DAY = datetime.date(1970, 1, 1)
A_TIME = "A time is required: YYYY-MM-DDThh:mm:ss with a zone, for example 2026-05-04T12:00:00Z."


class Strict(BaseModel):
    """Refuses keys that it does not know, and values of another JSON type."""

    model_config = STRICT


@dataclass(frozen=True)
class ReadAs:
    """What is read may take more forms than what it becomes."""

    form: Any

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return handler.generate_schema(self.form)


class _NotNull:
    """None is "not given"; a null that is given is refused."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        inner = tuple(branch for branch in get_args(source) if branch is not NoneType)
        return handler.generate_schema(Union[inner])  # noqa: UP007  # a tuple


Given = Annotated[T | None, _NotNull()]


@dataclass(frozen=True)
class Text:
    """Text, trimmed; a number is taken as its digits (a version 15)."""

    most: int
    least: int = 1

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.str_schema(
            strict=False, strip_whitespace=True, coerce_numbers_to_str=True, min_length=self.least or None,
            max_length=self.most,
        )  # fmt: skip

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(schema) | {"type": ["string", "number"]}


@dataclass(frozen=True)
class OneOf:
    values: tuple[str, ...]
    # Why others are not among them.
    lacking: str = ""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = core_schema.literal_schema(list(self.values))
        return core_schema.no_info_before_validator_function(self._check, schema) if self.lacking else schema

    def _check(self, given: Any) -> Any:
        if isinstance(given, str) and given not in self.values:
            raise wrong(("", f"“{given[:60]}” is none of: {', '.join(self.values)}: {self.lacking}."))
        return given


def by_type(message: str) -> Discriminator:
    """A union is read by the JSON type of the value: members are tagged TEXT, OBJECT or LIST."""
    return Discriminator(
        lambda value: _BRANCHES.get(type(value)), custom_error_type="wrong", custom_error_message=message
    )


def wrong(*problems: tuple[str, str] | tuple[tuple[str | int, ...], str]) -> ValidationError:
    """To be raised by a check of our own: (field or path, message) of each problem; "" is the value itself."""
    lines: list[InitErrorDetails] = []
    for field, message in problems:
        path = field if isinstance(field, tuple) else (field,) if field else ()
        lines.append({"type": PydanticCustomError("wrong", message), "loc": path, "input": ""})
    return ValidationError.from_exception_data("", lines)


def _date(value: Any) -> datetime.date | None:
    try:
        # The week 2026-W20 is not its Monday.
        return parse_date(value) if isinstance(value, str) and "W" not in value else None
    except ValueError:
        return None


def _day(value: Any) -> datetime.date:
    day = _date(value)
    if day is None:
        raise wrong(("", "A date is required: YYYY-MM-DD."))
    if why := why_not_then(day):
        raise wrong(("", why))
    return day


def _moment(value: Any) -> datetime.datetime:
    """A time of measuring, which does not lie ahead. In UTC; one without a zone stays without."""
    moment = _time(value)
    if why := why_not_then(moment.date()):
        raise wrong(("", why))
    return moment


def _planned(value: Any) -> datetime.datetime:
    """It may be ahead, and is compared with the time of now."""
    moment = _time(value)
    if moment.tzinfo is None:
        raise wrong(("", A_TIME))
    return moment


def _time(value: Any) -> datetime.datetime:
    try:
        # `parse_datetime` would take a date for its midnight.
        is_time = isinstance(value, str) and "W" not in value and _date(value) is None
        moment = parse_datetime(value) if is_time else None
        if moment is not None and moment.tzinfo:
            moment = moment.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        moment = None
    if moment is None:
        raise wrong(("", A_TIME))
    return moment


def _start(value: Any) -> datetime.datetime | datetime.date:
    """A date without a time stays a date."""
    return _moment(value) if _date(value) is None else _day(value)


def contradiction(day: datetime.date | None, moments: Iterable[datetime.datetime | datetime.date | None]) -> str:
    """Why a run of these moments was not measured on this day, wherever on Earth; empty where it may have been."""
    known = [moment for moment in moments if moment is not None]
    if day is None or not known:
        return ""
    first, last = min(_local_day(moment, -12) for moment in known), max(_local_day(moment, 14) for moment in known)
    return "" if first <= day <= last else f"{day} contradicts the start: {min(map(str, known))}."


def _local_day(moment: datetime.datetime | datetime.date, hours: int) -> datetime.date:
    """The day of a moment in the zone that is so many hours before UTC; a date is that of its own place."""
    if isinstance(moment, datetime.datetime):
        return (moment + datetime.timedelta(hours=hours)).date()
    return moment


def why_not_then(day: datetime.date) -> str:
    """Why nothing was measured on this day; empty where it may have been. Zones and clocks are a day ahead at most."""
    last = timezone.now().date() + datetime.timedelta(days=1)
    return "" if FIRST_DAY <= day <= last else f"Must be between {FIRST_DAY} and {last}."


def int_if_whole(value: float | str) -> float | str:
    """A whole number as int, so that keys and pages say 4, not 4.0, and a sender may write either."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# pydantic would take a number, or digits, for a Unix time.
Day = Annotated[datetime.date, BeforeValidator(_day)]
Moment = Annotated[datetime.datetime, BeforeValidator(_moment)]
PlannedMoment = Annotated[datetime.datetime, BeforeValidator(_planned)]
Start = Annotated[datetime.datetime | datetime.date, BeforeValidator(_start)]
Name = Annotated[str, Text(200)]
Word = Annotated[str, Text(60, least=0)]
Line = Annotated[str, Text(200, least=0)]
Path = Annotated[str, Text(500, least=0)]
Prose = Annotated[str, Text(10_000, least=0)]
NewSlug = Annotated[str, Field(max_length=100, pattern=r"^[-a-zA-Z0-9_]+$")]
Slug = Annotated[str, Field(max_length=120, pattern=r"^[-a-zA-Z0-9_]+$", examples=["nightly-tpcb"])]
Finite = Annotated[float, Field(allow_inf_nan=False)]

MAX_SERIES_VALUES = 1_000_000
MAX_HISTOGRAM_CHARACTERS = 2_000_000
MAX_PAIRS = 5000
_PLAIN_TYPES = frozenset({int, float})
_TYPES_WITH_GAPS = _PLAIN_TYPES | {type(None)}
# What one count of the histogram stands for, in microseconds.
HISTOGRAM_UNITS_US = {"us": 1.0, "ms": 1000.0, "ns": 0.001}


def _described(form: dict[str, Any], required: str, **more: Any) -> dict[str, Any]:
    """A value alone, or an object that says its unit, and what it is to a comparison."""
    alone = form.get("oneOf", [form])
    parts = {name: more.pop(name) for name in ("unit", "role") if name in more}
    described: dict[str, Any] = {
        "type": "object",
        "required": [required],
        "properties": {required: form, **parts},
        "additionalProperties": False,
    }
    return {"oneOf": [*alone, described], **more}


def finite(value: Any) -> float | None:
    """The value as a float when it is a finite number (not a truth value, not text), else None."""
    if type(value) not in _PLAIN_TYPES:
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


MAX_TAGS = 20


def _tags(given: list[str]) -> list[str]:
    tags = sorted({tag.strip().lower() for tag in given} - {""})
    for tag in tags:
        if len(tag) > 40 or "," in tag or len(tag.split()) > 1:
            raise wrong(("", f"“{tag}”: a tag is a word of at most 40 characters, without blank or comma."))
    return tags


Tags = Annotated[list[Annotated[str, Text(60, least=0)]], Field(max_length=MAX_TAGS), AfterValidator(_tags)]


class Tested(Strict):
    """What was tested, beside the DBMS's version: a build of it or of the application."""

    build: Annotated[str, Text(120, least=0)] = ""
    commit: Annotated[str, Text(120, least=0)] = ""
    branch: Annotated[str, Text(120, least=0)] = ""
    dbms_build: Annotated[str, Text(200, least=0), Field(description="As the DBMS tells it of itself.")] = ""
    commit_number: Annotated[
        str,
        Text(11, least=0),
        Field(pattern="^[0-9]*$", description="Orders a series: `git rev-list --count COMMIT`.", examples=["41327"]),
    ] = ""
    parents: Annotated[
        str,
        Text(1000, least=0),
        Field(description="Orders a series that has no numbers: `git log -1 --format=%P COMMIT`."),
    ] = ""


class Labels(Strict):
    """What tells one batch, or one run, from another of the same cell."""

    label: Annotated[str, Text(120, least=0), Field(description="Stands in legends: nightly 17, before, tuned.")] = ""
    tags: Annotated[Tags, Field(description="Words to find it by.")] = []
    tested: Tested = Tested()

    def columns(self) -> dict[str, Any]:
        """As models keep it (`runs.models.batches.Labelled`), without secrets."""
        tested = {name: redact_text(value) for name, value in self.tested.model_dump().items() if value}
        return {"label": redact_text(self.label), "tags": redact_text(" ".join(self.tags)), "tested": tested}


class FactorValue(TypedDict):
    """`role`: as its sender declares it; empty where not."""

    value: float | str
    unit: str
    role: str


def _factor(value: Any) -> FactorValue:
    unit: Any = ""
    role: Any = ""
    if isinstance(value, dict):
        if unknown := [key for key in value if key not in ("value", "unit", "role")]:
            raise wrong(("", f"Unknown key: {unknown[0]}. Known here: value, unit, role."))
        unit, role = value.get("unit", ""), value.get("role", "")
        value = value.get("value")
    if not isinstance(unit, str) or len(unit) > 40:
        raise wrong(("", "unit must be a text of at most 40 characters."))
    if role not in ("", *Role):
        raise wrong(("role", f"Must be one of: {', '.join(Role)}."))
    if isinstance(value, str):
        if not 0 < len(value.strip()) <= 300:
            raise wrong(("", "A text of 1 to 300 characters is required."))
        return {"value": value.strip(), "unit": unit, "role": role}
    number = finite(value)
    if number is None:
        raise wrong(("", "A number, a text, or an object with value and unit is required."))
    if not ANY.least <= number <= ANY.most:
        raise wrong(("", f"Must be between {ANY.least:,.10g} and {ANY.most:,.10g}."))
    return {"value": number, "unit": unit, "role": role}


_FACTOR_SCHEMA = _described(
    {"oneOf": [{"type": "number"}, {"type": "string", "minLength": 1, "maxLength": 300}]},
    "value",
    unit={"type": "string", "maxLength": 40},
    role={"enum": list(Role), "description": "What another value is to a comparison."},
    description="A number, a text, or one of these with a unit and a role.",
)
Factor = Annotated[FactorValue, PlainValidator(_factor), WithJsonSchema(_FACTOR_SCHEMA)]


def _setting(value: Any) -> str | None:
    """The value of a configuration parameter as text; null is a flag, a name that stands alone."""
    if value is None or type(value) is str:
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, (str, int, float)):
        raise wrong(("", "A text, a number, true, false or null is required."))
    return str(value)


_SETTING_SCHEMA = {"type": ["string", "number", "boolean", "null"]}
SettingValue = Annotated[str | None, PlainValidator(_setting), WithJsonSchema(_SETTING_SCHEMA)]


def _pairs(value: Any) -> list[tuple[str, str]]:
    """Settings as read back from a DBMS, as an object or as pairs."""
    pairs = list(value.items()) if isinstance(value, dict) else value
    form = "An object of names and values, or a list of [name, value], is required."
    if not isinstance(pairs, list):
        raise wrong(("", form))
    if len(pairs) > MAX_PAIRS:
        raise wrong(("", f"At most {MAX_PAIRS:,} settings are allowed."))
    settings = []
    for pair in pairs:
        if not (isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], str)):
            raise wrong(("", form))
        if not 0 < len(pair[0]) <= 200:
            raise wrong(("", "The name of a setting has 1 to 200 characters."))
        settings.append((pair[0], _setting(pair[1]) or ""))
    return settings


_PAIR_SCHEMA = {"type": "array", "prefixItems": [{"type": "string"}, _SETTING_SCHEMA], "minItems": 2, "maxItems": 2}
_PAIRS_SCHEMA = {
    "oneOf": [
        {"type": "object", "additionalProperties": _SETTING_SCHEMA, "maxProperties": MAX_PAIRS},
        {"type": "array", "items": _PAIR_SCHEMA, "maxItems": MAX_PAIRS},
    ]
}
SettingPairs = Annotated[list[tuple[str, str]], PlainValidator(_pairs), WithJsonSchema(_PAIRS_SCHEMA)]


def _samples(value: Any) -> array[float]:
    """A gap becomes NaN. A million samples take a tenth of a second."""
    if not isinstance(value, list):
        raise wrong(("", "A list of numbers and nulls is required."))
    if not value:
        raise wrong(("", "At least one value is required."))
    if len(value) > MAX_SERIES_VALUES:
        raise wrong(("", f"At most {MAX_SERIES_VALUES:,} values are allowed."))
    kinds = set(map(type, value))
    try:
        numbers = array("d", value if kinds <= _PLAIN_TYPES else [item for item in value if item is not None])
    except (OverflowError, TypeError):
        numbers = array("d", [math.nan])
    if not kinds <= _TYPES_WITH_GAPS or not all(map(math.isfinite, numbers)):
        index = next(index for index, item in enumerate(value) if item is not None and finite(item) is None)
        raise wrong(("", f"Value {index} is neither a finite number nor null."))
    if len(numbers) == len(value):
        return numbers
    return array("d", [math.nan if item is None else item for item in value])


_SAMPLES_SCHEMA = {
    "type": "array", "items": {"type": ["number", "null"]}, "minItems": 1, "maxItems": MAX_SERIES_VALUES,
}  # fmt: skip
Samples = Annotated[Sequence[float], PlainValidator(_samples), WithJsonSchema(_SAMPLES_SCHEMA)]


def _histogram(value: Any) -> histogram.Latencies:
    """HdrHistogram V2, compressed, base64, or an object that says the unit of its values."""
    unit: Any = "us"
    if isinstance(value, dict):
        if unknown := [key for key in value if key not in ("encoded", "unit")]:
            raise wrong((unknown[0], "Unknown key. Known here: encoded, unit."))
        value, unit = value.get("encoded"), value.get("unit", "us")
    if not isinstance(unit, str) or unit not in HISTOGRAM_UNITS_US:
        raise wrong(("unit", f"Must be one of: {', '.join(HISTOGRAM_UNITS_US)}."))
    if not isinstance(value, str) or not 0 < len(value) <= MAX_HISTOGRAM_CHARACTERS:
        raise wrong(("", "An encoded histogram is required: HdrHistogram V2, compressed, base64."))
    try:
        latencies = histogram.decode(value, unit_us=HISTOGRAM_UNITS_US[unit])
    except ValueError as error:
        raise wrong(("", f"{str(error)[:1].upper()}{str(error)[1:]}.")) from None
    if unit == "us":
        return latencies
    # It is kept in microseconds, as every other is: what reads it knows no unit.
    return replace(latencies, encoded=histogram.encode((round(us), count) for us, count in latencies.buckets))


_HISTOGRAM_SCHEMA = _described(
    {"type": "string", "minLength": 1, "maxLength": MAX_HISTOGRAM_CHARACTERS},
    "encoded",
    unit={"enum": list(HISTOGRAM_UNITS_US), "default": "us"},
    description="Latencies as HdrHistogram V2, compressed, base64; in microseconds unless `unit` says so.",
)
EncodedHistogram = Annotated[histogram.Latencies, PlainValidator(_histogram), WithJsonSchema(_HISTOGRAM_SCHEMA)]
