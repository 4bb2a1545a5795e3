"""The experiments of the four articles as they are re-run today: cells, and the gaps that no machine can fill."""

from __future__ import annotations

from collections.abc import Sequence

from benchagent.configfiles.article_2011 import PRINTED_MY_CNF, TUNED_MY_CNF, scaled

from agents.models import Agent
from agents.plans.plan import FactorValue, Settings
from agents.reruns.published import firebird
from agents.reruns.published.common import GONE
from agents.reruns.rerun import ArticleExperiment, Part, Wanted
from runs.publications.matching import PlanGap

WINDOW = {"warm_up_s": 10, "duration_s": 10}
# The emulated disks of `scripts/experiments.py`; where a machine has neither, any second storage stands for both.
SLOW, SECOND = "slow", "second"

FIREBIRD_3, FIREBIRD_SETTINGS = Wanted("firebird", "3.0"), (("DefaultDbCachePages", "8192"), ("page_size", "16384"))


def _gaps(*versions: str) -> tuple[PlanGap, ...]:
    return tuple(GONE[version] for version in versions)


def _firebird(mode: str, *settings: tuple[str, str]) -> dict[str, Settings]:
    return {"firebird": (("ServerMode", mode), *(settings or FIREBIRD_SETTINGS))}


GBAK_DATASET: dict[str, FactorValue] = {
    "dataset_mb": 1_000, "data_origin": "restored", "cache_state": "cold", "verbose": "off", "cpus": 2,
}  # fmt: skip
GBAK_METHODS = ("gbak_tcp", "gbak_local", "gbak_services", "gbak_services_same")
# The target is no slower than the database's disk: in the article both gave six times what gbak took.
TARGET = ("backup_storage",)
# Against the cell of gbak over TCP: -v, and one CPU instead of two.
GBAK_SWITCHES: tuple[dict[str, FactorValue], ...] = (
    {"method": "gbak_tcp", "verbose": "on"}, {"method": "gbak_tcp", "cpus": 1},
)  # fmt: skip
SAME_DISK = ("method", "gbak_services_same", {"backup_storage": ""})
GBAK_GAPS = _gaps("fb-1.5.3", "fb-2.1", "ib-7.5.1sp1", "ib-2007", "yaffil-892")

GBAK = ArticleExperiment(
    "gbak-backup-2007",
    "gbak by four methods",
    tuple(
        Part(
            f"methods-{mode.lower()}", f"Firebird 3, ServerMode {mode}", "backup", (FIREBIRD_3,), GBAK_DATASET, 3,
            sweep={"method": GBAK_METHODS}, settings=_firebird(mode), figure="gbak-fig1", gaps=GBAK_GAPS,
            apart=TARGET, second=SECOND, overrides=(SAME_DISK,), extra=extra,
        )
        for mode, extra in (("Super", GBAK_SWITCHES), ("SuperClassic", ()))
    ),
)  # fmt: skip

TPCB_FACTORS: dict[str, FactorValue] = {"scale_factor": 10, "terminals": 4, "data_origin": "restored", **WINDOW}
BUFFERS: dict[str, Settings] = {
    "postgresql": (("shared_buffers", "512MB"), ("max_wal_size", "2GB")),
    "mysql": (("innodb_buffer_pool_size", "512M"), ("innodb_log_file_size", "256M")),
    "mariadb": (("innodb_buffer_pool_size", "512M"), ("innodb_log_file_size", "256M")),
    "firebird": (("ServerMode", "Super"), ("DefaultDbCachePages", "32768"), ("page_size", "16384")),
    "derby": (("derby.storage.pageCacheSize", "60000"),),
    "sqlite": (("journal_mode", "WAL"), ("synchronous", "FULL"), ("cache_size", "-524288")),
    # A million accounts are 128 MB there; by default 50,000 rows and 10 MB are kept.
    "hsqldb": (
        ("FILES WRITE DELAY", "FALSE"),
        ("TRANSACTION CONTROL", "MVCC"),
        ("FILES CACHE ROWS", "2000000"),
        ("FILES CACHE SIZE", "300000"),
    ),
}
TPCB_GAPS = _gaps("db2-9.7", "oracle-10r2", "pg-8.3", "mysql-5.0")
IN_MEMORY: dict[str, Settings] = {"h2": (("storage", "memory"),), "hsqldb": (("storage", "memory"),)}

TPCB = ArticleExperiment(
    "tpcb-2010",
    "TPC-B",
    (
        Part(
            "engines", "eight engines", "tpcb",
            (
                Wanted("postgresql", "15"), Wanted("mysql", "5.5"), Wanted("mariadb"), Wanted("derby", "10.3"),
                Wanted("derby", "10.6"), Wanted("firebird", "3.0"), Wanted("sqlite"), Wanted("hsqldb"),
            ),
            TPCB_FACTORS, 5, settings=BUFFERS, figure="tpcb-table", gaps=TPCB_GAPS,
        ),
        Part(
            "group-commit", "group commit, and background maintenance", "tpcb", (Wanted("postgresql", "15"),),
            {**TPCB_FACTORS, "background_maintenance": "on"}, 3, sweep={"group_commit": ("off", "2", "3")},
            extra=({"group_commit": "off", "background_maintenance": "off"},), settings=BUFFERS,
            figure="tpcb-commit-groups",
        ),
        Part(
            "memory", "in memory: a class of its own", "tpcb", (Wanted("h2"), Wanted("hsqldb")),
            {**TPCB_FACTORS, "data_origin": "fresh"}, 3, settings=IN_MEMORY,
        ),
    ),
)  # fmt: skip

# A small warehouse takes 10.6 MB in Firebird, so the memory limit is that of `published.firebird.MEMORY`.
TPCC_LIMIT_MB = 160
TPCC_FACTORS: dict[str, FactorValue] = {
    "terminals": 20, "warehouse_rows": "tenth", "memory_limit_mb": TPCC_LIMIT_MB, "data_origin": "restored",
    # A window of 10 s is too short for a slow disk to fill the caches first, as the article's hours did.
    "loader_profile": "even", "cache_state": "preread", **WINDOW,
}  # fmt: skip
# The article's 10,000 pages were 1 % of its memory: most of it held the file system's cache. 256 pages are 2 %.
TPCC_SETTINGS = (("DefaultDbCachePages", "256"), ("page_size", "16384"))
# In SuperClassic each connection has a cache of its own: 256 pages for each of 20 would be half the memory limit.
CLASSIC_SETTINGS = (("DefaultDbCachePages", "64"), ("page_size", "16384"))
TPCC_GAPS = _gaps("fb-2.5.2")
# The article put its six queries to the largest database only.
QUERIES = ("warehouses", firebird.LARGEST, {"queries": "yes"})
# The smallest is loaded on each storage, which the article compares; of the others the second gets a copy.
LOADED = ("warehouses", firebird.SMALLEST, {"data_origin": "fresh"})

TPCC = ArticleExperiment(
    "firebird-terabyte-2015",
    "Firebird by size",
    (
        Part(
            "sizes", "from half to eight times the memory limit, SuperServer", "tpcc", (FIREBIRD_3,), TPCC_FACTORS, 1,
            sweep={"warehouses": (firebird.SMALLEST, *firebird.SIZES, firebird.LARGEST)}, overrides=(QUERIES, LOADED),
            settings=_firebird("Super", *TPCC_SETTINGS), storage_factors=("data_storage",), second=SLOW,
            figure="perf7_performance_with_1800Gb_Firebird_database", gaps=TPCC_GAPS,
        ),
        Part(
            "superclassic", "SuperClassic", "tpcc", (FIREBIRD_3,), TPCC_FACTORS, 1,
            sweep={"warehouses": (firebird.SMALLEST, 23)},
            settings=_firebird("SuperClassic", *CLASSIC_SETTINGS),
        ),
    ),
)  # fmt: skip

# Data of about 40 × 5,000 × 800 bytes = 160 MB: five times the buffer, as for INSERT in the article; SELECT had 12.
LOADS_BUFFER_MB = 32
LOADS_FACTORS: dict[str, FactorValue] = {
    "rows_per_table": 5_000, "terminals": 40, "data_origin": "restored", "loader_threads": 2, **WINDOW,
}  # fmt: skip
PRINTED: dict[str, Settings] = {"mysql": scaled(PRINTED_MY_CNF, LOADS_BUFFER_MB)}
TUNED: dict[str, Settings] = {
    "mysql": scaled(TUNED_MY_CNF, LOADS_BUFFER_MB),
    # As with the printed my.cnf, a commit waits for no disk.
    "postgresql": (("shared_buffers", f"{LOADS_BUFFER_MB}MB"), ("synchronous_commit", "off"), ("max_wal_size", "2GB")),
}
MYSQL_55, POSTGRESQL = Wanted("mysql", "5.5"), Wanted("postgresql", "15")
LOADS_GAPS = _gaps("cubrid-r3.0", "mysql-5.1.47")


def _loads(
    slug: str, title: str, engines: tuple[Wanted, ...], settings: dict[str, Settings], called: dict[str, str]
) -> tuple[Part, Part]:
    """INSERT into full and into empty tables, and both SELECTs; each on both storages."""
    return (
        Part(
            f"insert-{slug}", f"INSERT, {title}", "inserts_selects", engines, {**LOADS_FACTORS, "load": "insert"}, 2,
            sweep={"preloaded": ("full", "empty")}, figure="cubrid-fig2", gaps=LOADS_GAPS,
            settings=settings, called=called, storage_factors=("data_storage",), second=SLOW,
        ),
        Part(
            f"select-{slug}", f"SELECT, {title}", "inserts_selects", engines, LOADS_FACTORS, 2,
            sweep={"load": ("select_narrow", "select_wide")}, figure="cubrid-fig9", gaps=LOADS_GAPS,
            settings=settings, called=called, storage_factors=("data_storage",), second=SLOW,
        ),
    )  # fmt: skip


LOADS = ArticleExperiment(
    "cubrid-mysql-ssd-2011",
    "INSERT and SELECT on two disks",
    (
        *_loads("printed", "MySQL with the printed my.cnf", (MYSQL_55,), PRINTED, {"mysql": "printed my.cnf"}),
        *_loads(
            "tuned",
            "MySQL tuned, and PostgreSQL",
            (MYSQL_55, POSTGRESQL),
            TUNED,
            {"mysql": "tuned my.cnf", "postgresql": "tuned"},
        ),
    ),
)

EXPERIMENTS: dict[str, ArticleExperiment] = {one.publication: one for one in (GBAK, TPCB, TPCC, LOADS)}


def best_agent(agents: Sequence[Agent]) -> Agent | None:
    """The agent that has most of the engines of all parts; the first of those that have the same."""
    wanted = {one for experiment in EXPERIMENTS.values() for part in experiment.parts for one in part.engines}
    return max(agents, key=lambda agent: sum(one.on(agent) is not None for one in wanted), default=None)
