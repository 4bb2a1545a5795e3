"""What a header or an address may not do: end a request before anything of ours could answer it."""

from __future__ import annotations

import pytest
from django.test import Client

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
