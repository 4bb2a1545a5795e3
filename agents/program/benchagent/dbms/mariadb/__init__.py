"""MariaDB: a private throw-away instance from the binaries on this machine, reached over loopback TCP."""

from benchagent.dbms.mysql.adapter import MysqlFamilyAdapter

ADAPTER = MysqlFamilyAdapter("mariadb")
