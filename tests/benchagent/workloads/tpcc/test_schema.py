from __future__ import annotations

import pytest
from benchagent.catalog.space import warehouse_bytes
from benchagent.dbms.dialect import Dialect
from benchagent.workloads.tpcc import WORKLOAD, Plan, prepare, run, tables, transactions

FACTORS = WORKLOAD.factors({"warehouses": 3})


def test_it_has_the_nine_tables_of_the_standard_in_their_sizes():
    assert WORKLOAD.dataset(FACTORS, 42)["rows"] == {
        "warehouse": 3,
        "district": 30,
        "customer": 90_000,
        "history": 90_000,
        "orders": 90_000,
        "order_line": 900_000,
        "new_order": 27_000,
        "item": 100_000,
        "stock": 300_000,
    }
    assert sum(len(table.columns) for table in tables.TABLES) == 92


def test_it_writes_types_and_null_constraints():
    sql = {table.name: table.create(Dialect(integer="INT", timestamp="DATETIME")) for table in tables.TABLES}
    assert sql["orders"] == (
        "CREATE TABLE orders (o_id INT NOT NULL, o_d_id INT NOT NULL, o_w_id INT NOT NULL, o_c_id INT NOT NULL, "
        "o_entry_d DATETIME NOT NULL, o_carrier_id INT, o_ol_cnt INT NOT NULL, o_all_local INT NOT NULL)"
    )
    assert "c_discount DECIMAL(4, 4) NOT NULL" in sql["customer"]
    assert "ol_delivery_d DATETIME," in sql["order_line"]


def test_it_builds_keys_and_indexes_after_the_load():
    phases = {step["phase"]: step for step in prepare(Plan(Dialect(), FACTORS, 42))}
    assert list(phases) == ["create", "load", "index"]
    assert not any("PRIMARY KEY" in sql for sql in phases["create"]["statements"])
    assert len(phases["index"]["statements"]) == 8 + 2  # the history has no key
    assert phases["index"]["statements"][4] == (
        "ALTER TABLE order_line ADD CONSTRAINT order_line_pk PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number)"
    )


def test_it_gives_the_keys_at_once_where_they_cannot_come_afterwards():
    dialect = Dialect(primary_key_afterwards=False, after_load_each=("ANALYZE {table}",), after_load=("CHECKPOINT",))
    phases = {step["phase"]: step["statements"] for step in prepare(Plan(dialect, FACTORS, 42))[::2]}
    assert sum("PRIMARY KEY" in sql for sql in phases["create"]) == 8
    assert [sql.split()[2] for sql in phases["index"]] == ["customer_last", "orders_customer"]
    settle = prepare(Plan(dialect, FACTORS, 42))[-1]
    assert settle["statements"][0] == "ANALYZE warehouse"
    assert settle["statements"][-1] == "CHECKPOINT"


def test_it_loads_by_threads_and_slowly_at_the_end_when_asked_to():
    factors = WORKLOAD.factors({"warehouses": 3, "loader_threads": 4, "loader_profile": "fast_slow"})
    load = prepare(Plan(Dialect(), factors, 42))[1]
    assert load["threads"] == 4
    assert load["profile"] == {"slow_share": 0.3, "slow_rows_per_s": 4_000}
    assert "profile" not in prepare(Plan(Dialect(), FACTORS, 42))[1]
    for table in load["tables"]:
        assert table["parameters"] == {"warehouses": 3, "seed": 42}


def test_it_makes_small_warehouses_with_the_districts_of_large_ones():
    factors = WORKLOAD.factors({"warehouses": 30, "warehouse_rows": "tenth"})
    load = prepare(Plan(Dialect(), factors, 42))[1]
    assert {table["name"]: table["rows"] for table in load["tables"]} | {"order_line": 0} == {
        "warehouse": 30,
        "district": 300,
        "customer": 90_000,
        "history": 90_000,
        "orders": 90_000,
        "order_line": 0,
        "new_order": 27_000,
        "item": 10_000,
        "stock": 300_000,
    }
    assert load["tables"][0]["parameters"] == {"warehouses": 30, "seed": 42, "scale_divisor": 10}
    assert WORKLOAD.dataset(factors, 42)["rows"]["stock"] == 300_000
    standard = WORKLOAD.factors({"target_size_mb": 1_060}, "firebird").number("warehouses")
    tenth = WORKLOAD.factors({"target_size_mb": 1_060, "warehouse_rows": "tenth"}, "firebird").number("warehouses")
    assert tenth == pytest.approx(10 * standard, rel=0.02)


def test_it_runs_the_standard_mix():
    step = run(Plan(Dialect(), WORKLOAD.factors({"rate_per_s": 50}), 42))
    assert {program["name"]: program["weight"] for program in step["transactions"]} == {
        "new_order": 45,
        "payment": 43,
        "order_status": 4,
        "delivery": 4,
        "stock_level": 4,
    }
    assert step["rate_per_s"] == 50
    assert step["terminals"] == 20


def test_it_words_its_statements_for_the_dialect():
    dialect = Dialect(first="SELECT FIRST {n} {select}", for_update=" FOR UPDATE WITH LOCK")
    assert transactions.delivery(dialect)["oldest"].startswith("SELECT FIRST 1 no_o_id FROM new_order WHERE")
    assert transactions.payment(dialect)["warehouse"].endswith("w_id = ? FOR UPDATE WITH LOCK")
    assert transactions.payment(Dialect())["warehouse"].endswith("w_id = ?")


def test_it_takes_as_many_warehouses_as_come_nearest_to_a_size():
    def warehouses(target_size_mb: int, dbms: str) -> int:
        return WORKLOAD.factors({"target_size_mb": target_size_mb, "warehouses": 7}, dbms).number("warehouses")

    assert warehouses(0, "firebird") == 7
    assert warehouses(10_600, "firebird") == 100
    assert warehouses(1, "firebird") == 1
    assert warehouses(1_000, "sqlite") > warehouses(1_000, "postgresql")
    assert warehouses(1_122, "no-such-engine") == 10


@pytest.mark.parametrize("dbms", ["sqlite", "hsqldb", "of a plug-in"])
def test_it_asks_for_more_space_than_the_engine_takes(dbms):
    needed = WORKLOAD.disk_bytes(WORKLOAD.factors({"warehouses": 10, "warm_up_s": 10, "duration_s": 60}, dbms))
    assert 10 * 2 * warehouse_bytes(dbms) < needed < 10_000_000_000
