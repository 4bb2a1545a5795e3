"""An example of every request and answer, out of its description.

What a field looks like is said where its type is (`examples` of pydantic), else by its name; an object's example is
that of its fields.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runs.results.document import REFERENCE

Schema = Mapping[str, Any]
JSON = "application/json"
# What texts of these names look like everywhere.
OF_NAME = {
    "agent": "box7",
    "agent_version": "0.1.0",
    "branch": "main",
    "build": "release",
    "by": "ann",
    "commit": "9f2c1e07",
    "cron": "0 22 * * *",
    "dbms": "postgresql",
    "detail": "Not found.",
    "experiment": "nightly-tpcb",
    "label": "nightly",
    "labels": "nvme",
    "machine": "box7",
    "message": "",
    "metric": "tps",
    "name": "Nightly TPC-B",
    "reason": "kernel tests",
    "slug": "nightly-tpcb",
    "tags": "nightly",
    "timezone": "Europe/Prague",
    "unit": "TPS",
    "url": "https://bench.example/",
    "username": "ann",
    "value": "4GB",
    "version": "16.4",
    "workload": "tpcb",
}
OF_FORMAT = {
    "uuid": "6f3d1c52-6a0e-4a38-9a39-7a4f2f1c9b10", "date-time": "2026-11-27T18:00:00Z", "date": "2026-11-27",
    "uri": "https://bench.example/", "binary": "", "byte": "",
}  # fmt: skip


def add(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """A postprocessing hook."""
    components = result["components"]["schemas"]
    for operation in operations(result):
        for content in contents(operation):
            content.setdefault("example", example_of(content["schema"], components))
    return result


def operations(result: Schema) -> Iterator[dict[str, Any]]:
    for path in result.get("paths", {}).values():
        yield from (each for each in path.values() if isinstance(each, dict) and "responses" in each)


def contents(operation: Schema) -> Iterator[dict[str, Any]]:
    """JSON of its request and of its answers."""
    for message in (operation.get("requestBody", {}), *operation["responses"].values()):
        if JSON in message.get("content", {}):
            yield message["content"][JSON]


def example_of(schema: Schema, components: Schema, name: str = "text", seen: tuple[str, ...] = ()) -> Any:
    """A value of it. `name`: of the field, by which texts are known; `seen`: what it is a part of."""
    if "$ref" in schema:
        part = schema["$ref"].removeprefix(REFERENCE)
        return example_of(components[part], components, name, (*seen, part))
    constant = [schema["const"]] if "const" in schema else []
    if candidates := [*schema.get("examples", ()), *schema.get("enum", ()), *constant]:
        return candidates[0]
    if branches := schema.get("oneOf") or schema.get("anyOf") or schema.get("allOf"):
        chosen = next((each for each in branches if not _is_closed(each, seen)), {"type": "null"})
        return example_of(chosen, components, name, seen)
    kind = schema.get("type", "object" if "properties" in schema else "null")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        fields = {field: each for field, each in schema.get("properties", {}).items() if not _is_closed(each, seen)}
        return {field: example_of(each, components, field, seen) for field, each in fields.items()}
    if kind == "array":
        parts = schema.get("prefixItems") or [schema.get("items", {})]
        return [example_of(part, components, name, seen) for part in parts if not _is_closed(part, seen)]
    return _plain(kind, schema, name)


def _is_closed(schema: Schema, seen: tuple[str, ...]) -> bool:
    """Null, or what would hold itself."""
    inner = schema.get("items", schema)
    return schema.get("type") == "null" or inner.get("$ref", "").removeprefix(REFERENCE) in seen


def _plain(kind: str, schema: Schema, name: str) -> Any:
    if kind == "string":
        return OF_FORMAT.get(schema.get("format", ""), OF_NAME.get(name, name))
    if kind in ("integer", "number"):
        return schema.get("minimum", schema.get("exclusiveMinimum", 0) + 1)
    return True if kind == "boolean" else None
