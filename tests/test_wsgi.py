"""What a header or an address may not do: end a request before anything of ours could answer it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.core.signals import request_started
from django.db import OperationalError, connection
from django.test import Client, RequestFactory
from django.test.client import MULTIPART_CONTENT

from benchsite import wsgi
from runs.models import Annotation, Metric, Run
from runs.results import editing
from tests.runs.builders import document, store_upload
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db
MANY = "&".join(f"f{number}=1" for number in range(settings.DATA_UPLOAD_MAX_NUMBER_FIELDS + 1))


@pytest.mark.parametrize(
    ("content_type", "query", "status"),
    [
        ("text/plain; charset=nonsense", "", 200),
        ("text/plain; charset=\x00", "", 200),
        ("text/plain; charset=idna", "%ff=%", 400),
        ("text/plain; charset=utf-8", MANY, 400),
        ("text/plain", MANY, 400),
        ("text/plain; charset=utf-8", "q=%C3%A4", 200),
    ],
)
def test_no_charset_and_no_number_of_fields_is_an_error_of_the_server(content_type, query, status, monkeypatch):
    assert wsgi.application.request_class is wsgi.Request
    monkeypatch.setattr("django.test.client.WSGIRequest", wsgi.Request)
    answer = Client().generic("GET", "/dbms/", content_type=content_type, QUERY_STRING=query, CONTENT_TYPE=content_type)
    assert answer.status_code == status


@pytest.mark.parametrize(
    ("content_type", "path", "status"),
    [
        ("application/x-www-form-urlencoded; charset=utf-7", "/login/", 400),
        ("multipart/form-data; boundary=", "/login/", 400),
        ("application/x-www-form-urlencoded; charset=utf-7", "/nothing/there/", 404),
        ("multipart/form-data; boundary=", "/nothing/there/", 404),
        ("multipart/form-data", "/nothing/there/", 404),
    ],
)
def test_a_form_that_cannot_be_read_is_no_error_of_the_server(content_type, path, status, monkeypatch):
    """Pages of errors looked for the form's token in it once more."""
    monkeypatch.setattr("django.test.client.WSGIRequest", wsgi.Request)
    client = Client(enforce_csrf_checks=True, raise_request_exception=False)
    client.cookies["csrftoken"] = "c" * 32
    answer = client.generic("POST", path, b"value=+1", content_type=content_type)
    assert answer.status_code == status
    words = "This request cannot be read" if status == 400 else "There is no such page"
    assert words in answer.content.decode() and "Agents keep" not in answer.content.decode()


@contextmanager
def vanishing() -> Iterator[list[str]]:
    """All runs go before metrics are asked for, once. -> that query."""
    asked: list[str] = []

    def vanish(execute, sql, *given):
        if sql.startswith("SELECT") and 'FROM "runs_metric"' in sql and not asked:
            asked.append(sql)
            Run.objects.all().delete()
            Metric.objects.all().delete()
        return execute(sql, *given)

    with connection.execute_wrapper(vanish):
        yield asked


def test_what_vanishes_between_two_queries_of_a_page_is_read_once_more(client):
    """It was a 500: the measurements of a run were read, and then the metric of one was gone."""
    store_upload(document=document(id=str(uuid.UUID(int=1))))
    with vanishing() as asked:
        answer = client.get("/api/v1/runs/")
    assert (answer.status_code, answer.json()["count"], len(asked)) == (200, 0, 1)


def test_what_is_sent_about_runs_that_vanish_meanwhile_finds_none(client, contributor):
    store_upload(document=document(id=str(uuid.UUID(int=1))))
    client.force_login(contributor)
    run = str(Run.objects.earliest("repeat").pk)
    with vanishing() as asked:
        answer = client.post("/api/v1/gate/", {"runs": [run], "base": [run]}, content_type="application/json")
    assert (answer.status_code, len(asked)) == (404, 1)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("path", ["/runs/{}/annotations/", "/api/v1/runs/{}/annotations/"])
def test_what_is_noted_at_a_run_that_is_purged_meanwhile_finds_none(client, contributor, monkeypatch, path):
    def purge(*, target: Run, **_: object) -> None:
        """As if the run had gone: its note names one that is not there."""
        Annotation.objects.filter(run=target).update(run=uuid.uuid4())

    run = make_run("Alpha 1", 5, owner=contributor)
    monkeypatch.setattr(editing.changes, "record", purge)
    client.force_login(contributor)
    content_type = "application/json" if "api" in path else MULTIPART_CONTENT
    answer = client.post(path.format(run.pk), {"at_s": 1, "text": "x"}, content_type=content_type)
    assert (answer.status_code, Annotation.objects.count()) == (404, 0)


@pytest.mark.parametrize(("path", "kind"), [("/api/v1/runs/", "application/json"), ("/runs/", "text/html")])
def test_a_database_that_goes_away_while_a_request_begins_is_503(path, kind, caplog, monkeypatch):
    """Before Django catches anything: it was a bare 500 of the web server."""

    def broken(**_):
        raise OperationalError("consuming input failed")

    told: dict[int, Any] = {}
    monkeypatch.setattr(wsgi, "connection", SimpleNamespace(connection="broken"))
    request_started.connect(broken)
    try:
        answer = wsgi.application(RequestFactory().get(path).environ, lambda *given: told.update(enumerate(given)))
    finally:
        request_started.disconnect(broken)
    assert told[0] == "503 Service Unavailable"
    assert dict(told[1])["Retry-After"] == "5" and dict(told[1])["Content-Type"].startswith(kind)
    assert b"The database does not answer" in b"".join(answer)
    assert "consuming input failed" in caplog.text and wsgi.connection.connection is None
