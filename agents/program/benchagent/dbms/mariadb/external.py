"""MariaDB servers that somebody else runs."""

from __future__ import annotations

from benchagent.dbms.external.side import Side
from benchagent.dbms.mysql.external import side_of_family
from benchagent.dbms.mysql.product import MARIADB


def side(version: str, schema: str) -> Side:
    return side_of_family(MARIADB, version, schema)
