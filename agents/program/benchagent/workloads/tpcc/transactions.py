"""The five transactions: their SQL by the names that the load generator's programs ask for.

Logic and random values are in the load generator (`tpcc.*`); parameters stand in the order given here. The rows that
many want, of warehouses, districts and the oldest new orders, are locked when they are read, where the engine can do
that: some report a conflict when an UPDATE had to wait. Nothing depends on it: what is counted up is so by the UPDATE
itself, and what has to be known afterwards is read after it.
"""

# ruff: noqa: S608 - every part of a statement is a text of this package
from __future__ import annotations

from typing import Any

from benchagent.dbms.dialect import Dialect
from benchagent.workloads.tpcc.tables import DISTRICTS

# Clause 5.2.3 asks for at least 43, 4, 4 and 4 % of the others; what is left is New-Order.
MIX = {"new_order": 45, "payment": 43, "order_status": 4, "delivery": 4, "stock_level": 4}

DISTRICT = "d_w_id = ? AND d_id = ?"
CUSTOMER = "c_w_id = ? AND c_d_id = ? AND c_id = ?"
ORDER = "o_w_id = ? AND o_d_id = ? AND o_id = ?"
NEW_ORDER = "no_w_id = ? AND no_d_id = ? AND no_o_id = ?"
LINES = "ol_w_id = ? AND ol_d_id = ? AND ol_o_id = ?"
NEXT_NUMBER = f"SELECT d_next_o_id FROM district WHERE {DISTRICT}"
BY_NAME = "SELECT c_id FROM customer WHERE c_w_id = ? AND c_d_id = ? AND c_last = ? ORDER BY c_first"


def new_order(dialect: Dialect) -> dict[str, str]:
    stock = {
        f"stock_{district:02}": (
            f"SELECT s_quantity, s_dist_{district:02}, s_data FROM stock WHERE s_w_id = ? AND s_i_id = ?"
        )
        for district in range(1, DISTRICTS + 1)
    }
    return {
        "warehouse": "SELECT w_tax FROM warehouse WHERE w_id = ?",
        "district": _for_update(dialect, f"SELECT d_tax FROM district WHERE {DISTRICT}"),
        "take_number": f"UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE {DISTRICT}",
        "next_number": NEXT_NUMBER,
        "customer": f"SELECT c_discount, c_last, c_credit FROM customer WHERE {CUSTOMER}",
        "insert_order": (
            "INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) "
            "VALUES (?, ?, ?, ?, ?, NULL, ?, ?)"
        ),
        "insert_new_order": "INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (?, ?, ?)",
        "item": "SELECT i_price, i_name, i_data FROM item WHERE i_id = ?",
        "take_stock": (
            "UPDATE stock SET "
            "s_quantity = CASE WHEN s_quantity - ? >= 10 THEN s_quantity - ? ELSE s_quantity - ? + 91 END, "
            "s_ytd = s_ytd + ?, s_order_cnt = s_order_cnt + 1, s_remote_cnt = s_remote_cnt + ? "
            "WHERE s_w_id = ? AND s_i_id = ?"
        ),
        **stock,
        "insert_line": (
            "INSERT INTO order_line (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, "
            "ol_quantity, ol_amount, ol_dist_info) VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, ?)"
        ),
    }


def payment(dialect: Dialect) -> dict[str, str]:
    return {
        "warehouse": _for_update(
            dialect, "SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = ?"
        ),
        "pay_warehouse": "UPDATE warehouse SET w_ytd = w_ytd + ? WHERE w_id = ?",
        "district": _for_update(
            dialect, f"SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE {DISTRICT}"
        ),
        "pay_district": f"UPDATE district SET d_ytd = d_ytd + ? WHERE {DISTRICT}",
        "customers_by_name": BY_NAME,
        "customer": (
            "SELECT c_credit, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, "
            f"c_since, c_credit_lim, c_discount, c_balance FROM customer WHERE {CUSTOMER}"
        ),
        "pay_customer": (
            "UPDATE customer SET c_balance = c_balance - ?, c_ytd_payment = c_ytd_payment + ?, "
            f"c_payment_cnt = c_payment_cnt + 1 WHERE {CUSTOMER}"
        ),
        "customer_data": f"SELECT c_data FROM customer WHERE {CUSTOMER}",
        "set_customer_data": f"UPDATE customer SET c_data = ? WHERE {CUSTOMER}",
        "insert_history": (
            "INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        ),
    }


def order_status(dialect: Dialect) -> dict[str, str]:
    return {
        "customers_by_name": BY_NAME,
        "customer": f"SELECT c_balance, c_first, c_middle, c_last FROM customer WHERE {CUSTOMER}",
        "last_order": dialect.first_rows(
            "o_id, o_entry_d, o_carrier_id FROM orders WHERE o_w_id = ? AND o_d_id = ? AND o_c_id = ? "
            "ORDER BY o_id DESC",
            1,
        ),
        "lines": f"SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM order_line WHERE {LINES}",
    }


def delivery(dialect: Dialect) -> dict[str, str]:
    return {
        # All columns of the key in the order: an engine that reads along an index stops after the first row.
        "oldest": dialect.first_rows(
            "no_o_id FROM new_order WHERE no_w_id = ? AND no_d_id = ? AND no_o_id > ? "
            "ORDER BY no_w_id, no_d_id, no_o_id",
            1,
        ),
        # It is locked by its key, since few engines lock the row of a limited and ordered SELECT.
        "lock": _for_update(dialect, f"SELECT no_o_id FROM new_order WHERE {NEW_ORDER}"),
        "remove": f"DELETE FROM new_order WHERE {NEW_ORDER}",
        "order": f"SELECT o_c_id FROM orders WHERE {ORDER}",
        "carry": f"UPDATE orders SET o_carrier_id = ? WHERE {ORDER}",
        "deliver_lines": f"UPDATE order_line SET ol_delivery_d = ? WHERE {LINES}",
        "amount": f"SELECT SUM(ol_amount) FROM order_line WHERE {LINES}",
        "charge_customer": (
            f"UPDATE customer SET c_balance = c_balance + ?, c_delivery_cnt = c_delivery_cnt + 1 WHERE {CUSTOMER}"
        ),
    }


def stock_level(dialect: Dialect) -> dict[str, str]:
    return {
        "next_number": NEXT_NUMBER,
        "low": (
            "SELECT COUNT(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id "
            "WHERE ol_w_id = ? AND ol_d_id = ? AND ol_o_id >= ? AND ol_o_id < ? AND s_quantity < ?"
        ),
    }


SQL = {
    "new_order": new_order,
    "payment": payment,
    "order_status": order_status,
    "delivery": delivery,
    "stock_level": stock_level,
}


def programs(dialect: Dialect, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """The transactions of the load generator's ``run`` step."""
    return [
        {"name": name, "weight": weight, "program": f"tpcc.{name}", "sql": SQL[name](dialect), "parameters": parameters}
        for name, weight in MIX.items()
    ]


def _for_update(dialect: Dialect, select: str) -> str:
    return f"{select} {dialect.for_update.strip()}".rstrip()
