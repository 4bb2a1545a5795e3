from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from benchagent.dbms.external import discover
from benchagent.dbms.external.connections import (
    FILE_NAME,
    Connections,
    ConnectionsError,
    ServerConnection,
    from_answers,
)

GOOD = {"url": "jdbc:postgresql://db.example/x", "user": "ann", "password": "open-sesame", "schema": "bench_own"}


def made(name: str = "theirs") -> ServerConnection:
    return from_answers(name, "postgresql", GOOD)


def test_it_keeps_connections_in_a_file_for_its_owner_only(tmp_path: Path):
    connections = Connections(tmp_path)
    assert connections.listed() == []
    connections.add(made())
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600
    connections.note_version("theirs", "15.3")
    assert (connections.get("theirs").password, connections.get("theirs").version) == ("open-sesame", "15.3")
    connections.remove("theirs")
    with pytest.raises(ConnectionsError, match="no connection 'theirs'"):
        connections.get("theirs")


def test_the_form_offers_a_connection_once_it_was_checked(tmp_path: Path):
    connections = Connections(tmp_path)
    connections.add(made())
    (offered,) = discover(tmp_path)
    assert (offered["available"], offered["reason"]) == (
        False, "not checked yet: benchagent connections check theirs",
    )  # fmt: skip
    connections.note_version("theirs", "15.3")
    (offered,) = discover(tmp_path)
    assert (offered["available"], offered["reason"], offered["version"]) == (True, "", "15.3")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_it_refuses_a_file_that_others_can_read(mode: int, tmp_path: Path):
    Connections(tmp_path).add(made())
    (tmp_path / FILE_NAME).chmod(mode)
    with pytest.raises(ConnectionsError, match=f"has mode {mode:04o}.* has to have 0600"):
        Connections(tmp_path).listed()


@pytest.mark.parametrize("content", ["{", "[]", '{"connections": [{"name": "open-sesame"}]}'])
def test_it_says_that_the_file_is_broken_and_nothing_of_what_is_in_it(content: str, tmp_path: Path):
    path = tmp_path / FILE_NAME
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(ConnectionsError, match="cannot be read") as found:
        Connections(tmp_path).listed()
    assert "open-sesame" not in str(found.value)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"url": ""}, "url is missing"),
        ({"schema": " "}, "schema is missing"),
        ({"url": "postgresql://db.example/x"}, "url has to be a JDBC URL"),
        ({"url": "jdbc:postgresql://db.example/x?password=secret"}, "password has a field of its own"),
        ({"url": "jdbc:mysql://ann:secret@db.example/x"}, "password has a field of its own"),
        ({"url": "jdbc:oracle:thin:ann/secret@db.example:1521:x"}, "password has a field of its own, not the url"),
        ({"url": "jdbc:cubrid:db.example:33000:x:ann:secret:"}, "password has a field of its own, not the url"),
        ({"schema": "a; DROP TABLE b"}, "schema has to be a plain name"),
        ({"host": "x"}, "host is not known"),
    ],
)
def test_it_names_the_field_that_is_wrong_and_shows_no_value(changes: dict[str, str], words: str):
    with pytest.raises(ConnectionsError, match=words) as found:
        from_answers("theirs", "postgresql", {**GOOD, **changes})
    assert "db.example" not in str(found.value)
    assert "secret" not in str(found.value)


@pytest.mark.parametrize(
    "url",
    [
        "jdbc:oracle:thin:/@shop",
        "jdbc:oracle:thin:@//db.example:1521/x",
        "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=db/1)))",
        "jdbc:cubrid:db.example:33000:x:ann::?charset=utf-8",
        "jdbc:cubrid:db.example:33000:x:::",
    ],
)
def test_it_takes_an_url_without_a_password(url: str):
    assert from_answers("theirs", "oracle", {**GOOD, "url": url}).url == url


def test_it_knows_a_schema_by_the_name_that_the_catalogue_of_the_engine_shows(tmp_path: Path):
    Connections(tmp_path).add(from_answers("theirs", "postgresql", {**GOOD, "schema": "Bench_Own"}))
    assert Connections(tmp_path).get("theirs").schema == "bench_own"
    assert from_answers("theirs", "mysql", {**GOOD, "schema": "Bench_Own"}).schema == "Bench_Own"


def test_it_has_each_name_once(tmp_path: Path):
    Connections(tmp_path).add(made())
    with pytest.raises(ConnectionsError, match="there is a connection 'theirs' already"):
        Connections(tmp_path).add(made())
    with pytest.raises(ConnectionsError, match="is no name"):
        made("a b")
    assert len(json.loads((tmp_path / FILE_NAME).read_text())["connections"]) == 1
