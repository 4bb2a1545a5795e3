"""The article of 2011 on solid-state disks: INSERT and SELECT, CPU-bound and I/O-bound, on two storages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product

from benchagent.configfiles.article_2011 import PRINTED_MY_CNF, TUNED_MY_CNF, scaled

from agents.machines import SecondStorage
from agents.plans.matrix import FactorValue, Settings
from agents.reruns import parts
from agents.reruns.parts import ArticleExperiment, Part, Wanted
from runs.models.shapes import Match

# Data of about 40 × 5,000 × 800 bytes = 160 MB: five times the buffer, as for INSERT in the article; SELECT had 12.
BUFFER_MB = 32
FACTORS: dict[str, FactorValue] = {
    "rows_per_table": 5_000, "terminals": 40, "data_origin": "restored", "loader_threads": 2, **parts.WINDOW,
}  # fmt: skip
PRINTED: dict[str, Settings] = {"mysql": scaled(PRINTED_MY_CNF, BUFFER_MB)}
TUNED: dict[str, Settings] = {
    "mysql": scaled(TUNED_MY_CNF, BUFFER_MB),
    # As with the printed my.cnf, a commit waits for no disk.
    "postgresql": (("shared_buffers", f"{BUFFER_MB}MB"), ("synchronous_commit", "off"), ("max_wal_size", "2GB")),
}
MYSQL_55, POSTGRESQL = Wanted("mysql", "5.5"), Wanted("postgresql", "15")


ENGINE_NAMES = {"mysql": "MySQL", "postgresql": "PostgreSQL"}
TWO_SERVERS = "there an SSD server against an HDD server, not the same machine"
# (label, load as claims name it, cell)
Loads = Sequence[tuple[str, str, Mapping[str, str]]]
INSERTS: Loads = [(f"INSERT into {tables} tables", "insert", {"preloaded": tables}) for tables in ("full", "empty")]
SELECTS: Loads = [
    ("SELECT, CPU-bound", "select-cpu", {"load": "select_narrow"}),
    ("SELECT, I/O-bound", "select-io", {"load": "select_wide"}),
]


def _insert(engines: Sequence[str], other: SecondStorage | None) -> list[Match]:
    return [*_two_disks(engines, INSERTS, other), _cubrid("INSERT: SSD against HDD", "cubrid-insert-cubrid")]


def _select(engines: Sequence[str], other: SecondStorage | None) -> list[Match]:
    bounds = [
        Match(
            f"{ENGINE_NAMES[engine]}, SELECT: CPU-bound against I/O-bound, {parts.on(storage, other)}", "tps",
            ours={"dbms": engine, "load": "select_narrow", "data_storage": storage},
            base={"dbms": engine, "load": "select_wide", "data_storage": storage}, claim="cubrid-cpu-vs-io",
        )
        for engine in engines
        for storage in reversed(parts.storages(other))
    ]  # fmt: skip
    cubrid = [_cubrid(f"{label}: SSD against HDD", f"cubrid-{claim}-cubrid") for label, claim, _ in SELECTS]
    bound = _cubrid("CPU-bound against I/O-bound, SSD", "cubrid-cpu-vs-io-cubrid-ssd")
    return [*_two_disks(engines, SELECTS, other), *bounds, bound, *cubrid]


def _cubrid(label: str, claim: str) -> Match:
    return parts.gone(f"CUBRID, {label}", claim, "cubrid-r3.0")


def _two_disks(engines: Sequence[str], loads: Loads, other: SecondStorage | None) -> Iterator[Match]:
    """Each load of each engine, on both storages."""
    for engine, (label, load, cell) in product(engines, loads):
        name, claim, there = f"{ENGINE_NAMES[engine]}, {label}", "", ""
        if engine == "mysql":
            claim = f"cubrid-{load}-mysql"
            there = ("tuned here, the printed my.cnf there; " if len(engines) > 1 else "") + TWO_SERVERS
        if other is None:
            yield Match(f"{name}: two storages", claim=claim, gap=parts.ONE_STORAGE)
        else:
            yield Match(
                f"{name}: {parts.two_storages(other)}", "tps", ours={"dbms": engine, **cell, "data_storage": ""},
                base={"dbms": engine, **cell, "data_storage": other.name}, claim=claim,
                differs=parts.with_nature(there, other),
            )  # fmt: skip


def _parts(
    tuning: str, title: str, engines: tuple[Wanted, ...], settings: dict[str, Settings], called: dict[str, str]
) -> Iterator[Part]:
    """INSERT into full and into empty tables, and both SELECTs; each on both storages."""
    inserts: dict[str, FactorValue] = {**FACTORS, "load": "insert"}
    for name, factors, figure, sweep, matches in (
        ("INSERT", inserts, "cubrid-fig2", {"preloaded": ("full", "empty")}, _insert),
        ("SELECT", FACTORS, "cubrid-fig9", {"load": ("select_narrow", "select_wide")}, _select),
    ):
        yield Part(
            f"{name.lower()}-{tuning}", f"{name}, {title}", "inserts_selects", engines, factors, 2, sweep=sweep,
            settings=settings, called=called, storage_factors=("data_storage",), second=parts.SLOW, figure=figure,
            gaps=parts.gaps("cubrid-r3.0", "mysql-5.1.47"),
            matches=partial(matches, [engine.dbms for engine in engines]),
        )  # fmt: skip


TUNED_NAMES = {"mysql": "tuned my.cnf", "postgresql": "tuned"}
PARTS = (
    *_parts("printed", "MySQL with the printed my.cnf", (MYSQL_55,), PRINTED, {"mysql": "printed my.cnf"}),
    *_parts("tuned", "MySQL tuned, and PostgreSQL", (MYSQL_55, POSTGRESQL), TUNED, TUNED_NAMES),
)
EXPERIMENT = ArticleExperiment("cubrid-mysql-ssd-2011", "INSERT and SELECT on two disks", PARTS)
