"""GET /api/v1/compare/"""

from __future__ import annotations

import uuid

import pytest

from runs.models import Run
from tests.runs.cells import make_run, workload

pytestmark = pytest.mark.django_db
URL = "/api/v1/compare/"


@pytest.fixture
def two_cells(db) -> list[Run]:
    slow = [make_run("SQLite 3.53", value, repeat=number) for number, value in enumerate((100, 101, 102), 1)]
    fast = [make_run("H2 2.4", value, repeat=number) for number, value in enumerate((200, 201, 202), 1)]
    return slow + fast


def test_it_answers_groups_with_ratio_and_verdict(client, two_cells):
    body = client.get(URL, {"dbms": ["sqlite", "h2"]}).json()
    assert (body["metric"]["name"], body["unit"], body["left_out"]) == ("tps", "TPS", 0)
    by_base = {group["is_baseline"]: group for group in body["groups"]}
    assert by_base[True]["key"] == body["baseline"]
    other = by_base[False]
    assert (other["n"], other["values"], other["median"]) == (3, [200, 201, 202], 201)
    assert other["ratio"]["value"] == pytest.approx(1.990, abs=1e-3)
    assert other["ratio"]["low"] < other["ratio"]["value"] < other["ratio"]["high"]
    assert other["verdict"]["kind"] == "better"
    assert other["verdict"]["words"]
    assert other["refused"] is None
    assert set(other["runs"]) == {str(run.id) for run in two_cells[3:]}


def test_it_says_what_a_page_says_of_all_together(client, two_cells):
    body = client.get(URL, {"dbms": ["sqlite", "h2"]}).json()
    assert body["headline"].startswith("H2 2.4") and "201 TPS: 1.99" in body["headline"]
    assert (body["threshold"], body["family"]) == (0.03, 1)
    other = next(group for group in body["groups"] if not group["is_baseline"])
    assert other["ratio"]["confidence"] == 0.95 and 0 < other["ratio"]["p"] < 0.05
    assert (other["verdict"]["ranks"], other["verdict"]["robustness"]) == (None, None)
    asked = client.get(URL, {"dbms": ["sqlite", "h2"], "threshold": "120"})
    assert (asked.status_code, list(asked.json())) == (400, ["threshold"])
    assert client.get(URL, {"dbms": ["sqlite", "h2"], "threshold": "100"}).json()["threshold"] == 1


def test_from_six_repeats_on_it_says_what_the_ranks_say(client, two_cells):
    for repeat in (4, 5, 6):
        make_run("SQLite 3.53", 100 + repeat, repeat=repeat)
        make_run("H2 2.4", 200 + repeat, repeat=repeat)
    groups = client.get(URL, {"dbms": ["sqlite", "h2"]}).json()["groups"]
    verdict = next(group["verdict"] for group in groups if not group["is_baseline"])
    assert verdict["ranks"]["delta"] == 1 and verdict["ranks"]["p"] == pytest.approx(2 / 924)
    assert "p = 0.0022" in verdict["robustness"] and "δ = +1.00" in verdict["robustness"]
    assert "Cliff&#x27;s δ = +1.00" in client.get("/compare/", {"dbms": ["sqlite", "h2"]}).content.decode()


def test_it_takes_runs_cells_and_a_baseline(client, two_cells):
    keys = [group["key"] for group in client.get(URL, {"dbms": ["sqlite", "h2"]}).json()["groups"]]
    body = client.get(URL, {"run": [str(run.id) for run in two_cells], "baseline": keys[1]}).json()
    assert body["baseline"] == keys[1]
    assert next(group for group in body["groups"] if not group["is_baseline"])["verdict"]["kind"] == "worse"
    assert len(client.get(URL, {"cell": two_cells[0].cell_key}).json()["groups"]) == 1


def test_it_says_why_there_is_no_number(client, article):
    body = client.get(URL, {"dbms": "derby-10-6"}).json()
    assert any(group["gaps"] for group in body["groups"])


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({}, "run"),
        ({"run": "x"}, "run"),
        ({"cell": "x"}, "cell"),
        ({"dbms": "nobody"}, "dbms"),
        ({"dmbs": "x"}, "dmbs"),
        ({"dbms": "sqlite", "metric": "speed"}, "metric"),
        ({"dbms": "sqlite", "baseline": "nothing"}, "baseline"),
    ],
)
def test_it_names_what_it_does_not_understand(client, two_cells, query, field):
    response = client.get(URL, query)
    assert (response.status_code, list(response.json())) == (400, [field])


@pytest.mark.parametrize("blank", [" ", "\u2028"])
def test_a_blank_names_no_run(client, two_cells, blank):
    for address in (URL, "/api/v1/answers/"):
        assert client.get(address, {"run": [blank], "status": "finished"}).status_code < 500


def test_a_run_that_is_not_there_is_not_left_out_silently(client, two_cells):
    Run.objects.filter(id=two_cells[0].id).update(visibility="private")
    for run_id in (two_cells[0].id, uuid.uuid4()):
        response = client.get(URL, {"run": [str(run_id), str(two_cells[1].id)]})
        words = f"No run here has the id {run_id}. Not here, as deleted or not for you: 1 of the runs that are named."
        assert (response.status_code, response.json()) == (404, {"detail": words})


def test_panels_of_bars_are_those_of_what_has_the_metric(client, db):
    """A load has no transactions, and here a size that nothing was asked at which has them: page and API failed."""
    for scale in (1, 10):
        make_run("H2 2.4", 500, factors={"scale_factor": scale})
        make_run("SQLite 3.53", 400, factors={"scale_factor": scale})
    load = {"number": "load_mb_per_s", "factors": {"scale_factor": 100}, "of": workload("Load")}
    make_run("H2 2.4", 8, **load)
    asked = {"dbms": ["h2", "sqlite"], "metric": "tps", "view": "bars", "panels": "factor:scale_factor", "x": "none"}
    answer = client.get(URL, asked)
    assert answer.status_code == 200
    (numbers,) = answer.json()["drawing"]["metrics"]
    assert [panel["label"] for panel in numbers["panels"]] == ["Scale factor 1", "Scale factor 10"]
    assert len(numbers["groups"]) == 5
    page = client.get("/compare/", asked)
    assert page.status_code == 200 and "no throughput in this run" in page.content.decode()
