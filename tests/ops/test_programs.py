"""Where the embedded default listens, and what it starts."""

from __future__ import annotations

import socket

import pytest

from benchsite import programs
from benchsite.programs import Address, CannotStart
from benchsite.state import State

pytestmark = pytest.mark.ops


def test_it_listens_on_loopback_unless_told_otherwise(monkeypatch):
    monkeypatch.delenv("HOST", raising=False)
    monkeypatch.delenv("PORT", raising=False)
    address = Address.from_environment()
    assert (address.binds, address.url, address.local_url) == (
        ["127.0.0.1"], "http://127.0.0.1:8000", "http://127.0.0.1:8000",
    )  # fmt: skip


@pytest.mark.parametrize("port", ["x", "0", "65536", "-1", "80.5"])
def test_it_refuses_a_port_that_is_none(monkeypatch, port):
    monkeypatch.setenv("PORT", port)
    with pytest.raises(CannotStart, match="PORT must be a number"):
        Address.from_environment()


@pytest.mark.parametrize(
    ("host", "binds", "url", "local_url"),
    [
        ("0.0.0.0", ["0.0.0.0"], "http://127.0.0.1:81", "http://127.0.0.1:81"),
        ("::", ["::"], "http://[::1]:81", "http://[::1]:81"),
        ("::1", ["::1"], "http://[::1]:81", "http://[::1]:81"),
        ("192.0.2.7", ["192.0.2.7", "127.0.0.1"], "http://192.0.2.7:81", "http://127.0.0.1:81"),
    ],
)
def test_it_always_gives_the_local_agent_a_loopback_address(host, binds, url, local_url):
    address = Address(host, 81)
    assert (address.binds, address.url, address.local_url) == (binds, url, local_url)


def test_it_answers_to_the_name_it_was_given(monkeypatch):
    monkeypatch.setenv("ALLOWED_HOSTS", "bench.example")
    assert Address("192.0.2.7", 81).allowed_hosts == ["bench.example", "192.0.2.7"]
    assert socket.gethostname() in Address("0.0.0.0", 81).allowed_hosts


def test_it_says_that_a_port_is_taken():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CannotStart, match=f"port {port} on 127.0.0.1 is taken"):
            Address("127.0.0.1", port).check_free()


@pytest.mark.parametrize("path", ["/srv/bench", "/srv/" + "x" * 200, "/srv/with space", "/srv/50%"])
def test_the_socket_path_is_short_and_plain_whatever_state_is(path, tmp_path):
    socket_path = str(State(tmp_path / path.lstrip("/")).broker_socket)
    assert len(socket_path) < 100
    assert " " not in socket_path
    assert "%" not in socket_path


def test_two_long_states_have_two_sockets():
    one, two = (State(programs.Path("/srv") / ("x" * 200 + end)).broker_socket for end in "ab")
    assert one != two


def test_it_refuses_a_socket_folder_of_somebody_else(tmp_path, monkeypatch):
    folder = tmp_path / "guessed"
    folder.mkdir()
    monkeypatch.setattr(programs.os, "getuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(CannotStart, match="belongs to somebody else"):
        programs.make_socket_folder(folder / "broker.sock")


def test_the_socket_folder_is_private(tmp_path):
    (tmp_path / "broker").mkdir(mode=0o755)
    programs.make_socket_folder(tmp_path / "broker" / "broker.sock")
    assert (tmp_path / "broker").stat().st_mode & 0o777 == 0o700


def test_the_broker_opens_no_port(tmp_path):
    command = programs.broker(State(tmp_path)).command
    assert command[command.index("--port") + 1] == "0"
