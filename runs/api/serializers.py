"""Fields of answers that rest_framework's own serializers make."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter
from rest_framework import serializers


@lru_cache
def adapter_of(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


class AnswerField(serializers.Field[Any, Any, Any, Any]):
    """What is a pydantic model or a dataclass already, or a list of them: that also describes it (runs.api.schema)."""

    def __init__(self, kind: Any, **options: Any) -> None:
        super().__init__(read_only=True, **options)
        self.adapter = adapter_of(kind)

    def to_representation(self, value: Any) -> Any:
        answer = self.adapter.validate_python(value, from_attributes=True)
        return self.adapter.dump_python(answer, mode="json", exclude_unset=True)


class PageField(serializers.CharField):
    """The address of a thing's page, with the host that was asked."""

    def __init__(self, **options: Any) -> None:
        super().__init__(source="get_absolute_url", read_only=True, **options)

    def to_representation(self, path: str) -> str:
        return str(self.context["request"].build_absolute_uri(path))
