"""Publications over REST: everything of one, its checks as computed at the import, and every number as CSV."""

from __future__ import annotations

import csv
import io

import pytest

from runs.models import Experiment, Measurement, Metric, Publication
from runs.publications.page.export import HEAD
from tests.runs.builders import scheduled
from tests.runs.publications.changed import import_changed

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("literature")]
LIST = "/api/v1/publications/"
FIREBIRD = "/api/v1/publications/firebird-terabyte-2015/"
GBAK = "/api/v1/publications/gbak-backup-2007/"


def csv_rows(client, url: str) -> list[dict[str, str]]:
    answer = client.get(url, {"format": "csv"})
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


def test_it_lists_the_publications_oldest_first(client):
    found = client.get(LIST).json()
    assert [one["slug"] for one in found] == [
        "gbak-backup-2007", "tpcb-2010", "cubrid-mysql-ssd-2011", "firebird-terabyte-2015",
    ]  # fmt: skip
    assert found[0]["url"] == f"http://testserver{GBAK}"
    assert found[0]["title_original"].startswith("Вы уверены")


def test_it_holds_everything_of_a_publication(client):
    found = client.get(FIREBIRD).json()
    counts = {
        name: len(found[name])
        for name in (
            "runs", "claims", "observations", "missing_items", "table_statistics", "index_statistics",
            "query_statistics", "configs", "hardware", "facts", "schemas", "workloads", "checks",
        )
    }  # fmt: skip
    assert counts == {
        "runs": 46, "claims": 5, "observations": 5, "missing_items": 8, "table_statistics": 9, "index_statistics": 9,
        "query_statistics": 6, "configs": 1, "hardware": 2, "facts": 5, "schemas": 1, "workloads": 4, "checks": 38,
    }  # fmt: skip
    load = next(one for one in found["runs"] if one["source_id"] == "firebird-sata-load-1")
    speed = next(one for one in load["measurements"] if one["name"] == "load_speed")
    assert (speed["value"], speed["as_printed"], speed["provenance"]) == (3.65166075, "3,65166075", "printed")
    lost = next(one for one in found["runs"] if one["source_id"] == "firebird-ssd-oltp-1")
    assert (lost["measurements"], "picture" in lost["missing"]["reason"]) == ([], True)
    assert found["article"]["goal"]
    assert {one["state"] for one in found["article"]["figures"]} >= {"redrawn", "half", "lost"}


def test_it_computes_the_checks_at_the_import(client):
    def loss() -> dict:
        return next(one for one in client.get(FIREBIRD).json()["checks"] if one["number"] == "2.11")

    before = loss()
    assert (before["result"], before["computed"][0]["rounded"]) == ("rounded up", -17.54)
    assert before["computed"][0]["formula"] == "407.97 / 494.73 − 1"
    assert before["inputs"][0] == {
        "name": "after", "what": "throughput at 30.3 GB", "value": 407.97, "unit": "business operations/s",
        "provenance": "printed",
    }  # fmt: skip
    Measurement.objects.filter(run__source_id="firebird-sata-oltp-11").update(value=390)
    assert loss() == before
    import_changed(
        "firebird-terabyte-2015",
        lambda data: next(one for one in data["runs"] if one["id"] == "firebird-sata-oltp-11")["metrics"][0].update(
            value=390.0, as_printed="390,0"
        ),
    )
    assert loss()["computed"][0]["rounded"] == -21.17


def test_it_gives_both_readings_of_a_percentage(client):
    claims = {one["source_id"]: one for one in client.get(GBAK).json()["claims"]}
    assert [(one["means"], round(one["time_ratio"], 2), round(one["speed_ratio"], 2)) for one in
            claims["gbak-a"]["readings"]] == [("time", 0.74, 1.35), ("speed", 0.79, 1.26)]  # fmt: skip
    assert claims["gbak-a"]["checks"] == ["0.3", "0.5"]
    assert claims["gbak-a"]["where"] == "line 73"
    assert claims["gbak-h"]["readings"] == []


def test_the_csv_holds_every_number_with_its_origin(client):
    rows = csv_rows(client, FIREBIRD)
    assert list(rows[0]) == HEAD
    assert all(one["provenance"] or not one["value"] for one in rows)
    found = {(one["section"], one["row"], one["column"], one["unit"]): one for one in rows}
    speed = found["load", "9.04", "SATA RAID1", "MB/s"]
    assert (speed["value"], speed["unit"], speed["as_printed"]) == ("3.65166075", "MB/s", "3,65166075")
    gap = found["load", "9.04", "SSD", "MB/s"]
    assert (gap["value"], gap["provenance"]) == ("", "lost_in_picture")
    assert "picture" in gap["note"]
    claim = next(one for one in rows if one["section"] == "claims" and one["value"] == "-20")
    assert (claim["unit"], claim["provenance"]) == ("%", "printed")
    check = found["checks", "2.11", "Loss from 9.04 to 30.3 GB", "%"]
    assert check["value"].startswith("-17.5368")
    assert (check["unit"], check["formula"], check["provenance"]) == ("%", "407.97 / 494.73 − 1", "computed")
    stated = found["checks", "2.8", "size to which the database grew", "GB"]
    assert (stated["value"], stated["as_printed"], stated["note"]) == ("1.7713", "1.7713GB", "line 272")


def test_it_is_the_file_of_the_page(client):
    for slug in Publication.objects.values_list("slug", flat=True):
        page = client.get(f"/publications/{slug}.csv").content
        assert client.get(f"{LIST}{slug}/", {"format": "csv"}).content == page


def test_it_answers_404_in_both_forms(client):
    assert client.get(f"{LIST}nothing/").status_code == 404
    assert client.get(f"{LIST}nothing/", {"format": "csv"}).status_code == 404
    assert client.get(FIREBIRD, {"format": "xml"}).status_code == 404


def test_it_is_described_in_openapi(client):
    schema = client.get("/api/schema/", {"format": "json"}).json()
    path = schema["paths"]["/api/v1/publications/{slug}/"]["get"]
    assert set(path["responses"]["200"]["content"]) == {"application/json", "text/csv"}
    assert "readings" in schema["components"]["schemas"]["Claim"]["properties"]


def test_it_holds_the_re_runs_that_everybody_may_see(client):
    plan = {"publication": "tpcb-2010", "figure": "tpcb-over-time"}
    again = Experiment.objects.create(slug="again", name="TPC-B again", plan=plan)
    Experiment.objects.create(slug="secret", name="TPC-B in secret", plan=plan, visibility="private")
    run = scheduled(experiment=again)
    tps, _ = Metric.objects.get_or_create(name="tps", unit="TPS", defaults={"label": "Throughput"})
    Measurement.objects.create(run=run, metric=tps, value=1234.5)
    (found,) = client.get("/api/v1/publications/tpcb-2010/").json()["reruns"]
    assert (found["experiment"], found["name"], found["figure"]) == ("again", "TPC-B again", "tpcb-over-time")
    assert [one["metrics"] for one in found["runs"]] == [{"tps": 1234.5}]
