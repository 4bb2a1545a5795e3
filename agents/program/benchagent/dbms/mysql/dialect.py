"""SQL of MySQL and MariaDB, as far as it differs from the standard."""

from __future__ import annotations

from benchagent.dbms.dialect import Dialect
from benchagent.dbms.mysql.product import Product


def dialect(product: Product) -> Dialect:
    return Dialect(
        # TIMESTAMP columns of these servers set themselves, and are NOT NULL where nothing else is said.
        timestamp="DATETIME",
        timestamp_literal="'{text}'",
        # An InnoDB table *is* its primary key: adding one later copies the table.
        primary_key_afterwards=False,
        # Before, DESC was read and ignored.
        descending_columns=product.since((8, 0), (10, 8)),
        first="SELECT {select} LIMIT {n}",
        for_update=" FOR UPDATE",
        after_load_each=("ANALYZE TABLE {table}",),
    )
