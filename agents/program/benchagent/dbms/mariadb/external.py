"""MariaDB servers that somebody else runs."""

from functools import partial

from benchagent.dbms.mysql.external import server_of_family
from benchagent.dbms.mysql.product import MARIADB

external_server = partial(server_of_family, MARIADB)
