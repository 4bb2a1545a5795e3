from __future__ import annotations

import pytest

from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db


def results(client, path: str, **more):
    answer = client.get(f"/api/v1/{path}", **more)
    assert answer.status_code == 200
    return answer.json()["results"]


def test_batches_are_those_with_runs_that_one_sees_in_lists(client):
    shown, _hidden = make_run("SQLite 3.50", 1.0), make_run("SQLite 3.50", 2.0, visibility="private")
    (row,) = results(client, "batches/")
    assert (row["id"], row["runs"]) == (str(shown.batch_id), 1)
    assert list(client.get("/api/v1/batches/?pages=2").json()) == ["pages"]


def test_uploads_and_imports_are_ones_own(client, bearer):
    assert (results(client, "uploads/"), results(client, "imports/")) == ([], [])
    document = {
        "schema_version": 1, "id": "7b6f0c1e-52a3-4d4c-9f0a-0d9f6f1c2a11", "workload": "tpcb",
        "dbms": {"name": "PostgreSQL", "version": "15"}, "hardware": {"name": "Box"},
        "repeats": [{"metrics": {"tps": 1.0}}],
    }  # fmt: skip
    headers = bearer("upload")
    assert (
        client.post("/api/v1/results/", document, content_type="application/json", headers=headers).status_code == 201
    )
    (row,) = results(client, "uploads/", headers=headers)
    assert (row["id"], row["runs"], row["file_import"]) == (document["id"], 1, None)
    assert results(client, "uploads/") == []


def test_the_catalogue_tells_factors_engines_and_metrics(client):
    told = client.get("/api/v1/catalogue/").json()
    tpcb = next(each for each in told["workloads"] if each["slug"] == "tpcb")
    terminals = next(factor for factor in tpcb["factors"] if factor["name"] == "terminals")
    assert (terminals["kind"], terminals["minimum"], terminals["optional"]) == ("number", 1, False)
    assert {"postgresql", "sqlite"} <= {engine["slug"] for engine in told["engines"]}
    assert next(metric["better"] for metric in told["metrics"] if metric["name"] == "tps") == "higher"
