"""The workloads that come with Benchsite."""

from __future__ import annotations

from benchagent.catalog.factors import (
    CONDITION,
    CONDITIONS,
    KNOBS,
    LOADER_THREADS,
    QUESTION,
    choice,
    storage,
    unless_0,
    window,
)
from benchagent.catalog.model import FactorDef, FactorKind, WorkloadEntry
from benchagent.catalog.registry import BACKUP_METHODS, ENGINE_METHODS, EXTERNAL_METHODS

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
        unless_0(
            "target_size_mb", "Target size", "MB", 100_000_000,
            "instead of warehouses: as many as come nearest; 0: by warehouses",
            role=QUESTION, zero="size by warehouses",
        ),
        choice(
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
        choice(
            "loader_profile",
            "Loader profile", QUESTION,
            {"even": "even load", "fast_slow": "load fast, then slow"},
            "fast_slow: the first 70 % of the rows fast, the rest slowly, as in the 2015 article",
        ),
        choice(
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
        choice(
            "load",
            "Load", QUESTION,
            {"insert": "INSERT", "select_narrow": "SELECT, narrow range", "select_wide": "SELECT, wide range"},
            optional=False,
        ),
        FactorDef(
            "rows_per_table", "Rows per table", "rows", 10_000, 100, 100_000_000, rows_each=40, role=QUESTION
        ),
        choice(
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
        choice("verbose", "Verbose", CONDITION, {"off": "-v off", "on": "-v on"}),
        unless_0(
            "jobs", "Parallel jobs of the tool", "jobs", 64,
            "of a method that can work so; 0: as many as it takes by itself",
            role=CONDITION, zero="the usual jobs", spoken="{}",
        ),
        storage("backup_storage", "Backup on storage", "backup on {}"),
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
