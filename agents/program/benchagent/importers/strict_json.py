"""JSON that says nothing twice and holds no NaN: where a line is doubled or a number lost, nothing is trusted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from benchagent.importers.source import NotUnderstood


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        keys = [key for key, _ in pairs]
        raise NotUnderstood(f"the JSON says {next(key for key in keys if keys.count(key) > 1)[:40]!r} twice")
    return content


def _constant(name: str) -> float:
    raise NotUnderstood(f"the JSON holds {name}")


_DECODER = json.JSONDecoder(object_pairs_hook=_pairs, parse_constant=_constant)


def decoded(text: str, start: int = 0) -> tuple[Any, int]:
    """The value that begins at `start`, and where it ends. Raises NotUnderstood."""
    try:
        return _DECODER.raw_decode(text, start)
    except NotUnderstood:
        raise
    except ValueError as error:
        raise NotUnderstood(f"broken JSON: {error}") from error
    except RecursionError as error:
        raise NotUnderstood("JSON nested too deep") from error


def number_in(content: Mapping[str, Any], key: str) -> float | None:
    """None where it is missing or null. Raises NotUnderstood for what is no number."""
    value = content.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotUnderstood(f"{key!r} is no number: {value!r:.40}")
    return float(value)
