"""What no document may hold, whatever its schema: text and numbers that a database cannot store."""

from __future__ import annotations

import math
from typing import Any

MAX_DEPTH = 20
MAX_TEXT = 100_000
MAX_INTEGER = 2**63 - 1
MAX_PROBLEMS = 20
# The content of files and of histograms is as long as its own schema allows.
_CONTENT = ("text", "base64", "histogram", "encoded")


def problems(document: Any) -> dict[str, list[str]]:
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
