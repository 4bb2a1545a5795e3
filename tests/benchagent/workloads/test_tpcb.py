from __future__ import annotations

from typing import Any

import pytest
from benchagent import workloads
from benchagent.dbms.base import JobError
from benchagent.dbms.dialect import Dialect
from benchagent.workloads.tpcb import WORKLOAD

from tests.benchagent.workloads.fake_bench import FakeBench

FACTORS = {"scale_factor": 3, "terminals": 4, "warm_up_s": 10, "duration_s": 30}
SUMMARY = {"warm_up_transactions": 20, "transactions": 100, "tail_transactions": 3}


def rows(**changes: Any) -> dict[str, list[list[Any]]]:
    good = {"accounts": 77, "tellers": 77, "branches": 77, "history": 77, "history_rows": 123}
    return {name: [[value]] for name, value in {**good, **changes}.items()}


def performed(dialect: Dialect | None = None, **more: Any) -> FakeBench:
    given = {"rows": rows(), "summary": SUMMARY, **more}
    bench = FakeBench(WORKLOAD, FACTORS, dialect=dialect, **given)
    WORKLOAD.perform(bench)
    return bench


def test_it_loads_one_branch_ten_tellers_and_100000_accounts_per_scale_factor():
    load = performed().step("load")
    assert [(table["name"], table["rows"]) for table in load["tables"]] == [
        ("branches", 3),
        ("tellers", 30),
        ("accounts", 300_000),
    ]
    for table in load["tables"]:
        assert table["insert"].count("?") == len(table["columns"])


def test_it_gives_the_primary_keys_afterwards_only_where_that_is_possible():
    assert performed().phases() == ["create", "load", "index", "run"]
    bench = performed(Dialect(primary_key_afterwards=False))
    assert bench.phases() == ["create", "load", "run"]
    create = bench.sessions[0][0]
    assert sum("PRIMARY KEY" in statement for statement in create["statements"]) == 3


def test_it_settles_the_database_before_the_run():
    dialect = Dialect(after_load_each=("VACUUM {table}",), after_load=("CHECKPOINT",))
    settle = performed(dialect).sessions[0][-1]
    assert settle["statements"] == [
        "VACUUM branches",
        "VACUUM tellers",
        "VACUUM accounts",
        "VACUUM history",
        "CHECKPOINT",
    ]


def test_it_draws_from_the_whole_scale():
    run = performed().step("run")
    (transaction,) = run["transactions"]
    ranges = {variable["name"]: (variable["min"], variable["max"]) for variable in transaction["variables"]}
    assert ranges == {"aid": (1, 300_000), "bid": (1, 3), "tid": (1, 30), "delta": (-5000, 5000)}
    assert (run["terminals"], run["warm_up_s"], run["duration_s"], run["seed"]) == (4, 10, 30, 42)
    assert "rate_per_s" not in run
    for statement in transaction["statements"]:
        assert statement["sql"].count("?") == len(statement["bind"])
        assert set(statement["bind"]) <= set(ranges)


def test_it_runs_at_the_rate_that_was_asked_for():
    bench = FakeBench(WORKLOAD, {**FACTORS, "rate_per_s": 250}, rows=rows(), summary=SUMMARY)
    WORKLOAD.perform(bench)
    assert (bench.step("run")["rate_per_s"], bench.step("run")["arrivals"]) == (250, "poisson")


def test_a_rate_may_be_below_one_a_second():
    given = {**FACTORS, "rate_per_s": "0.05", "arrivals": "even"}
    bench = FakeBench(WORKLOAD, given, rows=rows(), summary=SUMMARY)
    WORKLOAD.perform(bench)
    assert (bench.step("run")["rate_per_s"], bench.step("run")["arrivals"]) == (0.05, "even")


def test_it_loads_and_runs_in_two_sessions_with_what_is_asked_for_between_them():
    assert performed().calls == ["session", "data_loaded", "before_run", "session"]
    assert performed(in_memory=True).calls == ["session"]


def test_a_database_in_memory_is_never_cold_and_has_no_rest():
    with pytest.raises(JobError, match="there are no cold caches"):
        WORKLOAD.perform(FakeBench(WORKLOAD, {**FACTORS, "cache_state": "cold"}, in_memory=True))
    bench = FakeBench(WORKLOAD, {**FACTORS, "settle_s": 5}, rows=rows(), summary=SUMMARY, in_memory=True)
    WORKLOAD.perform(bench)
    assert bench.warnings == ["no rest before the run: a database in memory is loaded and used in one session"]


def test_it_counts_only_its_own_history_on_data_that_were_used_before():
    given = {"rows": {**rows(history_rows=1123), "before:history_rows": [[1000]]}, "summary": SUMMARY}
    bench = FakeBench(WORKLOAD, {**FACTORS, "data_origin": "continued"}, data_missing=False, **given)
    WORKLOAD.perform(bench)
    # Counting fills caches, so it comes before they are made what they shall be.
    assert bench.calls == ["session", "before_run", "session"]
    assert bench.conditions["caches"].endswith("; before the run it read what the checks count")
    assert all(check["ok"] for check in bench.checks)


def test_it_asks_nothing_of_a_copy_before_the_run():
    bench = performed(data_missing=False)
    assert bench.calls == ["before_run", "session"]
    assert bench.sessions[0][0]["op"] == "run"
    assert "caches" not in bench.conditions
    assert all(check["ok"] for check in bench.checks)


def test_it_accepts_balances_that_add_up():
    assert all(check["ok"] for check in performed().checks)


def test_it_accepts_text_decimals_and_a_sum_over_nothing():
    empty = {"warm_up_transactions": 0, "transactions": 0, "tail_transactions": 0}
    found = rows(accounts="0", tellers="0.00", branches=0, history=None, history_rows=0)
    assert all(check["ok"] for check in performed(summary=empty, rows=found).checks)


@pytest.mark.parametrize("table", ["accounts", "tellers", "branches", "history"])
def test_it_names_every_sum_when_they_do_not_add_up(table: str):
    balances, history = performed(rows=rows(**{table: 78})).checks
    assert not balances["ok"]
    assert f"{table} 78" in balances["detail"]
    assert balances["detail"].startswith("balances do not add up")
    assert history["ok"]


@pytest.mark.parametrize("count", [122, 124])
def test_it_wants_one_history_row_per_committed_transaction(count: int):
    _, history = performed(rows=rows(history_rows=count)).checks
    assert not history["ok"]
    assert f"history grew by {count} rows" in history["detail"]


def test_it_fills_in_default_factors_and_refuses_what_is_out_of_range():
    factors = WORKLOAD.factors({"terminals": 8})
    numbers = [factors.number(name) for name in ("scale_factor", "terminals", "warm_up_s", "duration_s", "rate_per_s")]
    assert numbers == [4, 8, 10, 30, 0]
    assert (factors.text("cache_state"), factors.text("data_origin"), factors.text("log_storage")) == (
        "warm",
        "fresh",
        "",
    )
    with pytest.raises(JobError, match="Terminals must be between 1 and 1000, not 0"):
        WORKLOAD.factors({"terminals": 0})
    not_a_number = "Terminals must be a whole number of connections, between 1 and 1000, not 'many'"
    with pytest.raises(JobError, match=not_a_number):
        WORKLOAD.factors({"terminals": "many"})
    with pytest.raises(JobError, match="Caches at the start must be one of warm, cold, preread, not 'tepid'"):
        WORKLOAD.factors({"cache_state": "tepid"})


def test_it_is_found_by_name_and_version():
    assert workloads.workload("tpcb", "1") is WORKLOAD
    with pytest.raises(JobError, match="has version 1 of workload tpcb, the job asks for 2"):
        workloads.workload("tpcb", "2")
    with pytest.raises(JobError, match="knows no workload"):
        workloads.workload("tpcz", "1")
