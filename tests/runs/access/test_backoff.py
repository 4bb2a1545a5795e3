"""Guessing passwords gets slower and slower; a right one forgets; nobody locks out somebody else."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from runs.access import backoff
from runs.models import LoginTries

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
WHO = {"username": "olga-operator", "address": "10.0.0.1"}


def wait_s(after_s: float = 0, **who: str) -> int:
    """Of one more try; where it need not wait it is a wrong one."""
    return backoff.begin(**(WHO | who), now=NOON + timedelta(seconds=after_s))


def test_it_lets_a_few_tries_pass_and_then_asks_for_longer_and_longer_waits():
    assert [wait_s() for _ in range(5)] == [0] * 5
    waits, after_s = [], 0
    for _ in range(9):
        waits.append(wait_s(after_s))
        after_s += waits[-1]
        assert wait_s(after_s) == 0
    assert waits == [10, 20, 40, 80, 160, 320, 640, 900, 900]


def test_the_wait_runs_down_and_is_not_made_longer_by_asking():
    for _ in range(5):
        wait_s()
    assert [wait_s(s) for s in (0, 9.5, 10)] == [10, 1, 0]


def test_another_name_and_another_address_do_not_wait():
    for _ in range(6):
        wait_s()
    assert wait_s(username="vera") == 0
    assert wait_s(address="10.0.0.2") == 0
    assert wait_s(username="OLGA-operator") == 10


def test_wrong_tries_with_many_names_lock_nobody_out():
    for number in range(108):
        assert wait_s(username=f"name-{number}") == 0
    assert wait_s() == 0


def test_one_name_from_many_addresses_waits_a_minute_at_most():
    for number in range(60):
        wait_s(address=f"10.1.0.{number}")
    assert wait_s(address="10.2.0.1") == 10
    for number in range(60, 90):
        wait_s(after_s=number * 60, address=f"10.1.0.{number}")
    assert 0 < wait_s(after_s=90 * 60 - 59, address="10.2.0.1") <= 60


def test_nobody_locks_a_person_out_of_where_they_have_logged_in_before():
    assert wait_s() == 0
    backoff.succeed(**WHO, now=NOON)
    for number in range(60):
        wait_s(address=f"10.1.0.{number}")
    assert wait_s(address="10.2.0.1") > 0
    assert wait_s() == 0
    assert wait_s(after_s=31 * 86400) == 0, "and the waits of others end"


def test_a_right_password_forgets():
    for _ in range(5):
        wait_s()
    backoff.succeed(**WHO, now=NOON)
    assert wait_s() == 0


def test_an_hour_later_the_count_begins_anew_and_its_rows_go():
    for _ in range(6):
        wait_s()
    assert wait_s(after_s=3601) == 0
    backoff.forget_old(NOON + timedelta(hours=1, seconds=3700))
    assert not LoginTries.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_many_tries_at_once_no_more_pass_than_of_one_after_the_other():
    def begin(_number: int) -> int:
        try:
            return wait_s()
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as threads:
        waits = list(threads.map(begin, range(60)))
    assert waits.count(0) == 5


def test_the_login_page_says_how_long_to_wait_and_refuses_even_the_right_password(client, operator):
    form = {"username": operator.username, "password": "wrong"}
    for _ in range(5):
        assert client.post("/login/", form).status_code == 200
    refused = client.post("/login/", form | {"password": "correct horse battery"})
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= 10
    assert "Too many wrong tries" in refused.content.decode()
    assert "_auth_user_id" not in client.session
    LoginTries.objects.all().delete()
    assert client.post("/login/", form | {"password": "correct horse battery"}).status_code == 302
