from __future__ import annotations

from typing import Any

import pytest
from benchagent.dbms.counters import EngineCounters, QueryRows
from benchagent.dbms.dialect import Dialect
from benchagent.workloads.base import SessionResult
from benchagent.workloads.tpcc import queries
from benchagent.workloads.tpcc.queries import Execution, Parameters


class Telling(EngineCounters):
    """An engine that counts what its sessions read."""

    effort_sql = {"io": "SELECT reads, fetches FROM mine"}

    def effort(self, rows: QueryRows) -> dict[str, float]:
        return {"reads": float(rows["io"][0][0]), "fetches": float(rows["io"][0][1])}

    def plan_queries(self, sql: str) -> list[str]:
        return [f"EXPLAIN {sql}"]


def result(**events: Any) -> SessionResult:
    named = {name.replace("_", " ", 1): event for name, event in events.items()}
    rows = {name: event["rows"] for name, event in named.items() if "rows" in event}
    return SessionResult(None, rows, named, {}, [])


def test_it_asks_for_the_warehouses_of_the_article_where_there_are_as_many():
    assert queries.parameters(21_000) == Parameters(first=10_000, lines=10_050, above=8_000, below=10_000, customer=10)


@pytest.mark.parametrize("warehouses", [1, 2, 3, 5, 10, 105, 21_000])
def test_it_asks_for_warehouses_that_were_loaded(warehouses: int):
    for of in (queries.parameters(warehouses), queries.other_parameters(warehouses)):
        assert 1 <= of.first <= warehouses
        assert 1 <= of.lines <= warehouses
        assert 0 <= of.above < warehouses, "there is one above"
        assert of.below > of.above + 1, "there is one between"


@pytest.mark.parametrize("warehouses", [2, 3, 5, 10, 105, 21_000])
def test_it_asks_for_other_warehouses_the_last_time(warehouses: int):
    by_state = {(one.query, one.state): one.sql for one in queries.warm(Dialect(), warehouses)}
    assert len(by_state) == 6 * 3
    for number in "123456":
        assert by_state[number, "warm"] == by_state[number, "repeated"] != by_state[number, "other"]
    assert [one.sql for one in queries.cold(Dialect(), warehouses)] == [by_state[number, "warm"] for number in "123456"]


def test_it_says_why_one_warehouse_has_no_other_parameters():
    warm = queries.warm(Dialect(), 1)
    assert [one.query for one in warm if one.state == "other"] == ["6"], "another customer"
    gaps = queries.gaps(warm, queries.OTHER, queries.ONE_WAREHOUSE)
    assert gaps[0] == {"query": 1, "state": "other", "missing": "one warehouse only: there are no other parameters"}
    assert [gap["query"] for gap in gaps] == [1, 2, 3, 4, 5]


def test_it_looks_at_the_effort_before_and_after_a_query():
    one = Execution("4", "warm", "SELECT COUNT(*) FROM order_line WHERE ol_w_id = 1")
    names = [step["name"] for step in one.steps(Telling())]
    assert names == ["query 4, warm, begin:io", "query 4, warm", "query 4, warm, end:io"]
    assert all(step["optional"] for step in one.steps(Telling()))
    found = result(
        **{
            "query_4, warm, begin:io": {"rows": [[10, 100]]},
            "query_4, warm": {"rows": [[299_509]], "elapsed_s": 3.41, "row_count": 1},
            "query_4, warm, end:io": {"rows": [[2_004, 599_270]]},
        }
    )
    assert one.answer(Telling(), found, "PLAN (ORDER_LINE INDEX (ORDER_LINE_PK))") == {
        "query": 4,
        "state": "warm",
        "sql": one.sql,
        "plan": "PLAN (ORDER_LINE INDEX (ORDER_LINE_PK))",
        "elapsed_s": 3.41,
        "row_count": 1,
        "count": 299_509,
        "reads": 1_994,
        "fetches": 599_170,
    }
    assert "reads" not in one.answer(EngineCounters(), found, "")


def test_it_keeps_the_error_of_a_query():
    one = Execution("1", "cold", "SELECT 1")
    found = result(**{"query_1, cold": {"error": "no such table", "rows": []}})
    assert one.answer(EngineCounters(), found, "")["error"] == "no such table"


def test_it_reads_plans_from_the_rows_of_the_engine():
    executions = queries.warm(Dialect(), 1)
    (step, *_) = queries.plan_steps(Telling(), executions)
    assert step["sql"] == f"EXPLAIN {executions[0].sql}"
    found = SessionResult(None, {step["name"]: [["Seq Scan"], ["  Filter"]]}, {}, {}, [])
    assert queries.plans(Telling(), executions[:1], found) == {executions[0].sql: "Seq Scan\n  Filter"}
    assert queries.plans(EngineCounters(), executions[:1], found) == {executions[0].sql: ""}


def test_it_warms_up_with_the_first_row_of_five_tables():
    assert list(queries.warm_up(Dialect(first="SELECT FIRST {n} {select}")).values()) == [
        "SELECT FIRST 1 * FROM order_line",
        "SELECT FIRST 1 * FROM stock",
        "SELECT FIRST 1 * FROM customer",
        "SELECT FIRST 1 * FROM orders",
        "SELECT FIRST 1 * FROM new_order",
    ]
