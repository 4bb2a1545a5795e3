"""What comes in, as pydantic models: the base of the models, kinds of values, and problems in our words.

`read` checks a document and raises what answers show: path of each wrong field (`repeats[0].metrics[2].value`) -> what
is wrong with it.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, TypeVar, Union, get_args

from django.utils.dateparse import parse_date, parse_datetime
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationError,
)
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, ErrorDetails, InitErrorDetails, PydanticCustomError, core_schema
from rest_framework import exceptions

from runs.incoming.storable import problems

T = TypeVar("T")
JsonSchema = dict[str, Any]
# Branches of a union by JSON type; they stand in pydantic's paths, not in ours.
TEXT, OBJECT, LIST = "<text>", "<object>", "<list>"
_BRANCHES: dict[type, str] = {str: TEXT, dict: OBJECT, list: LIST}
_TYPES = {TEXT: "string", OBJECT: "object", LIST: "array"}


STRICT = ConfigDict(extra="forbid", strict=True)


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

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.literal_schema(list(self.values))


def by_type(message: str) -> Discriminator:
    """A union is read by the JSON type of the value: members are tagged TEXT, OBJECT or LIST."""
    return Discriminator(_branch, custom_error_type="wrong", custom_error_message=message)


def _branch(value: Any) -> str | None:
    return _BRANCHES.get(type(value))


def wrong(*problems: tuple[str, str] | tuple[tuple[str | int, ...], str]) -> ValidationError:
    """To be raised by a check of our own: (field or path, message) of each problem; "" is the value itself."""
    lines: list[InitErrorDetails] = []
    for field, message in problems:
        path = field if isinstance(field, tuple) else (field,) if field else ()
        lines.append({"type": PydanticCustomError("wrong", message), "loc": path, "input": ""})
    return ValidationError.from_exception_data("", lines)


def _day(value: Any) -> datetime.date:
    try:
        if isinstance(value, str) and (day := parse_date(value)) is not None:
            return day
    except ValueError:
        pass
    raise wrong(("", "A date is required: YYYY-MM-DD."))


def _moment(value: Any) -> datetime.datetime:
    try:
        if isinstance(value, str) and (moment := parse_datetime(value)) is not None:
            return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        pass
    raise wrong(("", "A time is required: YYYY-MM-DDThh:mm:ss with a zone, for example 2026-05-04T12:00:00Z."))


def whole(value: Any) -> Any:
    """A whole number may be written 4.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# pydantic would take a number, or digits, for a Unix time.
Day = Annotated[datetime.date, BeforeValidator(_day)]
Moment = Annotated[datetime.datetime, BeforeValidator(_moment)]  # one without a zone is UTC
Name = Annotated[str, Text(200)]
Word = Annotated[str, Text(60, least=0)]
Line = Annotated[str, Text(200, least=0)]
Path = Annotated[str, Text(500, least=0)]
Prose = Annotated[str, Text(10_000, least=0)]
NewSlug = Annotated[str, Field(max_length=100, pattern=r"^[-a-zA-Z0-9_]+$")]
Slug = Annotated[str, Field(max_length=120, pattern=r"^[-a-zA-Z0-9_]+$")]
Finite = Annotated[float, Field(allow_inf_nan=False)]

_SLUG = "A slug is required: letters, digits, - and _."
_NUMBER = "A finite number is required."
_OBJECT = "An object is required."
_WHOLE = "A whole number is required."
_IDENT = "A UUID is required."
_MESSAGES = {
    "missing": "This field is required.",
    "string_type": "A text is required.",
    "string_too_long": "At most {max_length:,} characters are allowed.",
    "string_too_short": "This field may not be blank.",
    "string_pattern_mismatch": _SLUG,
    "string_unicode": "This is not valid Unicode text.",
    "float_type": _NUMBER,
    "finite_number": _NUMBER,
    "int_type": _WHOLE,
    "int_from_float": _WHOLE,
    "greater_than_equal": "Must be at least {ge:,}.",
    "less_than_equal": "Must be at most {le:,}.",
    "bool_type": "true or false is required.",
    "list_type": "A list is required.",
    "too_long": "At most {max_length:,} entries are allowed.",
    "too_short": "This list may not be empty.",
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "uuid_type": _IDENT,
    "uuid_parsing": _IDENT,
}
_OF_KEYS = {
    "string_too_long": "A name here has at most {max_length:,} characters.",
    "string_too_short": "A name here may not be blank.",
}


def read(form: TypeAdapter[T], document: Any) -> T:
    """The document as `form` has it. Raises rest_framework's ValidationError; the document's own are under `detail`."""
    if wrong := problems(document):
        raise exceptions.ValidationError(wrong)
    try:
        return form.validate_python(document)
    except ValidationError as error:
        raise exceptions.ValidationError(messages(error, form)) from None


def messages(error: ValidationError, form: TypeAdapter[Any]) -> dict[str, list[str]]:
    """Path -> messages; the whole document's own are under `detail`. `form` is what raised the error."""
    by_path: dict[str, list[str]] = {}
    for problem in error.errors(include_url=False):
        location, words = problem["loc"], _MESSAGES
        if location[-1:] == ("[key]",) and problem["type"] in _OF_KEYS:
            location, words = location[:-2], _OF_KEYS
        # An empty key is told at the object that holds it.
        shown = (part for part in location if part not in _TYPES and part != "")
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in shown).removeprefix(".")
        by_path.setdefault(path or "detail", []).append(_message(problem, words, form))
    return by_path


def _message(problem: ErrorDetails, words: dict[str, str], form: TypeAdapter[Any]) -> str:
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "extra_forbidden":
        return f"Unknown key. Known here: {', '.join(_known_keys(form, problem['loc'][:-1]))}."
    if kind == "literal_error":
        return f"Must be one of: {context['expected'].replace(' or ', ', ').replace(chr(39), '')}."
    if problem["input"] is None and kind.endswith("_type"):
        return "This field may not be null."
    return words.get(kind, problem["msg"]).format_map(context) if kind in words else problem["msg"]


def _known_keys(form: TypeAdapter[Any], location: tuple[int | str, ...]) -> list[str]:
    """The keys of the object at this path, from the schema."""
    whole = _schema_of(form)

    def followed(here: JsonSchema) -> JsonSchema:
        return whole["$defs"][here["$ref"].rpartition("/")[2]] if "$ref" in here else here

    here = followed(whole)
    for part in location:
        if part in _TYPES:
            branches = map(followed, here["oneOf"])
            here = next(branch for branch in branches if branch["type"] == _TYPES[str(part)])
        elif isinstance(part, int):
            here = followed(here["items"])
        else:
            here = followed(here.get("properties", {}).get(part) or here["additionalProperties"])
    choices = [here, *map(followed, here.get("oneOf", []))]
    return next(list(choice["properties"]) for choice in choices if "properties" in choice)


@cache
def _schema_of(form: TypeAdapter[Any]) -> JsonSchema:
    return form.json_schema(schema_generator=Description)


class Description(GenerateJsonSchema):
    """JSON Schema 2020-12 without what says nothing: titles that repeat a name, defaults that mean "not given"."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        return self._plain(super().model_schema(schema))

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        return self._plain(super().typed_dict_schema(schema))

    def _plain(self, made: JsonSchemaValue) -> JsonSchemaValue:
        for described in (made, *made.get("properties", {}).values()):
            described.pop("title", None)
        if "required" in made:
            made["required"] = sorted(made["required"])
        return made
