"""How large a database gets: bytes of a warehouse on each engine, and the warehouses for a size that was asked for."""

from __future__ import annotations

from benchagent.catalog import DBMSS

MEGABYTE = 1_000_000
# The bytes of one warehouse after the load.
BYTES_PER_WAREHOUSE = {slug: entry.warehouse_bytes for slug, entry in DBMSS.items() if entry.warehouse_bytes}
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
    """The bytes on disk of the engine that needs the most."""
    largest = max(BYTES_ELSEWHERE, *BYTES_PER_WAREHOUSE.values())
    return round(BYTES_MINIMUM + warehouses * largest / divisor * (1 + SPARE_SHARE) + run_s * BYTES_PER_SECOND_OF_RUN)
