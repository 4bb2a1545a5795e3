"""The real JDBC drivers of engines that no registry offers: each is loaded, and says itself that nobody answers."""

from __future__ import annotations

import re
import socket
from pathlib import Path

import pytest
from benchagent.dbms.base import JobError
from benchagent.dbms.embedded import jars
from benchagent.dbms.external.connections import ServerConnection
from benchagent.dbms.external.own_schema import Asker
from benchagent.dbms.external.server import external_server
from benchagent.java import JavaToolchain
from benchagent.machine.process import Children

from tests.benchagent.small import make_no_archives

pytestmark = pytest.mark.engines


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    ("dbms", "version", "url", "words"),
    [
        ("oracle", "19.3", "jdbc:oracle:thin:@//127.0.0.1:{port}/orcl", "ORA-"),
        ("oracle", "11.2", "jdbc:oracle:thin:@//127.0.0.1:{port}/orcl", "The Network Adapter could not establish"),
        ("db2", "11.5", "jdbc:db2://127.0.0.1:{port}/bench", "ERRORCODE=-4499"),
        ("cubrid", "11.3", "jdbc:cubrid:127.0.0.1:{port}:bench:::", r"Cannot connect to a broker\[CAS INFO-"),
    ],
)
def test_it_answers_a_closed_port_with_its_own_error(
    dbms: str,
    version: str,
    url: str,
    words: str,
    toolchain: JavaToolchain,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    make_no_archives(monkeypatch)
    port = closed_port()
    connection = ServerConnection("theirs", dbms, url.format(port=port), "scott", "open-sesame", "own", version)
    server = external_server(dbms, version, "own")
    (tmp_path / "tmp").mkdir()
    children = Children(tmp_path)
    asker = Asker(connection, server, jars(toolchain, dbms, server.driver), toolchain, children, tmp_path)
    with pytest.raises(JobError) as found:
        asker.ask({"one": "SELECT 1"})
    _, prefix, message = str(found.value).partition("connection theirs: ")
    assert prefix
    assert re.search(words, message)
    for secret in ("open-sesame", "127.0.0.1", "scott"):
        assert secret not in message
