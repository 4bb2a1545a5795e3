from __future__ import annotations

import pytest
from benchagent.workloads.tpcc import conditions, tables

LOADED = conditions.queries(5, 42, loaded=True)
RUN = conditions.queries(5, 42, loaded=False)


def test_it_asks_all_twelve_conditions_after_the_load():
    numbers = [str(number) for number in range(1, 13)]
    assert list(dict.fromkeys(name.split()[0] for name in LOADED)) == [*numbers, "rows"]
    counted = {f"rows of {table}" for table in tables.NAMES}
    assert set(LOADED) - set(RUN) == {"11"} | counted, "a run changes the numbers of rows, and delivers orders"


def test_it_counts_the_rows_of_every_table_after_the_load():
    assert LOADED["rows of stock"] == "SELECT COUNT(*) - 500000 FROM stock"
    assert LOADED["rows of item"].startswith("SELECT COUNT(*) - 100000 ")
    assert [conditions.violations([[count]]) for count in (-3, "3", 0, None)] == [3, 3, 0, None]


def test_it_looks_into_one_warehouse_where_every_row_has_to_be_seen():
    for name in ("6", "7", "10", "12"):
        assert "w_id = 3" in LOADED[name], "42 modulo 5, from 1"
    assert "w_id = 1" in conditions.queries(1, 42, loaded=True)["6"]
    limited = {name: where for name in LOADED if (where := conditions.only_in(name, 5, 42))}
    assert limited == dict.fromkeys(("6", "7", "10", "12"), "warehouse 3 of 5 only")
    assert conditions.only_in("6", 1, 42) == "", "that is everywhere"
    assert LOADED["11"].endswith("<> 2100")


def test_it_holds_when_nothing_violates_a_condition():
    asked = {name: conditions.only_in(name, 5, 42) for name in LOADED}
    check = conditions.check("after the load", asked, {name: [["0"]] for name in LOADED})
    assert check["ok"]
    assert check["detail"].startswith(
        "consistency conditions 1, 2, 3, 4, 5 (orders), 5 (new orders), 6 (warehouse 3 of 5 only), 7 (warehouse 3"
    )


@pytest.mark.parametrize("answer", [[[1]], [], [[None]]])
def test_it_is_broken_by_one_row_and_by_a_missing_answer(answer: list[list[object]]):
    rows = {name: [[0]] for name in RUN}
    check = conditions.check("after the run", RUN, {**rows, "8": answer})
    assert not check["ok"]
    assert check["detail"].startswith("consistency conditions violated after the run: 8: ")
