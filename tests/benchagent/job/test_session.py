"""The document of a session, as the load generator gets it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from benchagent.catalog import Durability
from benchagent.dbms import probes
from benchagent.dbms.base import ConfigurationRefused, Connection, Guest, Instance, JobError, Retryable, Transaction
from benchagent.dbms.counters import EngineCounters, QueryRows
from benchagent.job.session import changes, require_end, session_job, watched
from benchagent.workloads.base import SessionResult

LOOK, CHANGE = {"name": "look", "weight": 1}, {"name": "change", "weight": 2}
RUN = {"op": "run", "phase": "run", "terminals": 2, "transactions": [LOOK, CHANGE]}


class Told(EngineCounters):
    waiting = {"now": "SELECT waits"}
    growing = {"checkpoints": "SELECT checkpoints"}

    def counter_queries(self) -> Mapping[str, str]:
        return {"all": "SELECT counters"}

    def schema_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        return {"sizes": f"SELECT sizes OF {', '.join(tables)}"}

    def maintenance_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        return {"ages": "SELECT ages"}


class MadeUp(Instance):
    retryable = Retryable(sqlstates=("40001",))
    transaction = Transaction(begin="BEGIN")
    session_sql = ("SET a = 1",)
    setup_sql = ("CREATE ROLE r",)
    close_sql = ("SHUTDOWN",)
    engine_counters = Told()
    effective_queries = {"all": "SHOW ALL"}

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        return []

    def durability(self, effective: Mapping[str, str]) -> tuple[Durability, str]:
        return Durability.NONE, ""


def instance() -> MadeUp:
    connection = Connection("jdbc:made-up:x", properties={"user": "u"})
    return MadeUp(connection=connection, class_path=[], data_path=Path("/nowhere"), generator_dir=Path("/nowhere"))


def test_the_first_session_sets_up():
    first, later = (session_job(instance(), [RUN], setup=setup) for setup in (True, False))
    assert [step["op"] for step in first["steps"]] == ["execute", "run"]
    assert first["steps"][0]["statements"] == ["CREATE ROLE r"]
    assert later["steps"] == [RUN]
    assert first["connection"] == {"url": "jdbc:made-up:x", "driver_class": None, "properties": {"user": "u"}}
    assert (first["session"], first["close"]) == (["SET a = 1"], ["SHUTDOWN"])
    assert first["transaction"] == {"begin": "BEGIN", "begin_reading": None, "commit": None, "rollback": None}


def test_conflicts_are_begun_again_and_violated_constraints_end_one_transaction():
    job = json.loads(json.dumps(session_job(instance(), [RUN], setup=False)))
    assert job["retryable"] == {"sqlstates": ["40001"], "sqlstate_prefixes": [], "codes": []}
    assert job["tolerable"] == {"sqlstates": [], "sqlstate_prefixes": ["23"], "codes": []}


def test_a_run_is_framed_by_what_is_read_around_it():
    before, ages, run, at_end, after = watched(instance(), RUN, ["a", "b"])
    assert (before["name"], before["sql"]) == ("effective:all", "SHOW ALL")
    assert "optional" not in before  # without the settings in force a run says nothing
    assert (ages["name"], ages["optional"]) == ("maintenance:ages", True)
    sampled = {"waits:now": "SELECT waits", "growing:checkpoints": "SELECT checkpoints"}
    assert run == {**RUN, "snapshots": {"counters:all": "SELECT counters"}, "sampled": sampled}
    # What is in force at the end counts: a run may have changed it.
    assert (at_end["name"], at_end["sql"], at_end["optional"]) == ("end:effective:all", "SHOW ALL", True)
    assert (after["name"], after["sql"], after["optional"]) == ("schema:sizes", "SELECT sizes OF a, b", True)


def test_transactions_that_only_read_are_marked():
    run = watched(instance(), RUN, [], frozenset({"look"}))[2]
    assert run["transactions"] == [{**LOOK, "read_only": True}, CHANGE]


def test_the_rows_of_queries_are_found_by_their_prefix():
    (step,) = probes.steps("schema:", {"sizes": "SELECT 1"})
    assert step == {"op": "query", "phase": probes.PHASE, "name": "schema:sizes", "sql": "SELECT 1"}
    assert probes.rows("schema:", {"schema:sizes": [[1]], "count": [[2]]}) == {"sizes": [[1]]}


class WithGuest(MadeUp):
    def guest(self) -> Guest:
        guest, owner = (Connection("jdbc:made-up:x", properties={"user": user}) for user in ("guest", "owner"))
        return Guest(guest, owner, ["CREATE USER guest"], {r"\bfile\b": "reads files"})


def with_guest() -> WithGuest:
    connection = Connection("jdbc:made-up:x", properties={"user": "u"})
    return WithGuest(connection=connection, class_path=[], data_path=Path("/nowhere"), generator_dir=Path("/nowhere"))


def test_sql_of_others_is_run_by_a_guest_whom_the_owner_lets_in():
    foreign = {"op": "query", "name": "q", "sql": "SELECT 1", "guest": True}
    first, later = (session_job(with_guest(), [foreign], setup=setup) for setup in (True, False))
    assert first["steps"] == [
        {"op": "execute", "phase": "setup", "statements": ["CREATE ROLE r", "CREATE USER guest"]},
        foreign,
    ]
    assert later["steps"] == [foreign]
    assert [later[who]["properties"]["user"] for who in ("connection", "guest")] == ["owner", "guest"]
    assert "guest" not in session_job(with_guest(), [RUN], setup=False)
    nothing_yet = session_job(with_guest(), [], setup=True, foreign=True)
    assert nothing_yet["steps"] == first["steps"][:1], "the guest of a script without [setup] comes in the next session"


@pytest.mark.parametrize(
    "step",
    [
        {"op": "query", "name": "q", "sql": "SELECT FILE('x')"},
        {"op": "execute", "phase": "p", "statements": ["SELECT 1", "SELECT /* file */ 1"]},
        {"op": "run", "transactions": [{"name": "t", "statements": [{"sql": "READ\nFile ?"}]}]},
    ],
)
def test_a_guest_opens_no_door_that_the_engine_cannot_close(step: dict[str, object]):
    with pytest.raises(JobError, match=r"(?i)a script may not use 'file', which reads files"):
        session_job(with_guest(), [{**step, "guest": True}], setup=False)
    session_job(with_guest(), [step], setup=False)


def test_settings_that_changed_during_a_run_are_named():
    before = [("fsync", "on"), ("synchronous_commit", "on")]
    assert changes(before, before) == ""
    assert changes([], before) == ""  # nothing was known before
    after = [("fsync", "on"), ("synchronous_commit", "off"), ("unlogged_tables", "1 of 3")]
    assert changes(before, after) == "synchronous_commit from on to off, unlogged_tables from nothing to 1 of 3"


@pytest.mark.parametrize(
    ("error", "of_settings"),
    [
        ({"message": 'Unsupported connection setting "NO_SUCH" [90113-252]', "sqlstate": "90113"}, True),
        ({"message": "unexpected token: NO_SUCH", "sqlstate": "42581", "phase": "setup"}, True),
        ({"message": "unexpected token: NO_SUCH", "sqlstate": "42581", "phase": "script"}, False),
        ({"message": 'unrecognized configuration parameter "a.b"', "sqlstate": "42704", "phase": "script"}, False),
        ({"message": "the disk is full", "sqlstate": "53100", "phase": "setup"}, False),
        ({"message": "the server is gone"}, False),
    ],
)
def test_that_a_driver_takes_no_setting_is_a_failure_of_its_kind(error: dict[str, Any], of_settings: bool):
    """So the other repeats with the same settings are not begun."""
    with pytest.raises(JobError) as caught:
        require_end(SessionResult(error=error), 1)
    assert isinstance(caught.value, ConfigurationRefused) == of_settings
