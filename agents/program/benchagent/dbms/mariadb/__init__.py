"""MariaDB: a private throw-away instance from the binaries on this machine, reached over loopback TCP."""

from benchagent.dbms.mysql import MysqlFamilyAdapter

ADAPTER = MysqlFamilyAdapter("mariadb")
