from __future__ import annotations

from typing import Any

from rest_framework.exceptions import ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request


class RunPagination(PageNumberPagination):
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 500

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any] | None:
        for name in (self.page_query_param, self.page_size_query_param):
            value = request.query_params.get(name)
            if value is not None and not _is_positive(value):
                raise ValidationError({name: ["A whole number above 0 is required."]})
        return super().paginate_queryset(queryset, request, view)


def _is_positive(value: str) -> bool:
    return value.isascii() and value.isdecimal() and len(value) < 10 and int(value) > 0
