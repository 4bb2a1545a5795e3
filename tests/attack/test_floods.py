"""Slow clients, large bodies and many tries, against one web worker as it is shipped; rate limits on."""

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

from benchsite.web import PATIENCE_S, SLOWEST_BYTES_PER_S
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
    with web(env, "-c", "python:benchsite.gunicorn_conf", "--worker-tmp-dir", str(state)) as (url, _):
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


def test_unfinished_requests_take_nobodys_place_and_are_closed(attacked, tries):
    slow = []
    for said in UNFINISHED.values():
        for _ in range(40):
            slow.append(attacked.connect())
            slow[-1].sendall(said)
    tries(len(slow))
    attacked.answers()
    assert closed(slow, PATIENCE_S + 60) == len(slow)


def test_a_byte_now_and_then_does_not_keep_a_connection(attacked, tries):
    slow = [attacked.connect() for _ in range(40)]
    tries(len(slow))
    for connection in slow:
        connection.sendall(UNFINISHED["half a header"])
    gone, deadline = 0, time.monotonic() + PATIENCE_S + 60
    while gone < len(slow) and time.monotonic() < deadline:
        attacked.answers()
        time.sleep(1)
        gone = 0
        for connection in slow:
            try:
                connection.sendall(b"x")
            except OSError:
                gone += 1
    assert gone == len(slow)


def test_more_connections_than_there_is_room_for_make_room_for_others(attacked, tries):
    slow = [attacked.connect() for _ in range(700)]
    tries(len(slow))
    attacked.answers()
    for connection in slow:
        connection.close()


def test_answers_that_nobody_reads_take_no_thread_and_are_given_up(attacked, tries):
    slow = [attacked.connect(receive_buffer=4096) for _ in range(40)]
    tries(len(slow))
    for connection in slow:
        connection.sendall(b"GET /static/large.bin HTTP/1.1\r\nHost: localhost\r\n\r\n")
    attacked.answers()
    given_up, deadline = 0, time.monotonic() + LARGE_BYTES / SLOWEST_BYTES_PER_S
    while given_up < len(slow) and time.monotonic() < deadline:
        time.sleep(1)
        given_up = 0
        for connection in slow:
            try:
                connection.sendall(b"x")
            except OSError:
                given_up += 1
    assert given_up == len(slow)


@pytest.mark.parametrize("path", ["/login/", "/api/v1/results/", "/imports/"])
@pytest.mark.parametrize("size_mb", [100, 598])
def test_a_large_body_of_a_stranger_is_refused_before_it_is_kept(attacked, tries, path, size_mb):
    tries()
    connection = attacked.connect()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {size_mb * MB}\r\n\r\n"
    connection.sendall(head.encode())
    piece, most_bytes = bytes(MB), 0
    with suppress(ConnectionError):
        for number in range(size_mb):
            connection.sendall(piece)
            if number % 20 == 0:
                most_bytes = max(most_bytes, attacked.spooled_bytes())
    assert most_bytes < MB
    if size_mb == 100:
        answer = connection.recv(65536)
        assert answer.startswith(b"HTTP/1.1 413 ")
        assert b"close" in answer


def test_a_chunked_body_is_counted_as_it_comes(attacked, tries):
    tries()

    def pieces() -> Iterator[bytes]:
        for _ in range(50):
            yield bytes(MB)

    answer = requests.post(f"{attacked.url}/api/v1/results/", data=pieces(), timeout=60)
    assert answer.status_code == 413
    assert "at most 1 MB" in answer.json()["detail"]
    assert attacked.spooled_bytes() < MB


def test_of_60_wrong_passwords_at_once_five_are_looked_at(attacked, tries):
    tries(60)
    with ThreadPoolExecutor(60) as threads:
        answers = list(threads.map(lambda _: attacked.log_in("victor-viewer", "wrong password"), range(60)))
    looked_at = [answer for answer in answers if "do not match" in answer.text]
    assert len(looked_at) == 5
    assert {answer.status_code for answer in answers if answer not in looked_at} == {429}


def test_108_wrong_logins_with_made_up_names_do_not_lock_the_operator_out(attacked, tries):
    tries(108)
    with ThreadPoolExecutor(36) as threads:
        list(threads.map(lambda number: attacked.log_in(f"name-{number}", "wrong password"), range(108)))
    begun = time.monotonic()
    while (answer := attacked.log_in("olga-operator", PASSWORD)).status_code == 429:
        assert re.search(r"The next one is looked at in \d s", answer.text)
        assert time.monotonic() - begun < AT_ONCE_S
        time.sleep(int(answer.headers["Retry-After"]))
    assert answer.status_code == 302
