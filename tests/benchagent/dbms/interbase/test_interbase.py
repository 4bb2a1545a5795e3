"""Every statement for InterBase runs on Firebird 3 in dialect 3, but what asks for InterBase's own TMP$ tables."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from benchagent.dbms import adapter
from benchagent.dbms.base import JobError
from benchagent.dbms.counters import PARTS
from benchagent.dbms.embedded import jars
from benchagent.dbms.external.server import external_server
from benchagent.dbms.firebird.discovery import homes
from benchagent.engines import catalogue
from benchagent.engines.install import install
from benchagent.java import JavaToolchain, LoadGenerator
from benchagent_unverified.interbase import InterbaseCounters

from tests.benchagent.dbms.conftest import MakeTrial
from tests.benchagent.dbms.stand_in import CATALOGUE, SCHEMA, StandIn
from tests.benchagent.small import make_no_archives

pytestmark = pytest.mark.engines
LEFT_OUT = {r"TMP\$": CATALOGUE}
# Firebird's own SQL, which InterBase does not know, and functions that it has only as external ones (ib_udf), which
# somebody has to declare. COALESCE, CASE and NULLIF came with 7.5.
FIREBIRD_ONLY = (
    *("BIGINT", "FIRST ", "WITH LOCK", "EXECUTE BLOCK", "MON$", "GEN_UUID", "RETURNING", "TIMESTAMP '", "IIF("),
    *(
        "LIST(",
        "ABS(",
        "MOD(",
        "ROUND(",
        "FLOOR(",
        "CEIL",
        "SIGN(",
        "TRIM(",
        "LOWER(",
        "SUBSTRING(",
        "REPLACE(",
        "_LENGTH(",
    ),
)


@pytest.fixture(scope="session")
def engines_dir(repository: Path) -> Path:
    folder = Path(os.environ.get("BENCHSITE_TEST_CACHE", repository / "var" / "test-cache")) / "engines"
    folder.mkdir(parents=True, exist_ok=True)
    install(catalogue()["firebird-3.0"], folder, lambda line: None)
    return folder


def test_it_executes_every_statement_of_every_workload_on_firebird_3(
    make_trial: MakeTrial, engines_dir: Path, capsys: pytest.CaptureFixture[str]
):
    (version,) = (known for known in homes(engines_dir) if known.startswith("3.0"))
    settings = {"page_size": "16384", "forced_writes": "off"}
    trial = make_trial("firebird", version, settings, engines_dir=engines_dir)
    instance = trial.instance
    generator = LoadGenerator(trial.toolchain, instance.class_path, heap_mb=768, cwd=instance.generator_dir)
    connection = {"url": instance.connection.url, "properties": dict(instance.connection.properties)}
    report = StandIn(external_server("interbase", "2020", SCHEMA), "", left_out=LEFT_OUT).perform(generator, connection)
    with capsys.disabled():
        print(f"\n{report.words('interbase').replace('H2', 'Firebird 3')}")
    assert (report.errors, report.dead, report.violated) == ([], [], [])
    assert len(report.executed) > 300
    assert {reason: len(found) for reason, found in report.left_out.items()} == {CATALOGUE: 9}
    assert [sql for sql in report.executed for word in FIREBIRD_ONLY if word in sql] == []


def test_it_finds_what_others_have_in_the_database(make_trial: MakeTrial, engines_dir: Path):
    (version,) = (known for known in homes(engines_dir) if known.startswith("3.0"))
    trial = make_trial("firebird", version, {}, engines_dir=engines_dir)
    objects = external_server("interbase", "2020", SCHEMA).objects
    assert trial.query(objects) == [[]]
    theirs = [
        "CREATE TABLE THEIRS (A INTEGER)",
        "CREATE VIEW THEIR_VIEW AS SELECT A FROM THEIRS",
        "CREATE PROCEDURE THEIR_PROCEDURE AS BEGIN EXIT; END",
        "DECLARE EXTERNAL FUNCTION THEIR_FUNCTION INTEGER RETURNS INTEGER BY VALUE ENTRY_POINT 'f' MODULE_NAME 'm'",
        "CREATE GENERATOR THEIR_GENERATOR",
        "CREATE EXCEPTION THEIR_EXCEPTION 'x'",
        "CREATE ROLE THEIR_ROLE",
        "CREATE DOMAIN THEIR_DOMAIN AS INTEGER",
    ]
    assert trial.events([{"op": "execute", "phase": "theirs", "statements": theirs}]).error is None
    (rows,) = trial.query(objects)
    assert sorted(str(row[0]).rstrip() for row in rows) == [
        "THEIRS",
        "THEIR_VIEW",
        "domain THEIR_DOMAIN",
        "exception THEIR_EXCEPTION",
        "function THEIR_FUNCTION",
        "generator THEIR_GENERATOR",
        "procedure THEIR_PROCEDURE",
        "role THEIR_ROLE",
    ]


def test_its_driver_is_loaded_and_answers_a_closed_port_with_its_own_error(
    toolchain: JavaToolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    make_no_archives(monkeypatch)
    server = external_server("interbase", "2020", SCHEMA)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"jdbc:firebirdsql://127.0.0.1:{closed.getsockname()[1]}/bench.ib"
        generator = LoadGenerator(toolchain, jars(toolchain, "interbase", server.driver), cwd=tmp_path)
        properties = {"user": "sysdba", "password": "x", **server.properties}
        connection = {"url": url, "driver_class": server.driver_class, "properties": properties}
        generator.start({"version": 1, "connection": connection, "steps": []})
        (error,) = [event for event in generator.events() if event["event"] == "error"]
        generator.abort(10)
    assert error["code"] == 335544721
    assert "Unable to complete network request" in error["message"]


def test_it_delivers_a_part_of_the_statistics_or_says_why_not():
    statistics = InterbaseCounters()
    counters = statistics.counters({"database": [[10, 20, 100, 5, 1, 0, 3]]})
    assert counters["buffer_hits"] == 90
    assert set(counters) | {"tables", "indexes", "waits", "maintenance"} | set(statistics.none) == set(PARTS)
    assert not set(counters) & set(statistics.none)
    (age,) = statistics.maintenance({"transactions": [[120, 10, 115, 110, 20000]]})
    assert "gap 100, a sweep begins above 20000" in age.detail
    assert statistics.waits({"statements": [["ACTIVE   ", 3], ["INACTIVE", 9]]}) == {"statement active": 3}
    (table,) = statistics.tables({"relations": [["ACCOUNTS     ", 360]]})
    assert (table.table, table.pages) == ("ACCOUNTS", 360)
    computed, empty = statistics.indexes({"indexes": [["PK  ", "ACCOUNTS  ", 0.00001], ["I", "EMPTY", 0.0]]})
    assert (computed.index, computed.table, computed.unique_keys) == ("PK", "ACCOUNTS", 100_000)
    assert empty.unique_keys is None


def test_it_cannot_be_started():
    with pytest.raises(JobError, match="InterBase cannot be started by the agent"):
        adapter("interbase").provision(None)  # type: ignore[arg-type]
