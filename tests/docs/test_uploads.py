"""docs/use/uploads.md and the published schema: what they say is what the server does."""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema
import pydantic
import pytest

from runs.models import Measurement, Run
from runs.results import document as declared
from tests.benchagent.importers.samples import reports
from tests.conftest import REPOSITORY
from tests.runs.builders import document

PAGE = (REPOSITORY / "docs" / "use" / "uploads.md").read_text()
SCHEMA = json.loads((REPOSITORY / "docs" / "reference" / "upload-v1.schema.json").read_text())
EXAMPLES = dict(re.findall(r"^### (.+?)\n.*?```json\n(.*?)```", PAGE, re.MULTILINE | re.DOTALL))
pytestmark = pytest.mark.usefixtures("own_folder")
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker(["uuid"]))


def post(client, bearer, body: Any):
    text = json.dumps(body)
    return client.post("/api/v1/results/", text, content_type="application/json", headers=bearer("upload"))


def test_the_published_schema_is_current():
    """After a change: `manage.py upload_schema > docs/reference/upload-v1.schema.json`."""
    assert declared.json_schema() == SCHEMA
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_it_has_an_example_for_every_workload():
    assert list(EXAMPLES) == ["tpcb", "tpcc", "inserts_selects", "backup", "script", "Anything else"]


@pytest.mark.django_db
@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_stored_as_it_stands(client, bearer, name):
    body = json.loads(EXAMPLES[name])
    assert list(VALIDATOR.iter_errors(body)) == []
    response = post(client, bearer, body)
    assert response.status_code == 201, response.content
    run = Run.objects.filter(repeat=1).get()
    assert run.measurements.exists()
    assert client.get(run.get_absolute_url()).status_code == (404 if body.get("visibility") == "private" else 200)
    assert post(client, bearer, body).status_code == 200


@pytest.mark.django_db
def test_all_examples_are_one_request(client, bearer):
    answers = post(client, bearer, [json.loads(text) for text in EXAMPLES.values()]).json()["results"]
    assert {one["status"] for one in answers} == {"created"}


@pytest.mark.django_db
def test_the_example_s_percentiles_are_computed(client, bearer):
    post(client, bearer, json.loads(EXAMPLES["Anything else"]))
    found = {row.metric.name: row.value for row in Measurement.objects.filter(provenance="computed")}
    assert found["latency_p50_ms"] == pytest.approx(15, rel=0.01)
    assert found["latency_max_ms"] == pytest.approx(30, rel=0.01)


def test_the_example_of_hammerdb_is_what_its_importer_reads():
    """Was: "hammerdb-tpcc" in 1/min beside the importer's "tprocc" in NOPM, two workloads that nothing compares."""
    text = (REPOSITORY / "tests" / "benchagent" / "importers" / "data" / "hammerdb" / "run_v4_db2.txt").read_text()
    example, (report,) = json.loads(EXAMPLES["tpcc"]), reports("run.txt", text.encode())
    assert example["workload"] == {
        "slug": report.subject.workload, "name": report.subject.workload_name, "kind": report.tool
    }  # fmt: skip
    units = {metric["name"]: metric.get("unit") for metric in example["repeats"][0]["metrics"]}
    assert {metric.name: metric.unit for metric in report.metrics}.items() <= units.items()


@pytest.mark.parametrize("key", list(declared.UploadDocument.model_fields))
def test_it_explains_every_key_of_the_document(key):
    assert f"`{key}`" in PAGE


def test_it_tells_the_limits_as_they_are():
    for limit in (
        declared.MAX_RESULTS, declared.MAX_RUNS, declared.MAX_REPEATS, declared.MAX_METRICS, declared.MAX_SERIES,
        declared.MAX_SETTINGS, declared.MAX_FACTORS, declared.MAX_FILES,
    ):  # fmt: skip
        assert re.search(rf"\| .*\b{limit:,}\b", PAGE), limit


def changed() -> list[dict[str, Any]]:
    """Documents with one thing wrong, and some with nothing wrong."""
    metric = {"name": "own", "value": 1, "unit": ""}
    return [
        document(),
        document(surprise=1),
        document(schema_version=2),
        document(id=5),
        document(workload={"slug": "with space"}),
        document(workload={"slug": "x", "colour": 1}),
        document(dbms={"name": "x"}),
        document(dbms={"name": "x" * 201, "version": "1"}),
        document(dbms={"name": "x", "version": 15}),
        document(hardware={"name": "x", "cpu_cores": 0}),
        document(hardware={"name": "x", "cpu_cores": None, "ram_bytes": 1}),
        document(hardware={"name": "x", "storage": [{"name": "sda", "emulated": True}]}),
        document(hardware={"name": "x", "storage": [{"medium": "ssd"}]}),
        document(storage=[{"role": "swap", "device": "x"}]),
        document(config="some-slug"),
        document(config={"files": [{"name": "a", "text": "b"}]}),
        document(config={"files": []}),
        document(config=[{"name": "x"}]),
        document(factors={"a": True}),
        document(factors={"a": {"value": 1, "units": "x"}}),
        document(factors={"": 1}),
        document(outcome="done"),
        document(visibility="secret"),
        document(durability="strong"),
        document(context=[1]),
        document(effective_settings={"a": {}}),
        document(effective_settings=[["a", 1], ["b", None]]),
        document(command_lines="x"),
        document(artefacts=[{"name": "x", "text": 5}]),
        document(repeats=[]),
        document(repeats=[{"metrics": [metric]}]),
        document(repeats=[{"metrics": [{**metric, "better": "up"}]}]),
        document(repeats=[{"metrics": {"own": metric}}]),
        document(repeats=[{"metrics": {"tps": {"value": "fast"}}}]),
        document(repeats=[{"series": [{"name": "tps", "values": []}]}]),
        document(repeats=[{"series": [{"name": "tps", "values": [1, None], "interval_s": 0}]}]),
        document(repeats=[{"metrics": {"tps": 1}, "histogram": 5}]),
    ]


@pytest.mark.parametrize("body", changed(), ids=range(len(changed())))
def test_the_schema_and_the_server_refuse_the_same(body):
    """Of what a schema can say: what stands in the database, sums and doubles are checked by the server alone."""
    try:
        declared.UploadDocument.model_validate(body)
        taken = True
    except pydantic.ValidationError:
        taken = False
    assert VALIDATOR.is_valid(body) == taken
