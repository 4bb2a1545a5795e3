"""GET /api/v1/runs/ and what hangs below it."""

from __future__ import annotations

import json
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.management import call_command
from django.urls import resolve
from drf_spectacular.plumbing import OpenApiGeneratorExtension

from runs import results
from runs.api.schema import DescribedOnce
from runs.models import Experiment, Run
from runs.results import editing
from tests.runs.builders import document, machine, samples, scheduled, store_upload

pytestmark = pytest.mark.django_db
URL = "/api/v1/runs/"


@pytest.fixture
def stored(db) -> list[Run]:
    return store_upload(document=document(), token=None).runs


def get(client, path: str = "", **query):
    return client.get(URL + path, query)


def found(client, **query) -> list[str]:
    response = get(client, **query)
    assert response.status_code == 200, response.content
    return [run["id"] for run in response.json()["results"]]


def test_it_shows_what_a_list_needs(client, stored):
    body = get(client).json()
    assert (body["count"], body["next"], body["previous"]) == (2, None, None)
    run = next(run for run in body["results"] if run["repeat"] == 1)
    assert run == {
        "id": str(stored[0].id),
        "url": f"http://testserver/runs/{stored[0].id}/",
        "workload": {"slug": "pgbench-tpcb", "name": "pgbench, TPC-B-like", "version": "1"},
        "dbms": {
            "slug": "postgresql-15-8",
            "dbms": "postgresql",
            "name": "PostgreSQL 15.8",
            "version": "15.8",
            "architecture": "",
        },
        "hardware": {"slug": "my-server", "name": "My server"},
        "config": {"slug": stored[0].config.slug, "name": stored[0].config.name},
        "status": "finished",
        "provenance": "uploaded",
        "demonstration": False,
        "durability": "power_loss",
        "repeat": 1,
        "order_index": None,
        "cell_key": stored[0].cell_key,
        "batch": str(stored[0].batch_id),
        "label": "",
        "tags": [],
        "tested": {},
        "experiment": None,
        "publication": None,
        "factors": {"disk": "nvme", "scale_factor": 10, "terminals": 4},
        "metrics": {"tps": 100.5, "cache_hit": 0.5},
        "result": [
            {
                "name": "tps",
                "label": "Throughput",
                "unit": "TPS",
                "better": "higher",
                "phase": "run",
                "value": 100.5,
                "as_printed": "",
                "provenance": "uploaded",
                "note": "",
            }
        ],
        "created_at": run["created_at"],
        "started_at": None,
        "finished_at": None,
        "measured_on": "2026-05-04",
        "measured_at": "2026-05-04T00:00:00Z",
        "measured_at_precision": "day",
        "message": "",
        "missing": None,
        "owner": None,
        "visibility": "public",
        "invalid": None,
    }


@pytest.mark.parametrize(
    ("query", "repeats"),
    [
        ({"workload": "pgbench-tpcb"}, [1, 2]),
        ({"dbms": "postgresql"}, [1, 2]),
        ({"dbms": "postgresql-15-8"}, [1, 2]),
        ({"dbms": ["sqlite", "postgresql"]}, [1, 2]),
        ({"dbms": "sqlite"}, []),
        ({"hardware": "my-server"}, [1, 2]),
        ({"provenance": "uploaded"}, [1, 2]),
        ({"provenance": "measured"}, []),
        ({"status": "finished"}, [1, 2]),
        ({"state": ["failed", "lost"]}, []),
        ({"durability": "power_loss"}, [1, 2]),
        ({"demonstration": "true"}, []),
        ({"demonstration": "false"}, [1, 2]),
        ({"factor.scale_factor": "10"}, [1, 2]),
        ({"factor.scale_factor": "10.0"}, [1, 2]),
        ({"factor.scale_factor": ["9", "10"]}, [1, 2]),
        ({"factor.scale_factor": "11"}, []),
        ({"factor.disk": "nvme"}, [1, 2]),
        ({"factor.disk": "nvme", "factor.scale_factor": "4"}, []),
        ({"factor.disk": "nan"}, []),
        ({"q": "postgre 15.8"}, [1, 2]),
        ({"q": "server nothing"}, []),
        ({"page_size": "1", "ordering": "-value"}, [2]),
        ({"page_size": "1", "page": "2", "ordering": "-value"}, [1]),
        ({"ordering": "value"}, [1, 2]),
        ({"ordering": "-repeat"}, [2, 1]),
    ],
)
def test_it_filters_and_sorts(client, stored, query, repeats):
    machine()
    scheduled(factors={"scale_factor": 4, "disk": "hdd", "plain": 1})
    Run.objects.exclude(upload=stored[0].upload).delete()
    by_id = {str(run.id): run.repeat for run in stored}
    answer = [by_id[run_id] for run_id in found(client, **query)]
    assert (answer if "ordering" in query else sorted(answer)) == repeats


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ({"owner": "olga-operator"}, 2),
        ({"owner": "me"}, 0),
        ({"owner": "nobody"}, 0),
        ({"valid": "true"}, 1),
        ({"valid": "false"}, 1),
        ({"visibility": "public"}, 2),
        ({"visibility": ["unlisted", "private"]}, 0),
        ({"architecture": "superserver"}, 2),
        ({"architecture": "classic"}, 0),
        ({"measured_from": "2026-05-04", "measured_to": "2026-05-04"}, 2),
        ({"measured_from": "2026-05-05"}, 0),
        ({"measured_to": "2026-05-03"}, 0),
    ],
)
def test_it_filters_by_owner_validity_visibility_architecture_and_date(client, operator, query, count):
    firebird = {"name": "Firebird", "version": "2.5.2", "architecture": "SuperServer"}
    runs = store_upload(document=document(dbms=firebird), owner=operator).runs
    editing.invalidate(runs[0], reason="wrong disk", by=operator)
    assert get(client, **query).json()["count"] == count


def test_me_is_who_asks(client, operator):
    store_upload(document=document(visibility="private"), owner=operator)
    client.force_login(operator)
    assert get(client, owner="me", visibility="private").json()["count"] == 2


@pytest.mark.parametrize("query", [{"measured_from": "yesterday"}, {"visibility": "secret"}, {"owner": "x" * 151}])
def test_it_names_the_wrong_filter(client, query):
    response = get(client, **query)
    assert (response.status_code, list(response.json())) == (400, list(query))


def test_it_filters_by_experiment_and_publication(published, client, stored):
    experiment = Experiment.objects.create(slug="first", name="First")
    mine = scheduled(experiment=experiment)
    assert found(client, experiment="first") == [str(mine.id)]
    assert get(client, publication="tpcb-2010", status="finished").json()["count"] == 33
    assert get(client, **{"publication": "firebird-terabyte-2015", "factor.size_gb": "9.04"}).json()["count"] == 4


def test_a_literature_run_says_why_it_has_no_value(client, publish):
    publish()
    run = get(client, status="value_missing", publication="cubrid-mysql-ssd-2011").json()["results"][0]
    assert (run["metrics"], run["missing"]) == (
        {},
        {"metric": "tps", "reason": "the value was in a picture that is lost"},
    )


@pytest.mark.parametrize("name", ["created_at", "started_at", "workload", "dbms", "hardware", "status", "value"])
@pytest.mark.parametrize("sign", ["", "-"])
def test_it_sorts_by_every_column_with_gaps_last(client, stored, name, sign):
    open_run = scheduled()
    ids = found(client, ordering=sign + name)
    assert len(ids) == 3
    if name in ("hardware", "value"):
        assert ids[-1] == str(open_run.id)


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"workload": "nobody"}, "workload"),
        ({"dbms": "nobody"}, "dbms"),
        ({"hardware": "x\x00"}, "hardware"),
        ({"provenance": "guessed"}, "provenance"),
        ({"status": "done"}, "status"),
        ({"state": "done"}, "state"),
        ({"publication": "nobody"}, "publication"),
        ({"experiment": "nobody"}, "experiment"),
        ({"durability": "much"}, "durability"),
        ({"ordering": "colour"}, "ordering"),
        ({"factor.nobody": "1"}, "factor.nobody"),
        ({"factor.disk": "a\x00"}, "factor.disk"),
        ({"factor.a\x00": "1"}, "factor.a\x00"),
        ({"q": "a\x00b"}, "q"),
        ({"q": "x" * 201}, "q"),
        ({"page": "0"}, "page"),
        ({"page": "x"}, "page"),
        ({"page_size": "-1"}, "page_size"),
        ({"page_size": "9" * 30}, "page_size"),
        ({"dmbs": "sqlite"}, "dmbs"),
    ],
)
def test_it_names_the_wrong_parameter(client, stored, query, field):
    response = get(client, **query)
    assert (response.status_code, list(response.json())) == (400, [field]), response.content


def test_an_empty_parameter_asks_for_nothing(client, stored):
    everything = get(client).json()["count"]
    assert get(client, workload="", dbms="", provenance="", status="", ordering="").json()["count"] == everything


def test_what_can_be_scheduled_may_be_asked_for_before_it_ran(client, db):
    assert get(client, workload="tpcb", dbms="postgresql").json()["count"] == 0


def test_a_page_beyond_the_last_is_not_found(client, stored):
    assert get(client, page=9).status_code == 404


def test_it_shows_one_run_with_everything(client, stored):
    body = get(client, f"{stored[0].id}/").json()
    assert body["series"] == [{"name": "tps", "unit": "TPS", "t0_s": 0, "interval_s": 1, "values": [1, None, 3.5]}]
    assert body["measurements"][1] == {
        "name": "tps",
        "label": "Throughput",
        "unit": "TPS",
        "better": "higher",
        "phase": "run",
        "value": 100.5,
        "as_printed": "",
        "provenance": "uploaded",
        "note": "",
    }
    assert body["factor_units"] == {"terminals": "connections"}
    assert {
        "storage",
        "effective_settings",
        "checks",
        "warnings",
        "per_terminal",
        "driver",
        "state_changes",
        "statistics",
    } <= set(body)


@pytest.mark.parametrize("path", [f"{uuid.UUID(int=4)}/", f"{uuid.UUID(int=5)}/series/", "not-a-uuid/"])
def test_it_answers_404_to_what_is_not_there(client, path):
    assert get(client, path).status_code == 404


def test_it_streams_the_samples_of_a_run_that_goes_on(client):
    run = scheduled()
    results.append_samples(run=run, item=samples("tps", 0, 0, [1.0, 2.0]))
    results.append_samples(run=run, item=samples("latency_p99_ms", 0, 0, [5.0, 6.0]))
    results.append_samples(run=run, item=samples("tps", 1, 2, [3.0]))
    body = get(client, f"{run.id}/series/", metric="tps", after="0").json()
    assert body == {
        "status": "queued",
        "series": [{"name": "tps", "unit": "TPS", "t0_s": 1, "interval_s": 1, "values": [2, 3]}],
        "thinned": [],
    }
    assert [item["name"] for item in get(client, f"{run.id}/series/").json()["series"]] == ["latency_p99_ms", "tps"]
    assert get(client, f"{run.id}/series/", metric="nothing").json()["series"] == []


@pytest.mark.parametrize("query", [{"after": "x"}, {"after": "nan"}, {"after": "inf"}, {"afer": "1"}])
def test_it_names_the_wrong_parameter_of_a_series(client, query):
    response = get(client, f"{scheduled().id}/series/", **query)
    assert (response.status_code, list(response.json())) == (400, list(query))


def test_a_deleted_run_is_gone_until_it_is_restored(client, stored, bearer):
    headers = bearer("upload")
    path = f"{URL}{stored[0].id}/"
    assert client.delete(path, headers=headers).status_code == 204
    assert get(client).json()["count"] == 1
    assert client.get(path).status_code == 404
    assert client.get(f"{path}series/").status_code == 404
    assert client.delete(path, headers=headers).status_code == 404
    for _ in range(2):
        response = client.post(f"{path}restore/", headers=headers)
        assert (response.status_code, response.json()["id"]) == (200, str(stored[0].id))
    assert get(client).json()["count"] == 2


def test_a_run_that_has_not_ended_is_not_deleted(client, bearer):
    response = client.delete(f"{URL}{scheduled().id}/", headers=bearer("upload"))
    assert (response.status_code, list(response.json())) == (409, ["detail"])
    assert Run.objects.present().count() == 1


@pytest.mark.any_database  # it knows no data
def test_the_description_names_every_endpoint(client):
    response = client.get("/api/schema/", headers={"Accept": "application/json"})
    paths = json.loads(response.content)["paths"]
    assert {
        "/api/v1/results/", "/api/v1/runs/", "/api/v1/runs/{run_id}/", "/api/v1/runs/{run_id}/series/",
        "/api/v1/runs/{run_id}/restore/",
    } <= set(paths)  # fmt: skip


@pytest.fixture
def nothing_described(monkeypatch):
    """As in a process that has just started, with time for others to come first."""
    monkeypatch.setattr(DescribedOnce, "_made", {})
    for kind in OpenApiGeneratorExtension.__subclasses__():
        for extension in kind._registry:
            if isinstance(target := extension.target_class, type):
                monkeypatch.setattr(extension, "target_class", f"{target.__module__}.{target.__qualname__}")

    load = OpenApiGeneratorExtension._load_class.__func__

    def slowly(extension: type) -> None:
        time.sleep(0.01)
        load(extension)

    monkeypatch.setattr(OpenApiGeneratorExtension, "_load_class", classmethod(slowly))


@pytest.mark.any_database  # it knows no data
def test_sixteen_first_requests_for_the_description_get_the_same(nothing_described, rf):
    view = resolve("/api/schema/").func
    with ThreadPoolExecutor(16) as pool:
        requests = [rf.get("/api/schema/", {"format": "json", "version": str(number)}) for number in range(16)]
        answers = list(pool.map(lambda request: view(request).render(), requests))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert set(answers[0].data["components"]["securitySchemes"]) == {"cookieAuth", "token"}
    assert answers[0].data["info"]["version"] == "1"


def test_the_docs_page_keeps_the_content_security_policy(client):
    response = client.get("/api/docs/")
    assert response.status_code == 200
    assert response["Content-Security-Policy"].startswith("default-src 'self';")
    assert "unsafe" not in response["Content-Security-Policy"]
    assert b"<style" not in response.content
    assert b"<script>" not in response.content


def test_the_docs_are_a_page_whatever_is_accepted(client, db):
    accept = {"HTTP_ACCEPT": "application/json; indent=99999999999999"}
    assert client.get("/api/docs/", **accept)["Content-Type"].startswith("text/html")
    assert client.get("/api/docs/", HTTP_AUTHORIZATION="Bearer bst_nobodys", **accept).status_code == 401


@pytest.mark.any_database  # it knows no data
def test_the_description_is_valid_and_complete(tmp_path):
    """Fails on every warning: an endpoint or field that the generator cannot describe."""
    target = tmp_path / "schema.json"
    call_command("spectacular", "--validate", "--fail-on-warn", "--format", "openapi-json", "--file", str(target))
    schemas = json.loads(target.read_text())["components"]["schemas"]
    assert schemas["UploadDocument"]["required"] == [
        "dbms", "hardware", "id", "repeats", "schema_version", "workload",
    ]  # fmt: skip
    assert {"UploadWorkload", "UploadHardware", "UploadMetric", "UploadSeries"} <= set(schemas)
