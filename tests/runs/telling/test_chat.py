from __future__ import annotations

import socketserver
import threading

import pytest

from runs.models import TellingRule
from runs.telling import chat
from runs.telling.calling import NotReached

TOKEN = "A1BRTD4JD/TIiajkdnl/AoYQhC4tJp6pAZqLNDb5Dxis"
SLACK = f"slack://{TOKEN}/"
RULE = {"name": "nights", "way": "chat", "target": SLACK, "least_percent": "3"}


@pytest.mark.django_db
def test_it_takes_services_at_an_address_of_their_own_and_shows_no_secret(client, operator):
    client.force_login(operator)
    assert client.post("/telling/", RULE).status_code == 302
    assert TellingRule.objects.get().target == SLACK
    page = client.get("/telling/")
    assert [target for _, target, _ in page.context["rules"]] == ["Slack"]
    assert TOKEN not in page.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("target", [
    "json://127.0.0.1/", "jsons://example.org/", "mmosts://10.0.0.1/abc", "syslog://", "https://hooks.slack.com/x",
    f"{SLACK}?verify=no", "slack://x", "zulip://bot@127.0.0.1/abcdefgh", "dbus://", "",
])  # fmt: skip
def test_it_refuses_other_services_and_parameters(client, operator, target):
    client.force_login(operator)
    answer = client.post("/telling/", RULE | {"target": target})
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["target"])
    assert not TellingRule.objects.exists()


def test_it_speaks_https_with_the_service_and_tells_where_that_fails(monkeypatch):
    """Through a proxy of this test, which lets nothing out."""
    asked = []

    class Refusing(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            asked.append(self.rfile.readline().decode().split()[:2])
            self.wfile.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")

    with socketserver.TCPServer(("127.0.0.1", 0), Refusing) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        for name in ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.server_address[1]}")
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(NotReached):
            chat.post(SLACK, "A title", "A text")
        proxy.shutdown()
    assert asked == [["CONNECT", "hooks.slack.com:443"]]
