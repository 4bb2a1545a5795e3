"""The TPC-B article of 2010: TPS of the engines, and commit groups."""

from __future__ import annotations

from agents.machines import SecondStorage
from agents.plans.matrix import FactorValue, Settings
from agents.reruns.parts import GONE, WINDOW, ArticleExperiment, Part, Wanted, gaps, gone
from runs.models.shapes import CellFacts, Match

FACTORS: dict[str, FactorValue] = {"scale_factor": 10, "terminals": 4, "data_origin": "restored", **WINDOW}
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
IN_MEMORY: dict[str, Settings] = {"h2": (("storage", "memory"),), "hsqldb": (("storage", "memory"),)}

PLAIN = {"commit_group": ""}
ENGINES = (
    ("PostgreSQL", {"dbms": "postgresql"}, "pg-8.3"),
    ("MySQL", {"dbms": "mysql"}, "mysql-5.0"),
    ("Derby 10.3", {"dbms": "derby", "version": "10.3"}, "derby-10.3"),
    ("Derby 10.6", {"dbms": "derby", "version": "10.6"}, "derby-10.6"),
    ("Derby 10.16", {"dbms": "derby", "version": "10.16"}, "derby-10.6"),
)


def _engines(_other: SecondStorage | None) -> list[Match]:
    window = "windows of 120 s there"
    absolute = [
        Match(
            f"TPS of {name}", "tps", ours=ours, theirs={"version": theirs, **PLAIN}, their_metric="tps", differs=window
        )
        for name, ours, theirs in ENGINES
    ]  # fmt: skip
    postgresql, base = {"dbms": "postgresql"}, {"version": "pg-8.3", **PLAIN}
    relative = [
        Match(
            f"{name} against PostgreSQL", "tps", ours=ours, base=postgresql, theirs={"version": theirs, **PLAIN},
            their_base=base, their_metric="tps",
        )
        for name, ours, theirs in ENGINES[1:]
    ]  # fmt: skip
    relations_gone = [
        Match(
            f"{GONE[theirs].label} against PostgreSQL", theirs={"version": theirs, **PLAIN}, their_base=base,
            their_metric="tps", gap=GONE[theirs].reason,
        )
        for theirs in ("db2-9.7", "oracle-10r2")
    ]  # fmt: skip
    claimed = [
        gone("DB2 9.7 against PostgreSQL, as claimed", "tpcb-a", "db2-9.7"),
        gone("Creating the database: Oracle 10R2 against PostgreSQL", "tpcb-b", "oracle-10r2"),
    ]
    return [*absolute, *relative, *relations_gone, *claimed]


def _commit_groups(_other: SecondStorage | None) -> list[Match]:
    on: CellFacts = {"dbms": "postgresql", "background_maintenance": "on"}
    measured = [
        Match(
            f"PostgreSQL, commit group {group} against off", "tps", ours={**on, "group_commit": group},
            base={**on, "group_commit": "off"}, claim="tpcb-f", percent=True,
            differs="published without saying which groups",
        )
        for group in ("2", "3")
    ]  # fmt: skip
    db2 = [
        gone(f"DB2 9.7, commit group {group} against none", claim, "db2-9.7")
        for group, claim in ((2, "tpcb-d"), (3, "tpcb-e"))
    ]
    return [*measured, *db2]


PARTS = (
    Part(
        "engines", "engines of then and now", "tpcb",
        (
            Wanted("postgresql", "15"), Wanted("mysql", "5.5"), Wanted("mariadb"), Wanted("derby", "10.3"),
            Wanted("derby", "10.6"), Wanted("derby", "10.16"), Wanted("firebird", "3.0"), Wanted("sqlite"),
            Wanted("hsqldb"),
        ),
        FACTORS, 5, settings=BUFFERS, figure="tpcb-table",
        gaps=gaps("db2-9.7", "oracle-10r2", "pg-8.3", "mysql-5.0"), matches=_engines,
    ),
    Part(
        "group-commit", "group commit, and background maintenance", "tpcb", (Wanted("postgresql", "15"),),
        {**FACTORS, "background_maintenance": "on"}, 3, sweep={"group_commit": ("off", "2", "3")},
        extra=({"group_commit": "off", "background_maintenance": "off"},), settings=BUFFERS,
        figure="tpcb-commit-groups", matches=_commit_groups,
    ),
    Part(
        "memory", "in memory: a class of its own", "tpcb", (Wanted("h2"), Wanted("hsqldb")),
        {**FACTORS, "data_origin": "fresh"}, 3, settings=IN_MEMORY,
    ),
)  # fmt: skip
EXPERIMENT = ArticleExperiment("tpcb-2010", "TPC-B", PARTS)
