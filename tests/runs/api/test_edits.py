"""PATCH of a run, its history, and the files beside it."""

from __future__ import annotations

import base64
import json
import uuid

import pytest

from runs.models import Change, Run, Upload
from runs.results import editing
from runs.run import artefacts
from tests.runs.builders import document, store_upload

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("own_folder")]
URL = "/api/v1/runs/"


@pytest.fixture
def run(operator) -> Run:
    return store_upload(document=document(), owner=operator).runs[0]


@pytest.fixture
def patch(client, bearer, run):
    headers = bearer("upload")

    def send(body, target=None):
        path = f"{URL}{target or run.id}/"
        return client.patch(path, json.dumps(body), content_type="application/json", headers=headers)

    return send


def history(client, run: Run) -> list[dict]:
    return client.get(f"{URL}{run.id}/changes/").json()


def test_it_keeps_who_when_and_the_old_value(client, patch, run):
    response = patch({"note": "second disk was new", "measured_on": "2026-05-05", "reason": "wrong day"})
    assert (response.status_code, response.json()["note"]) == (200, "second disk was new")
    found = {one["field"]: one for one in history(client, run)}
    assert (found["measured_on"]["old"], found["measured_on"]["new"]) == ("2026-05-04", "2026-05-05")
    assert (found["note"]["old"], found["note"]["by"], found["note"]["reason"]) == ("", "olga-operator", "wrong day")
    assert found["note"]["at"]


def test_a_date_can_be_taken_back(client, patch, run):
    assert patch({"measured_on": None}).json()["measured_on"] is None
    assert history(client, run)[0]["new"] is None


def test_nothing_new_is_no_change(client, patch, run):
    assert patch({"note": ""}).status_code == 200
    assert history(client, run) == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"context": {}}, "context"),
        ({"metrics": {}}, "metrics"),
        ({"note": 5.5, "measured_on": "yesterday"}, "measured_on"),
        ({"note": "x" * 10_001}, "note"),
        ([], "detail"),
    ],
)
def test_it_names_what_it_does_not_edit(patch, run, body, field):
    response = patch(body)
    assert (response.status_code, list(response.json())) == (400, [field])
    assert Change.objects.count() == 0


@pytest.mark.parametrize("field", ["factors", "hardware", "workload", "metrics", "started_at"])
def test_it_says_how_what_was_measured_is_corrected(client, bearer, patch, run, field):
    """Was: an unknown key, and no word of a way."""
    assert patch({field: {}}).json() == {field: [editing.CORRECTING]}
    headers = bearer("upload")
    of_batch = client.patch(f"/api/v1/batches/{run.batch_id}/", {field: {}}, "application/json", headers=headers)
    assert of_batch.json() == {field: [editing.CORRECTING]}


def test_a_corrected_document_is_sent_with_a_new_id(client, bearer, operator, run):
    headers = bearer("upload")
    corrected = document(factors={"terminals": 8})

    def send(**more):
        return client.post("/api/v1/results/", corrected | more, "application/json", headers=headers)

    assert editing.CORRECTING in send().json()["detail"]
    for each in run.upload.runs.all():
        assert client.delete(f"{URL}{each.id}/", headers=headers).status_code == 204
    assert editing.CORRECTING in send().json()["detail"]
    answer = send(id=str(uuid.uuid4()))
    assert (answer.status_code, [each.get("copy_of") for each in answer.json()["runs"]]) == (201, [None, None])


def test_it_keeps_no_secret(patch, run):
    assert patch({"note": "ran with password=hunter2"}).json()["note"] == "ran with password=[redacted]"
    assert "hunter2" not in json.dumps(list(Change.objects.values_list("new", flat=True)))


def test_a_published_run_says_what_its_publication_says(published, patch):
    run = Run.objects.exclude(publication=None).first()
    assert patch({"note": "x"}, run.id).status_code == 409


def test_deletion_and_its_undoing_are_changes(client, bearer, run):
    headers = bearer("upload")
    client.delete(f"{URL}{run.id}/", headers=headers)
    client.post(f"{URL}{run.id}/restore/", headers=headers)
    found = [(one["field"], one["old"], one["new"]) for one in history(client, run)]
    assert found == [("deleted", True, False), ("deleted", False, True)]


def test_the_page_shows_the_history(client, patch, run):
    patch({"note": "second disk was new"})
    html = client.get(run.get_absolute_url()).content.decode()
    assert "second disk was new" in html
    assert "olga-operator" in html


def test_a_file_comes_back_as_it_was_given(client, run):
    kept = artefacts.keep(name="pgbench <1>.log", content=b"tps = 1\n", media_type="text/html", upload=run.upload)
    listed = client.get(f"{URL}{run.id}/").json()["artefacts"]
    assert [(one["name"], one["size_bytes"]) for one in listed] == [("pgbench <1>.log", 8)]
    response = client.get(listed[0]["url"])
    assert b"".join(response.streaming_content) == b"tps = 1\n"
    assert response["Content-Type"] == "application/octet-stream", "never as a page"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Content-Disposition"].startswith("attachment")
    assert client.get(listed[0]["url"], headers={"Accept": "text/plain"}).status_code == 200
    kept.file.delete(save=False)
    assert client.get(listed[0]["url"]).status_code == 404


@pytest.mark.parametrize(("visibility", "status"), [("public", 200), ("unlisted", 200), ("private", 404)])
def test_a_file_is_seen_by_whom_its_run_is_seen(client, contributor, run, visibility, status):
    kept = artefacts.keep(name="x.log", content=b"x", upload=run.upload)
    of_run = artefacts.keep(name="y.log", content=b"y", run=run)
    Upload.objects.update(visibility=visibility)
    Run.objects.update(visibility=visibility)
    client.force_login(contributor)
    for one in (kept, of_run):
        assert client.get(f"/api/v1/artefacts/{one.id}/").status_code == status
    client.force_login(run.owner)
    assert client.get(f"/api/v1/artefacts/{kept.id}/").status_code == 200


def test_files_come_with_a_document(client, operator):
    files = [
        {"name": "a.log", "media_type": "text/plain", "text": "--password=hunter2 ok\n"},
        {"name": "b.bin", "base64": base64.b64encode(b"\x00\x01").decode()},
    ]
    body = document(id="7b6f0c1e-52a3-4d4c-9f0a-0d9f6f1c2a77", artefacts=files)
    outcome = store_upload(document=body, owner=operator)
    first, second = artefacts.artefacts_of(outcome.runs[1], operator)
    assert artefacts.content(first) == b"--password=[redacted] ok\n"
    assert artefacts.content(second) == b"\x00\x01"
    assert Upload.objects.get().document["artefacts"][0]["text"] == 22
