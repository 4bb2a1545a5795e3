"""The page that shows how a program sends its results."""

from __future__ import annotations

import html
import re

import pytest

from runs.models import Run

pytestmark = pytest.mark.django_db


def test_the_document_that_it_shows_is_taken_as_it_stands(client, bearer):
    page = client.get("/imports/api/", headers={"host": "testserver"}).content.decode()
    assert "http://testserver/api/v1/results/ --data @-" in page
    shown = html.unescape(re.search(r"<span data-document>(.*?)</span>", page, re.DOTALL)[1])
    sent = client.post("/api/v1/results/", shown, content_type="application/json", headers=bearer("upload"))
    assert sent.status_code == 201, sent.content
    assert sorted(run.measurements.get().value for run in Run.objects.all()) == [4450, 4489]


def test_a_stranger_is_led_to_it_and_on_to_the_reference(client):
    assert 'href="/imports/api/"' in client.get("/").content.decode()
    page = client.get("/imports/api/").content.decode()
    assert 'href="/api/docs/"' in page and 'href="/login/?next=/imports/api/"' in page
