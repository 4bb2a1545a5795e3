"""PUBLIC_READ=0: a stranger sees the login and nothing else."""

from __future__ import annotations

import pytest

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
