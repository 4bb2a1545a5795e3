"""MySQL: a private throw-away instance from the binaries on this machine, reached over loopback TCP.

MariaDB, its kin, is the same code: what differs is asked of `product.Product`. Here are a running instance as a job
sees it, and the knobs that the two have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from benchagent.dbms.backup import BackupMethod
from benchagent.dbms.base import (
    GUEST,
    INTEGRITY_CLASS,
    Adapter,
    Connection,
    EngineContext,
    Guest,
    JobError,
    ProvisionRequest,
    Retryable,
    Settings,
)
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.discovery import servers
from benchagent.dbms.embedded import buffer_in_force, jars
from benchagent.dbms.mysql import backup, discovery, settings
from benchagent.dbms.mysql.counters import InnodbCounters
from benchagent.dbms.mysql.folders import LOG_NAMES, folders_of
from benchagent.dbms.mysql.product import DATABASE, MARIADB, MYSQL, USER, WRITE_PAGES, Product, dialect, setup
from benchagent.dbms.mysql.server import Server
from benchagent.dbms.private_server import ServerInstance, check_user, stopped_on_failure
from benchagent.protocol import EngineFacts

DRIVERS = {MYSQL: "5.1.49", MARIADB: "3.5.11"}
# Statements are prepared on the server; batches of the load go out as few large ones.
DRIVER_PROPERTIES: Mapping[str, Mapping[str, str]] = {
    MARIADB: {
        "sslMode": "disable",
        "useServerPrepStmts": "true",
        "prepStmtCacheSize": "250",
        "useBulkStmts": "true",
        # Else the driver adds to the session's sql_mode: what is configured shall be in force.
        "jdbcCompliantTruncation": "false",
    },
    MYSQL: {
        "useSSL": "false",
        "useServerPrepStmts": "true",
        "cachePrepStmts": "true",
        "prepStmtCacheSize": "250",
        "prepStmtCacheSqlLimit": "8192",
        "rewriteBatchedStatements": "true",
        "useLocalSessionState": "true",
        "jdbcCompliantTruncation": "false",
        "serverTimezone": "UTC",
    },
}
LOCK_WAIT_TIMEOUT, DEADLOCK, RECORD_CHANGED = 1205, 1213, 1020
# A statement that ran longer than its session allows: MySQL's and MariaDB's number, and that of a killed query.
TOO_LONG = (3024, 1969, 1317)
# How long a commit waits for others in its group, unless enough of them have come.
GROUP_WAIT_US = 10_000


class MysqlFamilyInstance(ServerInstance):
    server: Server
    log_names = LOG_NAMES
    effective_queries = {"variables": "SHOW GLOBAL VARIABLES", "engines": settings.ENGINES_OF.format(f"'{DATABASE}'")}
    retryable = Retryable(codes=(DEADLOCK, LOCK_WAIT_TIMEOUT, RECORD_CHANGED))
    tolerable = Retryable(sqlstate_prefixes=(INTEGRITY_CLASS,), codes=TOO_LONG)

    def __init__(self, server: Server, request: ProvisionRequest, given: Settings, class_path: Sequence[Path]) -> None:
        product, where = server.product, server.folders
        self.slug = product.slug
        super().__init__(server, request, class_path, where.data)
        self._given = given
        self._methods = backup.methods(server, request, given)
        self.setup_sql = setup(product)
        self.dialect = replace(dialect(product), after_load=(WRITE_PAGES,))
        self.engine_counters = InnodbCounters(product, DATABASE)
        self.ignored_settings = settings.locked(given)

    def connect(self) -> Connection:
        properties = {"user": USER, "password": self.server.password, **DRIVER_PROPERTIES[self.slug]}
        return Connection(backup.url(self.server, DATABASE), None, properties)

    def guest(self) -> Guest:
        """The driver, too, would read files of the agent's machine where the server asked it for one."""
        guest = self.connection_with(user=GUEST, allowLocalInfile="false", allowLoadLocalInfile="false")
        return Guest(guest, self.connection)

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        variables = settings.variables_of(rows)
        words = settings.differences(self._given, variables)
        self.ignored_settings += [word for word in words if word not in self.ignored_settings]
        return [*settings.in_force(self._given, variables), *settings.table_engines(rows)]

    def buffer_bytes(self) -> int | None:
        return buffer_in_force(self.slug, self._given, version=self.server.product.version)

    def backup_methods(self) -> Sequence[BackupMethod]:
        return self._methods


class MysqlFamilyAdapter(Adapter):
    def __init__(self, slug: str) -> None:
        self.slug, self.driver = slug, DRIVERS[slug]

    def discover(self, context: EngineContext) -> list[EngineFacts]:
        installations = discovery.all_installations(self.slug, context.engines_dir)
        listed = ((server.product.version, server.problem, server.server.parent) for server in installations)
        return servers(self.slug, context, "the server is run as", listed)

    def provision(self, request: ProvisionRequest) -> MysqlFamilyInstance:
        product = Product(self.slug, request.version)
        installation = discovery.installations(self.slug, request.engines_dir).get(request.version)
        if installation is None:
            raise JobError(f"{product} is no longer on this machine")
        given = settings.given(request.settings)
        class_path = jars(request.toolchain, self.slug, self.driver)
        where = folders_of(request.folders, request.job_dir)
        server = Server(request, installation, where)
        server.make_folders()
        check_user(request.children, where.home, where.work, installation.base)
        with stopped_on_failure(server):
            server.configure(given)
            if request.restored:
                server.open_copy()
            else:
                server.create(given)
                request.log(f"data directory made in {where.data}")
                server.start_first()
            server.write_client_options()
        request.log(f"{product} answers on port {server.port}")
        return MysqlFamilyInstance(server, request, given, class_path)

    def knob(self, name: str, value: str, version: str) -> Settings:
        product = Product(self.slug, version)
        if name == "background_maintenance":
            if not product.since((5, 6, 6), (10, 0)):
                always = "statistics and purge are always on"
                raise JobError(f"{product} has no setting for background maintenance: {always}")
            # Statistics and events; purge is part of the storage engine and cannot be turned off.
            return [("innodb_stats_auto_recalc", value.upper()), ("event_scheduler", value.upper())]
        if not product.since((5, 7, 5), (10, 0, 5)):
            raise JobError(f"{product} has no setting for group commit: it came with 5.7 (MariaDB 10.0)")
        names = ("binlog_group_commit_sync_no_delay_count", "binlog_group_commit_sync_delay")
        if self.slug == MARIADB:
            names = ("binlog_commit_wait_count", "binlog_commit_wait_usec")
        waiting = zip(names, ("0", "0") if value == "off" else (value, str(GROUP_WAIT_US)), strict=True)
        # Groups are those of the binary log, which is therefore on in every cell, also "off", and synced each time.
        return [("log_bin", settings.LOG_BIN_NAME), ("server_id", "1"), ("sync_binlog", "1"), *waiting]


ADAPTER = MysqlFamilyAdapter("mysql")
