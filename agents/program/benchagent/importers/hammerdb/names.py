"""HammerDB's words -> the catalogue's."""

from __future__ import annotations

# As printed in results, counters, settings and job reports.
DBMS = {
    "oracle": "oracle", "timesten": "timesten", "sql server": "mssql", "mssqlserver": "mssql", "db2": "db2",
    "mysql": "mysql", "mariadb": "mariadb", "postgresql": "postgresql", "redis": "redis", "trafodion": "trafodion",
}  # fmt: skip

PROCEDURES = {
    "NEWORD": "new_order", "PAYMENT": "payment", "DELIVERY": "delivery", "SLEV": "stock_level", "OSTAT": "order_status",
}  # fmt: skip

# Settings without their DBMS's prefix (mysql_, pg_, mssqls_, ora_, db2_, maria_).
SETTINGS = {
    "count_ware": "warehouses", "rampup": "ramp_up_s", "duration": "duration_s", "num_vu": "build_virtual_users",
    "allwarehouse": "all_warehouses", "timeprofile": "time_profile", "keyandthink": "keying_and_thinking",
    "async_scale": "async_scale", "async_client": "async_clients", "async_delay": "async_delay_ms",
    "storedprocs": "stored_procedures", "no_stored_procs": "without_stored_procedures", "prepared": "prepared",
    "partition": "partitioned", "raiseerror": "raise_error", "total_iterations": "total_iterations",
    "storage_engine": "storage_engine", "use_bcp": "use_bcp", "imdb": "in_memory", "hash_clusters": "hash_clusters",
    "history_pk": "history_primary_key", "vacuum": "vacuum", "checkpoint": "checkpoint", "dritasnap": "dritasnap",
    "cituscompat": "citus", "scale_fact": "scale_factor", "scale_factor": "scale_factor",
    "total_querysets": "query_sets", "degree_of_parallel": "degree_of_parallelism", "maxdop": "degree_of_parallelism",
    "refresh_on": "refresh", "update_sets": "update_sets", "colstore": "column_store",
    "no_compress": "without_compression", "ssl": "ssl",
}  # fmt: skip
IN_MINUTES = ("ramp_up_s", "duration_s")


def dbms_of(printed: str) -> str:
    return DBMS.get(printed.strip().lower(), "")
