"""Every operation of the API has an example, which is what its description says."""

from __future__ import annotations

import jsonschema

from runs.api.examples import contents, example_of, operations


def test_every_operation_has_an_example_of_its_own_description(client, db):
    described = client.get("/api/schema/", {"format": "json"}).json()
    wrong = []
    for operation in operations(described):
        found = list(contents(operation))
        assert found, operation["operationId"]
        for content in found:
            schema = content["schema"] | {"components": described["components"]}
            checker = jsonschema.Draft202012Validator(schema)
            wrong += [
                f"{operation['operationId']}: {each.message}"[:300] for each in checker.iter_errors(content["example"])
            ]
    assert not wrong


def test_an_example_is_that_of_its_fields():
    part = {
        "type": "object",
        "properties": {"slug": {"type": "string", "examples": ["weekly"]}, "label": {"type": "string"}},
    }
    tree = {
        "type": "object",
        "properties": {
            "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Tree"}},
            "part": {"anyOf": [{"type": "null"}, {"$ref": "#/components/schemas/Part"}]},
        },
    }
    found = example_of({"$ref": "#/components/schemas/Tree"}, {"Part": part, "Tree": tree})
    assert found == {"part": {"slug": "weekly", "label": "nightly"}}
