"""Every workload that an agent can run, with its factors."""

from __future__ import annotations

from benchagent.catalog.methods import BACKUP_METHODS, ENGINE_METHODS, EXTERNAL_METHODS
from benchagent.catalog.model import FactorDef, FactorKind, WorkloadEntry

CHOICE, TEXT, STORAGE = FactorKind.CHOICE, FactorKind.TEXT, FactorKind.STORAGE

# Where the data lie and under which conditions: the same for every workload.
CONDITIONS = (
    FactorDef("data_storage", "Data on storage", kind=STORAGE, default="", spoken="data on {}", optional=True),
    FactorDef("log_storage", "Transaction log on storage", kind=STORAGE, default="", spoken="log on {}", optional=True),
    FactorDef(
        "temp_storage", "Temporary files on storage", kind=STORAGE, default="", spoken="temp on {}", optional=True
    ),
    FactorDef(
        "data_origin",
        "Data",
        kind=CHOICE,
        default="fresh",
        words={"fresh": "fresh load", "restored": "restored copy", "continued": "left by the run before"},
        optional=True,
        help="loaded anew, a copy of what was loaded once, or what the run before has left",
    ),
    FactorDef(
        "cache_state",
        "Caches at the start",
        kind=CHOICE,
        default="warm",
        words={"warm": "warm caches", "cold": "cold caches", "preread": "files read before the run"},
        optional=True,
        help="cold: the DBMS is started anew and the page cache emptied before the warm-up; preread: its files are "
        "read into the page cache once, as far as a memory limit lets them stay",
    ),
    FactorDef(
        "memory_limit_mb",
        "Memory limit",
        "MB",
        0,
        0,
        16_000_000,
        optional=True,
        help="of the DBMS with its page cache, by cgroup; 0: none",
        words={"0": "no memory limit"},
    ),
    FactorDef(
        "cpus",
        "CPUs",
        "CPUs",
        0,
        0,
        1_024,
        optional=True,
        help="that DBMS, tools and driver may use; 0: all",
        words={"0": "all CPUs"},
        spoken="{}",
    ),
)

# How the engine commits and tidies up: an adapter translates them, or says that its engine has nothing of the kind.
KNOBS = (
    FactorDef(
        "group_commit",
        "Group commit",
        kind=CHOICE,
        default="",
        words={
            "": "commit group as configured",
            "off": "no commit group",
            **{str(commits): f"commit group {commits}" for commits in (2, 3, 4, 8)},
        },
        optional=True,
        help="how many commits may wait for one flush of the log; empty: as configured",
    ),
    FactorDef(
        "background_maintenance",
        "Background maintenance",
        kind=CHOICE,
        default="",
        words={"": "maintenance as configured", "on": "maintenance on", "off": "maintenance off"},
        optional=True,
        help="vacuum, sweep, purge, statistics; empty: as configured",
    ),
)


def _window(terminals: int) -> tuple[FactorDef, ...]:
    """Terminals and time of a workload of transactions."""
    return (
        FactorDef("terminals", "Terminals", "connections", terminals, 1, 1_000, "each one connection, one thread"),
        FactorDef("warm_up_s", "Warm-up", "s", 10, 0, 3_600, "10 s or more lets the JIT compiler settle"),
        FactorDef("duration_s", "Measured window", "s", 30, 1, 86_400),
        FactorDef(
            "settle_s",
            "Rest before the run",
            "s",
            0,
            0,
            3_600,
            optional=True,
            help="between load and warm-up",
            words={"0": "no rest before the run"},
        ),
        FactorDef(
            "rate_per_s",
            "Fixed rate",
            "transactions/s",
            0,
            0,
            10_000_000,
            optional=True,
            help="latency then counts from when a transaction was due; 0: as fast as it goes",
            words={"0": "no fixed rate"},
        ),
    )


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
                *_window(4),
                *KNOBS,
                *CONDITIONS,
            ),
            primary_metric="tps",
        ),
        WorkloadEntry(
            slug="tpcc",
            name="TPC-C-like",
            version="2",
            module="benchagent.workloads.tpcc",
            summary=(
                "Nine tables and the five transactions of TPC-C in the standard mix, without think time: a load like "
                "it, not a TPC-C result. Its consistency conditions must hold after the load and after the run."
            ),
            factors=(
                FactorDef(
                    "warehouses", "Warehouses", "warehouses", 1, 1, 100_000, "of the standard: 100 MB each", spoken="{}"
                ),
                FactorDef(
                    "target_size_mb",
                    "Target size",
                    "MB",
                    0,
                    0,
                    100_000_000,
                    optional=True,
                    help="instead of warehouses: as many as come nearest; 0: by warehouses",
                    words={"0": "size by warehouses"},
                ),
                FactorDef(
                    "warehouse_rows",
                    "Rows of a warehouse",
                    kind=CHOICE,
                    default="standard",
                    words={
                        "standard": "standard warehouses",
                        "tenth": "tenth-size warehouses",
                        "hundredth": "hundredth-size warehouses",
                    },
                    optional=True,
                    help="of the standard's: many small warehouses keep terminals apart in a small database",
                ),
                *_window(20),
                FactorDef("loader_threads", "Loader threads", "connections", 2, 1, 64, optional=True),
                FactorDef(
                    "loader_profile",
                    "Loader profile",
                    kind=CHOICE,
                    default="even",
                    words={"even": "even load", "fast_slow": "load fast, then slow"},
                    optional=True,
                    help="fast_slow: the first 70 % of the rows fast, the rest slowly, as in the 2015 article",
                ),
                FactorDef(
                    "queries",
                    "The six queries",
                    kind=CHOICE,
                    default="no",
                    words={"no": "without queries", "yes": "with queries"},
                    optional=True,
                    help="of the 2015 article, after the run, with plans, cold and warm",
                ),
                *KNOBS,
                *CONDITIONS,
            ),
            primary_metric="ops_per_s",
        ),
        WorkloadEntry(
            slug="inserts_selects",
            name="INSERT and SELECT, 40 tables",
            version="2",
            module="benchagent.workloads.inserts_selects",
            summary=(
                "The loads of the 2011 article: one INSERT a transaction into one of 40 tables, or three SELECTs by "
                "primary key, unique and secondary index, from a narrow or a wide range of keys."
            ),
            factors=(
                FactorDef(
                    "load",
                    "Load",
                    kind=CHOICE,
                    default="insert",
                    words={
                        "insert": "INSERT",
                        "select_narrow": "SELECT, narrow range",
                        "select_wide": "SELECT, wide range",
                    },
                ),
                FactorDef("rows_per_table", "Rows per table", "rows", 10_000, 100, 100_000_000),
                FactorDef(
                    "preloaded",
                    "Tables before the INSERTs",
                    kind=CHOICE,
                    default="full",
                    words={"full": "preloaded", "empty": "empty tables"},
                    optional=True,
                ),
                FactorDef(
                    "working_set_percent",
                    "Working set of the narrow SELECTs",
                    "% of the buffer",
                    20,
                    1,
                    100,
                    optional=True,
                    help="what SELECTs of the narrow range touch, against the buffer pool as configured",
                    spoken="working set {}",
                ),
                *_window(40),
                FactorDef("loader_threads", "Loader threads", "connections", 2, 1, 64, optional=True),
                *KNOBS,
                *CONDITIONS,
            ),
            primary_metric="tps",
        ),
        WorkloadEntry(
            slug="backup",
            name="Backup and restore",
            version="2",
            module="benchagent.workloads.backup",
            summary=(
                "One backup of a dense database of about 150 tables by the engine's own tool and a named method; "
                "restored and verified once per cell."
            ),
            factors=(
                FactorDef("dataset_mb", "Data set", "MB", 100, 10, 10_000_000, "the article's: 2,700 MB"),
                FactorDef(
                    "method",
                    "Backup method",
                    kind=TEXT,
                    default="",
                    help="one that every chosen engine has",
                    words=BACKUP_METHODS,
                    engine_values=ENGINE_METHODS,
                    external_values=EXTERNAL_METHODS,
                ),
                FactorDef(
                    "verbose",
                    "Verbose",
                    kind=CHOICE,
                    default="off",
                    words={"off": "-v off", "on": "-v on"},
                    optional=True,
                ),
                FactorDef(
                    "jobs",
                    "Parallel jobs of the tool",
                    "jobs",
                    0,
                    0,
                    64,
                    optional=True,
                    help="of a method that can work so; 0: as many as it takes by itself",
                    words={"0": "the usual jobs"},
                    spoken="{}",
                ),
                FactorDef(
                    "backup_storage",
                    "Backup on storage",
                    kind=STORAGE,
                    default="",
                    spoken="backup on {}",
                    optional=True,
                ),
                *CONDITIONS,
            ),
            primary_metric="backup_s",
        ),
        WorkloadEntry(
            slug="script",
            name="SQL script",
            version="2",
            module="benchagent.workloads.script",
            summary="A mix of transactions of one's own, written in SQL with random variables.",
            factors=(
                FactorDef("script_text", "Script", kind=TEXT, default="", help="see the documentation of scripts"),
                *_window(4),
                *KNOBS,
                *CONDITIONS,
            ),
            primary_metric="tps",
        ),
    )
}
