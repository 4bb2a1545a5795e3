"""Pages of runs: `cursor` for any number of rows, `page` for the first ones."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param

from runs.listing import cursor as keyset
from runs.listing.filters import columns_of
from runs.models import Run

PAGE_SIZE = 50
MAX_PAGE_SIZE = 500
# A page is found by counting the rows before it: beyond this, by `next` only.
MAX_OFFSET = 10_000


class RunPagination(BasePagination):
    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        params = request.query_params
        size = min(_number(params, "page_size") or PAGE_SIZE, MAX_PAGE_SIZE)
        number, cursor = _number(params, "page"), params.get("cursor", "")
        if number and cursor:
            raise ValidationError({"page": ["Give page or cursor, not both."]})
        self.request = request
        self.count, self.count_is_exact = keyset.bounded_count(queryset)
        self.page = self._numbered(queryset, number, size) if number else self._after(queryset, cursor, size)
        return self.page.rows

    def _after(self, queryset: QuerySet[Run], cursor: str, size: int) -> keyset.Page:
        ordering = self.request.query_params.get("ordering", "")
        try:
            return keyset.page(queryset, columns=columns_of(ordering), name=ordering, cursor=cursor, size=size)
        except keyset.WrongCursor as error:
            raise ValidationError({"cursor": [str(error)]}) from error

    def _numbered(self, queryset: QuerySet[Run], number: int, size: int) -> keyset.Page:
        start = (number - 1) * size
        if start > MAX_OFFSET:
            raise ValidationError({"page": [f"Beyond row {MAX_OFFSET:,} follow `next`."]})
        ordering = self.request.query_params.get("ordering", "")
        shown = keyset.numbered(queryset, columns=columns_of(ordering), name=ordering, start=start, size=size)
        if number > 1 and not shown.rows:
            raise NotFound("There is no such page.")
        return shown

    def get_paginated_response(self, data: Any) -> Response:
        return Response(
            {
                "count": self.count,
                "count_is_exact": self.count_is_exact,
                "next": self._link(self.page.next),
                "previous": self._link(self.page.previous),
                "results": data,
            }
        )

    def _link(self, cursor: str | None) -> str | None:
        if cursor is None:
            return None
        address = remove_query_param(self.request.build_absolute_uri(), "page")
        return str(replace_query_param(address, "cursor", cursor))

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        link = {"type": ["string", "null"], "format": "uri"}
        return {
            "type": "object",
            "required": ["count", "count_is_exact", "next", "previous", "results"],
            "properties": {
                "count": {"type": "integer", "description": f"Exact up to {keyset.COUNT_LIMIT:,}."},
                "count_is_exact": {"type": "boolean"},
                "next": link,
                "previous": link,
                "results": schema,
            },
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        def described(name: str, description: str, schema: dict[str, Any]) -> dict[str, Any]:
            return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}

        size = {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE, "default": PAGE_SIZE}
        return [
            described("cursor", "Where the page begins: taken from `next` and `previous`.", {"type": "string"}),
            described("page", f"Number of a page within the first {MAX_OFFSET:,} rows.", {"type": "integer"}),
            described("page_size", "Rows on a page.", size),
        ]


def _number(params: Any, name: str) -> int:
    """A positive number, 0 where it is not given."""
    value = params.get(name)
    if value is None:
        return 0
    if not (value.isascii() and value.isdecimal() and len(value) < 10 and int(value) > 0):
        raise ValidationError({name: ["A whole number above 0 is required."]})
    return int(value)
