"""Larger files in parts, as tus has it: resumed, checked, of a person with a quota, forgotten in the end."""

from __future__ import annotations

import base64
import fcntl
import hashlib
import io
from datetime import timedelta
from pathlib import Path

import pytest
import requests
from benchagent.ctl import api as ctl_api
from benchagent.ctl import parts as ctl_parts
from benchagent.ctl.cli import main
from django.utils import timezone

from benchsite.limits import PARTS
from runs.imports import parts
from runs.models import FileImport, FileInParts, Run
from tests.runs.imports.test_imports import PGBENCH

pytestmark = pytest.mark.django_db
PART = "application/offset+octet-stream"
CONTENT = PGBENCH * 3


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


@pytest.fixture
def token(api_token):
    return {"Authorization": f"Bearer {api_token('upload')}"}


def begin(client, token, size=None):
    size = len(CONTENT) if size is None else size
    told = {"Upload-Length": str(size), "Upload-Metadata": f"filename {encoded(b'many.txt')}", **token}
    return client.post(PARTS, headers=told)


def send(client, token, address, offset, part, **more):
    told = {"Upload-Offset": str(offset), **token, **more}
    return client.generic("PATCH", address, part, content_type=PART, headers=told)


def test_a_file_comes_in_parts_goes_on_after_a_broken_one_and_is_imported_once(client, token):
    begun = begin(client, token)
    assert begun.status_code == 201
    address = begun["Location"]
    digest = {"Upload-Checksum": f"sha256 {encoded(hashlib.sha256(CONTENT[:300]).digest())}"}
    first = send(client, token, address, 0, CONTENT[:300], **digest)
    assert (first.status_code, first["Upload-Offset"], first["Tus-Resumable"]) == (204, "300", "1.0.0")
    assert send(client, token, address, 300, b"nonsense" * 80, **digest).status_code == 460
    assert send(client, token, address, 200, CONTENT[200:]).status_code == 409
    assert send(client, token, address, 300, CONTENT[300:] + b"x").status_code == 413
    refused = client.post("/api/v1/imports/", {"parts": begun.json()["id"]}, headers=token)
    assert (refused.status_code, "300 of" in refused.json()["file"][0]) == (400, True)
    where = client.head(address, headers=token)
    assert (where["Upload-Offset"], where["Upload-Length"]) == ("300", str(len(CONTENT)))
    assert send(client, token, address, 300, CONTENT[300:]).status_code == 204

    answers = [client.post("/api/v1/imports/", {"parts": address}, headers=token) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 200]
    within = io.BytesIO(CONTENT)
    within.name = "many.txt"
    answers.append(client.post("/api/v1/imports/", {"file": within}, headers=token))
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert FileImport.objects.get().artefacts.get().size_bytes == len(CONTENT)


def test_it_belongs_to_a_person(client, token, contributor, operator):
    address = begin(client, token)["Location"]
    assert begin(client, {}).status_code == 401
    assert client.head(address).status_code == 404
    client.force_login(contributor)
    assert client.head(address).status_code == 404
    assert client.get(PARTS).json() == {"results": []}
    client.force_login(operator)
    assert [kept["received_bytes"] for kept in client.get(PARTS).json()["results"]] == [0]
    assert client.delete(address).status_code == 204
    assert client.head(address).status_code == 404


def test_a_person_has_a_quota_which_what_is_used_does_not_fill(client, token, settings):
    settings.IMPORT_STREAMED_MB = 0
    most = parts.quota_bytes()
    assert begin(client, token, most + 1).status_code == 413
    assert begin(client, token, most).status_code == 201
    full = begin(client, token, 1)
    assert (full.status_code, "128 MB" in full.json()["detail"]) == (403, True)
    FileInParts.objects.update(used_at=timezone.now())
    assert begin(client, token, most).status_code == 201


def test_a_full_disk_takes_neither_a_file_nor_a_part(client, token, settings):
    address = begin(client, token)["Location"]
    settings.DISK_RESERVE_MB = 10**9
    assert begin(client, token).status_code == 507
    assert send(client, token, address, 0, CONTENT).status_code == 507


def test_one_part_at_a_time_is_written(client, token):
    address = begin(client, token)["Location"]
    with Path(FileInParts.objects.get().file.path).open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert send(client, token, address, 0, CONTENT).status_code == 423
    assert send(client, token, address, 0, CONTENT).status_code == 204


def test_what_nobody_goes_on_with_is_forgotten_with_its_file(client, token):
    address = begin(client, token)["Location"]
    file = Path(FileInParts.objects.get().file.path)
    assert file.exists()
    parts.forget_expired()
    assert client.head(address, headers=token).status_code == 200
    FileInParts.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert client.head(address, headers=token).status_code == 404
    parts.forget_expired()
    assert not FileInParts.objects.exists() and not file.exists()


@pytest.mark.parametrize(
    ("headers", "status"),
    [({}, 400), ({"Upload-Length": "-1"}, 400), ({"Upload-Length": "9" * 30}, 400),
     ({"Upload-Length": "1", "Upload-Metadata": "filename ä"}, 400),
     ({"Upload-Length": "1", "Tus-Resumable": "0.2.2"}, 412)],
)  # fmt: skip
def test_what_is_no_tus_is_refused_in_words(client, token, headers, status):
    answer = client.post(PARTS, headers={**token, **headers})
    assert answer.status_code == status
    assert client.options(PARTS)["Tus-Version"] == "1.0.0"


def test_benchctl_sends_in_parts_goes_on_where_it_ended_and_leaves_nothing(
    live_server, api_token, monkeypatch, tmp_path, capsys
):
    monkeypatch.setenv("BENCHCTL_SERVER", live_server.url)
    monkeypatch.setenv("BENCHCTL_TOKEN", api_token("read", "upload"))
    monkeypatch.setattr(ctl_parts, "MOST_BYTES", 1000)
    monkeypatch.setattr(ctl_parts, "PART_BYTES", 500)
    file = tmp_path / "run.txt"
    file.write_bytes(PGBENCH * 5)
    send, sent = ctl_api.send, []

    def broken(session, method, url, secret, **more):
        if method != "PATCH":
            return send(session, method, url, secret, **more)
        sent.append(more["headers"]["Upload-Offset"])
        if len(sent) == 3:
            raise KeyboardInterrupt
        answer = send(session, method, url, secret, **more)
        if len(sent) == 5:
            raise requests.ConnectionError
        return answer

    monkeypatch.setattr(ctl_api, "send", broken)
    monkeypatch.setattr(ctl_api, "FIRST_PAUSE_S", 0.0)
    upload = ["upload", str(file), "--hardware", "Lab 3", "--dbms", "PostgreSQL 16.4"]
    assert main(upload) == 130
    assert FileInParts.objects.get().received_bytes == 1000
    assert main(upload) == 0
    # The fourth part's answer was lost: it came again, and the server said how far it was.
    assert sent[:6] == ["0", "500", "1000", "1000", "1500", "1500"]
    assert Run.objects.present().count() == 5
    assert not FileInParts.objects.exists()
    assert "sending run.txt: " in capsys.readouterr().err
