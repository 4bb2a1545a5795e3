from __future__ import annotations

import pytest
from benchagent.dbms.base import JobError
from benchagent.dbms.external.side import MARKER, side_of
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
