from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from benchagent import dbms
from benchagent.dbms.base import JobError
from benchagent.job.session import watched

from tests.benchagent.dbms import crash
from tests.benchagent.dbms.conftest import MakeTrial
from tests.benchagent.small import ACCOUNTS

pytestmark = pytest.mark.engines
VERSION = "3.54.1"
WAL = {"journal_mode": "WAL"}


@pytest.mark.parametrize(("level", "synced"), [("FULL", True), ("NORMAL", False)])
def test_it_loses_no_commit_to_a_kill_but_syncs_each_with_full_only(level: str, synced: bool, make_trial: MakeTrial):
    trial = crash.loaded(make_trial("sqlite", VERSION, {**WAL, "synchronous": level}))
    crash.check_none_lost(trial)
    if synced:
        crash.check_each_commit_waits(trial, of="-wal")
    else:
        crash.check_commits_do_not_wait(trial)


@pytest.mark.parametrize("journal", ["WAL", "DELETE"])
def test_readers_do_not_queue_for_the_lock_of_writers(journal: str, make_trial: MakeTrial):
    trial = crash.loaded(make_trial("sqlite", VERSION, {"journal_mode": journal, "busy_timeout": "1"}))
    balance = {"sql": "SELECT abalance FROM accounts WHERE aid = 1", "fetch": True, "expect_rows": 1}
    look = {"name": "look", "weight": 1, "statements": [balance]}
    run = {"op": "run", "phase": "run", "terminals": 4, "warm_up_s": 0, "duration_s": 60, "max_transactions": 200}
    *_, step = (
        one
        for one in watched(trial.instance, {**run, "transactions": [look]}, [], frozenset({"look"}))
        if one["op"] == "run"
    )
    with closing(sqlite3.connect(trial.folders.data / "bench.db", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE branches SET bbalance = bbalance + 1")
        summary = trial.events([step]).summary
    assert summary is not None
    assert (summary["ended_by"], summary["committed"], summary["retries"]) == ("max_transactions", 200, 0)


def test_it_reports_what_sqlite_did_not_take(make_trial: MakeTrial):
    settings = {**WAL, "page_size": "8192", "cache_size": "-4000", "no_such_pragma": "7", "synchronous": "1"}
    trial = make_trial("sqlite", VERSION, settings)
    effective = trial.effective(trial.tpcb())
    assert (effective["cache_size"], effective["synchronous"]) == ("-4000", "NORMAL")
    assert trial.instance.buffer_bytes() == 4000 * 1024
    # The page size of a database in WAL mode cannot be changed any more: it has to be given first.
    assert trial.instance.ignored_settings == ["no_such_pragma", "page_size=8192 given, page_size=4096 in force"]


def test_it_counts_pages_and_depth_of_each_tree(make_trial: MakeTrial):
    trial = make_trial("sqlite", VERSION, {"page_size": "512", **WAL})
    found = trial.statistics(trial.tpcb())
    accounts = next(entry for entry in found["tables"] if entry["table"] == "accounts")
    assert accounts["rows"] == ACCOUNTS
    assert accounts["size_bytes"] == accounts["pages"] * 512
    tree = next(entry for entry in found["indexes"] if entry["table"] == "accounts")
    assert tree["index"] == "accounts (rowid)"
    assert tree["depth"] >= 3


def test_it_tidies_up_in_commits_or_not_at_all():
    adapter = dbms.adapter("sqlite")
    assert adapter.knob("background_maintenance", "on", VERSION) == [("auto_vacuum", "FULL")]
    with pytest.raises(JobError, match="no group commit"):
        adapter.knob("group_commit", "2", VERSION)
