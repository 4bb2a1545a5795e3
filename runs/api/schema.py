"""What drf-spectacular cannot see by itself."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerFieldExtension

from runs.editing import RUN_EDIT
from runs.ingest import document


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "runs.api.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "description": "A token of this server: bst_…"}


class ShapeFieldSchema(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    target_class = "runs.ingest.fields.ShapeField"
    match_subclasses = True

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        described: dict[str, Any] = self.target.shape.schema({})
        return described


def add_upload_document(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """A postprocessing hook: the upload document describes itself."""
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    schemas |= document.components()
    RUN_EDIT.schema(schemas)
    result["components"]["schemas"] = dict(sorted(schemas.items()))
    return result
