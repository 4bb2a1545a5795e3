"""MariaDB servers that somebody else runs."""

from __future__ import annotations

from benchagent.dbms.external.server import ExternalServer
from benchagent.dbms.mysql.external import server_of_family
from benchagent.dbms.mysql.product import MARIADB


def external_server(version: str, schema: str) -> ExternalServer:
    return server_of_family(MARIADB, version, schema)
