"""PUBLIC_READ=0: a stranger sees the login and nothing else."""

from __future__ import annotations

import pytest

from runs.access import people
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def closed(settings):
    settings.PUBLIC_READ = False


def test_a_page_leads_to_the_login_and_back(client):
    response = client.get("/runs/?q=x")
    assert (response.status_code, response["Location"]) == (302, "/login/?next=/runs/%3Fq%3Dx")
    assert "only to people with an account" in client.get("/login/").content.decode()


def test_a_part_of_a_page_whose_session_has_ended_sends_the_whole_page_to_the_login(client):
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/agents/?x=1"}
    response = client.get("/agents/", headers=headers)
    assert (response.status_code, response["HX-Redirect"]) == (401, "/login/?next=%2Fagents%2F%3Fx%3D1")


def test_the_api_answers_401_in_words(client):
    response = client.get("/api/v1/runs/")
    assert (response.status_code, response["WWW-Authenticate"]) == (401, "Bearer")
    assert "scope read" in response.json()["detail"]


@pytest.mark.parametrize(("scope", "status"), [("read", 200), ("upload", 403), ("schedule", 403), ("agent", 403)])
def test_a_token_reads_with_the_scope_read_only(client, operator, scope, status):
    make_run("SQLite 3.53", 1)
    _, secret = people.issue_token(owner=operator, name="x", scopes=[scope], expires_at=None)
    headers = {"Authorization": f"Bearer {secret}"}
    assert client.get("/api/v1/runs/", headers=headers).status_code == status
    assert client.get("/api/schema/", headers=headers).status_code == status


def test_health_login_and_agents_stay_open(client):
    assert client.get("/healthz").status_code == 200
    assert client.get("/login/").status_code == 200
    assert client.post("/api/agent/v1/poll/", {}, content_type="application/json").status_code == 426


def test_who_is_logged_in_reads(client, viewer):
    client.force_login(viewer)
    assert client.get("/runs/").status_code == 200
    assert client.get("/api/v1/runs/").status_code == 200
