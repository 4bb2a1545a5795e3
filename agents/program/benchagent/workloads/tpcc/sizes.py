"""How large a database gets: bytes of a warehouse on each engine, and the warehouses for a size that was asked for."""

from __future__ import annotations

MEGABYTE = 1_000_000
# Of one warehouse after the load, tables and indexes: measured with two warehouses in November 2026; of Firebird (pages
# of 16 KB), H2 and HSQLDB the size of the files. The article of 2015 has 92.7 MB (1,813.97 GB for 21,000 warehouses).
BYTES_PER_WAREHOUSE: dict[str, int] = {
    "derby": 135_000_000,
    "firebird": 106_000_000,
    "h2": 152_000_000,
    "hsqldb": 222_000_000,
    "mariadb": 90_000_000,
    "mysql": 90_000_000,  # as MariaDB, whose storage engine it shares
    "postgresql": 109_000_000,
    "sqlite": 78_000_000,
}
BYTES_ELSEWHERE = 110_000_000
# The items are shared by all warehouses.
BYTES_OF_ITEMS = 12_000_000
# The log of the load, sorting for indexes, row versions of the run: what a database takes for a while beside its data.
SPARE_SHARE = 1.5
BYTES_MINIMUM = 800_000_000
# New orders and payments grow the database: about 1 kB each, with everything that is written along.
BYTES_PER_SECOND_OF_RUN = 4_000_000


def warehouses_for(target_size_mb: int, dbms: str, divisor: int = 1) -> int:
    """As many as come nearest to the size; 1 at least. `divisor`: of the rows, see `tables.divisor`."""
    wanted = target_size_mb * MEGABYTE - BYTES_OF_ITEMS / divisor
    return max(1, round(wanted / (BYTES_PER_WAREHOUSE.get(dbms, BYTES_ELSEWHERE) / divisor)))


def disk_bytes(warehouses: int, divisor: int, run_s: int) -> int:
    """Of the engine that needs the most."""
    largest = max(BYTES_ELSEWHERE, *BYTES_PER_WAREHOUSE.values())
    return round(BYTES_MINIMUM + warehouses * largest / divisor * (1 + SPARE_SHARE) + run_s * BYTES_PER_SECOND_OF_RUN)
