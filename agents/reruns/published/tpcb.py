"""Cells of the TPC-B article of 2010: TPS of the engines, and commit groups."""

from __future__ import annotations

from agents.machines import SecondStorage
from agents.reruns.published.common import GONE, gone
from runs.publications.matching import CellFacts, Match

PLAIN = {"commit_group": ""}
TPCB_ENGINES = (
    ("PostgreSQL", {"dbms": "postgresql"}, "pg-8.3"),
    ("MySQL", {"dbms": "mysql"}, "mysql-5.0"),
    ("Derby 10.3", {"dbms": "derby", "version": "10.3"}, "derby-10.3"),
    ("Derby 10.6", {"dbms": "derby", "version": "10.6"}, "derby-10.6"),
)
TPCB_GONE = ("db2-9.7", "oracle-10r2")


def matches(part: str, other: SecondStorage | None) -> tuple[Match, ...]:
    return {"engines": _engines, "group-commit": _commit_groups}.get(part, tuple)()


def _engines() -> tuple[Match, ...]:
    window = "windows of 10 s here, 120 s there"
    absolute = [
        Match(
            f"TPS of {name}", "tps", ours=ours, theirs={"version": theirs, **PLAIN}, their_metric="tps", differs=window
        )
        for name, ours, theirs in TPCB_ENGINES
    ]  # fmt: skip
    postgresql, base = {"dbms": "postgresql"}, {"version": "pg-8.3", **PLAIN}
    relative = [
        Match(
            f"{name} against PostgreSQL", "tps", ours=ours, base=postgresql, theirs={"version": theirs, **PLAIN},
            their_base=base, their_metric="tps",
        )
        for name, ours, theirs in TPCB_ENGINES[1:]
    ]  # fmt: skip
    relations_gone = [
        Match(
            f"{GONE[theirs].label} against PostgreSQL", theirs={"version": theirs, **PLAIN}, their_base=base,
            their_metric="tps", gap=GONE[theirs].reason,
        )
        for theirs in TPCB_GONE
    ]  # fmt: skip
    claimed = [
        gone("DB2 9.7 against PostgreSQL, as claimed", "tpcb-a", "db2-9.7"),
        gone("Creating the database: Oracle 10R2 against PostgreSQL", "tpcb-b", "oracle-10r2"),
    ]
    return (*absolute, *relative, *relations_gone, *claimed)


def _commit_groups() -> tuple[Match, ...]:
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
    return (*measured, *db2)
