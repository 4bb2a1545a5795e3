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

# Settings without their DBMS's prefix (mysql_, pg_, mssqls_, ora_, db2_, maria_) -> parameter and unit factor.
SETTINGS: dict[str, tuple[str, int]] = {
    "count_ware": ("warehouses", 1),
    "rampup": ("ramp_up_s", 60),
    "duration": ("duration_s", 60),
    "num_vu": ("build_virtual_users", 1),
    "allwarehouse": ("all_warehouses", 1),
    "timeprofile": ("time_profile", 1),
    "keyandthink": ("keying_and_thinking", 1),
    "async_scale": ("async_scale", 1),
    "async_client": ("async_clients", 1),
    "async_delay": ("async_delay_ms", 1),
    "storedprocs": ("stored_procedures", 1),
    "no_stored_procs": ("without_stored_procedures", 1),
    "prepared": ("prepared", 1),
    "partition": ("partitioned", 1),
    "raiseerror": ("raise_error", 1),
    "total_iterations": ("total_iterations", 1),
    "storage_engine": ("storage_engine", 1),
    "use_bcp": ("use_bcp", 1),
    "imdb": ("in_memory", 1),
    "hash_clusters": ("hash_clusters", 1),
    "history_pk": ("history_primary_key", 1),
    "vacuum": ("vacuum", 1),
    "checkpoint": ("checkpoint", 1),
    "dritasnap": ("dritasnap", 1),
    "cituscompat": ("citus", 1),
    "scale_fact": ("scale_factor", 1),
    "scale_factor": ("scale_factor", 1),
    "total_querysets": ("query_sets", 1),
    "degree_of_parallel": ("degree_of_parallelism", 1),
    "maxdop": ("degree_of_parallelism", 1),
    "refresh_on": ("refresh", 1),
    "update_sets": ("update_sets", 1),
    "colstore": ("column_store", 1),
    "no_compress": ("without_compression", 1),
    "ssl": ("ssl", 1),
}


def dbms_of(printed: str) -> str:
    return DBMS.get(printed.strip().lower(), "")
