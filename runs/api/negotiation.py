"""Answers that are not always JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.response import Response

if TYPE_CHECKING:
    from rest_framework.views import APIView as Base
else:
    Base = object


class JsonErrors(Base):
    """For views that answer in CSV too: what is wrong with a request, and what there is to be had, is said in JSON."""

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        self.request.accepted_renderer, self.request.accepted_media_type = JSONRenderer(), "application/json"
        return response

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        request.accepted_renderer, request.accepted_media_type = JSONRenderer(), "application/json"
        return super().options(request, *args, **kwargs)


class CsvRenderer(BaseRenderer):
    """Says that CSV is to be had; views answer it themselves."""

    media_type = "text/csv"
    format = "csv"

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> Any:
        raise TypeError("views answer CSV themselves")
