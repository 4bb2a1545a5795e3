"""Slow clients before the front of the containers: the real Caddy with the file that is shipped."""

from __future__ import annotations

import json
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import requests

from scripts.private import environment, web
from tests.attack.test_floods import AT_ONCE_S, UNFINISHED, closed
from tests.conftest import REPOSITORY
from tests.ops.site import free_port, wait_until

pytestmark = pytest.mark.attack
HEADER_S = 10
BODY_S = 300


def adapted(upstream: str, port: int, data: Path) -> dict[str, Any]:
    """The shipped file as Caddy reads it, moved to a port of its own; with its other timeout a test would last long."""
    told = os.environ | {"SITE": "localhost", "TLS": "internal", "WEB": upstream}
    command = ["caddy", "adapt", "--config", "Caddyfile", "--adapter", "caddyfile"]
    config = json.loads(subprocess.run(command, cwd=REPOSITORY, env=told, check=True, capture_output=True).stdout)
    server = config["apps"]["http"]["servers"]["srv0"]
    assert (server["read_header_timeout"], server["read_timeout"]) == (HEADER_S * 10**9, BODY_S * 10**9)
    server |= {"listen": [f"127.0.0.1:{port}"], "read_timeout": 2 * HEADER_S * 10**9}
    server["automatic_https"] = {"disable_redirects": True}
    config["apps"]["pki"] = {"certificate_authorities": {"local": {"install_trust": False}}}
    return {"admin": {"disabled": True}, "storage": {"module": "file_system", "root": str(data)}, **config}


@pytest.fixture(scope="module")
def front(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int, Path]]:
    """Its address, its port and the authority of its certificate."""
    if shutil.which("caddy") is None:
        pytest.skip("caddy is not installed")
    state, data, port = tmp_path_factory.mktemp("state"), tmp_path_factory.mktemp("caddy"), free_port()
    shutil.copy(prepared / "tables.sqlite3", state / "db.sqlite3")
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


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/imports/", {}, 413),
        ("/login/", {"Cookie": "sessionid=x"}, 413),
        ("/api/v1/results/", {}, 413),
        # Whether the token is a good one is asked by the site, once all is there.
        ("/api/v1/results/", {"Authorization": "Bearer x"}, None),
    ],
)
def test_the_front_takes_large_bodies_only_where_and_from_whom_the_site_does(front, tries, path, headers, status):
    """Whatever is announced is refused before it comes: here nothing of it does."""
    _, port, authority = front
    trusting = ssl.create_default_context(cafile=str(authority))
    tries(1)
    told = {"Host": f"localhost:{port}", "Content-Length": str(20 * 1024**2), **headers}
    head = "".join([f"POST {path} HTTP/1.1\r\n", *(f"{name}: {value}\r\n" for name, value in told.items()), "\r\n"])
    with (
        socket.create_connection(("127.0.0.1", port), timeout=5) as plain,
        trusting.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        connection.sendall(head.encode())
        if status is None:
            with pytest.raises(TimeoutError):
                connection.recv(1)
        else:
            assert connection.recv(65536).startswith(f"HTTP/1.1 {status} ".encode())


@pytest.mark.parametrize("what", UNFINISHED)
def test_behind_the_front_60_unfinished_requests_stop_nobody_and_are_closed(front, tries, what):
    url, port, authority = front
    trusting = ssl.create_default_context(cafile=str(authority))
    tries(60)
    with ExitStack() as stack:
        slow = []
        for _ in range(60):
            plain = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            slow.append(stack.enter_context(trusting.wrap_socket(plain, server_hostname="localhost")))
            slow[-1].sendall(UNFINISHED[what])
        assert all(answers(url, authority) for _ in range(10))
        assert closed(slow, 2 * HEADER_S + 60) == len(slow)
