"""Check what came in against the protocol's TypedDicts: they are the one description of the messages."""

from __future__ import annotations

import json
import math
from types import NoneType, UnionType
from typing import Any, Literal, NotRequired, TypeVar, Union, cast, get_args, get_origin, get_type_hints, is_typeddict

T = TypeVar("T")

# Columns of the database: a larger number is a mistake, and would be an error 500.
INT_LIMIT = 2**53
INT_LIMITS = {"seq": 2**31 - 1, "chunk": 2**31 - 1, "cpu_cores": 2**31 - 1, "cpu_threads": 2**31 - 1}


class BadMessage(ValueError):
    """`field` is the path of what is wrong: `items[0].values[3]`; empty for the whole body."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


def parse(body: bytes) -> dict[str, Any]:
    """The JSON object of a request's body. Raises BadMessage, also for NaN and infinity, which JSON does not have."""
    try:
        message = json.loads(body or b"{}", parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise BadMessage("", f"the body is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise BadMessage("", "the body must be a JSON object")
    return message


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def check(kind: type[T], value: object) -> T:
    """`value` as a message of this TypedDict, with text made storable; unknown fields are left out.

    Raises BadMessage naming the first wrong field.
    """
    return cast(T, _check(kind, value, ""))


def _check(hint: Any, value: Any, field: str) -> Any:
    if hint is Any:
        return _clean(value)
    if is_typeddict(hint):
        return _check_dict(hint, value, field)
    return _check_generic(hint, value, field) if get_origin(hint) else _check_scalar(hint, value, field)


def _check_generic(hint: Any, value: Any, field: str) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return _check_union(arguments, value, field)
    if origin is Literal:
        return _expect(value in arguments, value, field, f"must be one of {', '.join(map(str, arguments))}")
    if origin is list:
        _expect(isinstance(value, list), value, field, "must be a list")
        return [_check(arguments[0], item, _join(field, index)) for index, item in enumerate(value)]
    if origin is tuple:
        _expect(
            isinstance(value, list) and len(value) == len(arguments), value, field, f"must be {len(arguments)} values"
        )
        return [
            _check(hint, item, _join(field, i)) for i, (hint, item) in enumerate(zip(arguments, value, strict=True))
        ]
    _expect(isinstance(value, dict), value, field, "must be an object")
    return {_clean(name): _check(arguments[1], item, _join(field, name)) for name, item in value.items()}


def _check_dict(kind: Any, value: Any, field: str) -> dict[str, Any]:
    _expect(isinstance(value, dict), value, field, "must be an object")
    checked = {}
    for name, hint in get_type_hints(kind, include_extras=True).items():
        optional = get_origin(hint) is NotRequired or name in kind.__optional_keys__
        if optional and name not in value:
            continue
        _expect(name in value, value, _join(field, name), "is required")
        inner = get_args(hint)[0] if get_origin(hint) is NotRequired else hint
        checked[name] = _check(inner, value[name], _join(field, name))
    return checked


def _check_union(arguments: tuple[Any, ...], value: Any, field: str) -> Any:
    if value is None and NoneType in arguments:
        return None
    choices = [argument for argument in arguments if argument is not NoneType]
    if len(choices) == 1:
        return _check(choices[0], value, field)
    if all(is_typeddict(choice) for choice in choices):
        _expect(isinstance(value, dict), value, field, "must be an object")
        kinds = {get_args(get_type_hints(choice)["kind"])[0]: choice for choice in choices}
        kind = value.get("kind")
        _expect(
            isinstance(kind, str) and kind in kinds, kind, _join(field, "kind"), f"must be one of {', '.join(kinds)}"
        )
        return _check(kinds[kind], value, field)
    for choice in choices:
        try:
            return _check(choice, value, field)
        except BadMessage:
            continue
    raise BadMessage(field, f"must be {' or '.join(choice.__name__ for choice in choices)}")


def _check_scalar(hint: Any, value: Any, field: str) -> Any:
    if hint is str:
        return _clean(_expect(isinstance(value, str), value, field, "must be text"))
    if hint is bool:
        return _expect(isinstance(value, bool), value, field, "must be true or false")
    _expect(isinstance(value, (int, float)) and not isinstance(value, bool), value, field, "must be a number")
    if hint is float:
        return float(_expect(abs(value) < 1e300 and math.isfinite(value), value, field, "must be a finite number"))
    limit = INT_LIMITS.get(field.rsplit(".", 1)[-1], INT_LIMIT)
    return _expect(isinstance(value, int) and 0 <= value <= limit, value, field, f"must be whole, from 0 to {limit}")


def _expect(right: bool, value: Any, field: str, problem: str) -> Any:
    if not right:
        raise BadMessage(field, problem)
    return value


def _clean(value: Any) -> Any:
    """Without NUL and lone surrogates, which a database refuses; each becomes one byte, so that offsets stay."""
    if isinstance(value, str):
        return value.replace("\x00", " ").encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(name): _clean(item) for name, item in value.items()}
    return value


def _join(field: str, name: object) -> str:
    if isinstance(name, int):
        return f"{field}[{name}]"
    return f"{field}.{name}" if field else str(name)
