"""The answers of `/healthz` and `/readyz`, inside one process."""

from __future__ import annotations

import time
from threading import Event

import pytest
import redis
from django.db import OperationalError

from benchsite import health, liveness


class DeadBroker:
    def mget(self, keys):
        raise redis.ConnectionError("connecting to secret.example failed")


class Broker:
    def __init__(self, **alive: bool) -> None:
        self.alive = alive

    def mget(self, keys):
        return [b"1" if self.alive[key.rsplit(":", 1)[1]] else None for key in keys]


@pytest.fixture
def parts_alive(monkeypatch):
    monkeypatch.setattr(liveness, "broker", lambda: Broker(worker=True, beat=True))


def test_healthz_asks_nobody(client):
    """No `db` fixture: a query would be refused."""
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    assert "no-store" in answer["Cache-Control"]


def test_healthz_takes_no_post(client):
    assert client.post("/healthz").status_code == 405


@pytest.mark.django_db(transaction=True)
def test_readyz_is_200_when_every_part_lives(client, parts_alive):
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert answer.json()["parts"] == {"database": "ok", "broker": "ok", "worker": "ok", "beat": "ok"}


@pytest.mark.django_db(transaction=True)
def test_readyz_names_the_silent_part(client, monkeypatch):
    monkeypatch.setattr(liveness, "broker", lambda: Broker(worker=False, beat=True))
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["failing"] == ["worker"]


@pytest.mark.django_db(transaction=True)
def test_readyz_blames_the_broker_alone_and_tells_no_address(client, monkeypatch):
    monkeypatch.setattr(liveness, "broker", DeadBroker)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["failing"] == ["broker"]
    assert answer.json()["parts"]["beat"].startswith("unknown")
    assert "secret.example" not in answer.content.decode()


def test_readyz_reports_a_database_that_refuses(client, monkeypatch, parts_alive):
    def refuse():
        raise OperationalError("password of bob")

    monkeypatch.setattr(health.connection, "cursor", refuse)
    answer = client.get("/readyz")
    assert answer.json()["failing"] == ["database"]
    assert "bob" not in answer.content.decode()


def test_readyz_does_not_hang_with_the_database_and_asks_it_once(client, monkeypatch, parts_alive):
    asked, end = [], Event()

    def hang():
        asked.append(1)
        end.wait(60)
        return "ok"

    monkeypatch.setattr(health, "_ask_database", hang)
    monkeypatch.setattr(health, "DATABASE_TIMEOUT_S", 0.2)
    started = time.monotonic()
    answers = [client.get("/readyz") for _ in range(3)]
    end.set()
    assert [answer.status_code for answer in answers] == [503] * 3
    assert time.monotonic() - started < 30
    assert len(asked) == 1
