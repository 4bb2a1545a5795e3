"""The experiments of the four articles as they are re-run today: cells, and the gaps that no machine can fill.

One `Part` is one experiment with a chart of its own. An engine is named by its DBMS and how its version begins; what
no approved agent has becomes a gap with the reason, beside the gaps that are known beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from benchagent.catalog import DBMSS
from benchagent.configfiles.article_2011 import PRINTED_MY_CNF, TUNED_MY_CNF, scaled

from agents import published, registry, schedule
from agents.models import Agent
from agents.offers import version_order
from agents.schedule import Engine, FactorValue, Plan, Settings
from runs.models import Experiment, User
from runs.reproduction import PLAN_KEY, Match

WINDOW = {"warm_up_s": 10, "duration_s": 10}
NO_ENGINE = "no registry offers it any more: only the published claims are there"
UNVERIFIED = "no server of it could be had here: the adapter works with one of yours"


@dataclass(frozen=True)
class Wanted:
    """`version`: how it begins, as "9.2" or "15"; empty takes the newest one."""

    dbms: str
    version: str = ""

    @property
    def label(self) -> str:
        return f"{DBMSS[self.dbms].name} {self.version}".rstrip()

    def on(self, agent: Agent) -> Engine | None:
        """The newest installed version that fits; None when the agent has none that can be used."""
        versions = [
            engine["version"]
            for engine in registry.engines_of(agent)
            if engine["dbms"] == self.dbms
            and engine["available"]
            and not engine.get("connection")
            and _begins(engine["version"], self.version)
        ]
        return Engine(self.dbms, max(versions, key=version_order)) if versions else None


def _begins(version: str, wanted: str) -> bool:
    return not wanted or version == wanted or version.startswith((f"{wanted}.", f"{wanted} "))


@dataclass(frozen=True)
class Gap:
    """A cell of the published grid that stays empty."""

    label: str
    reason: str


@dataclass(frozen=True)
class Part:
    """`place_factors`: factors whose values are storages; they take the machine's second storage where it has one."""

    slug: str
    title: str
    workload: str
    engines: tuple[Wanted, ...]
    factors: Mapping[str, FactorValue]
    repeats: int
    sweep: Mapping[str, tuple[FactorValue, ...]] = field(default_factory=dict)
    settings: Mapping[str, Settings] = field(default_factory=dict)
    place_factors: tuple[str, ...] = ()
    # Roles that lie on the second storage in every cell, but for what `overrides` says.
    apart: tuple[str, ...] = ()
    overrides: tuple[tuple[str, FactorValue, Mapping[str, FactorValue]], ...] = ()
    figure: str = ""
    gaps: tuple[Gap, ...] = ()


@dataclass(frozen=True)
class ArticleExperiment:
    """`publication`: slug of the article that it repeats."""

    publication: str
    title: str
    parts: tuple[Part, ...]

    def part(self, slug: str) -> Part:
        """Raises KeyError."""
        return {part.slug: part for part in self.parts}[slug]


@dataclass(frozen=True)
class Prepared:
    """A part as one agent can run it. `plan` is None when it has no engine of it."""

    part: Part
    plan: Plan | None
    gaps: tuple[Gap, ...]
    # Which of its cells answer which published figure.
    published: tuple[Match, ...] = ()


def prepare(experiment: ArticleExperiment, part: Part, agent: Agent, *, quick: bool = False) -> Prepared:
    """`quick`: the same cells with one repeat."""
    found = {wanted: wanted.on(agent) for wanted in part.engines}
    missing = tuple(
        Gap(wanted.label, f"{agent.name} has none that can be used; `benchagent engines` tells how to get it")
        for wanted, engine in found.items()
        if engine is None
    )
    engines = tuple(engine for engine in found.values() if engine is not None)
    gaps = (*part.gaps, *missing)
    if not engines:
        return Prepared(part, None, gaps)
    plan = Plan(
        workload=part.workload,
        engines=engines,
        factors={**part.factors, **_apart(part, agent)},
        sweep={**part.sweep, **_places(part, agent)},
        overrides=part.overrides,
        repeats=1 if quick else part.repeats,
        settings=part.settings,
        agent=agent,
        name=f"{experiment.title}: {part.title}",
        publication=experiment.publication,
        figure=part.figure,
    )
    matches = published.of(
        experiment.publication, part.slug, other_storage=_second_storage(agent), memory_warehouses=TPCC_MEMORY
    )
    return Prepared(part, plan, gaps, matches)


def _places(part: Part, agent: Agent) -> dict[str, tuple[FactorValue, ...]]:
    other = _second_storage(agent)
    return dict.fromkeys(part.place_factors, ("", other)) if other else {}


def _apart(part: Part, agent: Agent) -> dict[str, FactorValue]:
    other = _second_storage(agent)
    return dict.fromkeys(part.apart, other) if other else {}


def _second_storage(agent: Agent) -> str:
    """Empty where the machine has one storage only."""
    others = [place["name"] for place in agent.places if place["name"] != "default" and not place["problem"]]
    return others[0] if others else ""


def start(prepared: Prepared, *, user: User | None) -> Experiment | None:
    """None when there is nothing to run. Raises PlanError."""
    if prepared.plan is None:
        return None
    experiment = schedule.start(prepared.plan, user=user)
    experiment.plan = {
        **experiment.plan,
        "gaps": [[gap.label, gap.reason] for gap in prepared.gaps],
        PLAN_KEY: [match.as_json() for match in prepared.published],
    }
    experiment.save(update_fields=["plan"])
    return experiment


def best_agent(agents: Sequence[Agent]) -> Agent | None:
    """The agent that has most of the engines of all parts; the first of those that have the same."""
    wanted = {one for experiment in EXPERIMENTS.values() for part in experiment.parts for one in part.engines}
    return max(agents, key=lambda agent: sum(one.on(agent) is not None for one in wanted), default=None)


FIREBIRD_3, FIREBIRD_SETTINGS = Wanted("firebird", "3.0"), (("DefaultDbCachePages", "8192"), ("page_size", "16384"))


def _firebird(mode: str, *settings: tuple[str, str]) -> dict[str, Settings]:
    return {"firebird": (("ServerMode", mode), *(settings or FIREBIRD_SETTINGS))}


GBAK_DATASET: dict[str, FactorValue] = {"dataset_mb": 600, "data_origin": "restored", "cache_state": "cold"}
GBAK_METHODS = ("gbak_tcp", "gbak_local", "gbak_services", "gbak_services_same")
SAME_DISK = ("method", "gbak_services_same", {"backup_storage": ""})
GBAK_SERVERS = ("Firebird 1.5.3", "Firebird 2.1", "InterBase 7.5.1 sp1", "InterBase 2007", "Yaffil 892")
GBAK_GAPS = tuple(Gap(server, NO_ENGINE) for server in GBAK_SERVERS)

GBAK = ArticleExperiment(
    "gbak-backup-2007",
    "gbak by four methods",
    (
        *(
            Part(
                f"methods-{mode.lower()}", f"Firebird 3, ServerMode {mode}", "backup", (FIREBIRD_3,), GBAK_DATASET, 3,
                sweep={"method": GBAK_METHODS}, settings=_firebird(mode), figure="gbak-fig1", gaps=GBAK_GAPS,
                apart=("backup_storage",), overrides=(SAME_DISK,),
            )
            for mode in ("Super", "SuperClassic")
        ),
        Part(
            "verbose", "-v off and on", "backup", (FIREBIRD_3,), {**GBAK_DATASET, "method": "gbak_tcp"}, 3,
            sweep={"verbose": ("off", "on")}, settings=_firebird("Super"),
        ),
        Part(
            "cpus", "one and two CPUs", "backup", (FIREBIRD_3,), {**GBAK_DATASET, "method": "gbak_tcp"}, 3,
            sweep={"cpus": (1, 2)}, settings=_firebird("Super"),
        ),
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
    "hsqldb": (("FILES WRITE DELAY", "FALSE"), ("TRANSACTION CONTROL", "MVCC")),
}
TPCB_GAPS = (
    Gap("DB2 9.7", UNVERIFIED),
    Gap("Oracle 10R2", UNVERIFIED),
    Gap("PostgreSQL 8.3", "its binaries are in no registry: 9.2 is the oldest that can be installed"),
    Gap("MySQL 5.0", "its binaries are in no registry: 5.5 is the oldest that can be installed"),
)
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
            "group-commit", "group commit", "tpcb", (Wanted("postgresql", "15"), Wanted("mariadb")), TPCB_FACTORS, 3,
            sweep={"group_commit": ("off", "2", "3")}, settings=BUFFERS, figure="tpcb-commit-groups",
        ),
        Part(
            "maintenance", "background maintenance", "tpcb", (Wanted("postgresql", "15"),),
            TPCB_FACTORS, 3, sweep={"background_maintenance": ("on", "off")}, settings=BUFFERS,
        ),
        Part(
            "memory", "in memory: a class of its own", "tpcb", (Wanted("h2"), Wanted("hsqldb")),
            {**TPCB_FACTORS, "data_origin": "fresh"}, 3, settings=IN_MEMORY,
        ),
    ),
)  # fmt: skip

# A small warehouse takes 10.6 MB in Firebird, so the memory limit is that of twenty.
TPCC_MEMORY, TPCC_LIMIT_MB = 20, 213
TPCC_FACTORS: dict[str, FactorValue] = {
    "terminals": 20, "warehouse_rows": "tenth", "memory_limit_mb": TPCC_LIMIT_MB, "data_origin": "restored",
    "loader_profile": "even", **WINDOW,
}  # fmt: skip
# The article's 10,000 pages were 1 % of its memory: most of it held the file system's cache. 256 pages are 2 %.
TPCC_SETTINGS = (("DefaultDbCachePages", "256"), ("page_size", "16384"))
TPCC_GAPS = (Gap("Firebird 2.5.2", "its binaries are in no registry: 3.0 is the oldest that can be installed"),)

TPCC = ArticleExperiment(
    "firebird-terabyte-2015",
    "Firebird by size",
    (
        Part(
            "sizes", "around the memory limit, SuperServer", "tpcc", (FIREBIRD_3,), TPCC_FACTORS, 1,
            sweep={"warehouses": (published.SMALLEST, *published.SIZES)}, settings=_firebird("Super", *TPCC_SETTINGS),
            place_factors=("data_storage",), figure="perf7_performance_with_1800Gb_Firebird_database", gaps=TPCC_GAPS,
        ),
        Part(
            "big", "eight times the memory limit", "tpcc", (FIREBIRD_3,),
            {**TPCC_FACTORS, "warehouses": published.LARGEST, "queries": "yes"}, 1,
            settings=_firebird("Super", *TPCC_SETTINGS), place_factors=("data_storage",),
        ),
        Part(
            "superclassic", "SuperClassic", "tpcc", (FIREBIRD_3,), TPCC_FACTORS, 1, sweep={"warehouses": (10, 30)},
            settings=_firebird("SuperClassic", *TPCC_SETTINGS), place_factors=("data_storage",),
        ),
    ),
)  # fmt: skip

# Data of about 40 × 10,000 × 800 bytes = 320 MB: five times the buffer, to keep the article's proportions.
LOADS_BUFFER_MB = 64
LOADS_FACTORS: dict[str, FactorValue] = {
    "rows_per_table": 10_000, "terminals": 40, "data_origin": "restored", "loader_threads": 2, **WINDOW,
}  # fmt: skip
PRINTED: dict[str, Settings] = {"mysql": scaled(PRINTED_MY_CNF, LOADS_BUFFER_MB)}
TUNED: dict[str, Settings] = {
    "mysql": scaled(TUNED_MY_CNF, LOADS_BUFFER_MB),
    # As with the printed my.cnf, a commit waits for no disk.
    "postgresql": (("shared_buffers", f"{LOADS_BUFFER_MB}MB"), ("synchronous_commit", "off"), ("max_wal_size", "2GB")),
}
MYSQL_55, POSTGRESQL = Wanted("mysql", "5.5"), Wanted("postgresql", "15")
LOADS_GAPS = (
    Gap("CUBRID 2008 R3.0", UNVERIFIED),
    Gap("MySQL 5.1.47", "its binaries are in no registry: 5.5 is the oldest that can be installed"),
)


PLACES = ("data_storage",)


def _loads(slug: str, title: str, engines: tuple[Wanted, ...], settings: dict[str, Settings]) -> tuple[Part, Part]:
    """INSERT into full and into empty tables, and both SELECTs; each on both storages."""
    return (
        Part(
            f"insert-{slug}", f"INSERT, {title}", "inserts_selects", engines, {**LOADS_FACTORS, "load": "insert"}, 2,
            sweep={"preloaded": ("full", "empty")}, figure="cubrid-fig2", gaps=LOADS_GAPS,
            settings=settings, place_factors=PLACES,
        ),
        Part(
            f"select-{slug}", f"SELECT, {title}", "inserts_selects", engines, LOADS_FACTORS, 2,
            sweep={"load": ("select_narrow", "select_wide")}, figure="cubrid-fig9", gaps=LOADS_GAPS,
            settings=settings, place_factors=PLACES,
        ),
    )  # fmt: skip


LOADS = ArticleExperiment(
    "cubrid-mysql-ssd-2011",
    "INSERT and SELECT on two disks",
    (
        *_loads("printed", "MySQL with the printed my.cnf", (MYSQL_55,), PRINTED),
        *_loads("tuned", "MySQL tuned, and PostgreSQL", (MYSQL_55, POSTGRESQL), TUNED),
    ),
)

EXPERIMENTS: dict[str, ArticleExperiment] = {one.publication: one for one in (GBAK, TPCB, TPCC, LOADS)}
