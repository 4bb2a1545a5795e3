"""What every page has: the bar, the login, errors, and a strict content policy."""

from __future__ import annotations

import re

import pytest
from django.template.loader import render_to_string
from django.test import Client

PAGES = ["/", "/runs/", "/compare/", "/publications/", "/agents/", "/login/"]


@pytest.mark.django_db
@pytest.mark.parametrize("path", PAGES)
def test_it_needs_nothing_inline_and_nothing_from_elsewhere(client, path):
    response = client.get(path)
    assert response.status_code == 200
    html = response.content.decode()
    assert "default-src 'self'" in response["Content-Security-Policy"]
    assert not re.search(r"<style|\sstyle=|\son[a-z]+=|hx-on|javascript:", html)
    assert not re.search(r"<script(?![^>]*(src=|type=\"application/json\"))", html)
    assert not re.search(r'(src|href)="(https?:)?//', html)


@pytest.mark.django_db
@pytest.mark.parametrize("path", PAGES)
def test_it_has_the_bar_with_the_page_marked_and_a_way_past_it(client, path):
    html = client.get(path).content.decode()
    for name in ("Runs", "Compare", "Publications", "Agents", "Schedule", "Log in"):
        assert f">{name}</a>" in html
    assert 'href="#main"' in html
    assert html.count('aria-current="page"') == (0 if path in ("/", "/login/") else 1)
    assert html.count("<h1") == 1


@pytest.mark.django_db
def test_it_logs_in_goes_on_and_logs_out(client, operator):
    wrong = client.post("/login/", {"username": operator.username, "password": "wrong"})
    assert "do not match" in wrong.content.decode()
    form = {"username": operator.username, "password": "correct horse battery", "next": "/runs/"}
    assert client.post("/login/", form)["Location"] == "/runs/"
    assert "Log out" in client.get("/").content.decode()
    client.post("/logout/")
    assert "Log in" in client.get("/").content.decode()


@pytest.mark.django_db
def test_the_login_leads_back_to_the_page(client):
    assert 'href="/login/?next=/runs/%3Fq%3Dx"' in client.get("/runs/?q=x").content.decode()


@pytest.mark.django_db
def test_a_page_that_is_not_there_says_so_in_the_same_frame(client):
    response = client.get("/no-such-page/")
    assert response.status_code == 404
    assert "There is no such page" in response.content.decode()


@pytest.mark.django_db
def test_an_expired_form_says_what_to_do(operator):
    client = Client(enforce_csrf_checks=True)
    response = client.post("/login/", {"username": "x", "password": "y"})
    assert response.status_code == 403
    assert "The form has expired" in response.content.decode()


def test_the_last_error_page_needs_nothing():
    assert "Something went wrong" in render_to_string("error.html", {"heading": "Something went wrong"})
