"""Engines of the articles that cannot be run today, with the reason: what plans, pages and ratios say of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

NO_SERVER = "no registry offers it, and no server of it could be had here"


def _oldest(version: str) -> str:
    return f"its binaries are in no registry: {version} is the oldest that can be installed"


class Gone(NamedTuple):
    """`name` as people say it."""

    name: str
    reason: str


# By the id of the version in the published data.
GONE: Mapping[str, Gone] = {
    "fb-1.5.3": Gone("Firebird 1.5.3", _oldest("3.0")),
    "fb-2.1": Gone("Firebird 2.1", _oldest("3.0")),
    "fb-2.5.2": Gone("Firebird 2.5.2", _oldest("3.0")),
    "ib-7.5.1sp1": Gone("InterBase 7.5.1 sp1", NO_SERVER),
    "ib-2007": Gone("InterBase 2007", NO_SERVER),
    "yaffil-892": Gone("Yaffil 892", NO_SERVER),
    "db2-9.7": Gone("DB2 9.7", NO_SERVER),
    "oracle-10r2": Gone("Oracle 10R2", NO_SERVER),
    "pg-8.3": Gone("PostgreSQL 8.3", _oldest("9.2")),
    "mysql-5.0": Gone("MySQL 5.0", _oldest("5.5")),
    "mysql-5.1.47": Gone("MySQL 5.1.47", _oldest("5.5")),
    "cubrid-r3.0": Gone("CUBRID 2008 R3.0", NO_SERVER),
}
