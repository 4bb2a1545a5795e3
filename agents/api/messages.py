"""Read what agents send by the protocol's TypedDicts: they are the one description of the messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from agents.refusals import BadMessage
from runs.incoming.reading import messages, parse_json
from runs.incoming.typed import reader_of

T = TypeVar("T")


def parse(body: bytes) -> dict[str, Any]:
    """The JSON object of a request's body. Raises BadMessage, also for NaN and infinity, which JSON does not have."""
    try:
        message = parse_json(body or b"{}")
    except ValueError as error:
        raise BadMessage("", f"the body is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise BadMessage("", "the body must be a JSON object")
    return message


def check(kind: Callable[..., T], value: object) -> T:
    """`value` as a message of this TypedDict, with text made storable; unknown fields are left out.

    Raises BadMessage naming the first wrong field.
    """
    reader: TypeAdapter[T] = reader_of(kind)
    try:
        return reader.validate_python(value)
    except ValidationError as error:
        field, (problem, *_) = next(iter(messages(error, reader).items()))
        raise BadMessage("" if field == "detail" else field, problem) from error
