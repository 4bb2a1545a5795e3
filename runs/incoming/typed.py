"""Readers for the TypedDicts of the agents' protocol: they are the one description of what is sent and stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from types import UnionType
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from pydantic import BeforeValidator, Field, Strict, TypeAdapter
from typing_extensions import TypedDict

from runs.incoming.values import wrong

# Columns of the database: a larger number is a mistake, and would be an error 500.
INT_LIMITS = 0, 2**53
COUNT_LIMITS = 0, 2**31 - 1
# Batches, repeats and the runs of an experiment are numbered from 1.
FROM_ONE = 1, 2**31 - 1
FIELD_LIMITS = {
    "seq": FROM_ONE,
    "order_index": FROM_ONE,
    "repeat": FROM_ONE,
    "chunk": COUNT_LIMITS,
    "cpu_cores": COUNT_LIMITS,
    "cpu_threads": COUNT_LIMITS,
}
FLOAT_LIMIT = 1e300
DEEPEST = 50


@cache
def reader_of(kind: Callable[..., Any]) -> TypeAdapter[Any]:
    return TypeAdapter(_as_read(kind))


def _as_read(hint: Any, name: str = "") -> Any:
    """A type of the protocol for pydantic: nothing is converted, numbers are such as a database stores.

    `name` of the field. A TypedDict is made anew: before Python 3.12 pydantic knows those of typing_extensions only.
    """
    if is_typeddict(hint):
        read: dict[str, Any] = {}
        for field, of in get_type_hints(hint, include_extras=True).items():
            may_miss = get_origin(of) is NotRequired
            read[field] = NotRequired[_as_read(get_args(of)[0], field)] if may_miss else _as_read(of, field)
        return TypedDict(hint.__name__, read, total=hint.__total__)  # type: ignore[operator]
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType) and all(map(is_typeddict, parts)):
        kinds = {get_args(get_type_hints(part)["kind"])[0]: part for part in parts}
        return Annotated[Any, BeforeValidator(partial(_by_kind, kinds))]
    if origin in (Union, UnionType):
        return Union[tuple(_as_read(part, name) for part in parts)]  # noqa: UP007  # a tuple
    if origin in (list, dict, tuple):  # JSON has no tuples
        return Annotated[origin[tuple(_as_read(part, name) for part in parts)], Strict(origin is not tuple)]
    least, most = FIELD_LIMITS.get(name, INT_LIMITS)
    return {
        Any: Annotated[Any, BeforeValidator(_shallow)],
        str: Annotated[str, Strict()],
        bool: Annotated[bool, Strict()],
        int: Annotated[int, Strict(), Field(ge=least, le=most)],
        float: Annotated[float, Strict(), Field(allow_inf_nan=False, gt=-FLOAT_LIMIT, lt=FLOAT_LIMIT)],
    }.get(hint, hint)


def _by_kind(kinds: Mapping[str, Any], item: Any) -> Any:
    if not isinstance(item, dict):
        raise ValueError("must be an object")
    kind = item.get("kind")
    if not isinstance(kind, str) or kind not in kinds:
        raise wrong(("kind", f"must be one of {', '.join(kinds)}"))
    return reader_of(kinds[kind]).validate_python(item)


def _shallow(value: Any, depth: int = 0) -> Any:
    if depth > DEEPEST:
        raise ValueError(f"must not be nested deeper than {DEEPEST}")
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        _shallow(item, depth + 1)
    return value


def storable(value: Any, depth: int = 0) -> Any:
    """Without NUL and lone surrogates, which a database refuses; each becomes one byte, so that offsets stay.

    What is nested too deep stays as it is: no reader takes it.
    """
    if isinstance(value, str):
        return value.replace("\x00", " ").encode("utf-8", "replace").decode()
    if isinstance(value, list) and depth <= DEEPEST:
        return [storable(item, depth + 1) for item in value]
    if isinstance(value, dict) and depth <= DEEPEST:
        return {storable(name): storable(item, depth + 1) for name, item in value.items()}
    return value
