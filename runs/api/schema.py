"""What drf-spectacular cannot see by itself."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerFieldExtension
from drf_spectacular.plumbing import build_array_type

from runs.ingest.document import MAX_METRICS, MetricSerializer


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "runs.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "description": "A token of this server: bst_…"}


class SlugOrObjectSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    target_class = "runs.ingest.document.SlugOrObject"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        component = auto_schema.resolve_serializer(self.target.object_class, direction)
        return {"oneOf": [{"type": "string", "description": "slug of a known one"}, component.ref]}


class MetricsSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    target_class = "runs.ingest.document.MetricsField"

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        metric = auto_schema.resolve_serializer(MetricSerializer, direction).ref
        named = {"type": "object", "description": "a metric without its name"}
        return {
            "oneOf": [
                build_array_type(metric, max_length=MAX_METRICS),
                {"type": "object", "additionalProperties": {"oneOf": [{"type": "number"}, named]}},
            ]
        }
