"""Guessing passwords gets slower and slower; a right one forgets."""

from __future__ import annotations

import pytest
from django.core.cache import cache

from runs.access import backoff

WHO = {"username": "olga-operator", "address": "10.0.0.1"}


@pytest.fixture(autouse=True)
def empty_cache():
    cache.clear()
    yield
    cache.clear()


def fail(times: int, now: float = 1000.0, **who: str) -> None:
    for _ in range(times):
        backoff.note_failure(**(WHO | who), now=now)


def test_it_lets_a_few_tries_pass_and_then_asks_for_longer_and_longer_waits():
    fail(4)
    assert backoff.wait_s(**WHO, now=1000) == 0
    waits = []
    for _ in range(9):
        fail(1)
        waits.append(backoff.wait_s(**WHO, now=1000))
    assert waits == [10, 20, 40, 80, 160, 320, 640, 900, 900]


def test_the_wait_runs_down():
    fail(5)
    assert [backoff.wait_s(**WHO, now=1000 + s) for s in (0, 9.5, 10, 100)] == [10, 1, 0, 0]


def test_another_name_and_another_address_do_not_wait():
    fail(20)
    assert backoff.wait_s(username="vera", address="10.0.0.1", now=1000) == 0
    assert backoff.wait_s(username="olga-operator", address="10.0.0.2", now=1000) == 0
    assert backoff.wait_s(username="OLGA-operator", address="10.0.0.1", now=1000) == 900


def test_many_names_from_one_address_wait_together():
    for number in range(100):
        fail(1, username=f"name-{number}")
    assert backoff.wait_s(username="fresh", address="10.0.0.1", now=1000) == 10


def test_a_right_password_forgets():
    fail(7)
    backoff.forget(**WHO)
    assert backoff.wait_s(**WHO, now=1000) == 0


@pytest.mark.django_db
def test_the_login_page_says_how_long_to_wait_and_refuses_even_the_right_password(client, operator):
    form = {"username": operator.username, "password": "wrong"}
    for _ in range(5):
        assert client.post("/login/", form).status_code == 200
    refused = client.post("/login/", form | {"password": "correct horse battery"})
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= 10
    assert "Too many wrong tries" in refused.content.decode()
    assert "_auth_user_id" not in client.session
    cache.clear()
    assert client.post("/login/", form | {"password": "correct horse battery"}).status_code == 302
