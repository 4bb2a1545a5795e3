"""The article of 2011 on solid-state disks: INSERT and SELECT, CPU-bound and I/O-bound, on two storages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from benchagent.configfiles.article_2011 import PRINTED_MY_CNF, TUNED_MY_CNF, scaled

from agents.machines import SecondStorage
from agents.plans.matrix import FactorValue, Settings
from agents.reruns import parts
from agents.reruns.parts import ArticleExperiment, Part, Wanted
from runs.publications.matching import Match

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


def _parts(
    tuning: str, title: str, engines: tuple[Wanted, ...], settings: dict[str, Settings], called: dict[str, str]
) -> Iterator[Part]:
    """INSERT into full and into empty tables, and both SELECTs; each on both storages."""
    inserts: dict[str, FactorValue] = {**FACTORS, "load": "insert"}
    for name, factors, figure, sweep in (
        ("INSERT", inserts, "cubrid-fig2", {"preloaded": ("full", "empty")}),
        ("SELECT", FACTORS, "cubrid-fig9", {"load": ("select_narrow", "select_wide")}),
    ):
        yield Part(
            f"{name.lower()}-{tuning}", f"{name}, {title}", "inserts_selects", engines, factors, 2, sweep=sweep,
            settings=settings, called=called, storage_factors=("data_storage",), second=parts.SLOW, figure=figure,
            gaps=parts.gaps("cubrid-r3.0", "mysql-5.1.47"),
        )  # fmt: skip


TUNED_NAMES = {"mysql": "tuned my.cnf", "postgresql": "tuned"}
PARTS = (
    *_parts("printed", "MySQL with the printed my.cnf", (MYSQL_55,), PRINTED, {"mysql": "printed my.cnf"}),
    *_parts("tuned", "MySQL tuned, and PostgreSQL", (MYSQL_55, POSTGRESQL), TUNED, TUNED_NAMES),
)

ENGINE_NAMES = {"mysql": "MySQL", "postgresql": "PostgreSQL"}
BOUND = "cubrid-cpu-vs-io-cubrid-ssd"
TWO_SERVERS = "there an SSD server against an HDD server, not the same machine"
# (label, load as claims name it, cell) by kind of part.
LOADS: Mapping[str, list[tuple[str, str, Mapping[str, str]]]] = {
    "insert": [(f"INSERT into {tables} tables", "insert", {"preloaded": tables}) for tables in ("full", "empty")],
    "select": [
        ("SELECT, CPU-bound", "select-cpu", {"load": "select_narrow"}),
        ("SELECT, I/O-bound", "select-io", {"load": "select_wide"}),
    ],
}


def matches(part: str, other: SecondStorage | None) -> tuple[Match, ...]:
    kind, _, tuning = part.partition("-")
    engines = ("mysql",) if tuning == "printed" else ("mysql", "postgresql")
    loads = LOADS[kind]
    disks = [
        _two_disks(engine, label, claim, other, cell, tuned=tuning == "tuned")
        for engine in engines
        for label, claim, cell in loads
    ]
    if kind == "insert":
        return (*disks, _cubrid("INSERT: SSD against HDD", "cubrid-insert-cubrid"))
    bounds = [
        Match(
            f"{ENGINE_NAMES[engine]}, SELECT: CPU-bound against I/O-bound, {parts.on(storage, other)}", "tps",
            ours={"dbms": engine, "load": "select_narrow", "data_storage": storage},
            base={"dbms": engine, "load": "select_wide", "data_storage": storage}, claim="cubrid-cpu-vs-io",
        )
        for engine in engines
        for storage in reversed(parts.storages(other))
    ]  # fmt: skip
    cubrid = [_cubrid(f"{label}: SSD against HDD", f"cubrid-{claim}-cubrid") for label, claim, _ in loads]
    return (*disks, *bounds, _cubrid("CPU-bound against I/O-bound, SSD", BOUND), *cubrid)


def _cubrid(label: str, claim: str) -> Match:
    return parts.gone(f"CUBRID, {label}", claim, "cubrid-r3.0")


def _two_disks(
    engine: str, label: str, claim: str, other: SecondStorage | None, cell: Mapping[str, str], *, tuned: bool
) -> Match:
    name, claim = f"{ENGINE_NAMES[engine]}, {label}", f"cubrid-{claim}-mysql" if engine == "mysql" else ""
    if other is None:
        return Match(f"{name}: two storages", claim=claim, gap=parts.ONE_STORAGE)
    there = ("tuned here, the printed my.cnf there; " if tuned else "") + TWO_SERVERS if engine == "mysql" else ""
    return Match(
        f"{name}: {parts.two_storages(other)}", "tps", ours={"dbms": engine, **cell, "data_storage": ""},
        base={"dbms": engine, **cell, "data_storage": other.name}, claim=claim, differs=parts.with_nature(there, other),
    )  # fmt: skip


EXPERIMENT = ArticleExperiment("cubrid-mysql-ssd-2011", "INSERT and SELECT on two disks", PARTS, matches)
