"""Means and medians that an article prints without their repeats: on its page, in its CSV file, in the API."""

from __future__ import annotations

import csv
import io
import json

import pytest

from runs.models import Aggregate
from runs.publications.folder import Folder
from runs.publications.importer import import_folders
from tests.runs.answers.test_answers import World, ask
from tests.runs.publications.test_fifth import PAGE, SLUG, changed

pytestmark = pytest.mark.django_db
MEANS = {8: "12.4", 32: "31.0", 128: "29.9"}


@pytest.fixture
def article():
    """Means alone, at three numbers of clients; its page.json names no part that shows them."""

    def change(data):
        data["runs"] = []
        data["aggregates"] = [
            {
                "id": f"mean-{clients}", "statistic": "mean", "of": [], "workload": data["workloads"][0]["id"],
                "version": data["versions"][0]["id"], "metric": {"name": "tps", "unit": "TPS"}, "value": float(mean),
                "as_printed": mean, "details": {"factors": {"clients": clients}, "repeats": 5},
            }
            for clients, mean in MEANS.items()
        ]  # fmt: skip
        data["claims"] = [
            {
                "id": "gain", "metric": "tps", "side_a": {"dbms": data["versions"][0]["id"], "clients": 32},
                "side_b": {"dbms": data["versions"][0]["id"], "clients": 8}, "percent": 150, "summary": "2.5 times",
            }
        ]  # fmt: skip

    parts = {"parts": [{"part": "claimed-ratios"}]}
    files = {"results.json": changed("results.json", change)["results.json"], "page.json": json.dumps(parts).encode()}
    import_folders(Folder.of(files))


def test_every_printed_mean_stands_on_the_page_and_in_its_file(article, client):
    html = client.get(PAGE).content.decode()
    for clients, mean in MEANS.items():
        assert f"clients {clients}" in html and mean in html
    rows = list(csv.DictReader(io.StringIO(client.get(f"/publications/{SLUG}.csv").content.decode())))
    means = [row for row in rows if row["column"] == "Mean"]
    assert [row["as_printed"] for row in means] == list(MEANS.values())
    assert {(row["unit"], row["provenance"]) for row in means} == {("TPS", "printed")}
    assert [row["row"].rpartition(", ")[2] for row in means] == [f"clients {clients}" for clients in MEANS]


def test_the_api_says_what_a_printed_mean_is_of(article, client):
    told = client.get(f"/api/v1/publications/{SLUG}/").json()["aggregates"]
    assert {(row["unit"], row["metric"], row["statistic"], tuple(row["of"])) for row in told} == {
        ("TPS", "tps", "mean", ())
    }
    assert sorted(row["factors"]["clients"] for row in told) == sorted(MEANS)
    assert all(row["workload"] and row["dbms"] for row in told)


def test_a_ratio_beside_printed_numbers_is_not_said_to_have_none(article, client):
    html = client.get(PAGE).content.decode()
    assert "Hatched: published relative values." in html
    assert "absolute value" not in html


def test_own_runs_stand_beside_a_printed_mean_without_an_interval(article):
    """Seen: "No run is selected", and no way to set own runs against what such an article prints."""
    system = Aggregate.objects.select_related("dbms_version__dbms", "workload")[0]
    world = World(noise=0.005)
    for clients in (8, 64):
        world.add(
            24.8, workload=system.workload.slug, factors={"clients": clients}, measured_on="2026-11-28",
            dbms={"name": system.dbms_version.dbms.name, "version": system.dbms_version.version},
        )  # fmt: skip
    world.store()

    told = ask(f"workload={system.workload.slug}", "ask=published")

    (claim,) = told["claims"]
    assert (claim["printed"], claim["mean"], claim["ratio"]["low"]) == (12.4, None, None)
    assert claim["ratio"]["value"] == pytest.approx(2, rel=0.02) and "mean" in claim["beside"]
    assert not told["sure"] and "of what is printed of" in told["words"]


def test_medians_that_stand_beside_their_repeats_are_not_shown_again(client, published):
    assert 'id="aggregates"' not in client.get("/publications/tpcb-2010/").content.decode()
