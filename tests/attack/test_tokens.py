"""A token reaches what its scopes say and nothing more, over the wire."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import requests

from tests.attack.conftest import Site, token

pytestmark = pytest.mark.attack

# What makes somebody an administrator, or a machine an agent.
TAKEOVERS = [
    ("GET", "/people/"),
    ("POST", "/people/"),
    ("POST", "/account/tokens/"),
    ("POST", "/account/password/"),
    ("POST", "/agents/code/"),
    ("POST", "/agents/local/approve/"),
    ("POST", "/publications/import/"),
    ("POST", "/publications/gbak-backup-2007/delete/"),
]
SCOPES = ["read", "upload", "schedule", "read,upload,schedule", "agent"]


@pytest.fixture(scope="module")
def tokens(site: Site) -> dict[str, str]:
    return {scopes: token(site, scopes) for scopes in SCOPES}


@pytest.mark.parametrize("scopes", SCOPES)
def test_a_token_opens_no_page_that_gives_power(site: Site, tokens, tries: Callable[[int], None], scopes: str):
    headers = {"Authorization": f"Bearer {tokens[scopes]}"}
    for method, path in TAKEOVERS:
        answer = requests.request(method, site.url + path, headers=headers, allow_redirects=False, timeout=60)
        to_login = "/login/" in answer.headers.get("Location", "")
        assert (answer.status_code, to_login) in ((302, True), (403, False)), path
    tries(len(TAKEOVERS))


def test_only_the_scope_agent_makes_codes_for_agents(site: Site, tokens, tries: Callable[[int], None]):
    for scopes, secret in tokens.items():
        headers = {"Authorization": f"Bearer {secret}"}
        answer = requests.post(f"{site.url}/api/v1/agents/enrolment-codes/", headers=headers, timeout=60)
        assert (answer.status_code == 201) == (scopes == "agent"), (scopes, answer.text)
    tries(len(SCOPES))
