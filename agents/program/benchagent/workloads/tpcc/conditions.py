"""The twelve consistency conditions of the standard (clause 3.3.2), each as a query that counts what violates it.

Those that need a look at every order or customer are asked of one warehouse only, which the seed chooses: 6, 7, 10 and
12. Number 11 compares with the 2,100 delivered orders of the load, so it holds before the run only, as do the numbers
of rows. What is missing counts as zero: a sum without rows would be NULL, and no comparison with NULL finds anything.
Two sums are set against each other by a union, which finds rows missing on either side and reads each table once;
Derby wants the names of its columns on both sides.
Amounts are compared to half a cent, since some engines add them up as floating-point numbers; without ABS, which
InterBase has only where somebody has declared it.
"""

# ruff: noqa: S608 - every part of a statement is a text of this package
from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from benchagent.dbms.base import first_value
from benchagent.dbms.counters import QueryRows
from benchagent.protocol import Check
from benchagent.workloads.tpcc.tables import CUSTOMERS, NEW_ORDERS, TABLES
from benchagent.workloads.tpcc.tables import rows as rows_of

OF_DISTRICT = "o_w_id = d_w_id AND o_d_id = d_id"
LINES_OF_ORDER = "ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id"
NEW_OF_ORDER = "no_w_id = o_w_id AND no_d_id = o_d_id AND no_o_id = o_id"
DELIVERED_TO_CUSTOMERS = (
    "SELECT o_d_id AS d, o_c_id AS c, -SUM(ol_amount) AS amount FROM orders, order_line "
    f"WHERE {LINES_OF_ORDER} AND o_w_id = {{warehouse}} AND ol_delivery_d IS NOT NULL GROUP BY o_d_id, o_c_id"
)


def _uneven(keys: str, *sides: str) -> str:
    """How many groups by these keys have amounts that do not add up to zero; a side gives keys and `amount`."""
    both, not_even = " UNION ALL ".join(sides), "(SUM(amount) > 0.005 OR SUM(amount) < -0.005)"
    return f"SELECT COUNT(*) FROM (SELECT {keys} FROM ({both}) b GROUP BY {keys} HAVING {not_even}) v"


EVERYWHERE: dict[str, str] = {
    # W_YTD = sum of D_YTD
    "1": _uneven(
        "w",
        "SELECT w_id AS w, w_ytd AS amount FROM warehouse",
        "SELECT d_w_id AS w, -SUM(d_ytd) AS amount FROM district GROUP BY d_w_id",
    ),
    # D_NEXT_O_ID - 1 = highest O_ID = highest NO_O_ID, where there are new orders: a run may deliver the last one
    "2": (
        "SELECT COUNT(*) FROM district "
        f"WHERE d_next_o_id - 1 <> (SELECT COALESCE(MAX(o_id), 0) FROM orders WHERE {OF_DISTRICT}) "
        "OR d_next_o_id - 1 <> (SELECT MAX(no_o_id) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id)"
    ),
    # no gap in the numbers of the new orders
    "3": (
        "SELECT COUNT(*) FROM (SELECT no_w_id FROM new_order GROUP BY no_w_id, no_d_id "
        "HAVING MAX(no_o_id) - MIN(no_o_id) + 1 <> COUNT(*)) n"
    ),
    # sum of O_OL_CNT = number of lines
    "4": (
        "SELECT COUNT(*) FROM district "
        f"WHERE (SELECT COALESCE(SUM(o_ol_cnt), 0) FROM orders WHERE {OF_DISTRICT}) "
        "<> (SELECT COUNT(*) FROM order_line WHERE ol_w_id = d_w_id AND ol_d_id = d_id)"
    ),
    # an order is new, and has no carrier yet, or neither
    "5 (orders)": (
        "SELECT COUNT(*) FROM orders WHERE o_carrier_id IS NULL "
        f"AND NOT EXISTS (SELECT no_o_id FROM new_order WHERE {NEW_OF_ORDER})"
    ),
    "5 (new orders)": (
        "SELECT COUNT(*) FROM new_order "
        f"WHERE NOT EXISTS (SELECT o_id FROM orders WHERE {NEW_OF_ORDER} AND o_carrier_id IS NULL)"
    ),
    # W_YTD = sum of the payments in the history
    "8": _uneven(
        "w",
        "SELECT w_id AS w, w_ytd AS amount FROM warehouse",
        "SELECT h_w_id AS w, -SUM(h_amount) AS amount FROM history GROUP BY h_w_id",
    ),
    # D_YTD = sum of the payments in the history
    "9": _uneven(
        "w, d",
        "SELECT d_w_id AS w, d_id AS d, d_ytd AS amount FROM district",
        "SELECT h_w_id AS w, h_d_id AS d, -SUM(h_amount) AS amount FROM history GROUP BY h_w_id, h_d_id",
    ),
}

IN_ONE_WAREHOUSE: dict[str, str] = {
    # O_OL_CNT = number of lines of the order
    "6": (
        "SELECT COUNT(*) FROM orders WHERE o_w_id = {warehouse} "
        f"AND o_ol_cnt <> (SELECT COUNT(*) FROM order_line WHERE {LINES_OF_ORDER})"
    ),
    # a line is delivered if and only if its order has a carrier
    "7": (
        f"SELECT COUNT(*) FROM order_line JOIN orders ON {LINES_OF_ORDER} WHERE ol_w_id = {{warehouse}} "
        "AND ((ol_delivery_d IS NULL AND o_carrier_id IS NOT NULL) "
        "OR (ol_delivery_d IS NOT NULL AND o_carrier_id IS NULL))"
    ),
    # C_BALANCE = amounts delivered - amounts paid
    "10": _uneven(
        "d, c",
        "SELECT c_d_id AS d, c_id AS c, c_balance AS amount FROM customer WHERE c_w_id = {warehouse}",
        "SELECT h_c_d_id AS d, h_c_id AS c, SUM(h_amount) AS amount FROM history "
        "WHERE h_c_w_id = {warehouse} GROUP BY h_c_d_id, h_c_id",
        DELIVERED_TO_CUSTOMERS,
    ),
    # C_BALANCE + C_YTD_PAYMENT = amounts delivered
    "12": _uneven(
        "d, c",
        "SELECT c_d_id AS d, c_id AS c, c_balance + c_ytd_payment AS amount FROM customer WHERE c_w_id = {warehouse}",
        DELIVERED_TO_CUSTOMERS,
    ),
}

# orders - new orders = those delivered by the load
AFTER_LOAD: dict[str, str] = {
    "11": (
        f"SELECT COUNT(*) FROM district WHERE (SELECT COUNT(*) FROM orders WHERE {OF_DISTRICT}) "
        "- (SELECT COUNT(*) FROM new_order WHERE no_w_id = d_w_id AND no_d_id = d_id) <> {delivered}"
    ),
}


def queries(warehouses: int, seed: int, *, loaded: bool, divisor: int = 1) -> dict[str, str]:
    """SQL by the number of the condition; each counts violations. `loaded`: nothing has run yet."""
    warehouse = _chosen(warehouses, seed)
    delivered = (CUSTOMERS - NEW_ORDERS) // divisor
    chosen = {**EVERYWHERE, **IN_ONE_WAREHOUSE, **(AFTER_LOAD if loaded else {})}
    in_order = sorted(chosen, key=lambda name: int(name.split()[0]))
    sql_by_name = {name: chosen[name].format(warehouse=warehouse, delivered=delivered) for name in in_order}
    if loaded:  # how many rows of each table are too many; below zero: missing
        for table in TABLES:
            rows = rows_of(table, warehouses, divisor)
            sql_by_name[f"rows of {table.name}"] = f"SELECT COUNT(*) - {rows} FROM {table.name}"
    return sql_by_name


def only_in(name: str, warehouses: int, seed: int) -> str:
    """Where a condition looks that does not look everywhere, in words; empty for the others."""
    if name not in IN_ONE_WAREHOUSE or warehouses == 1:
        return ""
    return f"warehouse {_chosen(warehouses, seed)} of {warehouses} only"


def _chosen(warehouses: int, seed: int) -> int:
    return seed % warehouses + 1


def violations(answer: list[list[Any]] | None) -> int | None:
    """How many rows violate a condition; None: there is no answer."""
    count = first_value(answer)
    return None if count is None else abs(int(Decimal(count)))


def check(when: str, asked: Mapping[str, str], rows: QueryRows) -> Check:
    """One check for all conditions `asked`, each with where it looks only; `rows` by the same names.

    A condition without an answer is broken.
    """
    counts = {name: violations(rows.get(name)) for name in asked}
    broken = {name: count for name, count in counts.items() if count != 0}
    if broken:
        listed = "; ".join(f"{name}: {'no' if count is None else count} rows" for name, count in broken.items())
        detail = f"consistency conditions violated {when}: {listed}"
    else:
        named = (f"{name} ({where})" if where else name for name, where in asked.items())
        detail = f"consistency conditions {', '.join(named)} hold {when}"
    return {"name": f"consistency_{when.replace(' ', '_')}", "ok": not broken, "detail": detail}
