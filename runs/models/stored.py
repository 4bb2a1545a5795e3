"""JSON columns of a known shape. What is written is validated at the doors; what is read is validated here once more.

A document that was damaged since, or that an older door let through, loses what is damaged (a key, an item of a list)
and nothing else, so that no page has to ask whether a text is a text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Any

from django.db import models
from django.db.models.fields.json import KeyTransform
from pydantic import TypeAdapter, ValidationError

from runs.incoming.typed import reader_of

# A document with more faults than rounds can take out is no document.
MOST_ROUNDS = 20


class StoredJSON(models.JSONField):
    """A JSON column with the type of what it holds: a TypedDict, or whatever `reader_of` takes.

    `damaged` stands for a document of which nothing is left; without it the default does. For the database and for
    migrations it is a JSONField.
    """

    def __init__(self, *args: Any, shape: Any = Any, damaged: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.shape = shape
        self.damaged = damaged

    @cached_property
    def reader(self) -> TypeAdapter[Any]:
        return reader_of(self.shape)

    def deconstruct(self) -> tuple[str, str, Any, dict[str, Any]]:
        name, _path, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        try:
            document = super().from_db_value(value, expression, connection)
        except ValueError:  # a number of more digits than Python reads
            return self._empty()
        if isinstance(expression, KeyTransform):
            part = {expression.key_name: document}
            return sound(part, self.reader.validate_python, dict).get(expression.key_name)
        if document is None and self.null:
            return document
        return sound(document, self.reader.validate_python, self._empty)

    def _empty(self) -> Any:
        return self.get_default() if self.damaged is None else deepcopy(self.damaged)


def sound(document: Any, validate: Callable[[Any], Any], otherwise: Callable[[], Any]) -> Any:
    """The document without what is damaged in it; `otherwise()` where nothing of it is left."""
    for attempt in range(MOST_ROUNDS):
        try:
            validate(document)
            return document
        except ValidationError as error:
            document = document if attempt else deepcopy(document)
            faults = error.errors(include_url=False, include_context=False, include_input=False)
        except (RecursionError, OverflowError):
            break
        places = {_place_of(document, fault["loc"], is_missing=fault["type"] == "missing") for fault in faults}
        if () in places:
            break
        # From the end, so that the items of a list before it keep their numbers.
        for place in sorted(places, key=lambda place: [(str(type(step)), step) for step in place], reverse=True):
            _take_out(document, place)
    return otherwise()


def _place_of(document: Any, location: Sequence[int | str], *, is_missing: bool) -> tuple[int | str, ...]:
    """The innermost part of the document that a location names; its other steps name parts of the type."""
    place: list[int | str] = []
    for step in location[:-1] if is_missing else location:
        if not (
            step in document
            if isinstance(document, dict)
            else isinstance(document, list) and step in range(len(document))
        ):
            break
        document = document[step]
        place.append(step)
    return tuple(place)


def _take_out(document: Any, place: Sequence[int | str]) -> None:
    for step in place[:-1]:
        document = document[step]
    del document[place[-1]]
