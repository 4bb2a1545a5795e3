"""What drf-spectacular cannot see by itself."""

from __future__ import annotations

from threading import Lock
from typing import Any, ClassVar

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.plumbing import ResolvedComponent
from pydantic import TypeAdapter

from runs.incoming.reading import Description
from runs.results import document

# Keeps what describes itself from drf-spectacular's own sorting of enumerations.
_AS_IT_IS = "x-as-it-is"


class DescribedOnce(SchemaGenerator):
    """The same description for everybody, made at the first request, while others that come meanwhile wait for it.

    drf-spectacular loads its extensions as it needs them, and two who load one at once fail or lose it.
    """

    _making = Lock()
    _made: ClassVar[dict[str, Any]] = {}

    def get_schema(self, request: Any = None, public: bool = False) -> dict[str, Any]:
        with self._making:
            if not self._made:
                self.api_version = None  # not what the first who asks puts into the address
                self._made.update(super().get_schema(public=True))  # type: ignore[no-untyped-call]
        return self._made


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "runs.api.permissions.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "description": "A token of this server: bst_…"}


class PydanticSchema(OpenApiSerializerExtension):  # type: ignore[no-untyped-call]
    """What comes in and what goes out describes itself; what it refers to becomes components."""

    target_class = "pydantic.BaseModel"
    match_subclasses = True
    priority = 1

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        return str(self.target.__name__)

    def get_identity(self, auto_schema: Any, direction: Any) -> Any:
        """As a part of another one it is known by its name."""
        return self.get_name(auto_schema, direction)

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        described = TypeAdapter(self.target).json_schema(
            ref_template=document.REFERENCE_TEMPLATE, schema_generator=Description,
            mode="validation" if direction == "request" else "serialization",
        )  # fmt: skip
        for name, part in described.pop("$defs", {}).items():
            component = ResolvedComponent(  # type: ignore[no-untyped-call]
                name, ResolvedComponent.SCHEMA, {_AS_IT_IS: part}, name
            )
            auto_schema.registry.register_on_missing(component)
        return {_AS_IT_IS: described}


def add_upload_document(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """A postprocessing hook: the upload document, and whatever else comes in, describes itself."""
    schemas = result.setdefault("components", {}).setdefault("schemas", {})
    schemas |= {name: schema[_AS_IT_IS] for name, schema in schemas.items() if _AS_IT_IS in schema}
    schemas |= document.components()
    result["components"]["schemas"] = dict(sorted(schemas.items()))
    return result


def add_common_answers(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """A postprocessing hook: what any operation may answer, and the list's filters where they choose runs elsewhere."""
    result.setdefault("components", {}).setdefault("schemas", {})["Error"] = _ERROR
    paths = result.get("paths", {})
    filters = [each for each in paths.get(RUNS, {}).get("get", {}).get("parameters", ()) if each["name"] not in PAGING]
    for path, operations in paths.items():
        for method, operation in operations.items():
            if isinstance(operation, dict) and "responses" in operation:
                if path in FILTERED and method == "get":
                    own = {each["name"] for each in operation.get("parameters", ())}
                    operation.setdefault("parameters", []).extend(each for each in filters if each["name"] not in own)
                _complete(operation, writes=method != "get")
    return result


RUNS = "/api/v1/runs/"
PAGING = ("cursor", "format", "page", "page_size")
# Where the filters of the list of runs choose runs too.
FILTERED = ("/api/v1/compare/", "/api/v1/answers/", "/api/v1/benchmarks/")
_ERROR = {
    "type": "object",
    "description": "What is wrong: `detail` of the whole, else by path of each wrong field, as repeats[0].metrics.",
    "properties": {"detail": {"type": "string"}},
    "additionalProperties": {"type": "array", "items": {"type": "string"}},
    "examples": [{"detail": "This token has not the scope upload."}, {"factors.terminals": ["Must be 1 or more."]}],
}
_WORDS = {
    "400": "Path of each wrong field and what is wrong with it.",
    "401": "No token, or one that is not known, has expired or was revoked; or the server shows nothing to strangers.",
    "403": "The role or the scope does not reach so far, or it belongs to somebody else.",
    "404": "There is no such thing, or not for this person.",
    "413": "The body is too large.",
    "415": "The type or the encoding of the body is not known.",
    "429": "Too many requests of this address, or too much that waits: ask again after `Retry-After`.",
    "503": "The database is locked or away: nothing was done, ask again after `Retry-After`.",
    "507": "The disk has no room for it: nothing was done, ask again after `Retry-After`.",
}
_AFTER = {"Retry-After": {"schema": {"type": "integer"}, "description": "Seconds."}}


def _complete(operation: dict[str, Any], *, writes: bool) -> None:
    """Every refusal has one shape."""
    responses, wanted = operation["responses"], ["401", "403", "429", "503"]
    if operation.get("parameters"):
        wanted += ["400", "404"]
    if writes:
        wanted.append("507")
    if "requestBody" in operation:
        wanted += ["400", "413", "415"]
    for status in sorted({*wanted, *(status for status in responses if status >= "400")}):
        response = responses.setdefault(status, {"description": _WORDS.get(status, "")})
        response["description"] = response.get("description") or _WORDS.get(status, "")
        response["content"] = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
        if status in ("429", "503", "507"):
            response["headers"] = _AFTER
