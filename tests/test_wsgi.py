"""What a header or an address may not do: end a request before anything of ours could answer it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.core.signals import request_started
from django.db import OperationalError
from django.test import Client, RequestFactory

from benchsite import wsgi

pytestmark = pytest.mark.django_db
MANY = "&".join(f"f{number}=1" for number in range(1_001))


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
