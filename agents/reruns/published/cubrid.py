"""Cells of the article of 2011 on solid-state disks: INSERT and SELECT, CPU-bound and I/O-bound, on two storages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agents.machines.second_storage import SecondStorage
from agents.reruns.published.common import ONE_STORAGE, gone, on, places, two_storages, with_nature
from runs.publications.matching import Match

ENGINE_NAMES = {"mysql": "MySQL", "postgresql": "PostgreSQL"}
BOUND = "cubrid-cpu-vs-io-cubrid-ssd"
TWO_SERVERS = "there an SSD server against an HDD server, not the same machine"
LOADS = {
    "select_narrow": ("SELECT, CPU-bound", "select-cpu"),
    "select_wide": ("SELECT, I/O-bound", "select-io"),
}


def matches(part: str, other: SecondStorage | None) -> tuple[Match, ...]:
    kind, _, tuning = part.partition("-")
    engines = ("mysql",) if tuning == "printed" else ("mysql", "postgresql")
    cells = _insert_cells() if kind == "insert" else _select_cells()
    disks = [
        _two_disks(engine, label, claim, other, cell, tuned=tuning == "tuned")
        for engine in engines
        for label, claim, cell in cells
    ]
    bound = [] if kind == "insert" else [*_bounds(engines, other), _cubrid("CPU-bound against I/O-bound, SSD", BOUND)]
    cubrid = [
        _cubrid(f"{label.partition(' into')[0]}: SSD against HDD", f"cubrid-{claim}-cubrid")
        for label, claim, _ in (cells[:1] if kind == "insert" else cells)
    ]
    return (*disks, *bound, *cubrid)


def _cubrid(label: str, claim: str) -> Match:
    return gone(f"CUBRID, {label}", claim, "cubrid-r3.0")


Loads = list[tuple[str, str, Mapping[str, str]]]


def _insert_cells() -> Loads:
    return [(f"INSERT into {one} tables", "insert", {"preloaded": one}) for one in ("full", "empty")]


def _select_cells() -> Loads:
    return [(label, name, {"load": load}) for load, (label, name) in LOADS.items()]


def _bounds(engines: Sequence[str], other: SecondStorage | None) -> list[Match]:
    return [_bound(engine, place, other) for engine in engines for place in reversed(places(other))]


def _bound(engine: str, place: str, other: SecondStorage | None) -> Match:
    return Match(
        f"{ENGINE_NAMES[engine]}, SELECT: CPU-bound against I/O-bound, {on(place, other)}", "tps",
        ours={"dbms": engine, "load": "select_narrow", "data_storage": place},
        base={"dbms": engine, "load": "select_wide", "data_storage": place}, claim="cubrid-cpu-vs-io",
    )  # fmt: skip


def _two_disks(
    engine: str, label: str, claim: str, other: SecondStorage | None, cell: Mapping[str, str], *, tuned: bool
) -> Match:
    name, claim = f"{ENGINE_NAMES[engine]}, {label}", f"cubrid-{claim}-mysql" if engine == "mysql" else ""
    if other is None:
        return Match(f"{name}: two storages", claim=claim, gap=ONE_STORAGE)
    there = ("tuned here, the printed my.cnf there; " if tuned else "") + TWO_SERVERS if engine == "mysql" else ""
    return Match(
        f"{name}: {two_storages(other)}", "tps", ours={"dbms": engine, **cell, "data_storage": ""},
        base={"dbms": engine, **cell, "data_storage": other.name}, claim=claim, differs=with_nature(there, other),
    )  # fmt: skip
