"""A running instance, as a job sees it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchagent.catalog import Durability
from benchagent.configfiles.durability import of_effective
from benchagent.configfiles.meaning import settings_of
from benchagent.configfiles.settings import Facts, Given
from benchagent.dbms.backup import BackupMethod
from benchagent.dbms.base import INTEGRITY_CLASS, Connection, Instance, Retryable, Settings
from benchagent.dbms.mysql.configuration import HOST
from benchagent.dbms.mysql.dialect import dialect
from benchagent.dbms.mysql.effective import differences, in_force
from benchagent.dbms.mysql.folders import LOG_NAMES, hand_over
from benchagent.dbms.mysql.product import MARIADB
from benchagent.dbms.mysql.schema import DATABASE, USER, WRITE_PAGES, setup
from benchagent.dbms.mysql.server import Server
from benchagent.dbms.mysql.statistics import InnodbStatistics
from benchagent.dbms.statistics import QueryRows
from benchagent.machine.devices import write_cache_words
from benchagent.machine.users import ServiceUser

LOCK_WAIT_TIMEOUT, DEADLOCK, RECORD_CHANGED = 1205, 1213, 1020
# A statement that ran longer than its session allows: MySQL's and MariaDB's number, and that of a killed query.
TOO_LONG = (3024, 1969, 1317)
MARIADB_PROPERTIES = {
    "sslMode": "disable",
    "useServerPrepStmts": "true",
    "prepStmtCacheSize": "250",
    "useBulkStmts": "true",
    # Else the driver adds to the session's sql_mode: what is configured shall be in force.
    "jdbcCompliantTruncation": "false",
}
MYSQL_PROPERTIES = {
    "useSSL": "false",
    "useServerPrepStmts": "true",
    "cachePrepStmts": "true",
    "prepStmtCacheSize": "250",
    "prepStmtCacheSqlLimit": "8192",
    "rewriteBatchedStatements": "true",
    "useLocalSessionState": "true",
    "jdbcCompliantTruncation": "false",
    "serverTimezone": "UTC",
}


class MysqlFamilyInstance(Instance):
    log_names = LOG_NAMES
    retryable = Retryable(codes=(DEADLOCK, LOCK_WAIT_TIMEOUT, RECORD_CHANGED))
    tolerable = Retryable(sqlstate_prefixes=(INTEGRITY_CLASS,), codes=TOO_LONG)

    def __init__(
        self,
        server: Server,
        password: str,
        given: Settings,
        *,
        class_path: Sequence[Path],
        driver_dir: Path,
        methods: Sequence[BackupMethod],
        user: ServiceUser | None,
    ) -> None:
        super().__init__(
            connection=connection(server.product.slug, server.port, DATABASE, password),
            class_path=class_path,
            data_path=server.folders.data,
            driver_dir=driver_dir,
        )
        self._server = server
        self._given = given
        self._methods = methods
        self._user = user
        self.setup_sql = setup(server.product)
        self.dialect = replace(dialect(server.product), after_load=(WRITE_PAGES,))
        self.statistics = InnodbStatistics(server.product, DATABASE)
        self.command_lines = server.command_lines

    def server_pids(self) -> list[int]:
        return [self._server.process.pid] if self._server.process else []

    def effective_queries(self) -> Mapping[str, str]:
        return {
            "variables": "SHOW GLOBAL VARIABLES",
            "engines": "SELECT engine, COUNT(*) FROM information_schema.tables"  # noqa: S608 - a constant
            f" WHERE table_schema = '{DATABASE}' AND table_type = 'BASE TABLE' GROUP BY engine ORDER BY engine",
        }

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        variables = {str(row[0]).lower(): "" if row[1] is None else str(row[1]) for row in rows["variables"]}
        found = [words for words in differences(self._given, variables) if words not in self.ignored_settings]
        self.ignored_settings += found
        engines = ", ".join(f"{engine} ({count})" for engine, count in rows["engines"])
        return [*in_force(self._given, variables), *([("table_engines", engines)] if engines else [])]

    def durability(self, effective: Mapping[str, str]) -> tuple[Durability, str]:
        folder = self._server.folders.redo or self.data_path
        return of_effective(self._server.product.slug, effective, write_cache_words(folder))

    def log_tail(self) -> str:
        return self._server.log_tail()

    def own(self, folder: Path) -> None:
        hand_over([folder], self._user)

    def buffer_bytes(self) -> int | None:
        product = self._server.product
        found = settings_of(
            product.slug, [Given(name, value) for name, value in self._given], Facts(version=product.version)
        )
        value = found.value("innodb_buffer_pool_size") if found else None
        return value if isinstance(value, int) else None

    def restart(self) -> None:
        self.shut_down()
        self.start()

    def shut_down(self) -> None:
        self._server.shut_down()

    def start(self) -> None:
        self._server.start()

    def backup_methods(self) -> Sequence[BackupMethod]:
        return self._methods

    def stop(self) -> None:
        self._server.stop()


def connection(slug: str, port: int, database: str, password: str) -> Connection:
    """Statements are prepared on the server; batches of the load go out as few large ones."""
    login = {"user": USER, "password": password}
    if slug == MARIADB:
        return Connection(f"jdbc:mariadb://{HOST}:{port}/{database}", None, {**login, **MARIADB_PROPERTIES})
    return Connection(f"jdbc:mysql://{HOST}:{port}/{database}", None, {**login, **MYSQL_PROPERTIES})
