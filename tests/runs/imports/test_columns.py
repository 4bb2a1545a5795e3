"""What somebody said of a table's columns: its JSON, and what is refused of it."""

from __future__ import annotations

import json

import pytest
from benchagent.importers import NotUnderstood, SourceFile
from benchagent.importers.plain_csv import Rows, propose

from runs.imports.columns import mapping_of


def test_it_carries_a_mapping_through_json():
    mapping = propose(SourceFile("x", b"time_s\ttps\n1\t5\n2\t6\n3\t7\n"))
    assert mapping.rows is Rows.SAMPLES
    assert mapping_of(json.loads(json.dumps(mapping.as_json()))) == mapping


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ([], "mapping:"),
        ({"columns": []}, "mapping.columns:"),
        ({"columns": [{"heading": "a", "role": "metric"}]}, "mapping.columns[0].name:"),
        ({"columns": [{"heading": "a", "role": "wrong"}]}, "mapping.columns[0].role:"),
        ({"columns": [{"heading": "a", "role": "metric", "name": "tps", "scale": 0}]}, "mapping.columns[0].scale:"),
        ({"columns": [{"heading": 3, "role": "ignore"}]}, "mapping.columns[0].heading:"),
        ({"columns": [{"heading": "a", "role": "ignore"}], "rows": "some"}, "mapping.rows:"),
        ({"columns": [{"heading": "a", "role": "ignore"}], "more": 1}, "mapping.more:"),
        ({"columns": [{"heading": "a", "role": "time", "compared_as": "question"}]}, "mapping.columns[0].compared_as:"),
    ],
)
def test_it_names_the_field_of_a_wrong_mapping(content: object, field: str):
    with pytest.raises(NotUnderstood) as caught:
        mapping_of(content)
    assert str(caught.value).startswith(field)


def test_a_metric_of_the_catalogue_has_its_unit_and_direction():
    """Seen: refused when it was stored, once a repeat: "backup_s is in s, not in : convert the value"."""
    content = {"columns": [{"heading": "b", "role": "metric", "name": "backup_s"}]}
    (column,) = mapping_of(content).columns
    assert (column.unit, column.better) == ("s", "lower")
    said = {"heading": "b", "role": "metric", "name": "backup_s", "unit": "ms"}
    assert mapping_of({"columns": [said]}).columns[0].unit == "ms"
    own = {"heading": "b", "role": "metric", "name": "recovery"}
    assert mapping_of({"columns": [own]}).columns[0].unit == ""
