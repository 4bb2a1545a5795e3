"""GET /api/v1/runs/?format=csv"""

from __future__ import annotations

import csv
import io

import pytest
from benchagent.exporters.csv_file import cell
from benchagent.importers import SourceFile

from runs.models import HardwareProfile, Run
from runs.publications.page.export import Position
from runs.publications.page.parts import Amount
from tests.benchagent.importers.samples import reports_of
from tests.runs.builders import document, store_upload
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db
URL = "/api/v1/runs/"


def rows(response) -> list[dict[str, str]]:
    assert response.status_code == 200
    return list(csv.DictReader(io.StringIO(b"".join(response.streaming_content).decode())))


def test_it_holds_every_run_of_the_filter_with_its_factors_and_numbers(client):
    store_upload(document=document())
    make_run("SQLite 3.53", 855.5, factors={"terminals": 4})
    found = rows(client.get(URL, {"format": "csv", "dbms": "postgresql", "ordering": "repeat"}))
    assert [row["repeat"] for row in found] == ["1", "2"]
    assert (found[0]["tps [TPS]"], found[0]["factor.disk"], found[0]["dbms_version"]) == ("100.5", "nvme", "15.8")
    assert (found[0]["load.load_s [s]"], found[1]["load.load_s [s]"]) == ("", "3.0")
    assert len(rows(client.get(URL, headers={"Accept": "text/csv"}))) == 3


@pytest.mark.parametrize("separator", [",", ";"])
def test_its_runs_come_back_as_they_were_when_the_file_is_imported(client, separator):
    store_upload(document=document())
    found = rows(client.get(URL, {"format": "csv", "ordering": "repeat"}))
    text = io.StringIO()
    writer = csv.DictWriter(text, [*found[0]], delimiter=separator)
    writer.writeheader()
    writer.writerows(found)
    first, second = reports_of([SourceFile("runs.csv", text.getvalue().encode())])
    assert first.metric("tps") == 100.5
    assert first.parameters["disk"] == "nvme"
    assert (first.subject.dbms, first.subject.dbms_version) == ("postgresql", "15.8")
    assert [(metric.phase, metric.value) for metric in second.metrics if metric.name == "load_s"] == [("load", 3.0)]
    assert not {"id", "cell_key", "owner", "created_at"} & {*first.parameters}


def test_it_streams_more_than_a_page(client):
    for number in range(60):
        make_run("SQLite 3.53", number)
    assert len(rows(client.get(URL, {"format": "csv", "page_size": 5}))) == 60


def test_it_says_what_speaks_against_a_durability_class(client):
    make_run("Derby 10", 1, durability="power_loss", durability_doubt="cannot have waited for this disk")
    found = rows(client.get(URL, {"format": "csv"}))[0]
    assert (found["durability"], found["durability_doubt"]) == ("power_loss", "cannot have waited for this disk")


def test_a_negative_number_is_a_number():
    """Was: '-0.01145 of what is lost at a level, which no program reads as a number."""
    assert [cell(text) for text in ("-0.01145", "-1e-07", "-5")] == ["-0.01145", "-1e-07", "-5"]
    assert [cell(text) for text in ("-1+1", "+A1", "-")] == ["'-1+1", "'+A1", "'-"]


def test_text_is_no_formula(client):
    run = make_run("SQLite 3.53", -5)
    machine = HardwareProfile.objects.create(slug="m", name="m")
    Run.objects.filter(id=run.id).update(hardware=machine, missing_reason='=HYPERLINK("http://x")')
    found = rows(client.get(URL, {"format": "csv"}))[0]
    assert found["missing_reason"] == '\'=HYPERLINK("http://x")'
    assert [value for name, value in found.items() if name.startswith("tps")] == ["-5.0"]


def test_the_unit_of_a_series_is_no_formula(client):
    series = [{"name": "queue", "unit": "=1+1", "values": [-1, 2]}]
    run = store_upload(document=document(repeats=[{"metrics": {"tps": 5}, "series": series}])).runs[0]
    answer = client.get(f"/runs/{run.id}/series.csv").getvalue().decode()
    assert answer.splitlines()[1:] == ["queue,'=1+1,0,-1", "queue,'=1+1,1,2"]


def test_the_words_of_an_article_are_no_formula():
    cells = Position("s", "=t", "+r", "@c", "-u").line(Amount(-1.5, printed="-1.50", note="=n"))
    assert cells[:7] == ["s", "'=t", "'+r", "'@c", "-1.5", "'-u", "-1.50"]
    assert cells[-1] == "'=n"


@pytest.mark.parametrize("text", ["=1", "+1+1", "-1+1", "@x", "\tx", "\rx"])
def test_every_beginning_of_a_formula_is_met(text):
    assert cell(text) == f"'{text}"


@pytest.mark.parametrize("value", [-1, -1.5, "a=b", "", 0])
def test_everything_else_is_as_it_was(value):
    assert cell(value) == value


@pytest.mark.parametrize("query", [{"dbms": "nobody"}, {"dmbs": "x"}])
def test_what_is_wrong_is_said_in_json(client, query):
    response = client.get(URL, {"format": "csv", **query})
    assert (response.status_code, list(response.json())) == (400, list(query))
    assert response["Content-Type"] == "application/json"


def test_asking_what_there_is_answers_in_json(client):
    assert client.options(f"{URL}?format=csv")["Content-Type"] == "application/json"
