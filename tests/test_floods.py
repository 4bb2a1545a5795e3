"""Who asks (behind proxies), how much a stranger may ask, and how large what he sends may be."""

from __future__ import annotations

import ipaddress

import pytest
from django.test import RequestFactory
from django.urls import get_resolver, reverse

from benchsite import limits
from benchsite.limits import Allowance, client_address
from benchsite.management.commands.web import connection_limit

MB = 1024 * 1024
TRUSTED = [ipaddress.ip_network(network) for network in ("10.0.0.0/8", "fd00::/8")]


def seen_from(peer: str, **headers: str) -> dict[str, str]:
    request = RequestFactory().get("/", REMOTE_ADDR=peer, headers=headers)
    client_address(lambda request: None)(request)
    return request.META


@pytest.mark.parametrize(
    ("peer", "told", "address"),
    [
        ("10.0.0.1", "198.51.100.7", "198.51.100.7"),
        ("10.0.0.1", "6.6.6.6, 198.51.100.7, 10.0.0.2", "198.51.100.7"),
        ("fd00::1", "2001:db8::7", "2001:db8::7"),
        ("198.51.100.8", "6.6.6.6", "198.51.100.8"),
        ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("10.0.0.1", "", "10.0.0.1"),
    ],
)
def test_the_address_is_told_by_the_header_of_trusted_proxies_only(settings, peer, told, address):
    settings.TRUSTED_PROXIES = TRUSTED
    assert seen_from(peer, **{"X-Forwarded-For": told})["REMOTE_ADDR"] == address


def test_the_header_has_a_name_of_its_own_where_the_proxy_uses_one(settings):
    settings.TRUSTED_PROXIES, settings.CLIENT_ADDRESS_HEADER = TRUSTED, "X-Real-IP"
    told = {"X-Real-IP": "198.51.100.7", "X-Forwarded-For": "6.6.6.6"}
    assert seen_from("10.0.0.1", **told)["REMOTE_ADDR"] == "198.51.100.7"


def test_only_trusted_proxies_say_that_a_request_came_over_tls(settings):
    settings.TRUSTED_PROXIES = TRUSTED
    told = {"X-Forwarded-Proto": "https"}
    assert "HTTP_X_FORWARDED_PROTO" not in seen_from("198.51.100.8", **told)
    assert "HTTP_X_FORWARDED_PROTO" in seen_from("10.0.0.1", **told)
    settings.TRUSTED_PROXIES = []
    assert "HTTP_X_FORWARDED_PROTO" in seen_from("198.51.100.8", **told)


def test_an_allowance_is_a_burst_and_a_rate_for_each_address():
    allowance = Allowance(burst=3, per_s=0.5)
    assert [allowance.wait_s("10.0.0.1", 100) for _ in range(5)] == [0, 0, 0, 2, 2]
    assert allowance.wait_s("10.0.0.2", 100) == 0
    assert [allowance.wait_s("10.0.0.1", now) for now in (102, 102)] == [0, 2]
    assert [allowance.wait_s(f"2001:db8:0:1::{host}", 100) for host in range(4)] == [0, 0, 0, 2]


def test_an_allowance_remembers_a_bounded_number_of_addresses(monkeypatch):
    monkeypatch.setattr(limits, "MOST_ADDRESSES", 10)
    allowance = Allowance(burst=1, per_s=1)
    for number in range(50):
        allowance.wait_s(f"10.0.0.{number}", 100)
    assert len(allowance._spent) == 10


@pytest.fixture
def limited(settings, monkeypatch):
    settings.RATE_LIMITS = True
    monkeypatch.setattr(limits, "STRANGERS", Allowance(5, 0.02))
    monkeypatch.setattr(limits, "PER_ROUTE", {"login": Allowance(2, 0.02)})


@pytest.mark.django_db
def test_a_stranger_who_asks_too_much_is_told_to_wait_and_others_are_not(client, operator, limited):
    assert [client.get("/api/v1/runs/").status_code for _ in range(6)] == [200] * 5 + [429]
    refused = client.get("/api/v1/runs/")
    assert 0 < int(refused["Retry-After"]) <= 50
    assert refused.json()["detail"].startswith("Too many requests came from your address.")
    assert client.get("/runs/").status_code == 429
    assert client.get("/healthz").status_code == 200
    assert client.get("/runs/", REMOTE_ADDR="10.0.0.9").status_code == 200
    client.force_login(operator)
    assert client.get("/runs/").status_code == 200


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("path", "header"),
    [("/runs/", "Bearer x"), ("/runs/", "Basic eDp4"), ("/compare/", "Basic eDp4"), ("/api/v1/runs/", "Basic eDp4")],
)
def test_who_says_something_that_is_no_token_is_a_stranger(client, limited, path, header):
    answers = [client.get(path, headers={"Authorization": header}).status_code for _ in range(6)]
    assert answers == [answers[0]] * 5 + [429]


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/compare/", "/api/v1/runs/", "/api/v1/compare/"])
def test_where_tokens_are_asked_for_a_wrong_one_gets_nothing(client, limited, path):
    wrong = {"Authorization": "Bearer bst_wrong"}
    assert {client.get(path, headers=wrong).status_code for _ in range(8)} == {401}


@pytest.mark.django_db
def test_logins_of_one_address_are_limited_apart(client, operator, limited):
    tries = [client.post("/login/", {"username": f"name-{number}", "password": "x"}) for number in range(3)]
    assert [answer.status_code for answer in tries] == [200, 200, 429]
    right = {"username": operator.username, "password": "correct horse battery"}
    assert client.post("/login/", right, REMOTE_ADDR="10.0.0.9").status_code == 302


@pytest.mark.django_db
def test_nothing_is_limited_by_an_address_that_is_only_the_proxys(client, settings, limited):
    settings.BEHIND_TLS = True
    assert {client.get("/runs/").status_code for _ in range(8)} == {200}


@pytest.mark.parametrize("path", ["/login/", "/", "/api/v1/imports/", "/api/agent/v1/poll/", "/no"])
def test_a_larger_body_is_refused_unread_with_the_address_for_parts(client, path):
    # It says 33 MB and sends nothing: whoever read it would wait or fail.
    size = str(limits.BODY_BYTES + MB)
    answer = client.generic("POST", path, b"", content_type="multipart/form-data; boundary=x", CONTENT_LENGTH=size)
    assert answer.status_code == 413
    told = answer.json()["detail"] if path.startswith("/api/") else answer.content.decode()
    assert "33 MB" in told and limits.PARTS in told
    assert reverse("api-parts") == limits.PARTS


@pytest.mark.parametrize(("free_mb", "connections"), [(100_000, 500), (2_000, 26), (900, 16), (0, 16)])
def test_so_many_connections_are_taken_that_their_bodies_leave_the_reserve_free(settings, free_mb, connections):
    settings.DISK_RESERVE_MB = 200
    assert connection_limit(free_mb * 10**6) == connections


def test_every_route_with_a_limit_of_its_own_exists():
    named = set()

    def walk(patterns):
        for pattern in patterns:
            walk(pattern.url_patterns) if hasattr(pattern, "url_patterns") else named.add(pattern.name)

    walk(get_resolver().url_patterns)
    assert set(limits.PER_ROUTE) <= named
