from __future__ import annotations

import pytest
from benchagent.connections import ServerConnection
from benchagent.dbms.base import JobError
from benchagent.dbms.external.secrets import Scrubber
from benchagent.dbms.external.side import MARKER, side_of
from benchagent.dbms.external.space import host_of, is_this_machine, shortage
from benchagent.dbms.external.target import Target

OURS, THEIRS = "agent-1", "agent-2"
TARGET = Target(side_of("postgresql", "15.3", "own"), "theirs", "own", OURS)


def test_it_makes_a_schema_that_is_not_there_its_own():
    assert TARGET.preparation([], [], None) == [
        "CREATE SCHEMA own",
        f"CREATE TABLE own.{MARKER} (agent_id VARCHAR(64) NOT NULL, made VARCHAR(128))",
        f"INSERT INTO own.{MARKER} (agent_id, made) VALUES ('{OURS}', NULL)",
    ]


def test_it_takes_over_an_empty_schema_and_finds_its_own_again():
    assert TARGET.preparation([["own"]], [], None)[0].startswith("CREATE TABLE")
    assert TARGET.preparation([["own"]], [[MARKER]], [[OURS, None]]) == []


@pytest.mark.parametrize(
    ("objects", "owner", "words"),
    [
        ([["a"]], None, r"holds 1 tables or views that the agent has not made \(a\)"),
        ([[MARKER], ["a"]], [[OURS, None], [OURS, "b"]], r"not made \(a\)"),
        ([[MARKER]], [[THEIRS, None]], "belongs to another agent"),
        ([[MARKER]], [[OURS, None], [THEIRS, "a"]], "belongs to another agent"),
    ],
)
def test_it_refuses_what_others_have_made(objects, owner, words: str):
    with pytest.raises(JobError, match=words):
        TARGET.preparation([["own"]], objects, owner)


def test_it_drops_what_it_has_noted_and_is_still_there():
    found = TARGET.preparation([["own"]], [[MARKER], ["a"]], [[OURS, None], [OURS, "a"], [OURS, "b"]])
    notes = [f"DELETE FROM own.{MARKER} WHERE made = '{table}'" for table in "ab"]
    assert found == ["DROP TABLE a", *notes]


def test_it_cannot_make_a_schema_of_oracle():
    target = Target(side_of("oracle", "19.3", "own"), "theirs", "own", OURS)
    with pytest.raises(JobError, match="has no schema own, and the agent cannot make one"):
        target.preparation([], [], None)


def test_it_takes_names_and_passwords_out_of_what_a_driver_says():
    url = "jdbc:postgresql://db.example:5433/shop"
    scrub = Scrubber(ServerConnection("theirs", "postgresql", url, "ann", "open-sesame", "own"))
    said = 'Connection to db.example:5433 refused for user "ann", annual: open-sesame'
    assert scrub.text(said) == 'Connection to [theirs]:5433 refused for user "[theirs]", annual: [theirs]'
    event = {"event": "summary", "dead_terminals": [{"terminal": 1, "error": "ann at db.example"}]}
    assert scrub.event(event)["dead_terminals"] == [{"terminal": 1, "error": "[theirs] at [theirs]"}]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("jdbc:postgresql://db.example:5432/x", "db.example"),
        ("jdbc:mysql://[::1]:3306/", "::1"),
        ("jdbc:oracle:thin:@db.example:1521:orcl", "db.example"),
        ("jdbc:oracle:thin:@//db.example:1521/orcl", "db.example"),
        ("jdbc:cubrid:db.example:33000:demodb:::", "db.example"),
        ("jdbc:h2:mem:x", ""),
    ],
)
def test_it_finds_the_host_in_an_url(url: str, host: str):
    assert host_of(url) == host


def test_it_knows_whether_a_server_is_this_machine():
    assert is_this_machine("jdbc:postgresql://127.0.0.1:5432/x")
    assert not is_this_machine("jdbc:postgresql://192.0.2.1:5432/x")
    assert not is_this_machine("jdbc:h2:mem:x")


@pytest.mark.parametrize(
    ("free", "total", "words"),
    [
        (4e9, 1e10, "4.0 GB of space are left"),
        (6e9, 1e12, "0.6 % of the server's space"),
        (5e11, 1e12, ""),
        (6e9, 0, ""),
    ],
)
def test_it_wants_5_gb_and_10_percent_of_the_servers_space(free: float, total: float, words: str):
    found = shortage(free, total)
    assert words in found
    assert bool(found) == bool(words)
