"""Engines of the articles that cannot be run today, with the reason: what plans, pages and ratios say of them."""

from __future__ import annotations

from collections.abc import Mapping

from runs.publications.matching import PlanGap

NO_SERVER = "no registry offers it, and no server of it could be had here"


def _oldest(version: str) -> str:
    return f"its binaries are in no registry: {version} is the oldest that can be installed"


# By the id of the version in the published data.
GONE: Mapping[str, PlanGap] = {
    gap.version: gap
    for gap in (
        PlanGap("Firebird 1.5.3", _oldest("3.0"), "fb-1.5.3"),
        PlanGap("Firebird 2.1", _oldest("3.0"), "fb-2.1"),
        PlanGap("Firebird 2.5.2", _oldest("3.0"), "fb-2.5.2"),
        PlanGap("InterBase 7.5.1 sp1", NO_SERVER, "ib-7.5.1sp1"),
        PlanGap("InterBase 2007", NO_SERVER, "ib-2007"),
        PlanGap("Yaffil 892", NO_SERVER, "yaffil-892"),
        PlanGap("DB2 9.7", NO_SERVER, "db2-9.7"),
        PlanGap("Oracle 10R2", NO_SERVER, "oracle-10r2"),
        PlanGap("PostgreSQL 8.3", _oldest("9.2"), "pg-8.3"),
        PlanGap("MySQL 5.0", _oldest("5.5"), "mysql-5.0"),
        PlanGap("MySQL 5.1.47", _oldest("5.5"), "mysql-5.1.47"),
        PlanGap("CUBRID 2008 R3.0", NO_SERVER, "cubrid-r3.0"),
    )
}
