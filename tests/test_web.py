"""The web server: waitress as it comes, told where to listen."""

from __future__ import annotations

import signal

import pytest
from django.core.management import call_command
from django.db import connections
from django.urls import clear_url_caches, get_resolver

from benchsite.wsgi import application

pytestmark = pytest.mark.django_db


@pytest.fixture
def served(monkeypatch):
    """What the server is started with; this process serves nothing and keeps its own answer to SIGTERM."""
    given = {}
    monkeypatch.setattr("waitress.serve", lambda application, **settings: given.update(settings, of=application))
    monkeypatch.setattr("benchsite.management.commands.web.end_on_other_tables", lambda: None)
    monkeypatch.setitem(connections.settings["default"]["OPTIONS"], "timeout", 20)
    before = signal.getsignal(signal.SIGTERM)
    clear_url_caches()
    call_command("web", listen=["127.0.0.1:81", "[::1]:81"])
    yield given
    signal.signal(signal.SIGTERM, before)


def test_it_serves_the_site_at_every_address(served):
    assert (served["of"], served["listen"]) == (application, "127.0.0.1:81 [::1]:81")


def test_every_page_is_loaded_before_the_first_request(served):
    """The first request would take half a second for it, while others wait."""
    assert get_resolver()._populated


@pytest.mark.any_database  # the lock is SQLite's
def test_its_connections_wait_5_s_for_the_write_lock_of_sqlite(served):
    """Those of other programs wait longer: no request holds a thread there."""
    assert connections.create_connection("default").get_connection_params()["timeout"] == 5
