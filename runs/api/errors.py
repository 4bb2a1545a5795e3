"""One error shape, always JSON: {"field path": ["message", …]} for wrong input, else {"detail": "message"}."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

from rest_framework import status
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.response import Response
from rest_framework.views import exception_handler as default_handler

if TYPE_CHECKING:
    from rest_framework.views import APIView as Base
else:
    Base = object


class Conflict(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_detail = "The state of this thing does not allow it."
    default_code = "conflict"


def refuse_unknown(parameters: Iterable[str], known: Collection[str] = ()) -> None:
    """A misspelt parameter that is ignored gives wrong answers."""
    if errors := {name: ["Unknown parameter."] for name in parameters if name not in known}:
        raise ValidationError(errors)


def exception_handler(exc: Exception, context: dict[str, Any]) -> Response | None:
    response = default_handler(exc, context)
    if response is not None and isinstance(exc, ValidationError):
        response.data = flatten(exc.detail)
    return response


def flatten(detail: Any) -> dict[str, Any]:
    """Path of a field, for example `repeats[0].metrics[2].value`, -> messages; `detail` of the whole is one text."""
    flat: dict[str, Any] = {}
    for path, inner in (detail if isinstance(detail, dict) else {"detail": detail}).items():
        words = [_sendable(str(word)) for word in (inner if isinstance(inner, list) else [inner])]
        flat[_sendable(path)] = " ".join(words) if path == "detail" else words
    return flat


def _sendable(text: str) -> str:
    """Half a character that somebody sent, and that a message repeats, cannot be sent back."""
    return text.encode("utf-8", "replace").decode()


class JsonErrors(Base):
    """For views that answer with files too: what is wrong with a request, and what can be had, is said in JSON."""

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        self.request.accepted_renderer, self.request.accepted_media_type = JSONRenderer(), "application/json"
        return response

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        request.accepted_renderer, request.accepted_media_type = JSONRenderer(), "application/json"
        return super().options(request, *args, **kwargs)


class FileRenderer(BaseRenderer):
    """Says that a file is to be had in a format; views answer it themselves."""

    def __init__(self, format: str = "csv", media_type: str = "text/csv") -> None:
        self.format, self.media_type = format, media_type.partition(";")[0]

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> Any:
        raise TypeError("views answer files themselves")
