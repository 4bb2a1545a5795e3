from __future__ import annotations

import tempfile
import threading
from pathlib import Path

import psutil
import pytest
from benchagent.catalog import Durability
from benchagent.dbms.base import JobError
from benchagent.dbms.firebird.discovery import ROOT_VARIABLE
from benchagent.dbms.firebird.external import external_server
from benchagent.java import JavaToolchain
from benchagent.machine.process import ProcessFailed

from tests.benchagent.dbms.firebird.conftest import MakeFirebird, with_rows
from tests.benchagent.dbms.trial import Trial, undeclared
from tests.benchagent.durability import check_commits_do_not_wait
from tests.benchagent.small import ACCOUNTS

pytestmark = pytest.mark.engines
MACHINES_USERS = Path("/var/lib/firebird/3.0/system/security3.fdb")
COUNT = "SELECT COUNT(*) FROM wide"
HISTORY = "SELECT COUNT(*) FROM history"


def running_below(trial: Trial) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["environ"])
        if str(trial.root) in str((process.info["environ"] or {}).get("FIREBIRD", ""))
    ]


def test_it_runs_tpcb_keeps_its_commits_restarts_and_opens_a_copy_elsewhere(make_firebird: MakeFirebird):
    before = MACHINES_USERS.stat() if MACHINES_USERS.exists() else None
    given = {"ServerMode": "Super", "DefaultDbCachePages": "4096", "page_size": "16384", "GCPolicy": "combined"}
    # With so many branches that the index of the accounts has a second level.
    trial = make_firebird("3.0", {**given, "Nonsense": "1", "RemoteServicePort": "3050"}, factors={"scale_factor": 10})
    session = trial.tpcb()
    found = trial.effective(session)
    assert found.items() >= {"page_size": "16384", "page_buffers": "4096", "ServerMode": "Super"}.items()
    assert found.items() >= {"forced_writes": "on", "sweep_interval": "20000", "ods_version": "12.0"}.items()
    assert trial.instance.durability(found)[0] is Durability.POWER_LOSS
    assert [words.split(":")[0] for words in trial.instance.ignored_settings] == ["Nonsense", "RemoteServicePort"]
    assert any("not told by this version" in line and "GCPolicy" in line for line in trial.lines)
    assert trial.instance.buffer_bytes() == 4096 * 16384
    check_statistics(trial, session)
    rows = trial.query(HISTORY)
    trial.instance.restart()
    assert trial.query(HISTORY) == rows
    trial.instance.shut_down()
    assert trial.instance.server_pids() == []
    copy = make_firebird("3.0", {**given, "forced_writes": "off"}, restored_from=trial)
    assert copy.query(HISTORY) == rows
    check_commits_do_not_wait(copy)
    copy.instance.stop()
    assert running_below(trial) == running_below(copy) == []
    if before:
        after = MACHINES_USERS.stat()
        assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)


@pytest.mark.parametrize("version", ["3.0", "5."])
def test_it_opens_no_database_beyond_the_folders_of_its_job(make_firebird: MakeFirebird, version: str):
    """Also where the kernel confines nobody."""
    trial = make_firebird(version, landlock=False)
    server = trial.instance.server
    elsewhere = trial.root / "elsewhere"
    elsewhere.mkdir()
    trial.children.own(elsewhere)
    for folder in (elsewhere, trial.folders.backup):
        made = f"CREATE DATABASE '{server.remote(folder / 'made.fdb')}';\n"
        if folder == elsewhere:
            with pytest.raises(ProcessFailed, match="not allowed by server configuration"):
                server.run_sql(made, None)
        else:
            server.run_sql(made, None)
    assert list(elsewhere.iterdir()) == []


def check_statistics(trial: Trial, session) -> None:
    assert undeclared(trial, session) == set()
    statistics = trial.statistics(session)
    assert {table["table"]: table["rows"] for table in statistics["tables"]}["ACCOUNTS"] == 10 * ACCOUNTS
    assert {index["index"]: index["depth"] for index in statistics["indexes"]}["ACCOUNTS_PK"] == 2
    assert statistics["counters"]["buffer_hits"] > 10 * session.summary["transactions"]
    assert statistics["counters"]["data_writes"] > session.summary["transactions"]


@pytest.mark.parametrize("mode", ["SuperClassic", "Classic"])
def test_it_runs_in_the_other_modes(make_firebird: MakeFirebird, mode: str):
    trial = with_rows(make_firebird("3.0", {"ServerMode": mode, "page_size": "16384", "forced_writes": "off"}), 100)
    found = trial.in_force()
    assert (found["ServerMode"], found["forced_writes"]) == (mode, "off")
    assert trial.instance.ignored_settings == []
    assert trial.instance.durability(found)[0] is Durability.DBMS_CRASH
    trial.instance.restart()
    assert trial.query(COUNT) == [[[100]]]
    trial.instance.shut_down()
    assert running_below(trial) == []


def test_it_counts_every_process_of_classic(make_firebird: MakeFirebird):
    trial = make_firebird("3.0", {"ServerMode": "Classic"})
    seen = []
    sql = "SELECT COUNT(*) FROM RDB$TYPES A, RDB$TYPES B, RDB$TYPES C"
    worker = threading.Thread(target=lambda: trial.query(sql))
    worker.start()
    while worker.is_alive():
        seen.append(len(trial.instance.server_pids()))
        worker.join(0.1)
    assert max(seen) >= 2
    trial.instance.stop()
    assert running_below(trial) == []


def test_it_runs_the_engine_of_version_5_and_says_that_it_is_a_mix(make_firebird: MakeFirebird):
    trial = make_firebird("5.0.4", {"page_size": "32768", "ParallelWorkers": "1", "TempCacheLimit": "32M"})
    assert trial.version == "5.0.4 (listener and tools 3.0.11)"
    with_rows(trial, 1000)
    found = trial.in_force()
    assert found.items() >= {"engine_version": "5.0.4", "page_size": "32768", "TempCacheLimit": "33554432"}.items()
    assert trial.instance.ignored_settings == []
    statistics = trial.instance.engine_counters
    rows = {name: [[0]] for name in statistics.schema_queries(["wide"])}
    assert [(table.table, table.rows) for table in statistics.tables(rows)] == [("WIDE", 1000)]
    # Sums are wider since version 4, and the listener's protocol has no such type.
    assert trial.query("SELECT SUM(CAST(id AS BIGINT)), CURRENT_TIMESTAMP FROM wide")[0][0][0] == 499_500
    assert trial.tpcb().summary["transactions"] > 0  # type: ignore[index]


def test_it_shows_plans_and_what_a_statement_read(make_firebird: MakeFirebird):
    trial = with_rows(make_firebird(), 5000)
    statistics = trial.instance.engine_counters
    (shown,) = statistics.plan_queries("SELECT text1 FROM wide WHERE id = ? AND text1 <> 'it''s'")
    plan = statistics.plan(trial.query(shown)[0])
    assert "PLAN (WIDE INDEX (WIDE_PK))" in plan
    assert '-> Table "WIDE" Access By ID' in plan
    (look,) = statistics.effort_sql.values()
    begin, _, end = trial.query(look, "SELECT MAX(text1) FROM wide", look)
    spent = statistics.effort({"effort": end})["fetches"] - statistics.effort({"effort": begin})["fetches"]
    assert spent > 5000


def test_an_unpacked_one_knows_the_character_sets(make_firebird: MakeFirebird, monkeypatch):
    monkeypatch.setenv(ROOT_VARIABLE, "/nowhere")  # the machine's own Firebird is not to be used
    server = make_firebird().instance.server
    made = "CREATE TABLE c (a VARCHAR(9) CHARACTER SET WIN1252 COLLATE PXW_INTL);\nCOMMIT;\n"
    counted = "INSERT INTO c VALUES ('a');\nSET HEADING OFF;\nSELECT COUNT(*) FROM c WHERE a < 'b';\n"
    assert server.run_sql(made + counted, server.remote(server.database)).split() == ["1"]


def test_a_state_folder_that_is_reached_through_a_link_will_do(
    toolchain: JavaToolchain, engines_dir: Path, monkeypatch
):
    """Firebird refuses modules behind a symbolic link."""
    monkeypatch.setenv(ROOT_VARIABLE, "/nowhere")
    with tempfile.TemporaryDirectory(prefix="benchagent-trial-") as folder:
        aim, link = Path(folder) / "aim", Path(folder) / "link"
        Path(folder).chmod(0o755)
        aim.mkdir()
        link.symlink_to(aim)
        (link / "engines").symlink_to(engines_dir)
        trial = Trial(link / "trial", toolchain, "firebird", "3.0.11", {}, engines_dir=link / "engines")
        try:
            trial.instance.server.query("CREATE TABLE c (a VARCHAR(9) CHARACTER SET WIN1252 COLLATE PXW_INTL)")
            assert trial.query("SELECT COUNT(*) FROM c") == [[[0]]]
        finally:
            trial.close()


def test_it_has_no_log_to_put_elsewhere(make_firebird: MakeFirebird):
    with pytest.raises(JobError, match="no transaction log"):
        make_firebird(log_apart=True)


def test_its_passwords_are_on_no_command_line(make_firebird: MakeFirebird):
    trial = make_firebird()
    password = trial.instance.connection.properties["password"]
    trial.instance.restart()
    assert len(password) >= 20
    assert not any(password in line for line in [*trial.lines, *trial.instance.command_lines])
    for process in psutil.process_iter(["cmdline"]):
        assert not any(password in part for part in process.info["cmdline"] or [])


def test_it_finds_what_others_have_in_the_database(make_firebird: MakeFirebird):
    trial = make_firebird()
    objects = external_server("3.0", "BENCH").objects
    assert trial.query(objects) == [[]]
    theirs = [
        "CREATE TABLE THEIRS (A INTEGER, CONSTRAINT POSITIVE CHECK (A > 0))",
        "CREATE VIEW THEIR_VIEW AS SELECT A FROM THEIRS",
        "CREATE PROCEDURE THEIR_PROCEDURE AS BEGIN END",
        "CREATE FUNCTION THEIR_FUNCTION RETURNS INTEGER AS BEGIN RETURN 1; END",
        "CREATE SEQUENCE THEIR_SEQUENCE",
        "CREATE EXCEPTION THEIR_EXCEPTION 'x'",
        "CREATE DOMAIN THEIR_DOMAIN AS INTEGER",
        "CREATE TRIGGER THEIR_TRIGGER ON CONNECT AS BEGIN END",
        "CREATE ROLE THEIR_ROLE",
    ]
    assert trial.events([{"op": "execute", "phase": "theirs", "statements": theirs}]).error is None
    (rows,) = trial.query(objects)
    assert sorted(str(row[0]) for row in rows) == [
        "THEIRS",
        "THEIR_VIEW",
        "domain THEIR_DOMAIN",
        "exception THEIR_EXCEPTION",
        "function THEIR_FUNCTION",
        "procedure THEIR_PROCEDURE",
        "role THEIR_ROLE",
        "sequence THEIR_SEQUENCE",
        "trigger THEIR_TRIGGER",
    ]
