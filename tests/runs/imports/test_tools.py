"""Tools that persons described: tried on an example, kept, asked of their files and of nobody else's."""

from __future__ import annotations

import io

import pytest
from django.test import Client

from runs import imports
from runs.imports import tools
from runs.models import FileImport, ToolDescription, User

pytestmark = pytest.mark.django_db

TEXT = """tool: minibench
lines:
  - minibench {version:token}
  - "{transactions:int} transactions ({tps:num} per sec.) in {elapsed_s:num} s"
metrics: [tps]
checks: [transactions / elapsed_s = tps]
"""
EXAMPLE = "minibench 2.1\n120 transactions (12.0 per sec.) in 10.0 s\n"


@pytest.fixture
def ada() -> User:
    return User.objects.create_user("ada", password="x", role="contributor")


@pytest.fixture
def client_of_ada(ada: User, client: Client) -> Client:
    client.force_login(ada)
    return client


def items(owner: User, text: str = EXAMPLE) -> list[dict]:
    taken, _ = imports.receive(files=[imports.Sent("out.txt", io.BytesIO(text.encode()))], owner=owner)
    return taken.items


def test_it_is_asked_of_its_owners_files_only(ada: User):
    eve = User.objects.create_user("eve", password="x", role="contributor")
    tools.keep(owner=ada, text=TEXT, example=EXAMPLE, visibility="public")
    (item,) = items(ada)
    assert (item["tool"], item["metrics"][0]["value"]) == ("minibench", 12.0)
    assert items(eve)[0]["tool"] is None


def test_files_of_who_described_tools_are_left_to_the_worker_sooner(ada: User, monkeypatch):
    """Twenty descriptions whose every line begins alike held a web process for two minutes with a file of 512 kB."""
    monkeypatch.setattr("runs.imports.reading.LARGE_BYTES", 20 * len(EXAMPLE))

    def state(text: str) -> str:
        return imports.receive(files=[imports.Sent("out.txt", io.BytesIO(text.encode()))], owner=ada)[0].state

    assert state(EXAMPLE) == "draft"
    tools.keep(owner=ada, text=TEXT, example=EXAMPLE)
    assert state(EXAMPLE + "1") == "draft"
    tools.keep(owner=ada, text=TEXT.replace("tool: minibench", "tool: other"), example=EXAMPLE)
    assert state(EXAMPLE + "2") == "reading"
    imports.forget(FileImport.objects.get(state="reading"))


def test_the_page_tries_keeps_replaces_and_removes(client_of_ada: Client, ada: User):
    page = client_of_ada.post("/imports/tools/", {"text": TEXT, "example": EXAMPLE.replace("\n", "\r\n")})
    assert page.status_code == 200
    assert "12.0 TPS" in page.content.decode()
    client_of_ada.post("/imports/tools/", {"text": TEXT + "# again\n", "example": EXAMPLE})
    (kept,) = ToolDescription.objects.filter(owner=ada)
    assert kept.text.endswith("# again\n")
    assert "minibench" in client_of_ada.get("/imports/tools/").content.decode()
    client_of_ada.post("/imports/tools/", {"remove": "minibench"})
    assert not ToolDescription.objects.exists()


def test_what_does_not_read_its_example_is_refused_and_stays_in_the_form(client_of_ada: Client):
    page = client_of_ada.post("/imports/tools/", {"text": TEXT, "example": "minibench 2.1\n"})
    assert page.status_code == 422
    assert "the example has not" in page.content.decode() or "no figure" in page.content.decode()
    assert "minibench {version:token}" in page.content.decode()
    assert not ToolDescription.objects.exists()


def test_others_see_public_ones_and_can_take_them_over(client_of_ada: Client):
    eve = User.objects.create_user("eve", password="x", role="contributor")
    tools.keep(owner=eve, text=TEXT, example=EXAMPLE, visibility="public")
    tools.keep(owner=eve, text=TEXT.replace("minibench", "secretbench"), example=EXAMPLE.replace("mini", "secret"))
    page = client_of_ada.get("/imports/tools/?tool=minibench").content.decode()
    assert "120 transactions" in page
    assert "secretbench" not in page
    names = [tool["name"] for tool in client_of_ada.get("/api/v1/tools/").json()]
    assert names == ["minibench"]


def test_the_api_keeps_one(client_of_ada: Client, ada: User):
    body = {"text": TEXT, "example": EXAMPLE}
    assert client_of_ada.post("/api/v1/tools/", body, content_type="application/json").status_code == 201
    assert client_of_ada.post("/api/v1/tools/", body, content_type="application/json").status_code == 200
    answer = client_of_ada.post("/api/v1/tools/", {**body, "text": "tool: x"}, content_type="application/json")
    assert answer.status_code == 400
    assert "lines: a list of 2" in str(answer.json())
    bad = client_of_ada.post("/api/v1/tools/", {"text": " ", "visibility": "all"}, content_type="application/json")
    assert (bad.status_code, {*bad.json()}) == (400, {"text", "example", "visibility"})


def test_no_secret_of_an_example_is_kept(ada: User):
    kept, _, _ = tools.keep(owner=ada, text=TEXT, example=f"psql postgresql://u:s3cr3tPW@h/db\n{EXAMPLE}")
    assert "s3cr3tPW" not in kept.example


def test_what_was_said_of_columns_is_remembered_for_tables_with_the_same_headings(ada: User):
    table = "n,thrpt\n4,100.5\n8,190.5\n"
    first, _ = imports.receive(files=[imports.Sent("a.csv", io.BytesIO(table.encode()))], owner=ada)
    assert first.items[0]["status"] == "not_understood"
    columns = [
        {"heading": "n", "role": "factor", "name": "terminals"},
        {"heading": "thrpt", "role": "metric", "name": "tps", "unit": "TPS"},
    ]
    imports.keep_subject(first, {"mapping": {"a.csv": {"columns": columns}}})
    again = table.replace("100.5", "101.5").encode()
    second, _ = imports.receive(files=[imports.Sent("b.csv", io.BytesIO(again))], owner=ada)
    assert [item["metrics"][0]["value"] for item in second.items] == [101.5, 190.5]
    assert [*second.subject["mapping"]] == ["b.csv"]
    eve = User.objects.create_user("eve", password="x", role="contributor")
    third, _ = imports.receive(files=[imports.Sent("b.csv", io.BytesIO(again))], owner=eve)
    assert third.items[0]["status"] == "not_understood"
