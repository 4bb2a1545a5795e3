from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from benchagent.dbms.counters import Answer, differences
from benchagent.dbms.external.server import external_server
from benchagent.java import JavaToolchain

from tests.benchagent.dbms.conftest import MakeTrial
from tests.benchagent.dbms.stand_in import CATALOGUE, SCHEMA, StandIn

pytestmark = pytest.mark.engines
URL, H2 = "jdbc:h2:mem:cubrid", "2.5.252"
LEFT_OUT = {
    r"\bdb_(class|user)\b|VERSION\(\)": CATALOGUE,
    r"^(GET TRANSACTION|SHOW |SET TRACE)": "a command that H2 does not know",
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
    report = StandIn(external_server("cubrid", version, SCHEMA), URL, left_out=LEFT_OUT, translated=DIFFERENCES).run(
        toolchain, tmp_path
    )
    with capsys.disabled():
        print(f"\n{report.words('cubrid')}")
    assert (report.errors, report.dead, report.violated) == ([], [], [])
    assert len(report.executed) > 300
    counts = {reason: len(found) for reason, found in report.left_out.items()}
    assert counts == {CATALOGUE: 3, "a command that H2 does not know": 55, "H2 calls it ANALYZE": 36}


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
    objects = external_server("cubrid", version, SCHEMA).objects.format(schema=SCHEMA)
    (rows,) = trial.query(objects.replace("owner.name", "owner"))
    assert sorted(row[0] for row in rows) == found


def test_it_shows_the_two_settings_that_cubrid_tells_and_a_plan():
    server = external_server("cubrid", "11.3", SCHEMA)
    rows = {"isolation": [[4]], "lock_timeout": [[-1.0]]}
    assert server.in_force(rows) == [("isolation_level", "4"), ("lock_timeout_in_secs", "-1.0")]
    assert server.engine_counters.counters(rows) == {}
    trace = "Query Plan:\n  SCAN (accounts)\n\nTrace EngineCounters:\n  SELECT (time: 1, fetch: 3, ioread: 0)"
    assert server.engine_counters.plan([[trace]]) == trace


# Rows as the manual describes them, and the program: columns have names, their order differs with the version.
HEADER = {"Db_page_size": 16384, "Log_page_size": 16384, "Current_append": "(102|5776)", "Next_archive_num": 4}
PAGES = {"Num_page_request": 1_000, "Num_hit": 900, "Num_pages_read": 80, "Num_pages_written": 0}
HEAP = {"Table_name": "bench.accounts", "Num_recs": 6677, "Num_pages": 27, "Avg_rec_len": 53}
TREE = {"Index_name": "pk", "Table_name": "bench.accounts", "Height": 2, "Total_value": 6677, "Num_distinct_key": 6600}
STATES = [
    ("WORKER", "LOCK_SUSPENDED"),
    ("WORKER", "LOCK_SUSPENDED"),
    ("WORKER", "PGBUF_RESUMED"),
    ("WORKER", "JOB_QUEUE_SUSPENDED"),
    ("DAEMON", "LOGWR_SUSPENDED"),
]


def answer(*rows: dict[str, Any]) -> Answer:
    return Answer([list(row.values()) for row in rows], list(rows[0]))


def test_it_reads_what_show_commands_tell_by_the_names_of_columns():
    source = external_server("cubrid", "11.3", SCHEMA).engine_counters
    rows = {"log": answer(HEADER), "pages": answer(PAGES)}
    begin, end = source.counters(rows), source.counters({**rows, "pages": answer({**PAGES, "Num_hit": 990})})
    assert (begin["log_bytes"], begin["checkpoints"]) == (102 * 16384 + 5776, 4)
    # What each tells is what was added since the one before.
    found = differences(begin, end)
    assert (found["buffer_hits"], found["buffer_reads"], found["data_reads"]) == (990, 10, 80)
    assert set(end) | {"tables", "indexes", "plans", "waits"} == set(source.sources)
    schema = {
        "log": answer(HEADER),
        "heap accounts": answer({**HEAP, "Avg_free_space_per_page": 4096}),
        "indexes accounts": answer({**TREE, "Avg_key_len": 4, "Num_total_page": 12}),
    }
    assert schema.keys() == source.schema_queries(["accounts"]).keys()
    (table,), (index,) = source.tables(schema), source.indexes(schema)
    assert (table.table, table.rows, table.size_bytes, table.fill_percent) == ("accounts", 6677, 27 * 16384, 75)
    assert (index.index, index.depth, index.unique_keys, index.size_bytes) == ("pk", 2, 6600, 12 * 16384)
    threads = answer(*({"Type": kind, "Resume_status": status} for kind, status in STATES))
    assert source.waits({"threads": threads}) == {"lock": 2}


def test_it_leaves_out_what_a_server_no_longer_counts():
    source = external_server("cubrid", "11.5", SCHEMA).engine_counters
    assert source.counters({"pages": answer(dict.fromkeys(PAGES))}) == {}


@pytest.mark.parametrize(
    ("version", "missing"), [("9.3", {"buffer_hits", "waits"}), ("10.2", {"buffer_hits"}), ("11.0", set())]
)
def test_it_asks_no_version_for_what_came_later(version: str, missing: set[str]):
    source = external_server("cubrid", version, SCHEMA).engine_counters
    assert set(source.none) & {"buffer_hits", "waits"} == missing
    assert (len(source.counter_queries()), len(source.waiting)) == (
        1 if "buffer_hits" in missing else 2,
        0 if "waits" in missing else 1,
    )
