"""What can be benchmarked: one registry of DBMSs, one of workloads, one of metrics.

Shared by server and agent; imports nothing of ours. Adding a DBMS is one folder under
``benchagent/dbms`` and one line in `DBMSS`; adding a workload likewise under ``benchagent/workloads``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Durability(StrEnum):
    """What a successful COMMIT promises, strongest first."""

    POWER_LOSS = "power_loss"
    DBMS_CRASH = "dbms_crash"
    BOUNDED_LOSS = "bounded_loss"
    NONE = "none"


DURABILITY_WORDS: dict[Durability, str] = {
    Durability.POWER_LOSS: "a commit survives power loss",
    Durability.DBMS_CRASH: "a commit survives a crash of the DBMS, not of the machine",
    Durability.BOUNDED_LOSS: "the last moments of commits may be lost in a crash",
    Durability.NONE: "a commit may be lost in any crash",
}


@dataclass(frozen=True)
class DbmsEntry:
    """One DBMS. `settings` is the default configuration of a scheduled run, in order."""

    slug: str
    name: str
    vendor: str
    module: str
    embedded: bool
    settings: tuple[tuple[str, str], ...] = ()
    settings_help: str = ""


@dataclass(frozen=True)
class FactorDef:
    """A factor of a workload that the schedule form asks for (integers only, so far)."""

    name: str
    label: str
    unit: str
    default: int
    minimum: int
    maximum: int
    help: str = ""


@dataclass(frozen=True)
class MetricDef:
    """A measured quantity. `better` is ``higher``, ``lower`` or ``none`` (descriptive)."""

    name: str
    label: str
    unit: str
    better: str


@dataclass(frozen=True)
class WorkloadEntry:
    """One workload. `version` breaks comparability; `primary_metric` is what charts show first."""

    slug: str
    name: str
    version: str
    module: str
    summary: str
    factors: tuple[FactorDef, ...]
    primary_metric: str


def _dbms(slug: str, name: str, vendor: str, *, embedded: bool, settings: dict[str, str], help: str) -> DbmsEntry:
    return DbmsEntry(slug, name, vendor, f"benchagent.dbms.{slug}", embedded, tuple(settings.items()), help)


DBMSS: dict[str, DbmsEntry] = {
    entry.slug: entry
    for entry in (
        _dbms(
            "postgresql",
            "PostgreSQL",
            "PostgreSQL Global Development Group",
            embedded=False,
            settings={"shared_buffers": "128MB", "synchronous_commit": "on", "fsync": "on"},
            help="postgresql.conf parameters, one `name = value` a line",
        ),
        _dbms(
            "sqlite",
            "SQLite",
            "SQLite Consortium",
            embedded=True,
            settings={"journal_mode": "WAL", "synchronous": "FULL"},
            help="PRAGMAs, one `name = value` a line",
        ),
        _dbms(
            "derby",
            "Apache Derby",
            "Apache Software Foundation",
            embedded=True,
            settings={"derby.storage.pageCacheSize": "20000", "derby.system.durability": "default"},
            help="derby.properties, one `name = value` a line",
        ),
        _dbms(
            "hsqldb",
            "HSQLDB",
            "The HSQL Development Group",
            embedded=True,
            settings={"FILES WRITE DELAY": "FALSE", "TRANSACTION CONTROL": "MVCC"},
            help="SET FILES / SET DATABASE commands, one `name = value` a line",
        ),
        _dbms(
            "h2",
            "H2",
            "H2 Group",
            embedded=True,
            settings={"WRITE_DELAY": "500"},
            help="settings of the database URL, one `name = value` a line",
        ),
    )
}


METRICS: dict[str, MetricDef] = {
    metric.name: metric
    for metric in (
        MetricDef("tps", "Throughput", "TPS", "higher"),
        MetricDef("latency_mean_ms", "Mean latency", "ms", "lower"),
        MetricDef("latency_p50_ms", "Median latency (p50)", "ms", "lower"),
        MetricDef("latency_p95_ms", "p95 latency", "ms", "lower"),
        MetricDef("latency_p99_ms", "p99 latency", "ms", "lower"),
        MetricDef("latency_max_ms", "Maximum latency", "ms", "lower"),
        MetricDef("transactions", "Transactions measured", "transactions", "none"),
        MetricDef("transactions_warm_up", "Transactions in the warm-up", "transactions", "none"),
        MetricDef("transactions_tail", "Transactions ended after the window", "transactions", "none"),
        MetricDef("retries", "Retried transactions", "retries", "lower"),
        MetricDef("errors", "Failed transactions", "errors", "lower"),
        MetricDef("create_s", "Create schema", "s", "lower"),
        MetricDef("load_s", "Load", "s", "lower"),
        MetricDef("load_rows_per_s", "Load rate", "rows/s", "higher"),
        MetricDef("index_s", "Index build", "s", "lower"),
        MetricDef("db_size_bytes", "Database size on disk", "bytes", "none"),
        MetricDef("driver_cpu_cores", "CPU of the load generator", "cores", "none"),
        MetricDef("driver_cpu_ms_per_tx", "Load generator CPU per transaction", "ms", "none"),
        MetricDef("driver_cpu_share", "Load generator's share of the machine", "%", "none"),
        MetricDef("machine_cpu_percent", "CPU of the machine", "%", "none"),
        MetricDef("server_cpu_cores", "CPU of the DBMS", "cores", "none"),
        MetricDef("server_rss_bytes", "Memory of the DBMS", "bytes", "none"),
        MetricDef("driver_rss_bytes", "Memory of the load generator", "bytes", "none"),
        MetricDef("disk_read_mb_per_s", "Disk read", "MB/s", "none"),
        MetricDef("disk_write_mb_per_s", "Disk write", "MB/s", "none"),
    )
}


WORKLOADS: dict[str, WorkloadEntry] = {
    entry.slug: entry
    for entry in (
        WorkloadEntry(
            slug="tpcb",
            name="TPC-B profile",
            version="1",
            module="benchagent.workloads.tpcb",
            summary=(
                "Update an account, read its balance, update its teller and branch, insert a history row, commit. "
                "Balances must add up afterwards."
            ),
            factors=(
                FactorDef("scale_factor", "Scale factor", "branches", 4, 1, 10_000, "100,000 accounts per branch"),
                FactorDef("terminals", "Terminals", "connections", 4, 1, 1_000, "each one connection, one thread"),
                FactorDef("warm_up_s", "Warm-up", "s", 10, 0, 3_600, "10 s or more lets the JIT compiler settle"),
                FactorDef("duration_s", "Measured window", "s", 30, 1, 86_400),
            ),
            primary_metric="tps",
        ),
    )
}
