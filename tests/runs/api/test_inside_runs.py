"""Latencies and notes of runs over REST."""

from __future__ import annotations

import pytest
from benchagent import histogram

from runs.models import Run
from tests.runs.builders import document
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db


def with_latencies(repeat: int, slow: int, **more: object) -> Run:
    encoded = histogram.encode([(1_000, 1_000 - slow), (50_000, slow)])
    return make_run("SQLite 3", 100, repeat=repeat, latency_histogram=encoded, **more)


def test_latencies_come_from_the_histogram_and_of_repeats_from_the_merged_one(client):
    first, _ = with_latencies(1, 0), with_latencies(2, 100)
    with_latencies(3, 1_000, visibility="private")
    alone = client.get(f"/api/v1/runs/{first.id}/latency/").json()
    assert alone["latency"]["transactions"] == 1_000 and alone["latency"]["runs"] == 1
    together = client.get(f"/api/v1/runs/{first.id}/latency/?repeats=true").json()["latency"]
    assert (together["runs"], together["transactions"]) == (2, 2_000)
    at = {row["percentile"]: row for row in together["percentiles"]}
    assert at[90]["ms"] == pytest.approx(1, abs=0.01) and at[99]["ms"] == pytest.approx(50, abs=0.1)
    assert at[99.9]["beyond"] == 2
    assert together["curve"][0][0] == 0 and together["curve"][-1][0] == pytest.approx(99.95)


def test_types_are_told_of_one_run(client):
    types = {"payment": {"transactions": 7, "p99_us": 4_000}, "delivery": {"transactions": 5}}
    run = with_latencies(1, 5, statistics={"transaction_types": types})
    told = client.get(f"/api/v1/runs/{run.id}/latency/").json()["types"]
    assert told[0] == {
        "type": "payment", "transactions": 7, "p50_ms": None, "p95_ms": None, "p99_ms": 4.0, "max_ms": None
    }  # fmt: skip


def test_a_run_without_a_histogram_and_an_unknown_parameter_are_said(client):
    run = make_run("SQLite 3", 100)
    assert client.get(f"/api/v1/runs/{run.id}/latency/").status_code == 404
    assert client.get(f"/api/v1/runs/{run.id}/latency/?nines=5").status_code == 400
    Run.objects.update(latency_histogram="nonsense")
    assert client.get(f"/api/v1/runs/{run.id}/latency/").status_code == 404


def test_notes_are_made_changed_and_taken_away_with_their_history(client, operator):
    run = make_run("SQLite 3", 100)
    client.force_login(operator)
    address = f"/api/v1/runs/{run.id}/annotations/"

    def send(method: str, path: str, body: dict[str, object]):
        return getattr(client, method)(path, body, content_type="application/json")

    assert send("post", address, {"at_s": -1, "text": ""}).status_code == 400
    made = send("post", address, {"at_s": 14, "text": "checkpoint tuning"})
    assert made.status_code == 201 and made.json()["by"] == operator.username
    one = f"{address}{made.json()['id']}/"
    assert send("put", one, {"at_s": 15, "text": "tuned"}).json()["text"] == "tuned"
    assert [row["at_s"] for row in client.get(address).json()] == [15]
    assert client.get(f"/api/v1/runs/{run.id}/").json()["annotations"][0]["text"] == "tuned"
    assert client.delete(one).status_code == 204
    said = [(row["old"], row["new"]) for row in client.get(f"/api/v1/runs/{run.id}/changes/").json()]
    assert said == [
        ("15 s: tuned", None), ("14 s: checkpoint tuning", "15 s: tuned"), (None, "14 s: checkpoint tuning")
    ]  # fmt: skip


def test_latencies_over_time_are_told_charted_and_exported_of_repeats_together(client):
    """Bucket 20 holds what took from 1.024 to less than 1.448 ms."""
    fine = {"interval_s": 1, "counts": [[20, 5], [20, 3, 22, 1], [], [30, 1]]}
    coarse = {"interval_s": 2, "counts": [[20, 10], [31, 2]]}
    first = with_latencies(1, 5, statistics={"latency_map": fine})
    with_latencies(2, 5, statistics={"latency_map": coarse})
    told = client.get(f"/api/v1/runs/{first.id}/latency/").json()["over_time"]
    assert (told["interval_s"], told["cells"][0]) == (1, [0, 1.024, 1.448, 5])
    together = client.get(f"/api/v1/runs/{first.id}/latency/?repeats=true").json()["over_time"]
    assert together["interval_s"] == 2
    assert [(begin, count) for begin, _, _, count in together["cells"]] == [(0, 18), (0, 1), (2, 1), (2, 2)]
    html = client.get(first.get_absolute_url()).content.decode()
    assert 'id="latency-map"' in html and '"type": "heat"' in html
    view = f"cell={first.cell_key}&view=latency"
    assert 'id="latency-map-panel"' in client.get(f"/compare/?{view}").content.decode()
    assert "Transactions by latency over time" in client.get(f"/compare.csv?{view}").content.decode()
    assert '"type": "heat"' in client.get(f"/embed/compare/?{view}").content.decode()


@pytest.mark.parametrize(
    "told", [7, {}, {"interval_s": 0, "counts": [[1, 1]]}, {"interval_s": 1, "counts": [["a", 1]]},
             {"interval_s": 1, "counts": [[900, 1]]}, {"interval_s": 1, "counts": [[1]]}],
)  # fmt: skip
def test_counts_of_another_form_are_left_out(client, told):
    run = with_latencies(1, 5, statistics={"latency_map": told})
    assert client.get(f"/api/v1/runs/{run.id}/latency/").json()["over_time"] is None
    assert client.get(run.get_absolute_url()).status_code == 200


def test_an_upload_brings_how_long_its_transactions_took_over_time(client, bearer):
    told = {"interval_s": 2, "counts": [[20, 5], [], [20, 3, 65, 1]]}
    sent = document(repeats=[{"metrics": {"tps": 100}, "latency_map": told}])

    def post(body: object):
        return client.post("/api/v1/results/", body, content_type="application/json", headers=bearer("upload"))

    (stored,) = post(sent).json()["runs"]
    answer = client.get(f"/api/v1/runs/{stored['id']}/latency/", headers=bearer("read")).json()
    assert answer["latency"] is None
    assert [(begin, count) for begin, _, _, count in answer["over_time"]["cells"]] == [(0, 5), (4, 3), (4, 1)]
    for counts in ([[20]], [[20, 5, 19, 1]], [[66, 1]], [[20, -1]], [[20, 1]] * 241):
        refused = post(document(repeats=[{"metrics": {"tps": 1}, "latency_map": told | {"counts": counts}}]))
        assert refused.status_code == 400 and "latency_map" in refused.content.decode()
