from __future__ import annotations

from pathlib import Path

import pytest
from benchagent.dbms.counters import EFFORT, PARTS
from benchagent.dbms.external.server import external_server
from benchagent.java import JavaToolchain

from tests.benchagent.dbms.stand_in import CATALOGUE, SCHEMA, StandIn

pytestmark = pytest.mark.engines
URL = "jdbc:h2:mem:oracle;MODE=Oracle;DEFAULT_NULL_ORDERING=HIGH"
LEFT_OUT = {
    r"\bv\$|\ball_(tables|indexes|objects|users)\b|\bdba_": CATALOGUE,
    r"DBMS_": "calls a package of the server",
    r"ALTER SESSION SET CURRENT_SCHEMA": "H2 has no such session setting",
}


@pytest.mark.parametrize("version", ["11.2.0.4", "19.3"])
def test_it_executes_every_statement_of_every_workload_in_h2s_oracle_mode(
    version: str, toolchain: JavaToolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    report = StandIn(external_server("oracle", version, SCHEMA), URL, left_out=LEFT_OUT).run(toolchain, tmp_path)
    with capsys.disabled():
        print(f"\n{report.words('oracle')}")
    assert (report.errors, report.dead, report.violated) == ([], [], [])
    assert len(report.executed) > 300
    counts = {reason: len(found) for reason, found in report.left_out.items()}
    assert counts == {CATALOGUE: 24, "calls a package of the server": 37, "H2 has no such session setting": 1}


# Rows as Oracle's reference describes the views: names of the dictionary in capitals, numbers as NUMBER.
SYSSTAT = {
    "consistent gets from cache": 900, "db block gets from cache": 100, "physical reads cache": 50,
    "physical reads": 60, "physical writes": 40, "redo size": 12_345, "redo writes": 9,
    "background checkpoints completed": 2, "user commits": 30, "user rollbacks": 1, "enqueue deadlocks": 0,
    "physical writes direct temporary tablespace": 3,
}  # fmt: skip
EVENTS = [
    ["enq: TX - row lock contention", 3, 12_000],
    ["enq: TM - contention", 1, 500],
    ["log file sync", 30, 2_000_000],
]
DICTIONARY = {
    "tables": [["ACCOUNTS", 100_000, 104, 1_500, 12_288_000], ["HISTORY", None, None, None, None]],
    "indexes": [
        ["ACCOUNTS_PK", "ACCOUNTS", 2, 100_000, 100_000, 1_638_400],
        ["HISTORY_I", "HISTORY", None, *[None] * 3],
    ],
}


def test_it_turns_the_rows_of_oracles_views_into_numbers():
    source = external_server("oracle", "19.3", SCHEMA).engine_counters
    rows = {"sysstat": [list(row) for row in SYSSTAT.items()], "events": EVENTS, "block": [[8192]]}
    counters = source.counters(rows)
    assert (counters["buffer_hits"], counters["buffer_reads"], counters["checkpoints"]) == (950, 50, 2)
    assert (counters["lock_waits"], counters["lock_wait_ms"]) == (4, 12.5)
    assert (counters["log_writes"], counters["log_flushes"], counters["temp_bytes"]) == (9, 9, 3 * 8192)
    told = {"tables", "indexes", "plans", "waits", "maintenance", *EFFORT}
    assert set(counters) | told | set(source.none) == set(PARTS)
    assert source.counters({"events": []}) == {"lock_waits": 0, "lock_wait_ms": 0}
    assert source.waited_s(rows)["log file sync"] == 2
    loaded, unknown = source.tables(DICTIONARY)
    assert (loaded.table, loaded.rows, loaded.pages, loaded.size_bytes) == ("accounts", 100_000, 1_500, 12_288_000)
    assert unknown.as_dict() == {"table": "history"}
    index, unread = source.indexes(DICTIONARY)
    assert (index.index, index.depth, index.keys, index.size_bytes) == ("accounts_pk", 2, 100_000, 1_638_400)
    assert unread.as_dict() == {"index": "history_i", "table": "history"}
    assert source.effort({"mystat": [["session logical reads", 70], ["physical reads", 5]]}) == {
        "fetches": 70,
        "reads": 5,
    }


def test_its_statistics_are_as_old_as_those_of_the_table_that_was_left_longest():
    source = external_server("oracle", "19.3", SCHEMA).engine_counters
    (age,) = source.maintenance({"analyzed": [["ACCOUNTS", 12.6], ["HISTORY", 3600]]})
    assert (age.age_s, age.detail) == (3600, "longest ago: history")
    (age,) = source.maintenance({"analyzed": [["ACCOUNTS", 12.6], ["HISTORY", None]]})
    assert (age.age_s, age.detail) == (None, "never: history")


def test_its_settings_in_force_are_those_that_tell_something():
    rows = [
        ["commit_wait", None],
        ["sga_target", "1073741824"],
        ["service_names", "shop.example"],
        ["PROCESSES", "300"],
    ]
    assert external_server("oracle", "19.3", SCHEMA).in_force({"parameters": rows}) == [
        ("sga_target", "1073741824"),
        ("processes", "300"),
    ]
