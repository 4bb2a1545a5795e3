"""MySQL: a private throw-away instance from the binaries on this machine, reached over loopback TCP.

MariaDB, its kin, is the same code: what differs is asked of `product.Product`.
"""

from benchagent.dbms.mysql.adapter import MysqlFamilyAdapter

ADAPTER = MysqlFamilyAdapter("mysql")
