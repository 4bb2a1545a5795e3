"""Addresses under /api/ that are none."""

from __future__ import annotations

import pytest

from tests.runs.builders import document, store_upload

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete"])
@pytest.mark.parametrize("path", ["nothing/", "v1/runs/no-uuid/", "v1/runs/a%0Ab/", "v1/artefacts/1/", "agent/v1/x/"])
def test_it_says_in_json_that_there_is_nothing(client, method, path):
    response = getattr(client, method)(f"/api/{path}")
    assert (response.status_code, list(response.json())) == (404, ["detail"])


def test_an_address_without_its_slash_leads_to_the_one_with_it(client):
    assert client.get("/api/v1/runs").headers["Location"] == "/api/v1/runs/"


def test_half_a_character_is_refused_in_words_that_can_be_sent(client, operator, bearer):
    upload = store_upload(document=document(), token=None, owner=operator).runs[0].upload_id
    response = client.put(
        f"/api/v1/uploads/{upload}/visibility/",
        '{"visibility": "\\udfff x"}',
        content_type="application/json",
        headers=bearer("upload"),
    )
    assert (response.status_code, response.json()) == (400, {"visibility": ["is not valid Unicode text"]})
