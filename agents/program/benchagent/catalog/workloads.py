"""The workloads that come with Benchsite, and the factors that a workload of transactions has."""

from __future__ import annotations

from collections.abc import Mapping

from benchagent.catalog.model import FactorDef, FactorKind, Role, WorkloadEntry
from benchagent.catalog.registry import BACKUP_METHODS, ENGINE_METHODS, EXTERNAL_METHODS

QUESTION, CONDITION, PROCEDURE = Role.QUESTION, Role.CONDITION, Role.PROCEDURE


def _choice(
    name: str, label: str, role: Role, words: Mapping[str, str], help: str = "", *, optional: bool = True
) -> FactorDef:
    """The first choice is the default."""
    return FactorDef(
        name, label, kind=FactorKind.CHOICE, default=next(iter(words)), words=words, help=help, optional=optional,
        role=role,
    )  # fmt: skip


def _storage(name: str, label: str, spoken: str) -> FactorDef:
    return FactorDef(
        name, label, kind=FactorKind.STORAGE, default="", spoken=spoken, optional=True, role=CONDITION
    )  # fmt: skip


def _unless_0(
    name: str, label: str, unit: str, most: int, help: str, *, role: Role, zero: str, spoken: str = "",
    decimals: bool = False,
) -> FactorDef:  # fmt: skip
    """A number that was not asked for where it is 0, with the words for that."""
    return FactorDef(
        name,
        label,
        unit,
        0,
        0,
        most,
        help,
        words={"0": zero},
        spoken=spoken,
        optional=True,
        role=role,
        decimals=decimals,
    )


# Where the data lie and under which conditions: the same for every workload.
CONDITIONS = (
    _storage("data_storage", "Data on storage", "data on {}"),
    _storage("log_storage", "Transaction log on storage", "log on {}"),
    _storage("temp_storage", "Temporary files on storage", "temp on {}"),
    _choice(
        "data_origin",
        "Data", CONDITION,
        {"fresh": "fresh load", "restored": "restored copy", "continued": "left by the run before"},
        "loaded anew, a copy of what was loaded once, or what the run before has left",
    ),
    _choice(
        "cache_state",
        "Caches at the start", CONDITION,
        {"warm": "warm caches", "cold": "cold caches", "preread": "files read before the run"},
        "cold: the DBMS is started anew and the page cache emptied before the warm-up; preread: its files are "
        "read into the page cache once, as far as a memory limit lets them stay",
    ),
    _unless_0(
        "memory_limit_mb", "Memory limit", "MB", 16_000_000, "of the DBMS with its page cache, by cgroup; 0: none",
        role=CONDITION, zero="no memory limit",
    ),
    _unless_0(
        "cpus", "CPUs", "CPUs", 1_024, "that DBMS, tools and driver may use; 0: all",
        role=CONDITION, zero="all CPUs", spoken="{}",
    ),
)  # fmt: skip

# How the engine commits and tidies up: an adapter translates them, or says that its engine has nothing of the kind.
KNOBS = (
    _choice(
        "group_commit",
        "Group commit",
        CONDITION,
        {
            "": "commit group as configured",
            "off": "no commit group",
            **{str(commits): f"commit group {commits}" for commits in (2, 3, 4, 8)},
        },
        "how many commits may wait for one flush of the log; empty: as configured",
    ),
    _choice(
        "background_maintenance",
        "Background maintenance",
        CONDITION,
        {"": "maintenance as configured", "on": "maintenance on", "off": "maintenance off"},
        "vacuum, sweep, purge, statistics; empty: as configured",
    ),
)
LOADER_THREADS = FactorDef("loader_threads", "Loader threads", "connections", 2, 1, 64, optional=True, role=CONDITION)


def window(terminals: int) -> tuple[FactorDef, ...]:
    """Terminals and time of a workload of transactions."""
    return (
        FactorDef(
            "terminals", "Terminals", "connections", terminals, 1, 1_000, "each one connection, one thread",
            role=CONDITION,
        ),
        FactorDef(
            "warm_up_s", "Warm-up", "s", 10, 0, 3_600, "10 s or more lets the JIT compiler settle",
            role=PROCEDURE, span=60,
        ),
        FactorDef("duration_s", "Measured window", "s", 30, 1, 86_400, role=PROCEDURE),
        _unless_0(
            "settle_s", "Rest before the run", "s", 3_600, "between load and warm-up",
            role=CONDITION, zero="no rest before the run",
        ),
        _unless_0(
            "rate_per_s", "Fixed rate", "transactions/s", 10_000_000,
            "latency then counts from when a transaction was due; 0: as fast as it goes",
            role=QUESTION, zero="no fixed rate", decimals=True,
        ),
        _choice(
            "arrivals", "Arrivals at the fixed rate", QUESTION,
            {"poisson": "independent callers", "even": "callers at even distances"},
            "independent callers come in a Poisson process, now and then several at once",
        ),
    )  # fmt: skip


TPCB = WorkloadEntry(
    slug="tpcb",
    name="TPC-B profile",
    version="1",
    summary="Update an account, read its balance, update its teller and branch, insert a history row, commit. "
    "Balances must add up afterwards.",
    factors=(
        FactorDef(
            "scale_factor", "Scale factor", "branches", 4, 1, 10_000, "100,000 accounts per branch",
            rows_each=100_000, role=QUESTION,
        ),
        *window(4),
        *KNOBS,
        *CONDITIONS,
    ),
    primary_metric="tps",
    module="benchagent.workloads.tpcb",
    order=10,
)  # fmt: skip
TPCC = WorkloadEntry(
    slug="tpcc",
    name="TPC-C-like",
    version="2",
    summary="Nine tables and the five transactions of TPC-C in the standard mix, without think time: a load "
    "like it, not a TPC-C result. Its consistency conditions must hold after the load and after the run.",
    factors=(
        FactorDef(
            "warehouses", "Warehouses", "warehouses", 1, 1, 100_000, "of the standard: 100 MB each",
            spoken="{}", rows_each=500_000, role=QUESTION,
        ),
        _unless_0(
            "target_size_mb", "Target size", "MB", 100_000_000,
            "instead of warehouses: as many as come nearest; 0: by warehouses",
            role=QUESTION, zero="size by warehouses",
        ),
        _choice(
            "warehouse_rows",
            "Rows of a warehouse", QUESTION,
            {
                "standard": "standard warehouses",
                "tenth": "tenth-size warehouses",
                "hundredth": "hundredth-size warehouses",
            },
            "of the standard's: many small warehouses keep terminals apart in a small database",
        ),
        *window(20),
        LOADER_THREADS,
        _choice(
            "loader_profile",
            "Loader profile", QUESTION,
            {"even": "even load", "fast_slow": "load fast, then slow"},
            "fast_slow: the first 70 % of the rows fast, the rest slowly, as in the 2015 article",
        ),
        _choice(
            "queries",
            "The six queries", CONDITION,
            {"no": "without queries", "yes": "with queries"},
            "of the 2015 article, after the run, with plans, cold and warm",
        ),
        *KNOBS,
        *CONDITIONS,
    ),
    primary_metric="ops_per_s",
    module="benchagent.workloads.tpcc",
    order=20,
)  # fmt: skip
INSERTS_SELECTS = WorkloadEntry(
    slug="inserts_selects",
    name="INSERT and SELECT, 40 tables",
    version="2",
    summary="The loads of the 2011 article: one INSERT a transaction into one of 40 tables, or three SELECTs "
    "by primary key, unique and secondary index, from a narrow or a wide range of keys.",
    factors=(
        _choice(
            "load",
            "Load", QUESTION,
            {"insert": "INSERT", "select_narrow": "SELECT, narrow range", "select_wide": "SELECT, wide range"},
            optional=False,
        ),
        FactorDef(
            "rows_per_table", "Rows per table", "rows", 10_000, 100, 100_000_000, rows_each=40, role=QUESTION
        ),
        _choice(
            "preloaded", "Tables before the INSERTs", QUESTION, {"full": "preloaded", "empty": "empty tables"}
        ),
        FactorDef(
            "working_set_percent", "Working set of the narrow SELECTs", "% of the buffer", 20, 1, 100,
            "what SELECTs of the narrow range touch, against the buffer pool as configured",
            spoken="working set {}", optional=True, role=QUESTION,
        ),
        *window(40),
        LOADER_THREADS,
        *KNOBS,
        *CONDITIONS,
    ),
    primary_metric="tps",
    module="benchagent.workloads.inserts_selects",
    order=30,
)  # fmt: skip
BACKUP = WorkloadEntry(
    slug="backup",
    name="Backup and restore",
    version="2",
    summary="One backup of a dense database of about 150 tables by the engine's own tool and a named method; "
    "restored and verified once per cell.",
    factors=(
        FactorDef(
            "dataset_mb", "Data set", "MB", 100, 10, 10_000_000, "the article's: 2,700 MB",
            rows_each=6_000, role=QUESTION,
        ),
        FactorDef(
            "method", "Backup method", kind=FactorKind.TEXT, default="",
            help="one that every chosen engine has", words=BACKUP_METHODS, engine_values=ENGINE_METHODS,
            external_values=EXTERNAL_METHODS, role=CONDITION,
        ),
        _choice("verbose", "Verbose", CONDITION, {"off": "-v off", "on": "-v on"}),
        _unless_0(
            "jobs", "Parallel jobs of the tool", "jobs", 64,
            "of a method that can work so; 0: as many as it takes by itself",
            role=CONDITION, zero="the usual jobs", spoken="{}",
        ),
        _storage("backup_storage", "Backup on storage", "backup on {}"),
        *CONDITIONS,
    ),
    primary_metric="backup_s",
    beside=("backup_mb_per_s", "restore_s"),
    module="benchagent.workloads.backup",
    order=40,
)  # fmt: skip
SCRIPT = WorkloadEntry(
    slug="script",
    name="SQL script",
    version="2",
    summary="A mix of transactions of one's own, written in SQL with random variables.",
    factors=(
        FactorDef(
            "script_text", "Script", kind=FactorKind.TEXT, default="", help="see the documentation of scripts",
            role=QUESTION,
        ),
        *window(4),
        *KNOBS,
        *CONDITIONS,
    ),
    primary_metric="tps",
    module="benchagent.workloads.script",
    order=50,
)  # fmt: skip
