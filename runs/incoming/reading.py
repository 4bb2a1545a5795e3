"""Documents that come in, checked: `read` raises what answers show, path of each wrong field -> what is wrong with it.

A path is like `repeats[0].metrics[2].value`. No document may hold, whatever its schema, what a database cannot store.
"""

from __future__ import annotations

import json
import math
from functools import cache
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import ErrorDetails, core_schema
from rest_framework import exceptions

from runs.incoming.values import BRANCH_TYPES

M = TypeVar("M", bound=BaseModel)
JsonSchema = dict[str, Any]
# What is read: a model, or any type.
Form = type[BaseModel] | TypeAdapter[Any]
MAX_DEPTH = 20
# No body is deeper, even where nothing looks: what shows a value in an answer follows it to its end.
MAX_BODY_DEPTH = 100
MAX_TEXT = 100_000
MAX_INTEGER = 2**63 - 1
MAX_PROBLEMS = 20
# The content of files and of histograms is as long as its own schema allows.
_CONTENT = ("text", "base64", "histogram", "encoded")

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
    "float_parsing": _NUMBER,
    "finite_number": _NUMBER,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
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


def parse_json(body: bytes | str) -> Any:
    """JSON as the standard has it, `MAX_BODY_DEPTH` levels deep at most. Raises ValueError saying what it is not."""

    def no_constant(name: str) -> None:
        raise ValueError(f"{name} is not a JSON number")

    too_deep = ValueError(f"nested more than {MAX_BODY_DEPTH} levels deep")
    try:
        document = json.loads(body, parse_constant=no_constant)
    except RecursionError:
        raise too_deep from None
    level = [document] if isinstance(document, (dict, list)) else []
    for _ in range(MAX_BODY_DEPTH):
        inner = (value for outer in level for value in (outer.values() if isinstance(outer, dict) else outer))
        level = [value for value in inner if isinstance(value, (dict, list))]
    if level:
        raise too_deep
    return document


def read(model: type[M], document: Any) -> M:
    """The document as this model. Raises rest_framework's ValidationError; the document's own are under `detail`."""
    if wrong := unstorable(document):
        raise exceptions.ValidationError(wrong)
    try:
        return model.model_validate(document)
    except ValidationError as error:
        raise exceptions.ValidationError(messages(error, model)) from None


def unstorable(document: Any) -> dict[str, list[str]]:
    """Path of a value -> what is wrong with it; empty when all can be stored. At most `MAX_PROBLEMS` are named."""
    wrong: dict[str, list[str]] = {}
    stack: list[tuple[str, Any, int]] = [("", document, 0)]
    while stack and len(wrong) < MAX_PROBLEMS:
        path, value, depth = stack.pop()
        if not isinstance(value, (dict, list)):
            if complaint := _complaint(value, path):
                wrong[path or "detail"] = [complaint]
        elif depth >= MAX_DEPTH:
            wrong[path or "detail"] = [f"is nested more than {MAX_DEPTH} levels deep"]
        elif isinstance(value, list):
            # Plain numbers, the bulk of a series, need no path of their own unless they are wrong.
            stack += [
                (f"{path}[{index}]", inner, depth + 1)
                for index, inner in enumerate(value)
                if not (type(inner) is float and math.isfinite(inner))
            ]
        else:
            for key, inner in value.items():
                if complaint := _complaint(key, ""):
                    wrong[path or "detail"] = [f"has a key that {complaint}"]
                else:
                    stack.append((f"{path}.{key}" if path else key, inner, depth + 1))
    return wrong


def _complaint(value: Any, path: str) -> str:
    if isinstance(value, float):
        return "" if math.isfinite(value) else "must be a finite number"
    if not isinstance(value, str):
        return "is too large a number" if isinstance(value, int) and abs(value) > MAX_INTEGER else ""
    if len(value) > MAX_TEXT and not path.endswith(_CONTENT):
        return f"is longer than {MAX_TEXT} characters"
    if value.isascii():
        return "holds a NUL character" if "\x00" in value else ""
    try:
        return "holds a NUL character" if b"\x00" in value.encode() else ""
    except UnicodeEncodeError:
        return "is not valid Unicode text"


def messages(error: ValidationError, form: Form, within: str = "") -> dict[str, list[str]]:
    """Path -> messages; the whole document's own are under `detail`.

    `form` is what raised the error; `within`: the path at which its document stands in a larger one.
    """
    by_path: dict[str, list[str]] = {}
    for problem in error.errors(include_url=False):
        location, words = problem["loc"], _MESSAGES
        if location[-1:] == ("[key]",) and problem["type"] in _OF_KEYS:
            location, words = location[:-2], _OF_KEYS
        # An empty key is told at the object that holds it.
        shown = (part for part in location if part not in BRANCH_TYPES and part != "")
        inner = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in shown)
        path = f"{within}{inner}".removeprefix(".")
        by_path.setdefault(path or "detail", []).append(_message(problem, words, form))
    return by_path


def _message(problem: ErrorDetails, words: dict[str, str], form: Form) -> str:
    kind, context = problem["type"], problem.get("ctx", {})
    if kind in ("extra_forbidden", "unexpected_keyword_argument"):
        return f"Unknown key. Known here: {', '.join(_known_keys(form, problem['loc'][:-1]))}."
    if kind == "literal_error":
        known, given = context["expected"].replace(" or ", ", ").replace("'", ""), problem["input"]
        return f"“{given[:60]}” is none of: {known}." if isinstance(given, str) else f"Must be one of: {known}."
    if problem["input"] is None and kind.endswith("_type"):
        return "This field may not be null."
    return words.get(kind, problem["msg"]).format_map(context) if kind in words else problem["msg"]


def _known_keys(form: Form, location: tuple[int | str, ...]) -> list[str]:
    """The keys of the object at this path, from the schema."""
    whole = _schema_of(form)

    def followed(here: JsonSchema) -> JsonSchema:
        here = whole["$defs"][here["$ref"].rpartition("/")[2]] if "$ref" in here else here
        # What may be null besides.
        branches = [branch for branch in here.get("anyOf", []) if branch.get("type") != "null"]
        return followed(branches[0]) if len(branches) == 1 else here

    here = followed(whole)
    for part in location:
        if part in BRANCH_TYPES:
            branches = map(followed, here["oneOf"])
            here = next(branch for branch in branches if branch["type"] == BRANCH_TYPES[str(part)])
        elif isinstance(part, int):
            here = followed(here["items"])
        elif part in (branches_by_name := here.get("discriminator", {}).get("mapping", {})):
            here = followed({"$ref": branches_by_name[part]})
        else:
            here = followed(here.get("properties", {}).get(part) or here["additionalProperties"])
    choices = [here, *map(followed, here.get("oneOf", []))]
    return next(list(choice["properties"]) for choice in choices if "properties" in choice)


@cache
def _schema_of(form: Form) -> JsonSchema:
    described: TypeAdapter[Any] = form if isinstance(form, TypeAdapter) else TypeAdapter(form)
    return described.json_schema(schema_generator=Description)


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
