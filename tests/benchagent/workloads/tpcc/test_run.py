"""Whole jobs on every embedded engine, with warehouses of a hundredth of their size."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from benchagent.catalog import DBMSS, METRICS, WORKLOADS
from benchagent.dbms.postgresql.discovery import installations
from benchagent.java import JavaToolchain
from benchagent.job.job import Job
from benchagent.link.spool import Spool
from benchagent.machine.process import Abort
from benchagent.paths import AgentDirs
from benchagent.protocol import FinishItem
from benchagent.workloads import tpcc
from benchagent.workloads.tpcc.queries import MEMORY_INTERVAL_S

from tests.benchagent.fake_server import job_spec
from tests.benchagent.jobs import log_of
from tests.benchagent.link.test_spool import sent
from tests.benchagent.live import EMBEDDED
from tests.benchagent.small import FULL_SPEED, RATE_PER_S, make_smaller
from tests.whole import whole_but

pytestmark = pytest.mark.engines
WORKLOAD_TABLES = tpcc.WORKLOAD.tables(tpcc.WORKLOAD.factors({}))
RunJob = Callable[..., FinishItem]
SMALL = {"warehouses": 1, "warehouse_rows": "hundredth", "terminals": 4}


@pytest.fixture
def run_job(dirs: AgentDirs, spool: Spool, toolchain: JavaToolchain, monkeypatch: pytest.MonkeyPatch) -> RunJob:
    make_smaller(monkeypatch)

    def run(dbms: str, settings: dict[str, str] | None = None, **factors: int | str) -> FinishItem:
        groups = [group.version for group in toolchain.engine_groups() if group.dbms == dbms and group.default]
        version = next(iter(installations())) if dbms == "postgresql" else groups[0]
        spec = job_spec(
            f"run-{dbms}",
            workload="tpcc",
            workload_version=WORKLOADS["tpcc"].version,
            dbms=dbms,
            dbms_version=version,
            settings=list(DBMSS[dbms].settings if settings is None else settings.items()),
            factors={**SMALL, "warm_up_s": 1, "duration_s": 2, "rate_per_s": RATE_PER_S, **factors},
        )
        spool.add_job({"job": spec, "job_token": "x", "lease_s": 600}, time.time())
        return Job(spec, dirs=dirs, toolchain=toolchain, spool=spool, abort=Abort()).run()

    return run


def values(item: FinishItem, phase: str) -> dict[str, float]:
    return {metric["name"]: metric["value"] for metric in item["result"]["metrics"] if metric["phase"] == phase}


def checks(item: FinishItem) -> dict[str, Any]:
    return {check["name"]: check for check in item["result"]["checks"]}


@pytest.mark.parametrize("dbms", whole_but(("sqlite",), EMBEDDED))
def test_it_loads_runs_and_leaves_a_consistent_database(dbms: str, run_job: RunJob, monkeypatch: pytest.MonkeyPatch):
    # As often as the others, so that each is sure to be met in a short run.
    monkeypatch.setattr(tpcc.transactions, "MIX", dict.fromkeys(tpcc.transactions.MIX, 1))
    item = run_job(dbms, warehouses=2, warm_up_s=0, rate_per_s=FULL_SPEED)
    assert (item["outcome"], item["message"]) == ("finished", "")
    found, loaded, result = values(item, "run"), values(item, "load"), item["result"]
    assert set(found) | set(loaded) <= set(METRICS)
    types = result["statistics"]["transaction_types"]
    assert sum(one["transactions"] for one in types.values()) == found["transactions"]
    assert found["ops_per_s"] == found["transactions"] / 2
    new_orders = types["new_order"]
    assert found["tpmc"] == 30 * (new_orders["transactions"] - new_orders["rolled_back"])
    assert set(types) == {"new_order", "payment", "order_status", "delivery", "stock_level"}
    assert loaded["load_bytes"] > 1_000_000
    loading_s = loaded["load_s"] + values(item, "index")["index_s"]
    assert loaded["load_size_mb_per_s"] == pytest.approx(loaded["db_size_bytes"] / loading_s / 1e6)
    assert [check["ok"] for name, check in checks(item).items() if name.startswith("consistency")] == [True, True]
    assert checks(item)["orders_committed"]["ok"] and checks(item)["payments_committed"]["ok"]
    assert len(result["statistics"]["consistency"]) == 13 + len(WORKLOAD_TABLES) + 12
    assert {table["table"] for table in result["statistics"]["tables"]} == set(WORKLOAD_TABLES)


def test_it_measures_the_six_queries_cold_warm_and_again(run_job: RunJob):
    item = run_job("sqlite", warehouses=2, queries="yes", loader_profile="fast_slow")
    assert (item["outcome"], item["message"]) == ("finished", "")
    answers = item["result"]["statistics"]["queries"]
    assert [(one["query"], one["state"]) for one in answers[:7]] == [
        *((number, "cold") for number in range(1, 7)),
        (1, "warm"),
    ]
    assert {one["state"] for one in answers if one["query"] == 3} == {"cold", "warm", "repeated", "other"}
    for one in answers:
        assert one["elapsed_s"] > 0
        assert one["plan"]
    assert {one["count"] for one in answers if one["query"] == 2} == {300}, "customers of a small warehouse"
    warm_up = item["result"]["statistics"]["warm_up_queries"]
    assert warm_up["memory"] == [], "the engine is inside the load generator"
    assert [one["name"].partition(":")[2] for one in warm_up["queries"]] == list(tpcc.queries.WARM_UP_TABLES)
    assert all(one["t"] > 0 and one["elapsed_s"] > 0 for one in warm_up["queries"])
    assert {one["row_count"] for one in answers if one["query"] in (1, 3, 5)} == {10}
    (mark,) = item["result"]["statistics"]["marks"]
    assert (mark["name"], mark["rows"]) == ("slow_part", 7_701)


@pytest.mark.skipif(not installations(), reason="no PostgreSQL on this machine")
def test_what_a_server_is_asked_around_its_run_leaves_the_conditions_of_the_run(run_job: RunJob, spool: Spool):
    """Six restarts for the cold queries, after a run with warm caches; five queries that warm it up before."""
    item = run_job("postgresql", queries="yes", warm_up_s=0, duration_s=1)
    assert (item["outcome"], item["message"]) == ("finished", "")
    told = item["result"]["statistics"]
    assert "dropped" not in told["conditions"]["caches"]
    assert "restart_s" not in values(item, "restart")
    log = log_of(sent(spool, "run-postgresql"))
    assert all(f"(before query {number}, cold)" in log for number in range(1, 7))

    answers = {(one["query"], one["state"]): one for one in told["queries"]}
    assert len(answers) == 6 * 4
    executed = [one for one in answers.values() if "missing" not in one]
    assert all(one["fetches"] >= one["reads"] >= 0 for one in executed)
    cold, warm = (sum(answers[number, state]["reads"] for number in range(1, 7)) for state in ("cold", "repeated"))
    assert cold > warm

    memory, asked = told["warm_up_queries"]["memory"], told["warm_up_queries"]["queries"]
    assert all(point["bytes"] > 1_000_000 for point in memory)
    assert [one["name"].partition(":")[2] for one in asked] == list(tpcc.queries.WARM_UP_TABLES)
    before = memory[0]["t"]
    for one in asked:  # each begins when the one before has ended; the clock has milliseconds
        assert one["t"] - one["elapsed_s"] >= before - 0.002
        before = one["t"]
    assert before <= memory[-1]["t"] + MEMORY_INTERVAL_S + 0.1, "the curve goes on until the last query has ended"


def test_it_rests_and_cools_no_engine_in_memory(run_job: RunJob):
    memory = {"storage": "memory", "TRANSACTION CONTROL": "MVCC"}
    item = run_job("hsqldb", memory, cache_state="cold")
    assert "no cold caches" in item["message"]


def test_it_has_no_cold_queries_of_an_engine_in_memory(run_job: RunJob):
    item = run_job("hsqldb", {"storage": "memory", "TRANSACTION CONTROL": "MVCC"}, queries="yes", settle_s=1)
    assert (item["outcome"], item["message"]) == ("finished", "")
    assert any(words.startswith("no rest before the run") for words in item["result"]["warnings"])
    answers = item["result"]["statistics"]["queries"]
    assert [one["missing"] for one in answers if one["state"] == "cold"] == [tpcc.queries.IN_MEMORY] * 6
    assert [one["missing"] for one in answers if one["state"] == "other" and "missing" in one] == [
        tpcc.queries.ONE_WAREHOUSE
    ] * 5
    assert "db_size_bytes" not in values(item, "load")


def test_it_fails_a_run_whose_data_were_changed_behind_its_back(run_job: RunJob, monkeypatch: pytest.MonkeyPatch):
    theft = {
        "name": "theft",
        "weight": 100,
        "statements": [{"sql": "UPDATE warehouse SET w_ytd = w_ytd - 1 WHERE w_id = 1"}],
    }
    programs = tpcc.transactions.programs
    monkeypatch.setattr(tpcc.transactions, "programs", lambda *given: [*programs(*given), theft])
    item = run_job("h2", duration_s=1)
    assert item["outcome"] == "failed"
    assert item["message"].endswith(" after the run: 1: 1 rows; 8: 1 rows")


def test_it_does_not_run_on_a_database_that_is_wrong_from_the_start(run_job: RunJob, monkeypatch: pytest.MonkeyPatch):
    prepare = tpcc.prepare
    loss = {"op": "execute", "phase": "loss", "statements": ["DELETE FROM new_order WHERE no_o_id = 25"]}
    monkeypatch.setattr(tpcc, "prepare", lambda plan: [*prepare(plan), loss])
    item = run_job("h2")
    assert item["outcome"] == "failed"
    assert "after the load: 3: 10 rows" in item["message"]
    assert "transactions" not in values(item, "run")
