"""Slow clients, large bodies and many tries, against the web server as it is shipped; rate limits on."""

from __future__ import annotations

import re
import select
import shutil
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from benchsite.limits import BODY_BYTES, PARTS
from benchsite.management.commands.web import MOST_CONNECTIONS, SERVER
from scripts.private import environment, manage, web

pytestmark = pytest.mark.attack
PASSWORD = "correct horse battery"
PERSON = f"""
from runs.models import User
User.objects.create_user(username="olga-operator", role="operator", password="{PASSWORD}")
"""
MB = 1024 * 1024
# Before, nothing was answered for 100 s. A busy machine is slow, it is not that slow.
AT_ONCE_S = 20
IDLE_S = SERVER["channel_timeout"] + SERVER["cleanup_interval"]
# More than the buffers of a socket take.
LARGE_BYTES = 20 * MB


@dataclass(frozen=True)
class Attacked:
    url: str
    tmp: Path

    def connect(self, *, receive_buffer: int = 0) -> socket.socket:
        connection = socket.socket()
        if receive_buffer:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.settimeout(60)
        connection.connect((urlsplit(self.url).hostname, urlsplit(self.url).port))
        return connection

    def answers(self) -> None:
        for path in ("/healthz", "/", "/login/", "/healthz"):
            assert requests.get(self.url + path, timeout=AT_ONCE_S).status_code == 200

    def log_in(self, username: str, password: str) -> requests.Response:
        """With a token against forgery of its own making: cookie and field say the same."""
        token = "a" * 32
        form = {"username": username, "password": password, "csrfmiddlewaretoken": token}
        return requests.post(
            f"{self.url}/login/", form, cookies={"csrftoken": token}, allow_redirects=False, timeout=60
        )

    def spooled_bytes(self) -> int:
        """In files that have a name or none, of whoever has TMPDIR open."""
        bytes_now = 0
        for path in (*self.tmp.iterdir(), *Path("/proc").glob("[0-9]*/fd/*")):
            with suppress(OSError):  # closed or deleted meanwhile
                if path.parent == self.tmp or str(path.readlink()).startswith(str(self.tmp)):
                    bytes_now += path.stat().st_size
        return bytes_now


@pytest.fixture(scope="module")
def attacked(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    state, tmp = tmp_path_factory.mktemp("state"), tmp_path_factory.mktemp("tmp")
    env = environment(str(state)) | {"RATE_LIMITS": "1", "TMPDIR": str(tmp)}
    (state / "static").mkdir()
    (state / "static" / "large.bin").write_bytes(bytes(LARGE_BYTES))
    shutil.copy(prepared / "tables.sqlite3", state / "db.sqlite3")
    manage(env, "shell", "-c", PERSON)
    with web(env) as (url, _):
        yield Attacked(url, tmp)


def closed(connections: list[socket.socket], within_s: float) -> int:
    """How many the server has closed."""
    left, deadline = set(connections), time.monotonic() + within_s
    while left and time.monotonic() < deadline:
        for connection in select.select(list(left), [], [], 1)[0]:
            with suppress(ConnectionError):
                if connection.recv(65536):
                    continue
            left.discard(connection)
    return len(connections) - len(left)


UNFINISHED = {
    "nothing": b"",
    "half a header": b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    "half a body": b"POST /login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nusername=",
    "half a chunk": b"POST /login/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n100\r\nuser",
}


# The length takes in what stands behind the last chunk: who goes by it sees one request, who goes by chunks sees two.
SECOND = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
BOTH_LENGTHS = b"".join([
    b"GET /robots.txt HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n",
    b"Content-Length: %d\r\n\r\n0\r\n\r\n" % (len(SECOND) + 5), SECOND,
])  # fmt: skip


def answers_of(connection: socket.socket) -> list[bytes]:
    """First lines of all answers, until the server closes."""
    return re.findall(rb"HTTP/1.1 \d+", b"".join(iter(lambda: connection.recv(65536), b"")))


def test_a_length_beside_chunks_does_not_count(attacked, tries):
    tries()
    with attacked.connect() as connection:
        connection.sendall(BOTH_LENGTHS)
        assert answers_of(connection)[1:] == [b"HTTP/1.1 200"]


def test_unfinished_requests_take_nobodys_place_and_are_closed(attacked, tries):
    slow = []
    for said in UNFINISHED.values():
        for _ in range(40):
            slow.append(attacked.connect())
            slow[-1].sendall(said)
    tries(len(slow))
    attacked.answers()
    assert closed(slow, IDLE_S + 60) == len(slow)


def test_more_connections_than_there_is_room_for_wait_until_idle_ones_are_closed(attacked, tries):
    slow = [attacked.connect() for _ in range(MOST_CONNECTIONS + 100)]
    tries(len(slow))
    assert requests.get(f"{attacked.url}/healthz", timeout=IDLE_S + 60).status_code == 200
    for connection in slow:
        connection.close()


def test_answers_that_nobody_reads_take_no_thread(attacked, tries):
    slow = [attacked.connect(receive_buffer=4096) for _ in range(40)]
    tries(len(slow))
    for connection in slow:
        connection.sendall(b"GET /static/large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
    attacked.answers()
    for connection in slow:
        connection.close()


@pytest.mark.parametrize("path", ["/login/", "/api/v1/results/", "/imports/"])
def test_a_body_larger_than_any_route_takes_is_refused_unread(attacked, tries, path):
    tries()
    connection = attacked.connect()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {BODY_BYTES + 1}\r\n\r\n"
    connection.sendall(head.encode())
    answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 413 ") and PARTS.encode() in answer.partition(b"\r\n\r\n")[2]
    assert attacked.spooled_bytes() < MB


def test_a_chunked_body_is_counted_as_it_comes(attacked, tries):
    tries()
    sent_bytes = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent_bytes
        for _ in range(100):
            yield bytes(MB)
            sent_bytes += MB

    with suppress(requests.ConnectionError):  # it is closed while more is being sent
        assert requests.post(f"{attacked.url}/api/v1/results/", data=pieces(), timeout=60).status_code == 413
    assert sent_bytes < 50 * MB
    assert attacked.spooled_bytes() < MB


def test_of_60_wrong_passwords_at_once_five_are_looked_at(attacked, tries):
    tries(60)
    with ThreadPoolExecutor(60) as threads:
        answers = list(threads.map(lambda _: attacked.log_in("victor-viewer", "wrong password"), range(60)))
    looked_at = [answer for answer in answers if "do not match" in answer.text]
    assert len(looked_at) == 5
    assert {answer.status_code for answer in answers if answer not in looked_at} == {429}


def test_40_wrong_logins_with_made_up_names_do_not_lock_the_operator_out(attacked, tries):
    tries(40)
    with ThreadPoolExecutor(40) as threads:
        list(threads.map(lambda number: attacked.log_in(f"name-{number}", "wrong password"), range(40)))
    begun = time.monotonic()
    while (answer := attacked.log_in("olga-operator", PASSWORD)).status_code == 429:
        assert re.search(r"The next one is looked at in \d s", answer.text)
        assert time.monotonic() - begun < AT_ONCE_S
        time.sleep(int(answer.headers["Retry-After"]))
    assert answer.status_code == 302
