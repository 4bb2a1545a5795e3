"""The nine tables of the TPC-C standard (revision 5.11, clause 1.3) as data: columns, keys, indexes, rows.

Names and order of the columns are the standard's. The names of two tables differ, since ``order`` is a word of SQL and
``new-order`` holds a hyphen. There are no foreign keys: the standard allows that, and the 2015 article had none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, methodcaller

from benchagent.catalog.space import DIVISORS
from benchagent.dbms.dialect import Dialect
from benchagent.workloads.base import Factors

Type = Callable[[Dialect], str]
DISTRICTS, LINES_PER_ORDER = 10, 10
ITEMS, CUSTOMERS, NEW_ORDERS = 100_000, 3_000, 900  # customers, orders and new orders are those of a district


number: Type = attrgetter("integer")
time: Type = attrgetter("timestamp")
# With a length; a decimal with precision and scale.
char, varchar, decimal = (partial(methodcaller, name) for name in ("char", "varchar", "decimal"))
MONEY, RATE = decimal(12, 2), decimal(4, 4)


def _numbers(*names: str) -> dict[str, Type]:
    return dict.fromkeys(names, number)


def _address(prefix: str) -> dict[str, Type]:
    return {
        f"{prefix}_street_1": varchar(20),
        f"{prefix}_street_2": varchar(20),
        f"{prefix}_city": varchar(20),
        f"{prefix}_state": char(2),
        f"{prefix}_zip": char(9),
    }


@dataclass(frozen=True)
class Table:
    """`rows`: in one warehouse, or in all where `fixed`. `nullable`: columns that may be null; the others are not."""

    name: str
    rows: int
    columns: dict[str, Type]
    key: Sequence[str] = ()
    nullable: Sequence[str] = ()
    fixed: bool = False

    def create(self, dialect: Dialect) -> str:
        columns = [
            f"{name} {kind}{'' if name in self.nullable else ' NOT NULL'}" for name, kind in self.types(dialect).items()
        ]
        return dialect.table(self.name, columns, self.key)

    def types(self, dialect: Dialect) -> dict[str, str]:
        return {name: kind(dialect) for name, kind in self.columns.items()}


TABLES: tuple[Table, ...] = (
    Table(
        "warehouse", 1, key=("w_id",),
        columns={**_numbers("w_id"), "w_name": varchar(10), **_address("w"), "w_tax": RATE, "w_ytd": MONEY},
    ),
    Table(
        "district", DISTRICTS, key=("d_w_id", "d_id"),
        columns={
            **_numbers("d_id", "d_w_id"), "d_name": varchar(10), **_address("d"), "d_tax": RATE, "d_ytd": MONEY,
            "d_next_o_id": number,
        },
    ),
    Table(
        "customer", DISTRICTS * CUSTOMERS, key=("c_w_id", "c_d_id", "c_id"),
        columns={
            **_numbers("c_id", "c_d_id", "c_w_id"),
            "c_first": varchar(16), "c_middle": char(2), "c_last": varchar(16), **_address("c"), "c_phone": char(16),
            "c_since": time, "c_credit": char(2), "c_credit_lim": MONEY, "c_discount": RATE, "c_balance": MONEY,
            "c_ytd_payment": MONEY, **_numbers("c_payment_cnt", "c_delivery_cnt"), "c_data": varchar(500),
        },
    ),
    Table(
        "history", DISTRICTS * CUSTOMERS,
        columns={
            **_numbers("h_c_id", "h_c_d_id", "h_c_w_id", "h_d_id", "h_w_id"),
            "h_date": time, "h_amount": decimal(6, 2), "h_data": varchar(24),
        },
    ),
    Table(
        "orders", DISTRICTS * CUSTOMERS, key=("o_w_id", "o_d_id", "o_id"), nullable=("o_carrier_id",),
        columns={
            **_numbers("o_id", "o_d_id", "o_w_id", "o_c_id"), "o_entry_d": time,
            **_numbers("o_carrier_id", "o_ol_cnt", "o_all_local"),
        },
    ),
    Table(
        "order_line", DISTRICTS * CUSTOMERS * LINES_PER_ORDER, key=("ol_w_id", "ol_d_id", "ol_o_id", "ol_number"),
        nullable=("ol_delivery_d",),
        columns={
            **_numbers("ol_o_id", "ol_d_id", "ol_w_id", "ol_number", "ol_i_id", "ol_supply_w_id"),
            "ol_delivery_d": time, "ol_quantity": number, "ol_amount": decimal(6, 2), "ol_dist_info": char(24),
        },
    ),
    Table(
        "new_order", DISTRICTS * NEW_ORDERS, key=("no_w_id", "no_d_id", "no_o_id"),
        columns=_numbers("no_o_id", "no_d_id", "no_w_id"),
    ),
    Table(
        "item", ITEMS, key=("i_id",), fixed=True,
        columns={
            **_numbers("i_id", "i_im_id"), "i_name": varchar(24), "i_price": decimal(5, 2), "i_data": varchar(50),
        },
    ),
    Table(
        "stock", ITEMS, key=("s_w_id", "s_i_id"),
        columns={
            **_numbers("s_i_id", "s_w_id", "s_quantity"),
            **{f"s_dist_{district:02}": char(24) for district in range(1, DISTRICTS + 1)},
            **_numbers("s_ytd", "s_order_cnt", "s_remote_cnt"), "s_data": varchar(50),
        },
    ),
)  # fmt: skip
NAMES = tuple(table.name for table in TABLES)

# Payment and Order-Status look for customers by last name, Order-Status for the last order of a customer.
INDEXES = (
    ("customer_last", "customer", ("c_w_id", "c_d_id", "c_last", "c_first")),
    ("orders_customer", "orders", ("o_w_id", "o_d_id", "o_c_id", "o_id")),
)


def divisor(factors: Factors) -> int:
    """What the rows of a warehouse and the items are divided by; above 1 its districts stay ten."""
    return DIVISORS[factors.text("warehouse_rows")]


def rows(table: Table, warehouses: int, divisor: int = 1) -> int:
    """Rows after the load."""
    per_warehouse = table.rows if table.rows <= DISTRICTS else table.rows // divisor
    return per_warehouse if table.fixed else per_warehouse * warehouses


def create(dialect: Dialect) -> list[str]:
    return [table.create(dialect) for table in TABLES]


def indexes(dialect: Dialect) -> list[str]:
    """Primary keys, where they are no part of CREATE TABLE, and the secondary ones."""
    keys = [sql for table in TABLES if table.key and (sql := dialect.primary_key(table.name, table.key))]
    return [*keys, *(dialect.index(*index) for index in INDEXES)]
