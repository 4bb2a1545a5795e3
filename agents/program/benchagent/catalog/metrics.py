"""Every quantity that our own runs measure, and which values a quantity can have at all."""

from __future__ import annotations

from collections.abc import Mapping

from benchagent.catalog.model import MetricDef, Range

# The range of each unit goes far beyond what was ever measured; sums of squares of millions stay finite.
ANY = Range(-1e18, 1e18)
COUNT = Range(0, 1e18)
RATE = Range(0, 1e12)
SHARE = Range(0, 100)
RATES = ("TPS", "IOPS", "cores")
RATE_ENDS = ("/s", "/min")
# What tools and workloads call their throughput.
THROUGHPUTS = frozenset(
    {
        "tps",
        "qps",
        "queries_per_s",
        "ops_per_s",
        "requests_per_s",
        "iops",
        "nopm",
        "tpm",
        "tpmc",
        "qphh",
        "queries_per_hour",
    }
)
# Ten years.
LONGEST_S = 315_576_000
# Beginnings of the names of latencies: whoever ranks by one has to know that all terminals are in it.
LATENCIES = ("latency_", "service_")
SECONDS_EACH = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}

# Differences that matter, by how far repeats scatter and what is chosen by them: where none is given, 3 % as of a rate.
SIZE, TIME, TAIL, EXTREME = 0.01, 0.05, 0.10, 0.25

METRICS: dict[str, MetricDef] = {
    metric.name: metric
    for metric in (
        MetricDef("tps", "Throughput", "TPS", "higher"),
        MetricDef("latency_mean_ms", "Mean latency", "ms", "lower", TIME),
        MetricDef("latency_p50_ms", "Median latency (p50)", "ms", "lower", TIME),
        MetricDef("latency_p95_ms", "p95 latency", "ms", "lower", TIME),
        MetricDef("latency_p99_ms", "p99 latency", "ms", "lower", TAIL),
        MetricDef("latency_p999_ms", "p99.9 latency", "ms", "lower", TAIL),
        MetricDef("latency_max_ms", "Maximum latency", "ms", "lower", EXTREME),
        MetricDef("begin_ms", "Waiting to begin, per transaction", "ms", "none", TAIL),
        MetricDef("transactions", "Transactions measured", "transactions", "none"),
        MetricDef("transactions_warm_up", "Transactions in the warm-up", "transactions", "none"),
        MetricDef("transactions_tail", "Transactions ended after the window", "transactions", "none"),
        MetricDef("retries", "Retried transactions", "retries", "lower", TAIL),
        MetricDef("errors", "Failed transactions in the window", "errors", "lower", TAIL),
        MetricDef("errors_total", "Failed transactions, warm-up and tail included", "errors", "lower", TAIL),
        MetricDef("create_s", "Create schema", "s", "lower", TIME),
        MetricDef("load_s", "Load time", "s", "lower", TIME),
        MetricDef("load_rows_per_s", "Load rate", "rows/s", "higher"),
        MetricDef("index_s", "Index build time", "s", "lower", TIME),
        MetricDef("db_size_bytes", "Database size on disk, without log", "bytes", "none", SIZE),
        MetricDef("driver_cpu_cores", "CPU of the load generator", "cores", "none", TIME),
        MetricDef("driver_gc_ms", "Garbage collection of the load generator", "ms", "none"),
        MetricDef("driver_cpu_ms_per_tx", "Load generator CPU per transaction", "ms", "none", TIME),
        MetricDef("driver_cpu_share", "Load generator's share of the machine", "%", "none", TIME),
        MetricDef("machine_cpu_percent", "CPU of the machine", "%", "none", TIME),
        MetricDef("server_machine_cpu_percent", "CPU of the server's machine", "%", "none", TIME),
        MetricDef("server_cpu_cores", "CPU of the DBMS", "cores", "none", TIME),
        MetricDef("server_rss_bytes", "Memory of the DBMS", "bytes", "none"),
        MetricDef("driver_rss_bytes", "Memory of the load generator", "bytes", "none"),
        MetricDef("disk_read_mb_per_s", "Disk read, whole disk", "MB/s", "none"),
        MetricDef("disk_write_mb_per_s", "Disk write, whole disk", "MB/s", "none"),
        MetricDef("own_disk_write_mb_per_s", "Disk write asked for by the run, at most", "MB/s", "none"),
        MetricDef("others_disk_write_mb_per_s", "Disk write asked for by others, at most", "MB/s", "none"),
        MetricDef("ops_per_s", "Operations of all types", "operations/s", "higher"),
        MetricDef("tpmc", "New orders a minute (tpmC-like)", "new orders/min", "higher"),
        MetricDef("rolled_back", "Rolled back by design", "transactions", "none"),
        MetricDef("slowest_terminal_percent", "Slowest terminal, of an equal share", "%", "higher", TAIL),
        MetricDef("jain_index", "Jain's fairness index of the terminals", "", "higher", SIZE),
        MetricDef("error_share_percent", "Failed of all transactions, warm-up and tail included", "%", "lower", TAIL),
        MetricDef("unstarted", "Due but not started", "transactions", "lower", TAIL),
        MetricDef("backlog", "Due and waiting", "transactions", "lower", TAIL),
        MetricDef("service_p50_ms", "Median service time (p50)", "ms", "lower", TIME),
        MetricDef("service_p95_ms", "p95 service time", "ms", "lower", TIME),
        MetricDef("service_p99_ms", "p99 service time", "ms", "lower", TAIL),
        MetricDef("service_max_ms", "Maximum service time", "ms", "lower", EXTREME),
        MetricDef("load_mb_per_s", "Data load rate", "MB/s", "higher"),
        MetricDef("load_size_mb_per_s", "Load rate by size of the database", "MB/s", "higher"),
        MetricDef("load_bytes", "Bytes loaded", "bytes", "none", SIZE),
        MetricDef("restart_s", "Restart of the DBMS", "s", "none", TIME),
        MetricDef("buffer_hit_percent", "Buffer hit ratio", "%", "none"),
        MetricDef("checkpoints", "Checkpoints in the window", "checkpoints", "none", TAIL),
        MetricDef("log_bytes", "Log written in the window", "bytes", "none"),
        MetricDef("log_bytes_per_tx", "Log per transaction", "bytes", "none"),
        MetricDef("log_flushes", "Log flushes in the window", "flushes", "none", TAIL),
        MetricDef("commits_per_flush", "Commits per log flush", "commits", "none"),
        MetricDef("lock_waits", "Lock waits in the window", "waits", "none", TAIL),
        MetricDef("deadlocks", "Deadlocks in the window", "deadlocks", "lower", TAIL),
        MetricDef("sync_rate_per_s", "fdatasync of the log device", "syncs/s", "none"),
        MetricDef("backup_s", "Backup time", "s", "lower", TIME),
        MetricDef("backup_synced_s", "Backup until it is on the disk", "s", "lower", TIME),
        MetricDef("backup_bytes", "Size of the backup", "bytes", "none", SIZE),
        MetricDef("backup_mb_per_s", "Backup rate on backup size", "MB/s", "higher"),
        MetricDef("backup_data_mb_per_s", "Backup rate on database size", "MB/s", "higher"),
        MetricDef("backup_read_bytes", "Read from the disk of the data, for the backup", "bytes", "none"),
        MetricDef("backup_written_bytes", "Written to the disk of the backup, until it was on it", "bytes", "none"),
        MetricDef("restore_s", "Restore time", "s", "lower", TIME),
        MetricDef("prepare_s", "Preparing the copied files, in the restore", "s", "lower", TIME),
        MetricDef("count_s", "Count of the largest table", "s", "lower", TIME),
        MetricDef("count_mb_per_s", "Count rate", "MB/s", "higher"),
        MetricDef("tool_cpu_cores", "CPU of the backup tool", "cores", "none", TIME),
        MetricDef("tool_rss_bytes", "Memory of the backup tool", "bytes", "none"),
        MetricDef("memory_peak_bytes", "Peak within the memory limit", "bytes", "none"),
        MetricDef("disk_read_iops", "Disk reads", "IOPS", "none"),
        MetricDef("disk_write_iops", "Disk writes", "IOPS", "none"),
        MetricDef("disk_util_percent", "Disk busy", "%", "none"),
        MetricDef("log_disk_write_mb_per_s", "Log disk write", "MB/s", "none"),
        MetricDef("log_disk_write_iops", "Log disk writes", "IOPS", "none"),
        MetricDef("backup_disk_read_mb_per_s", "Backup disk read", "MB/s", "none"),
        MetricDef("backup_disk_write_mb_per_s", "Backup disk write", "MB/s", "none"),
        MetricDef("backup_disk_write_iops", "Backup disk writes", "IOPS", "none"),
        MetricDef("count_server_cpu_cores", "CPU of the DBMS while counting", "cores", "none", TIME),
        MetricDef("count_tool_cpu_cores", "CPU of the load generator while counting", "cores", "none", TIME),
        MetricDef("count_disk_read_mb_per_s", "Disk read while counting", "MB/s", "none"),
        MetricDef("heating_server_rss_bytes", "Memory of the DBMS while heating", "bytes", "none"),
    )
}


# What a histogram of latencies tells: the percentile of each metric.
PERCENTILES = {
    "latency_p50_ms": 50.0, "latency_p95_ms": 95.0, "latency_p99_ms": 99.0, "latency_p999_ms": 99.9,
    "latency_max_ms": 100.0,
}  # fmt: skip
# What only grows with the length of the window: compared over equal windows only.
# Measured in the first verified repeat of a cell alone.
ONCE_A_CELL = frozenset({"restore_s", "prepare_s"})
EXTREMES = frozenset({"latency_max_ms", "service_max_ms"})
# Above this share of failed transactions a run is no result, whoever measured it.
ERROR_SHARE = 0.01
FAILED = ("errors", "failed_transactions", "errors_total")


# How the reason ends why too many failed operations fail a run.
NO_RESULT = f"above {100 * ERROR_SHARE:g} % a run is no result"


def too_many_failed(values: Mapping[str, float]) -> str:
    """Why a run with these metrics is no result: too many of its transactions failed. Empty where it is one.

    `values` by name; where they do not tell how many were done and how many failed, nothing can be said against it.
    """
    done, failed = values.get("transactions"), next((values[name] for name in FAILED if values.get(name)), 0.0)
    counted = done is not None and failed > 0
    share = values.get("error_share_percent", 100 * failed / (failed + (done or 0)) if counted else 0.0)
    if share <= 100 * ERROR_SHARE:
        return ""
    which = (
        f"{failed:,.0f} of {failed + (done or 0):,.0f} transactions failed, " if counted else "failed transactions: "
    )
    return f"{which}{share:.3g} % of all; {NO_RESULT}"


def threshold_of(name: str, unit: str) -> float:
    """The share of 1 from which a difference of this metric matters, in the catalogue or not."""
    if name in METRICS:
        return METRICS[name].threshold
    return TIME if unit in SECONDS_EACH else MetricDef.threshold


def plausible_range(name: str, unit: str | None = None) -> Range:
    """The values that a metric can have, in the catalogue or not; without a unit it is the catalogue's.

    Times and rates are never below 0, nor is what the catalogue has; others, such as a difference, may be.
    """
    if unit is None:
        unit = METRICS[name].unit if name in METRICS else ""
    if unit in SECONDS_EACH:
        return Range(0, LONGEST_S / SECONDS_EACH[unit])
    if unit in RATES or unit.endswith(RATE_ENDS):
        return RATE
    if name not in METRICS or METRICS[name].unit != unit:
        return ANY
    return SHARE if unit == "%" else COUNT


def refusal(name: str, value: float, unit: str | None = None) -> str:
    """Why this cannot be a value of the metric; empty where it can."""
    allowed = plausible_range(name, unit)
    if value in allowed:
        return ""
    return f"{name} must be between {allowed.least:,.13g} and {allowed.most:,.13g}, not {value:,.13g}"
