"""The disk that a run needs, roughly and at most: said before a plan is made, and asked for before a run begins."""

from __future__ import annotations

from collections.abc import Mapping

from benchagent.catalog.registry import DBMSS

Factors = Mapping[str, int | float | str]
# What `warehouse_rows` divides the rows of a warehouse and the items by.
DIVISORS = {"standard": 1, "tenth": 10, "hundredth": 100}
# Beside its data a database takes for a while the log of the load, sorting for indexes, row versions, a backup.
SPARE_SHARE = 1.5
# Logs and files of its own, whatever the data are.
MINIMUM_BYTES = {
    "tpcb": 600_000_000, "tpcc": 800_000_000, "inserts_selects": 1_000_000_000, "backup": 1_500_000_000,
}  # fmt: skip
# Of an engine of which nothing was measured.
BRANCH_BYTES, WAREHOUSE_BYTES = 24_000_000, 110_000_000
# A row with its three index entries, roughly, as row stores keep them; there are 40 tables.
ROW_BYTES, ROW_TABLES = 800, 40
# New orders and payments grow the database: about 1 kB each, with everything that is written along.
BYTES_PER_SECOND_OF_RUN = 4_000_000


def branch_bytes(dbms: str) -> int:
    return (DBMSS[dbms].branch_bytes if dbms in DBMSS else 0) or BRANCH_BYTES


def warehouse_bytes(dbms: str) -> int:
    return (DBMSS[dbms].warehouse_bytes if dbms in DBMSS else 0) or WAREHOUSE_BYTES


def data_bytes(workload: str, dbms: str, factors: Factors) -> float:
    """Tables and indexes after the load; 0 of a workload of which only its own code knows."""
    if workload == "tpcb":
        return _number(factors, "scale_factor") * branch_bytes(dbms)
    if workload == "tpcc":
        of_standard = _number(factors, "warehouses") * warehouse_bytes(dbms)
        divisor = DIVISORS[str(factors.get("warehouse_rows", "standard"))]
        return _number(factors, "target_size_mb") * 1e6 or of_standard / divisor
    if workload == "inserts_selects":
        rows = 0 if factors.get("preloaded") == "empty" else _number(factors, "rows_per_table")
        return rows * ROW_TABLES * ROW_BYTES
    # What is backed up and what is restored stand side by side.
    return 2 * _number(factors, "dataset_mb") * 1e6 if workload == "backup" else 0


def needed_bytes(workload: str, dbms: str, factors: Factors) -> int:
    """The same with everything beside it; 0 where that is."""
    if workload not in MINIMUM_BYTES:
        return 0
    run_s = _number(factors, "warm_up_s") + _number(factors, "duration_s") if workload == "tpcc" else 0
    data = data_bytes(workload, dbms, factors)
    return round(MINIMUM_BYTES[workload] + (1 + SPARE_SHARE) * data + run_s * BYTES_PER_SECOND_OF_RUN)


def _number(factors: Factors, name: str) -> float:
    value = factors.get(name, 0)
    return 0 if isinstance(value, str) else value
