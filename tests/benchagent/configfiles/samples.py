"""One file per format with everything its grammar allows, and the two of the CUBRID article out of their data."""

from __future__ import annotations

import json
from pathlib import Path

from benchagent.configfiles import Entry

DATA = Path(__file__).parents[3] / "runs/publications/data/cubrid-mysql-ssd-2011/results.json"

POSTGRESQL = """# PostgreSQL configuration file
shared_buffers = 2GB\t\t\t# min 128kB
work_mem 16MB
fsync=off
search_path = '"$user", public'   # a # inside is kept: 'x'
archive_command = 'cp %p ''/mnt/a b/%f'' # not a comment'
include_if_exists 'extra.conf'
#effective_cache_size = 4GB
plpgsql.check_asserts = on
work_mem = 32MB

listen_addresses =
broken 4 MB x
primary_conninfo = 'host=a user=b password=hunter2'"""

MY_CNF = """# a comment
; another
[client]
password = hunter2
socket=/tmp/mysql.sock
!includedir /etc/mysql/conf.d/
[mysqld]
skip-name-resolve
innodb_buffer_pool_size = 4G # 50 ~ 70% of main memory
innodb-flush-log-at-trx-commit=2
init_connect='SET NAMES utf8; # not a comment'
key_buffer =\t16M
log-bin=mysql-bin#tail
set-variable = sort_buffer=2M
innodb_file_per_table
innodb_log_file_size = 256M
innodb_log_files_in_group=3
"""

FIREBIRD = """#DefaultDbCachePages = 2048
DefaultDbCachePages = 10K   # raised
TempCacheLimit=1G
RemoteBindAddress =
include $(dir_conf)/more.conf
employee = /data/employee.fdb
{
    DefaultDbCachePages = 500
}
ServerMode = SuperClassic
"""

CUBRID = """[service]
service=server,broker
[common]
data_buffer_pages=25000
isolation_level="TRAN_REP_CLASS_UNCOMMIT_INSTANCE" ; quoted
async_commit=yes # lost on a crash
data_buffer_pages=262144
[@demodb]
data_buffer_size = 2G
"""

DERBY = """# Derby
! another comment
derby.storage.pageCacheSize=20000
derby.storage.pageSize : 8192
derby.system.durability test
derby.stream.error.file=/var/log/\\
    derby\\
    .log
derby.user.sa=hunter2
derby.infolog.append
derby.database.propertiesOnly = caf\\u00e9 \\= #kept
"""

INIT_ORA = """# an Oracle parameter file
*.db_cache_size=1G
processes = 150  sessions = 200   # two on a line
control_files = ("/u01/control01.ctl",
                 "/u02/control02.ctl")
log_archive_dest_1 = 'LOCATION=/arch # kept' # gone
db_block_size=8192
nls_territory = AMERICA, \\
  FRANCE
orcl.undo_tablespace='UNDOTBS1'
ifile = /u01/more.ora
this is nonsense
"""

PLAIN = "# settings\njournal_mode = WAL\nsynchronous=FULL\nshared_cache\n"

SAMPLES = {
    "postgresql": POSTGRESQL, "my_cnf": MY_CNF, "firebird": FIREBIRD, "cubrid": CUBRID, "derby": DERBY,
    "init_ora": INIT_ORA, "plain": PLAIN,
}  # fmt: skip


def printed(config: str) -> list[Entry]:
    """The parameters of a configuration that an article prints."""
    data = json.loads(DATA.read_text(encoding="utf-8"))
    (found,) = [one for one in data["configs"] if one["id"] == config]
    return [
        Entry(one["name"], one["value"], one["value"], one.get("section", ""), one.get("comment", ""))
        for one in found["parameters"]
    ]
