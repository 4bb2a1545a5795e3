"""MySQL and MariaDB servers that somebody else runs: the schema of the agent's own is a database."""

from __future__ import annotations

from pathlib import Path

from benchagent.dbms.external.side import Rows, Side, folder_of
from benchagent.dbms.mysql import afar
from benchagent.dbms.mysql.adapter import DRIVERS
from benchagent.dbms.mysql.dialect import dialect
from benchagent.dbms.mysql.effective import in_force
from benchagent.dbms.mysql.instance import MARIADB_PROPERTIES, MYSQL_PROPERTIES, MysqlFamilyInstance
from benchagent.dbms.mysql.product import MARIADB, MYSQL, Product
from benchagent.dbms.mysql.statistics import InnodbStatistics
from benchagent.dbms.statistics import QueryRows

# Cast, since the columns differ in their collations, which a UNION does not let pass.
OBJECTS = (
    "SELECT CAST(table_name AS CHAR) FROM information_schema.tables WHERE table_schema = '{schema}' "
    "UNION ALL SELECT CAST(CONCAT('routine ', routine_name) AS CHAR) FROM information_schema.routines "
    "WHERE routine_schema = '{schema}' "
    "UNION ALL SELECT CAST(CONCAT('event ', event_name) AS CHAR) FROM information_schema.events "
    "WHERE event_schema = '{schema}'"
)
# Where the server writes, beside its data; not every release has all of them.
NAMED = ("innodb_log_group_home_dir", "innodb_undo_directory", "innodb_temp_tablespaces_dir", "aria_log_dir_path")
LISTS = ("tmpdir", "innodb_tmpdir")
SYSTEM = ("innodb_data_file_path", "innodb_temp_data_file_path")
HOME, BINARY_LOG = "innodb_data_home_dir", "log_bin_basename"
FOLDERS = f"SHOW GLOBAL VARIABLES WHERE Variable_name IN {('datadir', HOME, *NAMED, *LISTS, *SYSTEM, BINARY_LOG)}"


def side(version: str, schema: str) -> Side:
    return side_of_family(MYSQL, version, schema)


def side_of_family(slug: str, version: str, schema: str) -> Side:
    product = Product(slug, version)
    properties = MARIADB_PROPERTIES if slug == MARIADB else MYSQL_PROPERTIES
    return Side(
        dbms=slug,
        dialect=dialect(product),
        objects=OBJECTS,
        schemas="SELECT schema_name FROM information_schema.schemata WHERE schema_name = '{schema}'",
        create="CREATE DATABASE {schema}",
        use=("USE {schema}",),
        effective_queries={"variables": "SHOW GLOBAL VARIABLES"},
        in_force=_in_force,
        statistics=InnodbStatistics(product, schema),
        retryable=MysqlFamilyInstance.retryable,
        tolerable=MysqlFamilyInstance.tolerable,
        # Whether the connection is encrypted is up to its URL.
        properties={name: value for name, value in properties.items() if name not in ("sslMode", "useSSL")},
        changes_lock=True,  # by next-key locks, with the isolation that a session begins with
        driver=DRIVERS[slug],
        version_query="SELECT VERSION()",
        folders=FOLDERS,
        places=places,
        backups=afar.methods,
    )


def places(rows: Rows) -> list[tuple[str, str]]:
    """Paths that begin with no slash are relative to `datadir`."""
    told = {str(name).lower(): str(value or "") for name, value in rows}
    found = [("datadir", told.get("datadir", "")), *((name, told.get(name, "")) for name in NAMED)]
    found += [(name, path) for name in LISTS for path in told.get(name, "").split(":")]
    files = [(name, file.partition(":")[0]) for name in SYSTEM for file in told.get(name, "").split(";")]
    found += [(name, folder_of(str(Path(told.get(HOME, ""), file)))) for name, file in files]
    found.append((BINARY_LOG, folder_of(told.get(BINARY_LOG, ""))))
    return [found[0], *((name, path) for name, path in found[1:] if path)]


def _in_force(rows: QueryRows) -> list[tuple[str, str]]:
    variables = {str(row[0]).lower(): "" if row[1] is None else str(row[1]) for row in rows.get("variables", [])}
    return in_force([], variables)
