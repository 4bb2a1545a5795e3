"""What no document may hold, whatever its schema: text and numbers that a database cannot store."""

from __future__ import annotations

import math
from typing import Any

MAX_DEPTH = 20
MAX_TEXT = 100_000
MAX_INTEGER = 2**63 - 1
MAX_PROBLEMS = 20


def problems(document: Any) -> dict[str, list[str]]:
    """Path of a value -> what is wrong with it; empty when all can be stored. At most `MAX_PROBLEMS` are named."""
    found: dict[str, list[str]] = {}
    stack: list[tuple[str, Any, int]] = [("", document, 0)]
    while stack and len(found) < MAX_PROBLEMS:
        path, value, depth = stack.pop()
        if isinstance(value, (dict, list)):
            if depth >= MAX_DEPTH:
                found[path or "detail"] = [f"is nested more than {MAX_DEPTH} levels deep"]
                continue
            stack.extend((child, inner, depth + 1) for child, inner in _children(path, value, found))
        elif (complaint := _complaint(value)) is not None:
            found[path or "detail"] = [complaint]
    return found


def _children(path: str, value: dict[str, Any] | list[Any], found: dict[str, list[str]]) -> list[tuple[str, Any]]:
    if isinstance(value, list):
        # Plain numbers, the bulk of a series, need no path of their own unless they are wrong.
        return [
            (f"{path}[{index}]", inner)
            for index, inner in enumerate(value)
            if not (type(inner) is float and math.isfinite(inner))
        ]
    children = []
    for key, inner in value.items():
        if (complaint := _complaint(key)) is not None:
            found[path or "detail"] = [f"has a key that {complaint}"]
        else:
            children.append((f"{path}.{key}" if path else key, inner))
    return children


def _complaint(value: Any) -> str | None:
    if isinstance(value, str):
        return _text_complaint(value)
    if isinstance(value, float) and not math.isfinite(value):
        return "must be a finite number"
    if isinstance(value, int) and abs(value) > MAX_INTEGER:
        return "is too large a number"
    return None


def _text_complaint(value: str) -> str | None:
    if len(value) > MAX_TEXT:
        return f"is longer than {MAX_TEXT} characters"
    if "\x00" in value:
        return "holds a NUL character"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "is not valid Unicode text"
    return None
