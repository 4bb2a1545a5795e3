"""One error shape: {"field path": ["message", …]} for wrong input, {"detail": "message"} for everything else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import exception_handler as default_handler


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    response = default_handler(exc, context)
    if response is not None and isinstance(exc, ValidationError):
        response.data = flatten(exc.detail)
    return response


def flatten(detail: Any) -> dict[str, Any]:
    """Nested errors as path -> messages, for example `repeats[0].metrics[2].value`."""
    flat: dict[str, list[str]] = {}
    for path, message in _walk("", detail):
        flat.setdefault(path, []).append(message)
    whole = flat.pop("", None)
    return {**flat, "detail": " ".join(whole)} if whole else dict(flat)


def _walk(path: str, detail: Any) -> Iterator[tuple[str, str]]:
    if isinstance(detail, dict):
        for key, inner in detail.items():
            yield from _walk(_join(path, key), inner)
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            nested = isinstance(inner, (dict, list))
            yield from _walk(f"{path}[{index}]" if nested else path, inner)
    else:
        yield path, str(detail)


def _join(path: str, key: Any) -> str:
    if key in (api_settings.NON_FIELD_ERRORS_KEY, "detail"):
        return path
    if isinstance(key, int) or str(key).isdecimal():
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else str(key)
