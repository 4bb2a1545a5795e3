"""Slow clients before the front of the containers: the real Caddy with the file that is shipped."""

from __future__ import annotations

import json
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from benchsite.limits import PARTS
from benchsite.programs import front_config
from scripts.private import environment, manage, web
from tests.attack.test_floods import AT_ONCE_S, BOTH_LENGTHS, UNFINISHED, answers_of, closed
from tests.ops.site import free_port, wait_until

pytestmark = pytest.mark.attack
HEADER_S = 10
BODY_S = 300
MB = 1024 * 1024
TOKEN = "bst_" + "t" * 43
PERSON = f"""
from runs.models import ApiToken, User, digest_secret
owner = User.objects.create_user(username="olga-operator", role="operator", password="correct horse battery")
token, _ = ApiToken.issue(owner=owner, name="front", scopes=("upload",))
ApiToken.objects.update(digest=digest_secret("{TOKEN}"))
"""


def adapted(upstream: str, port: int, data: Path) -> dict[str, Any]:
    """The shipped file as Caddy reads it, moved to a port of its own; with its other timeout a test would last long."""
    config = front_config(site="localhost", web=upstream, listen=[f"127.0.0.1:{port}"], data=data)
    server = config["apps"]["http"]["servers"]["srv0"]
    assert (server["read_header_timeout"], server["read_timeout"]) == (HEADER_S * 10**9, BODY_S * 10**9)
    server["read_timeout"] = 2 * HEADER_S * 10**9
    return config


@pytest.fixture(scope="module")
def front(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int, Path]]:
    """Its address, its port and the authority of its certificate."""
    if shutil.which("caddy") is None:
        pytest.skip("caddy is not installed")
    state, data, port = tmp_path_factory.mktemp("state"), tmp_path_factory.mktemp("caddy"), free_port()
    shutil.copy(prepared / "tables.sqlite3", state / "db.sqlite3")
    manage(environment(str(state)), "shell", "-c", PERSON)
    with web(environment(str(state))) as (url, _):
        (data / "config.json").write_text(json.dumps(adapted(url.removeprefix("http://"), port, data)))
        caddy = subprocess.Popen(
            ["caddy", "run", "--config", str(data / "config.json")], env=os.environ | {"HOME": str(data)}
        )
        authority = data / "pki" / "authorities" / "local" / "root.crt"
        try:
            assert wait_until(lambda: authority.exists() and answers(f"https://localhost:{port}", authority), 60)
            yield f"https://localhost:{port}", port, authority
        finally:
            caddy.terminate()
            caddy.wait(timeout=30)


def answers(url: str, authority: Path) -> bool:
    try:
        return requests.get(f"{url}/healthz", verify=str(authority), timeout=AT_ONCE_S).status_code == 200
    except requests.RequestException:
        return False


def connected(port: int, authority: Path, timeout_s: float | None = None) -> ssl.SSLSocket:
    trusting = ssl.create_default_context(cafile=str(authority))
    return trusting.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout_s), server_hostname="localhost")


@contextmanager
def asking(front: tuple[str, int, Path], path: str, headers: dict[str, str]) -> Iterator[ssl.SSLSocket]:
    """A connection on which a POST is announced."""
    _, port, authority = front
    told = {"Host": f"localhost:{port}", **headers}
    head = "".join([f"POST {path} HTTP/1.1\r\n", *(f"{name}: {value}\r\n" for name, value in told.items()), "\r\n"])
    with connected(port, authority, 60) as connection:
        connection.sendall(head.encode())
        yield connection


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/imports/", {}, 401),
        ("/login/", {"Cookie": "sessionid=x"}, 413),
        ("/imports/", {"Cookie": "sessionid=x"}, 401),
        ("/api/v1/results/", {"Authorization": "Bearer x"}, 401),
        ("/api/agent/v1/register/", {"Authorization": "Bearer x"}, 401),
        ("/api/v1/parts/x/", {"Authorization": f"Bearer {TOKEN}"}, None),
    ],
)
def test_the_front_takes_large_bodies_only_where_the_site_does_and_from_whom_it_knows(
    front, tries, path, headers, status
):
    """Whatever is announced is refused before it comes: here nothing of it does."""
    tries(1)
    with asking(front, path, {"Content-Length": str(20 * MB)} | headers) as connection:
        if status is None:
            connection.settimeout(5)
            with pytest.raises(TimeoutError):
                connection.recv(1)
        else:
            assert connection.recv(65536).startswith(f"HTTP/1.1 {status} ".encode())


def test_the_front_lets_32_mb_through_and_names_the_address_for_more(front, tries):
    url, _, authority = front
    tries(3)
    told = {"headers": {"Authorization": f"Bearer {TOKEN}"}, "verify": str(authority), "timeout": 60}
    begun = requests.post(f"{url}{PARTS}", **told | {"headers": told["headers"] | {"Upload-Length": str(64 * MB)}})
    assert begun.status_code == 201
    part = told["headers"] | {"Upload-Offset": "0", "Content-Type": "application/offset+octet-stream"}
    whole = requests.patch(f"{url}{PARTS}{begun.json()['id']}/", bytes(32 * MB), **told | {"headers": part})
    assert (whole.status_code, whole.headers["Upload-Offset"]) == (204, str(32 * MB))
    announced = told["headers"] | {"Content-Length": str(34 * MB)}
    with asking(front, "/api/v1/imports/", announced) as connection:
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 413 ") and PARTS.encode() in answer


def test_front_and_site_see_the_same_requests_where_a_length_stands_beside_chunks(front, tries):
    tries(1)
    _, port, authority = front
    with connected(port, authority, 60) as connection:
        connection.sendall(BOTH_LENGTHS)
        assert answers_of(connection)[1:] == [b"HTTP/1.1 200"]
    # With a length that alone would pass, as many bytes as alone would not.
    large = b"POST /login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\n"
    with connected(port, authority, 60) as connection:
        connection.sendall(large + b"%x\r\n" % (2 * MB) + bytes(2 * MB) + b"\r\n0\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("what", UNFINISHED)
def test_behind_the_front_60_unfinished_requests_stop_nobody_and_are_closed(front, tries, what):
    url, port, authority = front
    tries(60)
    with ExitStack() as stack:
        slow = []
        for _ in range(60):
            slow.append(stack.enter_context(connected(port, authority)))
            slow[-1].sendall(UNFINISHED[what])
        assert all(answers(url, authority) for _ in range(10))
        assert closed(slow, 2 * HEADER_S + 60) == len(slow)
