from __future__ import annotations

import pytest
from benchagent.dbms.base import JobError
from benchagent.dbms.external.own_schema import Target
from benchagent.dbms.external.server import MARKER, external_server

OURS, THEIRS = "agent-1", "agent-2"
TARGET = Target(external_server("postgresql", "15.3", "own"), "theirs", "own", OURS)


def test_it_makes_a_schema_that_is_not_there_its_own():
    assert TARGET.preparation([], [], None) == [
        "CREATE SCHEMA own",
        f"CREATE TABLE own.{MARKER} (agent_id VARCHAR(64) NOT NULL, made VARCHAR(128))",
        f"INSERT INTO own.{MARKER} (agent_id, made) VALUES ('{OURS}', NULL)",
    ]


def test_it_takes_over_an_empty_schema_and_finds_its_own_again():
    assert TARGET.preparation([["own"]], [], None)[0].startswith("CREATE TABLE")
    assert TARGET.preparation([["own"]], [[MARKER]], [[OURS, None]]) == []
    assert TARGET.preparation([["own"]], [[MARKER]], []) == [
        f"INSERT INTO own.{MARKER} (agent_id, made) VALUES ('{OURS}', NULL)"
    ]


@pytest.mark.parametrize(
    ("objects", "owner", "words"),
    [
        ([["a"]], None, r"holds 1 objects that the agent has not made \(a\)"),
        ([[MARKER], ["a"]], [[OURS, None], [OURS, "b"]], r"not made \(a\)"),
        ([[MARKER]], [[THEIRS, None]], "belongs to another agent"),
        ([[MARKER]], [[OURS, None], [THEIRS, "a"]], "belongs to another agent"),
        ([[MARKER], ["a"]], [], r"not made \(a\)"),
        ([[MARKER], ["function a"]], [[OURS, "a"]], r"not made \(function a\)"),
        ([[MARKER]], [[OURS, None], [OURS, "a; DROP TABLE public.x"]], "was written by somebody else"),
        ([[MARKER]], [[OURS, None], [OURS, "public.x"]], "was written by somebody else"),
    ],
)
def test_it_refuses_what_others_have_made(objects, owner, words: str):
    with pytest.raises(JobError, match=words):
        TARGET.preparation([["own"]], objects, owner)


def test_it_drops_what_it_has_noted_and_is_still_there():
    owner = [[OURS, None], *([OURS, note] for note in ("A", "b", "view:v", "A"))]
    drops, forgotten = TARGET.left(owner, [[MARKER], ["a"], ["v"]])
    assert drops == ["DROP VIEW v", "DROP TABLE A"]
    assert forgotten == [f"DELETE FROM own.{MARKER} WHERE made = '{note}'" for note in ("A", "b", "view:v")]
    assert TARGET.preparation([["own"]], [[MARKER], ["a"], ["v"]], owner) == [*drops, *forgotten]


def test_it_notes_what_a_statement_makes_before_it_is_made():
    statements = ["CREATE TABLE Orders (a INTEGER)", "CREATE INDEX i ON Orders (a)", "CREATE VIEW v AS SELECT 1"]
    found = TARGET.noted(statements)
    assert [found[1], found[2], found[4]] == statements
    notes = [f"INSERT INTO own.{MARKER} (agent_id, made) VALUES ('{OURS}', '{made}')" for made in ("Orders", "view:v")]
    assert [found[0], found[3]] == notes


def test_it_cannot_make_a_schema_of_oracle():
    target = Target(external_server("oracle", "19.3", "own"), "theirs", "own", OURS)
    with pytest.raises(JobError, match="has no schema own, and the agent cannot make one"):
        target.preparation([], [], None)
