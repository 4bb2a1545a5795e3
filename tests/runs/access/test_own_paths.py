"""No answer leads to another site, and no form or base that is smuggled into a page does."""

from __future__ import annotations

import pytest
import yaml
from django.test import Client

from runs.views.guards import page_before
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.django_db

ELSEWHERE = [
    "https://evil.example/", "//evil.example/", "///evil.example/", "/\\evil.example/", "\\\\evil.example/",
    "https:evil.example",
    "http:///evil.example", "javascript:alert(1)", "data:text/html,x", " //evil.example/", "/\t/evil.example/",
    "http://testserver@evil.example/", "http://testserver.evil.example/", "http://testserver//evil.example/",
    "http://testserver/\\evil.example/", "http://testserver\\@evil.example/",
]  # fmt: skip
PASSWORD = "correct horse battery"


def is_own(address: str) -> bool:
    if address.startswith("http://testserver/"):
        return True
    return address.startswith("/") and not address.startswith(("//", "/\\"))


def login(client, operator, address):
    return client.post("/login/", {"username": operator.username, "password": PASSWORD, "next": address})


def logout(client, operator, address):
    client.force_login(operator)
    return client.post("/logout/", {"next": address})


def form_of_a_stranger(client, operator, address):
    return client.post("/hardware/new/", {}, headers={"Referer": address})


def part_of_a_page(client, operator, address):
    return client.get("/agents/", headers={"HX-Request": "true", "HX-Current-URL": address})


@pytest.mark.parametrize("address", ELSEWHERE)
@pytest.mark.parametrize("ask", [login, logout, form_of_a_stranger, part_of_a_page])
def test_it_leads_to_own_paths_only(client, operator, settings, ask, address):
    settings.PUBLIC_READ = ask is not part_of_a_page
    answer = ask(client, operator, address)
    target = answer.headers.get("HX-Redirect") or answer["Location"]
    assert is_own(target)
    if "next=" in target:
        following = client.get(target).context["next"]
        assert not following or is_own(following)
        end = client.post(target, {"username": operator.username, "password": PASSWORD})
        assert is_own(end["Location"])


@pytest.mark.parametrize("address", ELSEWHERE)
def test_the_way_back_from_a_form_is_an_own_path(rf, address):
    """Also where no login comes between, which looks at its own way on."""
    assert is_own(page_before(rf.post("/", headers={"Referer": address})))


def test_own_paths_are_kept(client, operator):
    assert login(client, operator, "/runs/?q=x")["Location"] == "/runs/?q=x"
    answer = form_of_a_stranger(Client(), operator, "http://testserver/hardware/?q=a%20b")
    assert answer["Location"] == "/login/?next=/hardware/%3Fq%3Da%2520b"


@pytest.mark.parametrize("path", ["/", "/login/", "/embed/compare/", "/api/v1/runs/", "/nowhere/"])
def test_the_policy_ties_forms_and_bases_to_this_site(client, path):
    policy = client.get(path)["Content-Security-Policy"]
    assert "form-action 'self'" in policy
    assert "base-uri 'none'" in policy


def test_containers_listen_on_loopback_unless_told_otherwise():
    services = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())["services"]
    published = {name: service["ports"] for name, service in services.items() if service.get("ports")}
    # Who asks for the front of TLS asks for everybody.
    assert services["tls"]["profiles"] == ["tls"]
    assert published.pop("tls") == ["${HTTP_PORT:-80}:80", "${HTTPS_PORT:-443}:443"]
    assert published == {"web": ["${HOST:-127.0.0.1}:${PORT:-8000}:8000"]}
