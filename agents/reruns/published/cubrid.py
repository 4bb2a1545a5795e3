"""Cells of the article of 2011 on solid-state disks: INSERT and SELECT, CPU-bound and I/O-bound, on two storages."""

from __future__ import annotations

from collections.abc import Mapping

from agents.machines import SecondStorage
from agents.reruns.published.common import ONE_STORAGE, gone, on, storages, two_storages, with_nature
from runs.publications.matching import Match

ENGINE_NAMES = {"mysql": "MySQL", "postgresql": "PostgreSQL"}
BOUND = "cubrid-cpu-vs-io-cubrid-ssd"
TWO_SERVERS = "there an SSD server against an HDD server, not the same machine"
# By kind of part: (label, load as claims name it, cell).
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
            f"{ENGINE_NAMES[engine]}, SELECT: CPU-bound against I/O-bound, {on(storage, other)}", "tps",
            ours={"dbms": engine, "load": "select_narrow", "data_storage": storage},
            base={"dbms": engine, "load": "select_wide", "data_storage": storage}, claim="cubrid-cpu-vs-io",
        )
        for engine in engines
        for storage in reversed(storages(other))
    ]  # fmt: skip
    cubrid = [_cubrid(f"{label}: SSD against HDD", f"cubrid-{claim}-cubrid") for label, claim, _ in loads]
    return (*disks, *bounds, _cubrid("CPU-bound against I/O-bound, SSD", BOUND), *cubrid)


def _cubrid(label: str, claim: str) -> Match:
    return gone(f"CUBRID, {label}", claim, "cubrid-r3.0")


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
