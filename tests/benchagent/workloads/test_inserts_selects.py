from __future__ import annotations

import pytest
from benchagent.dbms.base import JobError
from benchagent.dbms.dialect import Dialect
from benchagent.workloads.inserts_selects import BEYOND, COL3, COL4, COL5, KEY_PREFIX, KEY_WIDTH, WORKLOAD

from tests.benchagent.jobs import MakeJob, values
from tests.benchagent.workloads.fake_bench import FakeBench

FACTORS = {"rows_per_table": 1000, "terminals": 40, "warm_up_s": 10, "duration_s": 20}
SUMMARY = {"committed": 90}


def performed(dialect: Dialect | None = None, *, after: int = 40_090, **factors: object) -> FakeBench:
    rows = {"rows": [[after]]}
    bench = FakeBench(
        WORKLOAD, {**FACTORS, **factors}, dialect=dialect, rows=rows, summary=SUMMARY, buffer_bytes=64 << 20
    )
    WORKLOAD.perform(bench)
    return bench


def test_it_makes_the_40_tables_with_15_columns_and_three_indexes_each():
    create, _, index = performed().sessions[0]
    assert len(create["statements"]) == 40
    first = create["statements"][0]
    assert first.startswith("CREATE TABLE tbl_200 (id VARCHAR(20) NOT NULL, seq INTEGER NOT NULL, col3 VARCHAR(16)")
    assert first.count("NOT NULL") == 13
    assert "col15 TIMESTAMP DEFAULT TIMESTAMP '2010-07-30 16:25:44' NOT NULL" in first
    assert len(index["statements"]) == 120
    assert index["statements"][1:3] == [
        "CREATE UNIQUE INDEX iuk_200 ON tbl_200 (id, col3, col4, col5)",
        "CREATE INDEX ink1_200 ON tbl_200 (id, col9 DESC, col14)",
    ]


def test_it_leaves_out_descending_columns_and_late_keys_where_there_are_none():
    dialect = Dialect(descending_columns=False, primary_key_afterwards=False)
    create, _, index = performed(dialect).sessions[0]
    assert create["statements"][0].endswith("PRIMARY KEY (id, seq))")
    assert len(index["statements"]) == 80
    assert not any("DESC" in statement for statement in index["statements"])


def test_the_texts_of_the_key_fit_their_columns():
    assert len(KEY_PREFIX) + KEY_WIDTH <= 20
    lengths = {"col3": 16, "col4": 5, "col5": 50}
    assert {name: len(value) for name, value in (("col3", COL3), ("col4", COL4), ("col5", COL5))} == lengths


def test_it_inserts_one_row_a_transaction_between_the_loaded_ones():
    bench = performed(load="insert")
    run = bench.step("run")
    assert len(run["transactions"]) == 40
    (statement,) = run["transactions"][0]["statements"]
    assert statement["sql"].count("?") == len(statement["bind"]) == 13
    key = run["transactions"][0]["variables"][0]
    assert (key["kind"], key["slots"], key["step"], key["start"]) == ("scattered_text", 1000, 1_000_000, 0)
    assert [table["rows"] for table in bench.step("load")["tables"]] == [1000] * 40
    assert bench.checks[0]["ok"]


def test_it_goes_on_behind_the_keys_of_the_runs_before():
    taken = {"taken:tbl_201": [["u00000000001000001"]], "taken:tbl_202": [["u00000000001000007"]]}
    rows = {"rows_before": [[0]], "rows": [[90]], **taken}
    bench = FakeBench(WORKLOAD, {**FACTORS, "data_origin": "continued"}, rows=rows, summary=SUMMARY, data_missing=False)
    WORKLOAD.perform(bench)
    asked, run = bench.sessions[1], bench.step("run")
    assert asked[1]["sql"] == (
        "SELECT MAX(id) FROM tbl_201 WHERE id > 'u00000000001000000' AND id < 'u00000000002000000'"
    )
    # 0 … 6 are taken; one more, whose first insert may have failed.
    assert {kind["variables"][0]["start"] for kind in run["transactions"]} == {8 * 1000}
    assert bench.calls == ["session", "session", "before_run", "session"]
    assert bench.checks[0]["ok"], "the rows that were there are not among those that the run has inserted"


def test_a_copy_is_not_counted_before_the_run_for_that_would_fill_the_caches():
    bench = FakeBench(WORKLOAD, FACTORS, rows={"rows": [[40_090]]}, summary=SUMMARY, data_missing=False)
    WORKLOAD.perform(bench)
    assert bench.calls == ["before_run", "session"]
    assert bench.sessions[0][0]["op"] == "run"
    assert bench.checks[0]["ok"]


@pytest.mark.parametrize(
    ("data_missing", "calls"),
    [(True, ["session", "data_loaded", "before_run", "session"]), (False, ["session", "before_run", "session"])],
)
def test_it_asks_for_the_settings_in_force_where_only_they_tell_the_buffer(data_missing: bool, calls: list[str]):
    given = {**FACTORS, "load": "select_narrow", "rows_per_table": 100_000}
    bench = FakeBench(WORKLOAD, given, rows={"rows": [[4_000_000]]}, summary=SUMMARY, data_missing=data_missing)
    bench.instance.buffer_bytes = lambda: 32 << 20 if bench.sessions else None
    WORKLOAD.perform(bench)
    assert bench.calls == calls
    assert bench.step("run")["transactions"][0]["variables"][0]["max"] == 0.2 * (32 << 20) // (40 * 800)
    assert "buffer 34 MB" in bench.conditions["key_range"]


@pytest.mark.parametrize(
    ("in_memory", "words"),
    [(False, "buffer not known, taken as 67 MB"), (True, "a database in memory has no buffer, taken as 67 MB")],
)
def test_it_says_where_nothing_tells_the_buffer(in_memory: bool, words: str):
    given = {**FACTORS, "load": "select_narrow"}
    bench = FakeBench(WORKLOAD, given, rows={"rows": [[40_000]]}, summary=SUMMARY, in_memory=in_memory)
    WORKLOAD.perform(bench)
    assert words in bench.conditions["key_range"]


@pytest.mark.engines
def test_runs_with_the_same_seed_go_on_one_after_the_other(make_job: MakeJob):
    given = {"workload": "inserts_selects", "data_origin": "continued"}
    given["settings"] = {"journal_mode": "WAL", "synchronous": "OFF"}
    items = [make_job("sqlite", run_id=f"run-{number}", **given).run() for number in (1, 2)]
    assert [(item["outcome"], item["message"]) for item in items] == [("finished", "")] * 2
    first, second = (values(item) for item in items)
    # Each terminal begins with the same table in both.
    assert min(first["transactions"], second["transactions"]) > 0
    assert (first["errors"], second["errors"]) == (0, 0)


def test_it_begins_with_empty_tables_where_that_was_asked_for():
    bench = performed(load="insert", preloaded="empty", after=90)
    assert bench.phases() == ["create", "index", "run"]
    assert bench.checks[0]["ok"]
    with pytest.raises(JobError, match="nothing to select"):
        performed(load="select_wide", preloaded="empty")


def test_it_selects_by_each_of_the_three_indexes():
    run = performed(load="select_wide", after=40_000).step("run")
    statements = run["transactions"][5]["statements"]
    assert [statement["sql"].split(" WHERE ")[1] for statement in statements] == [
        "id = ? AND seq = ?",
        "id = ? AND col3 = ? AND col4 = ? AND col5 = ?",
        "id = ? AND col14 = ? ORDER BY col9 DESC",
    ]
    assert {statement["expect_rows"] for statement in statements} == {1}
    keys = run["transactions"][5]["variables"][:3]
    assert {(key["min"], key["max"]) for key in keys} == {(1, 1000)}


def test_the_narrow_range_stays_within_a_fifth_of_the_buffer():
    bench = performed(load="select_narrow", after=40_000, rows_per_table=100_000)
    key = bench.step("run")["transactions"][0]["variables"][0]
    assert key["max"] * 40 * 800 <= 0.2 * (64 << 20) < (key["max"] + 1) * 40 * 800
    assert bench.conditions["key_range"].startswith(f"{key['max']:,} of 100,000 rows of each table")
    assert "buffer 67 MB" in bench.conditions["key_range"]


def test_the_working_set_of_the_narrow_range_is_a_factor():
    bench = performed(load="select_narrow", after=40_000, rows_per_table=100_000, working_set_percent=80)
    key = bench.step("run")["transactions"][0]["variables"][0]
    assert key["max"] * 40 * 800 <= 0.8 * (64 << 20) < (key["max"] + 1) * 40 * 800
    assert bench.warnings == []


def test_it_says_that_pages_beyond_the_buffer_need_not_come_from_the_disk():
    said = {
        rows: performed(load="select_wide", after=40_000, rows_per_table=rows).conditions["key_range"]
        for rows in (2_000, 3_000)
    }
    assert "file system's cache" not in said[2_000]
    assert said[3_000].endswith("about 96 of 96 MB, buffer 67 MB; " + BEYOND)


@pytest.mark.parametrize(
    ("load", "rows", "words"),
    [
        ("select_narrow", 400, "The narrow range holds every row, about 13 MB: the wide one is the same"),
        ("select_narrow", 2_000, None),
        ("select_wide", 2_000, "The wide range, about 64 MB, does not exceed the buffer: no I/O-bound load"),
        ("select_wide", 3_000, None),
    ],
)
def test_it_warns_of_a_range_that_is_not_what_its_name_says(load: str, rows: int, words: str | None):
    warnings = performed(load=load, after=40_000, rows_per_table=rows).warnings
    assert warnings == ([f"{words} (buffer 67 MB)."] if words else [])


@pytest.mark.parametrize(("load", "after", "ok"), [("insert", 40_089, False), ("select_wide", 40_001, False)])
def test_it_wants_the_tables_to_grow_by_what_was_committed(load: str, after: int, ok: bool):
    (check,) = performed(load=load, after=after).checks
    assert check["ok"] is ok
    assert f"grew by {after - 40_000} rows" in check["detail"]
