"""MariaDB: a private throw-away instance from the binaries on this machine, reached over loopback TCP."""

from __future__ import annotations

from benchagent.dbms.mysql.adapter import MysqlFamilyAdapter

ADAPTER = MysqlFamilyAdapter("mariadb")
