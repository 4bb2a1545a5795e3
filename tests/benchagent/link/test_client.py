from __future__ import annotations

import pytest
from benchagent.link.client import Backoff, Client, InsecureUrl, Refused, Unreachable
from benchagent.protocol import PROTOCOL_VERSION, Poll

from tests.benchagent.fake_server import FakeServer

POLL: Poll = {"protocol": PROTOCOL_VERSION, "agent_version": "0"}


@pytest.mark.parametrize("url", ["http://bench.example.org", "http://192.0.2.7:80", "ftp://localhost", "localhost:80"])
def test_it_refuses_an_address_that_would_show_the_token(url):
    with pytest.raises(InsecureUrl):
        Client(url)


@pytest.mark.parametrize(
    "url", ["https://bench.example.org", "http://127.0.0.1:8000/", "http://localhost:8000", "http://[::1]:8000"]
)
def test_it_accepts_https_and_loopback(url):
    assert Client(url).server == url.rstrip("/")


def test_it_takes_plain_http_to_another_machine_when_told_so():
    assert Client("http://web:8000", plain_http=True).server == "http://web:8000"
    with pytest.raises(InsecureUrl):
        Client("ftp://web:8000", plain_http=True)


def test_it_sends_the_token_in_a_header_even_when_netrc_knows_the_host(server: FakeServer, tmp_path, monkeypatch):
    netrc = tmp_path / "netrc"
    netrc.write_text("default login someone password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    Client(server.url, "agent-token").poll(POLL)
    assert server.requests == [("/poll/", "agent-token")]


def test_it_asks_no_proxy_for_an_address_on_this_machine(server: FakeServer, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert Client(server.url, "agent-token").poll(POLL)["status"] == "approved"


def test_it_calls_a_5xx_and_a_refused_connection_unreachable(server: FakeServer, client: Client):
    server.down = True
    with pytest.raises(Unreachable, match="503"):
        client.poll(POLL)
    server.stop()
    with pytest.raises(Unreachable, match="ConnectionError"):
        client.poll(POLL)
    server.start_again()


def test_it_gives_the_servers_words_when_refused(server: FakeServer, client: Client):
    server.spoken_version = 7
    with pytest.raises(Refused, match="the server speaks 7") as refused:
        client.poll(POLL)
    assert refused.value.status == 426


def test_it_waits_longer_each_time_up_to_the_limit_and_never_the_same():
    backoff = Backoff(first_s=1, limit_s=8)
    waits = [backoff.wait_s() for _ in range(50)]
    assert all(0.5 <= wait <= 8 for wait in waits)
    assert waits[0] <= 1 < max(waits[10:])
    assert len(set(waits[10:])) > 30
    backoff.reset()
    assert backoff.wait_s() <= 1
