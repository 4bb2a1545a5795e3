"""Every workload that an agent can run, with its factors, and their values in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from benchagent.catalog.model import SPAN, STRICTEST, FactorDef, FactorKind, Role, WorkloadEntry

# Ways to back up, by the slug that a run stores: as people read them, and which DBMS has which.

_METHODS: dict[tuple[str, ...], dict[str, str]] = {
    ("firebird",): {
        "gbak_tcp": "gbak over TCP",
        "gbak_local": "gbak, local",
        "gbak_services": "gbak, Services API",
        "gbak_services_same": "gbak, Services API, same disk",
        "nbackup": "nbackup, level 0",
    },
    ("postgresql",): {
        "pg_dump_plain": "pg_dump, plain SQL",
        "pg_dump_custom": "pg_dump, custom format",
        "pg_dump_directory": "pg_dump, directory format",
        "pg_basebackup": "pg_basebackup",
    },
    ("mysql", "mariadb"): {"dump": "dump in one transaction", "dump_tab": "dump in one transaction, --tab"},
    ("mariadb",): {"mariadb_backup": "mariadb-backup --backup"},
    ("sqlite",): {"vacuum_into": "VACUUM INTO", "online_backup": "online backup"},
    ("h2",): {"backup_to": "BACKUP TO"},
    ("derby", "hsqldb"): {"backup_database": "BACKUP DATABASE"},
}
BACKUP_METHODS: dict[str, str] = {"": "the engine's first method"}
# By DBMS, to be asked for before a run. An installation may lack the tools of one: its adapter says so then.
ENGINE_METHODS: dict[str, tuple[str, ...]] = {}
for _dbmss, _words in _METHODS.items():
    BACKUP_METHODS |= _words
    for _dbms in _dbmss:
        ENGINE_METHODS[_dbms] = (*ENGINE_METHODS.get(_dbms, ()), *_words)

# By DBMS, on servers that the agent did not start.
EXTERNAL_METHODS: dict[str, tuple[str, ...]] = {
    "postgresql": ("pg_dump_plain", "pg_dump_custom", "pg_dump_directory"),
    "mysql": ("dump",),
    "mariadb": ("dump",),
}


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


def _window(terminals: int) -> tuple[FactorDef, ...]:
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


WORKLOADS: dict[str, WorkloadEntry] = {
    entry.slug: replace(entry, factors=(*entry.factors, *CONDITIONS))
    for entry in (
        WorkloadEntry(
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
                *_window(4),
                *KNOBS,
            ),
            primary_metric="tps",
        ),
        WorkloadEntry(
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
                *_window(20),
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
            ),
            primary_metric="ops_per_s",
        ),
        WorkloadEntry(
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
                *_window(40),
                LOADER_THREADS,
                *KNOBS,
            ),
            primary_metric="tps",
        ),
        WorkloadEntry(
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
            ),
            primary_metric="backup_s",
            beside=("backup_mb_per_s", "restore_s"),
        ),
        WorkloadEntry(
            slug="script",
            name="SQL script",
            version="2",
            summary="A mix of transactions of one's own, written in SQL with random variables.",
            factors=(
                FactorDef(
                    "script_text", "Script", kind=FactorKind.TEXT, default="", help="see the documentation of scripts",
                    role=QUESTION,
                ),
                *_window(4),
                *KNOBS,
            ),
            primary_metric="tps",
        ),
    )
}  # fmt: skip


# Factors and their values in words: what pages, forms, charts and commands say.

# By name. Workloads that share a factor share its words.
FACTORS: dict[str, FactorDef] = {
    factor.name: factor for entry in reversed(WORKLOADS.values()) for factor in reversed(entry.factors)
}

# What tools and articles vary that is no factor of ours and no question either.
OTHER_ROLES: dict[str, Role] = {
    **dict.fromkeys(
        (
            "threads", "clients", "loaders", "build_virtual_users", "async_clients", "disk", "commit_group", "servers",
            "test_no", "isolation", "query_mode", "ps_mode", "db_driver", "max_tries", "partitions",
            "partition_method", "partitioned", "fillfactor", "hash_clusters", "stored_procedures", "use_bcp",
            "storage_engine", "history_primary_key", "seed", "page_size_bytes", "filename", "directory", "conn_params",
            "random_seed", "tablespace", "reconnect_on_connection_failure",
        ),
        CONDITION,
    ),
    **dict.fromkeys(
        (
            "duration_minutes", "rampup_minutes", "ramp_up_s", "transactions_per_client", "report_interval_s",
            "sampling_rate", "aggregate_interval_s",
        ),
        PROCEDURE,
    ),
}  # fmt: skip


def headline_metrics(kind: str, primary: str = "") -> tuple[str, ...]:
    """Names of the metrics that say a run's result in one line, the one that counts first: run page, lists, benchctl.

    `kind` is a workload of the catalogue; of any other one `primary` counts, as its first upload named it.
    """
    entry = WORKLOADS.get(kind)
    return (primary or (entry.primary_metric if entry else ""), *(entry.beside if entry else WorkloadEntry.beside))


def factor_role(name: str, *declared: str) -> Role:
    """The strictest of what is known of a factor's name and what senders declared; empty ones declare nothing.

    A factor that nobody knows is a question unless each sender says something else.
    """
    own = FACTORS[name].role if name in FACTORS else OTHER_ROLES.get(name, Role.QUESTION if "" in declared else None)
    stated = [Role(role) for role in declared if role]
    return min([*stated, *([own] if own else [])], key=STRICTEST.index, default=Role.QUESTION)


def factor_span(name: str) -> float:
    return FACTORS[name].span if name in FACTORS else SPAN


OWN_STORAGE = "agent's own storage"
# Units that a number alone is not understood without; all others repeat what the label says.
SPOKEN_UNITS = ("s", "GB", "MB", "transactions/s")
# What is counted, and one of it.
COUNTED = {
    "branches": "branch",
    "warehouses": "warehouse",
    "connections": "connection",
    "CPUs": "CPU",
    "rows": "row",
    "jobs": "job",
    "terminals": "terminal",
    "threads": "thread",
    "clients": "client",
}

FactorValue = int | float | str


def factor_words(name: str, value: FactorValue, unit: str | None = None) -> str:
    """A value under its factor's heading: "160 MB", "restored copy". A factor that is not known says what it stores.

    `unit` is the stored one; None takes the catalogue's.
    """
    factor = FACTORS.get(name)
    if factor is None:
        return amount(value, unit or "")
    if factor.kind == FactorKind.STORAGE:
        return str(value) or OWN_STORAGE
    return factor.words.get(_key(value)) or amount(value, factor.unit if unit is None else unit)


def factor_phrase(name: str, value: FactorValue, unit: str | None = None) -> str:
    """A value that stands alone, among those of other factors: "memory limit 160 MB", "8 terminals", "data on slow"."""
    factor, words = FACTORS.get(name), factor_words(name, value, unit)
    if factor is None:
        return words
    if factor.kind == FactorKind.STORAGE:
        return factor.spoken.format(value or "own storage")
    if isinstance(value, str) or _key(value) in factor.words:
        return words
    if factor.spoken:
        return factor.spoken.format(words)
    label = f"{factor.label[:1].lower()}{factor.label[1:]}"
    if label in COUNTED:
        return amount(value, label)
    own_unit = factor.unit if unit is None else unit
    return f"{label} {amount(value, own_unit if own_unit in SPOKEN_UNITS else '')}"


def amount(value: FactorValue, unit: str) -> str:
    """With thousands separators, and one thing in the singular."""
    if isinstance(value, str):
        return f"{value} {unit}".strip()
    return f"{value:,.10g} {COUNTED.get(unit, unit) if value == 1 else unit}".strip()


def _key(value: FactorValue) -> str:
    return value if isinstance(value, str) else f"{value:g}"
