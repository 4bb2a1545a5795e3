from __future__ import annotations

from pathlib import Path

import pytest
from benchagent.dbms.external.side import side_of
from benchagent.dbms.statistics import PARTS
from benchagent.java import JavaToolchain

from tests.benchagent.dbms.conftest import MakeTrial
from tests.benchagent.dbms.stand_in import CATALOGUE, SCHEMA, StandIn

pytestmark = pytest.mark.engines
URL, H2 = "jdbc:h2:mem:cubrid", "2.5.252"
LEFT_OUT = {
    r"\bdb_(class|user)\b|VERSION\(\)": CATALOGUE,
    r"^(GET TRANSACTION|SHOW TRACE|SET TRACE)": "a command that H2 does not know",
    r"^UPDATE STATISTICS": "H2 calls it ANALYZE",
}
# What CUBRID writes differently from H2.
DIFFERENCES = {r"\bDATETIME\b": "TIMESTAMP"}
# What is listed, as the manual has it, but that the owner of a serial is an object there.
LISTED = """
CREATE TABLE db_class (class_name VARCHAR, owner_name VARCHAR, is_system_class VARCHAR);
CREATE TABLE db_serial (name VARCHAR, owner VARCHAR, class_name VARCHAR);
CREATE TABLE db_stored_procedure (sp_name VARCHAR, owner VARCHAR);
CREATE TABLE db_trig (trigger_name VARCHAR, target_owner_name VARCHAR);
CREATE TABLE db_synonym (synonym_name VARCHAR, synonym_owner_name VARCHAR);
CREATE TABLE db_server (link_name VARCHAR, owner VARCHAR);
INSERT INTO db_class VALUES ('a', 'BENCH_OWN', 'NO'), ('b', 'ANN', 'NO'), ('db_root', 'BENCH_OWN', 'YES');
INSERT INTO db_serial VALUES ('a', 'BENCH_OWN', NULL), ('b', 'ANN', NULL), ('a_ai_id', 'BENCH_OWN', 'a');
INSERT INTO db_stored_procedure VALUES ('a', 'BENCH_OWN'), ('b', 'ANN');
INSERT INTO db_trig VALUES ('a', 'BENCH_OWN'), ('b', 'ANN');
INSERT INTO db_synonym VALUES ('a', 'BENCH_OWN'), ('b', 'ANN');
INSERT INTO db_server VALUES ('a', 'BENCH_OWN'), ('b', 'ANN')
"""


@pytest.mark.parametrize("version", ["11.3"])
def test_it_executes_every_statement_of_every_workload_on_h2(
    version: str, toolchain: JavaToolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    report = StandIn(side_of("cubrid", version, SCHEMA), URL, left_out=LEFT_OUT, translated=DIFFERENCES).run(
        toolchain, tmp_path
    )
    with capsys.disabled():
        print(f"\n{report.words('cubrid')}")
    assert (report.errors, report.dead, report.violated) == ([], [], [])
    assert len(report.executed) > 1_000
    counts = {reason: len(found) for reason, found in report.left_out.items()}
    assert counts == {
        CATALOGUE: 3,
        "a command that H2 does not know": 4,
        "H2 calls it ANALYZE": 203,
    }


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ("11.3", ["a", "procedure a", "serial a", "server a", "synonym a", "trigger a"]),
        # The whole database is one schema.
        ("10.2", ["a", "b", "procedure a", "procedure b", "serial a", "serial b", "trigger a", "trigger b"]),
    ],
)
def test_it_finds_what_others_have_in_the_schema(version: str, found: list[str], make_trial: MakeTrial):
    trial = make_trial("h2", H2, {})
    steps = [{"op": "execute", "phase": "catalogue", "statements": LISTED.split(";")}]
    assert trial.events(steps).error is None
    objects = side_of("cubrid", version, SCHEMA).objects.format(schema=SCHEMA)
    (rows,) = trial.query(objects.replace("owner.name", "owner"))
    assert sorted(row[0] for row in rows) == found


def test_it_shows_the_two_settings_that_cubrid_tells_and_a_plan():
    side = side_of("cubrid", "11.3", SCHEMA)
    rows = {"isolation": [[4]], "lock_timeout": [[-1.0]]}
    assert side.in_force(rows) == [("isolation_level", "4"), ("lock_timeout_in_secs", "-1.0")]
    assert side.statistics.counters(rows) == {}
    assert set(side.statistics.none) | {"plans"} == set(PARTS)
    trace = "Query Plan:\n  SCAN (accounts)\n\nTrace Statistics:\n  SELECT (time: 1, fetch: 3, ioread: 0)"
    assert side.statistics.plan([[trace]]) == trace
