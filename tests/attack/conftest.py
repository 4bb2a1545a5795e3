"""Attacks on a running Benchsite and on real engines."""

from __future__ import annotations

import re

import requests

from tests.e2e.conftest import Site, site

__all__ = ["Site", "site"]


def log_in(site: Site, session: requests.Session) -> requests.Response:
    """As the operator."""
    session.get(f"{site.url}/login/", timeout=60)
    form = {"username": site.user, "password": site.password, "csrfmiddlewaretoken": session.cookies["csrftoken"]}
    return session.post(f"{site.url}/login/", data=form, timeout=60, allow_redirects=False)


def token(site: Site, scopes: str) -> str:
    """One of the operator's."""
    with requests.Session() as session:
        assert log_in(site, session).status_code == 302
        form = {"name": f"attack {scopes}", "scopes": scopes.split(","), "lifetime": "never"}
        form["csrfmiddlewaretoken"] = session.cookies["csrftoken"]
        page = session.post(f"{site.url}/account/tokens/", data=form, timeout=60).text
    found = re.search(r"bst_[\w-]{43}", page)
    assert found, page
    return found[0]
