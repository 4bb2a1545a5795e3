"""`make up HOST=…` where other machines are to reach it."""

from __future__ import annotations

import shutil
import ssl
import urllib.error
import urllib.request
from ipaddress import ip_network

import psutil
import pytest

from benchsite.programs import Address, CannotStart, authority, front_config
from benchsite.state import State
from tests.ops.conftest import NewSite

pytestmark = [
    pytest.mark.ops,
    pytest.mark.skipif(shutil.which("caddy") is None, reason="there is no Caddy on this machine"),
]


def an_address() -> str:
    """Of this machine, and not a loopback one."""
    return Address("0.0.0.0", 1, has_tls=True).outside[0]


def test_other_machines_reach_it_over_tls_in_one_step(new_site: NewSite) -> None:
    site = new_site(HOST=an_address())
    url = f"https://{an_address()}:{site.port}"
    assert f"Benchsite  {url}/" in site.up()
    root = authority(State(site.state))
    trusting = ssl.create_default_context(cafile=str(root))
    with urllib.request.urlopen(f"{url}/agents/install.sh", context=trusting, timeout=30) as answer:
        assert f"server='{url}'" in answer.read().decode()
        assert "Strict-Transport-Security" not in answer.headers
    with pytest.raises(urllib.error.URLError, match="certificate"):
        urllib.request.urlopen(url, timeout=30)
    assert site.get("/healthz")[0] == 200
    assert not (site.home / ".step").exists()


def test_it_is_plain_where_a_network_is_named_or_a_proxy_is_there(monkeypatch, settings) -> None:
    monkeypatch.setenv("HOST", an_address())
    assert Address.from_environment().has_tls
    settings.PLAIN_HTTP = [ip_network(an_address())]
    assert not Address.from_environment().has_tls
    monkeypatch.setenv("HOST", "0.0.0.0")
    assert not Address.from_environment().has_tls
    settings.PLAIN_HTTP = [ip_network("198.51.100.0/24")]
    for host in ("0.0.0.0", an_address()):
        monkeypatch.setenv("HOST", host)
        with pytest.raises(CannotStart, match=rf"HOST={host}.*198\.51\.100\.0/24"):
            Address.from_environment()
    settings.PLAIN_HTTP, settings.BEHIND_TLS = [], True
    assert not Address.from_environment().has_tls
    settings.BEHIND_TLS = False
    monkeypatch.setenv("HOST", "127.0.0.1")
    assert not Address.from_environment().has_tls


def test_the_front_listens_beside_the_loopback_address_on_every_other(tmp_path) -> None:
    address = Address("0.0.0.0", 8000, has_tls=True)
    mine = {entry.address for card in psutil.net_if_addrs().values() for entry in card}
    assert address.binds == ["127.0.0.1"]
    assert set(address.outside) <= mine - {"127.0.0.1"}
    config = front_config(site="https://a:8000", web="127.0.0.1:8000", listen=["192.0.2.7:8000"], data=tmp_path)
    (server,) = config["apps"]["http"]["servers"].values()
    assert (server["listen"], config["storage"]["root"]) == (["192.0.2.7:8000"], str(tmp_path))
