"""Real servers, several versions side by side: life, folders, settings in force, statistics."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import psutil
import pytest
from benchagent.dbms import probes
from benchagent.dbms.base import JobError
from benchagent.dbms.counters import COUNTERS, EngineCounters
from benchagent.dbms.postgresql import settings
from benchagent.dbms.postgresql.counters import PostgresqlCounters
from benchagent.machine import process

from tests.benchagent.dbms.postgresql.conftest import LOG_VIEW, NEWEST, OLDEST, SLIM, MakePostgresql
from tests.benchagent.dbms.trial import undeclared
from tests.benchagent.small import ACCOUNTS, FULL_SPEED
from tests.whole import whole_but

pytestmark = pytest.mark.engines
# Enough rows for a root above the leaves of its index, and so many bytes that a sort spills.
TABLE = (
    "CREATE TABLE t AS SELECT i AS id, i % 10 AS tenth, repeat('x', 100) AS filler FROM generate_series(1, 2000) i",
    "CREATE UNIQUE INDEX t_id ON t (id)",
    "CREATE INDEX t_tenth ON t (tenth)",
    # A session reports its rows up to a second later, and would add them to those that ANALYZE has found.
    "SELECT pg_sleep(1.1)",
    "VACUUM ANALYZE t",
    "CHECKPOINT",
)
SPILLED = "SELECT count(*) FROM (SELECT * FROM accounts ORDER BY filler, abalance, aid) sorted"


def command_lines_of_the_machine() -> str:
    return "\n".join(" ".join(found.info["cmdline"] or []) for found in psutil.process_iter(["cmdline"]))


def runs(member: psutil.Process) -> bool:
    try:
        return member.is_running() and member.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def links(folder: Path) -> set[Path]:
    return {entry.readlink() for entry in folder.rglob("*") if entry.is_symlink()}


def test_it_runs_tpcb_with_log_and_temporary_files_apart_and_opens_a_copy_of_it_elsewhere(
    make_postgresql: MakePostgresql,
):
    given = {
        "shared_buffers": "8192",
        "wal_buffers": "-1",
        "port": "1",
        "TimeZone": "Asia/Tokyo",
        "no.parameter": "1",
        "work_mem": "64kB",
        # A terminal that is looked at waits in its commit.
        "commit_delay": "100000",
        "commit_siblings": "0",
    }
    busy = {"duration_s": 2, "rate_per_s": FULL_SPEED}
    trial = make_postgresql(NEWEST, given, log_apart=True, temp_apart=True, factors=busy)
    instance = trial.instance
    session = trial.tpcb()

    effective = trial.effective(session)
    assert (effective["shared_buffers"], effective["wal_level"], effective["server_version"]) == (
        "64MB",
        "replica",
        NEWEST,
    )
    assert instance.buffer_bytes() == 64 << 20
    assert instance.ignored_settings == [
        "port: set by the agent",
        "TimeZone: Asia/Tokyo given, UTC in force (by client)",
        "no.parameter: no parameter of this server, without effect",
    ]

    assert undeclared(trial, session) == set()
    found = trial.statistics(session)
    transactions = session.summary["transactions"]  # type: ignore[index]
    assert found["counters"]["commits"] >= transactions * 0.5  # reported with a delay of up to a second
    assert found["counters"]["log_flushes"] > 0
    assert found["counters"]["log_bytes"] > transactions * 100
    assert found["waits"]
    assert {table["table"]: table["rows"] for table in found["tables"]}["accounts"] == ACCOUNTS
    assert {index["index"]: index["depth"] for index in found["indexes"]}["accounts_pk"] == 2

    password = instance.connection.properties["password"]
    assert password not in "\n".join([*instance.command_lines, *trial.lines, command_lines_of_the_machine()])
    assert stat.S_IMODE((trial.folders.data / "pgpass").stat().st_mode) == 0o600

    (rows, _, spilled) = trial.query(
        "SELECT count(*) FROM history", SPILLED, "SELECT pg_ls_tmpdir(oid) FROM pg_tablespace"
    )
    assert spilled == []  # gone with their query
    instance.shut_down()
    assert links(trial.folders.data) == {trial.folders.log / "wal", trial.folders.temp / "tablespace"}
    copy = make_postgresql(NEWEST, given, log_apart=True, temp_apart=True, restored_from=trial)
    instance.start()
    assert links(copy.folders.data) == {copy.folders.log / "wal", copy.folders.temp / "tablespace"}
    temporary = "SELECT temp_bytes > 0 FROM pg_stat_database WHERE datname = current_database()"
    assert copy.query("SELECT count(*) FROM history", SPILLED, "SELECT pg_stat_force_next_flush()", temporary)[::3] == [
        rows,
        [[True]],
    ]
    assert trial.query("SELECT count(*) FROM history") == [rows]


def test_it_leaves_nothing_running_and_can_be_stopped_twice(make_postgresql: MakePostgresql):
    trial = make_postgresql(OLDEST)
    (pid,) = trial.instance.server_pids()
    members = process.family(pid)
    assert len(members) > 3
    trial.instance.stop()
    trial.instance.stop()
    assert [member for member in members if runs(member)] == []
    assert trial.instance.server_pids() == []
    assert process.leftovers(trial.root / "job") == []
    with pytest.raises(JobError, match="has ended by itself"):
        trial.instance.shut_down()


@pytest.mark.parametrize("version", whole_but((OLDEST, NEWEST), [OLDEST, SLIM, LOG_VIEW, NEWEST]))
def test_it_asks_every_version_for_its_statistics_in_its_own_words(version: str, make_postgresql: MakePostgresql):
    trial = make_postgresql(version)
    source = trial.instance.engine_counters
    trial.instance.restart()
    session = trial.events([{"op": "execute", "phase": "create", "statements": list(TABLE)}, *questions(source)])
    assert session.error is None, session.error

    assert set(source.counters(probes.rows(probes.COUNTERS, session.rows))) == set(COUNTERS) - set(source.none)
    assert source.waits(probes.rows(probes.WAITS, session.rows)) == {}
    ages = {age.what: age.age_s for age in source.maintenance(probes.rows(probes.MAINTENANCE, session.rows))}
    assert all(age is not None and 0 <= age < 60 for age in ages.values()), ages
    schema = probes.rows(probes.SCHEMA, session.rows)
    (table,) = source.tables(schema)
    assert table.rows == 2_000
    assert table.pages in (35, 36)
    assert table.row_bytes == pytest.approx(112, abs=5)
    assert [(one.index, one.depth, one.keys, one.unique_keys) for one in source.indexes(schema)] == [
        ("t_id", 2, 2_000, 2_000),
        ("t_tenth", 2, 2_000, 10),
    ]
    assert source.plan(session.rows["plan"]).startswith("Index Scan using t_id on t")
    before, after = (source.effort(probes.rows(f"{edge}:", session.rows)) for edge in ("before", "after"))
    assert after["fetches"] - before["fetches"] == table.pages


def questions(source: EngineCounters) -> list[dict[str, Any]]:
    (plan,) = source.plan_queries("SELECT * FROM t WHERE id = 7")
    return [
        *probes.steps(probes.COUNTERS, source.counter_queries()),
        *probes.steps(probes.WAITS, source.waiting),
        *probes.steps(probes.MAINTENANCE, source.maintenance_queries(["t"])),
        *probes.steps(probes.SCHEMA, source.schema_queries(["t"])),
        *probes.steps("", {"plan": plan}),
        *probes.steps("before:", source.effort_sql),
        *probes.steps("", {"scan": "SELECT count(filler) FROM t"}),
        *probes.steps("after:", source.effort_sql),
    ]


def test_it_asks_a_server_of_others_for_what_an_ordinary_user_may_know(make_postgresql: MakePostgresql):
    trial = make_postgresql(SLIM)
    version = (9, 6)
    source = PostgresqlCounters(version, superuser=False)
    ordinary = [*TABLE, "GRANT SELECT ON t TO PUBLIC", "CREATE ROLE ordinary", "SET ROLE ordinary"]
    session = trial.events(
        [
            {"op": "execute", "phase": "create", "statements": ordinary},
            *questions(source),
            *probes.steps("effective:", settings.effective_queries(version, [], superuser=False)),
        ]
    )
    assert session.error is None, session.error
    assert [one.depth for one in source.indexes(probes.rows(probes.SCHEMA, session.rows))] == [None, None]
    assert trial.effective(session)["fsync"] == "on"


@pytest.mark.parametrize("temp_apart", [False, True])
def test_it_names_the_setting_with_which_a_server_does_not_start(temp_apart: bool, make_postgresql: MakePostgresql):
    with pytest.raises(JobError, match='unrecognized configuration parameter "no_such_parameter"'):
        make_postgresql(SLIM, {"no_such_parameter": "1"}, temp_apart=temp_apart)


def test_it_says_what_the_server_could_not_apply_since_it_was_started(make_postgresql: MakePostgresql):
    trial = make_postgresql(SLIM, {"shared_buffers": "32MB"})
    changed = ["ALTER SYSTEM SET shared_buffers = '64MB'", "SELECT pg_reload_conf()", "SELECT pg_sleep(0.2)"]
    session = trial.events(
        [
            {"op": "execute", "phase": "change", "statements": changed},
            *probes.steps("effective:", trial.instance.effective_queries),
        ]
    )
    assert trial.effective(session)["shared_buffers"] == "32MB"
    assert trial.instance.ignored_settings == [
        "shared_buffers: setting could not be applied",
        "shared_buffers: 32MB given, 32MB in force until a restart",
    ]
