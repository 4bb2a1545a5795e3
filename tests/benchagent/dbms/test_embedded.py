"""The engines inside the load generator: what is the same for all of them."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
from benchagent.dbms.base import Connection, JobError
from benchagent.dbms.embedded import HEAP_MB, JVM_MB, MIB, fit_heap, heap_mb, not_in_force, split_storage

from tests.benchagent.dbms.conftest import MakeTrial
from tests.benchagent.dbms.trial import undeclared

pytestmark = pytest.mark.engines
VERSIONS = {
    "sqlite": ("3.54.1", {"journal_mode": "WAL", "synchronous": "FULL"}),
    "derby": ("10.16.1.1", {"derby.storage.pageSize": "8192"}),
    "hsqldb": (
        "2.7.4",
        {
            "FILES WRITE DELAY": "FALSE",
            "TRANSACTION CONTROL": "MVCC",
            "FILES CACHE SIZE": "20000",
            "DEFAULT ISOLATION LEVEL": "READ COMMITTED",
        },
    ),
    "h2": ("2.5.252", {"WRITE_DELAY": "0"}),
}
ENGINES = list(VERSIONS)


@pytest.mark.parametrize("slug", ENGINES)
def test_it_runs_tells_what_it_promises_is_backed_up_and_opens_as_a_copy_elsewhere(slug: str, make_trial: MakeTrial):
    trial = make_trial(slug, *VERSIONS[slug])
    session = trial.tpcb()
    effective = trial.effective(session)
    assert effective
    assert trial.instance.ignored_settings == []
    assert undeclared(trial, session) == set()
    tables = {entry["table"]: entry for entry in trial.statistics(session)["tables"]}
    assert set(tables) == {"accounts", "branches", "tellers", "history"}
    (balance,) = trial.query("SELECT SUM(abalance), COUNT(*) FROM accounts")

    for method in trial.instance.backup_methods():
        target, scratch = trial.folders.backup / method.slug, trial.folders.backup / f"{method.slug}-restored"
        scratch.mkdir()
        trial.own(scratch)
        trial.act(method.backup(target, {}))
        assert target.exists()
        trial.act(method.restore(target, scratch))
        given = trial.instance.connection
        restored = Connection(method.restored_url(target, scratch), given.driver_class, given.properties)
        assert trial.query("SELECT SUM(abalance), COUNT(*) FROM accounts", connection=restored) == [balance]

    copy = make_trial(slug, *VERSIONS[slug], restored_from=trial)
    trial.folders.data.rename(trial.folders.data.with_name("gone"))
    assert copy.query("SELECT SUM(abalance), COUNT(*) FROM accounts") == [balance]


@pytest.mark.parametrize("slug", ENGINES)
def test_it_shows_the_plan_of_a_statement(slug: str, make_trial: MakeTrial):
    trial = make_trial(slug, *VERSIONS[slug])
    key = " PRIMARY KEY" if slug == "sqlite" else " NOT NULL"
    statements = [trial.instance.dialect.table("tree", [f"leaf INTEGER{key}", "colour INTEGER"])]
    statements += [trial.instance.dialect.index("tree_colour", "tree", ["colour DESC"])]
    statements += [f"INSERT INTO tree VALUES ({n}, {n})" for n in range(3)]
    assert trial.events([{"op": "execute", "phase": "make", "statements": statements}]).error is None
    source = trial.instance.engine_counters
    answers = trial.query(*source.plan_queries("SELECT leaf FROM tree WHERE colour = 2"))
    plan = source.plan([row for rows in answers for row in rows])
    assert "tree_colour" in plan.lower(), plan


@pytest.mark.parametrize(
    ("slug", "words"), [("sqlite", "beside the database file"), ("hsqldb", "beside"), ("h2", "one file")]
)
def test_it_refuses_a_storage_for_a_log_that_cannot_lie_apart(slug: str, words: str, make_trial: MakeTrial):
    with pytest.raises(JobError, match=words):
        make_trial(slug, *VERSIONS[slug], log_apart=True)


@pytest.mark.parametrize("slug", ["h2", "hsqldb"])
def test_it_runs_in_memory_as_a_class_of_its_own(slug: str, make_trial: MakeTrial):
    trial = make_trial(slug, VERSIONS[slug][0], {"storage": "memory"})
    assert trial.instance.in_memory
    session = trial.tpcb()
    effective = trial.effective(session)
    durability, reason = trial.instance.durability(effective)
    assert (durability.value, effective["storage"]) == ("memory", "memory")
    assert "in memory" in reason
    assert undeclared(trial, session) == set()
    assert trial.instance.backup_methods() == ()
    assert list(trial.folders.data.iterdir()) == []


def test_it_knows_a_storage_of_file_and_of_memory_only():
    assert split_storage([("Storage", "MEMORY"), ("a", "1")]) == (True, [("a", "1")])
    assert split_storage([]) == (False, [])
    with pytest.raises(JobError, match="file or memory, not 'tape'"):
        split_storage([("storage", "tape")])


def test_it_gives_the_jvm_room_for_the_cache_but_never_the_whole_machine():
    assert heap_mb(0) == HEAP_MB
    assert heap_mb(200 << 20) == HEAP_MB + 300
    assert heap_mb(1 << 50) == heap_mb(math.inf) < psutil.virtual_memory().total >> 20


def test_it_fits_the_heap_to_a_memory_limit_or_says_why_it_cannot():
    instance: Any = SimpleNamespace(heap_mb=HEAP_MB + 300, in_memory=False)
    assert fit_heap(instance, (HEAP_MB + 300 + JVM_MB) * MIB) == ""
    assert fit_heap(instance, (400 + JVM_MB) * MIB).startswith("400 MiB, as the memory limit leaves no more; 812 MiB")
    assert instance.heap_mb == 400
    cached: Any = SimpleNamespace(heap_mb=HEAP_MB + 300, in_memory=False)
    with pytest.raises(JobError, match="needs 364 MiB of heap"):
        fit_heap(cached, (363 + JVM_MB) * MIB)
    # What is kept in the heap is the data itself: they may be small.
    cached.in_memory = True
    assert fit_heap(cached, (363 + JVM_MB) * MIB)


def test_it_compares_settings_by_meaning_and_names_both_values():
    given = [("derby.storage.pageSize", "5000"), ("derby.locks.waitTimeout", "60")]
    effective = [("derby.storage.pageSize", "4096"), ("derby.locks.waitTimeout", "60")]
    assert not_in_force("derby", given, effective) == [
        "derby.storage.pageSize=5000 given, derby.storage.pageSize=4096 in force"
    ]
    assert not_in_force("hsqldb", [("FILES WRITE DELAY", "FALSE")], [("hsqldb.write_delay_millis", "0")]) == []


def test_it_refuses_a_folder_that_would_end_the_url(make_trial: MakeTrial, tmp_path: Path):
    from benchagent.dbms.embedded import in_url

    with pytest.raises(JobError, match="semicolon"):
        in_url(tmp_path / "a;b")
