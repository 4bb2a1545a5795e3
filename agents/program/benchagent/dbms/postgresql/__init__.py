"""PostgreSQL: a private throw-away instance from the binaries on this machine, reached over loopback TCP.

Here are its settings, what it tells, how it is backed up.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
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
    checked_settings,
)
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.discovery import servers
from benchagent.dbms.embedded import buffer_in_force, jars
from benchagent.dbms.postgresql import discovery, settings
from benchagent.dbms.postgresql.backup import methods
from benchagent.dbms.postgresql.counters import PostgresqlCounters
from benchagent.dbms.postgresql.server import DATABASE, LOG_NAMES, USER, Server, folders_of
from benchagent.dbms.private_server import HOST, ServerInstance, check_user, stopped_on_failure
from benchagent.protocol import EngineFacts

# A connection that ever had a time-out, also that of asking for encryption, is waited for with poll(): three system
# calls for an answer instead of one.
DRIVER_PROPERTIES = {
    "ApplicationName": "benchagent",
    "reWriteBatchedInserts": "true",
    "connectTimeout": "0",
    "sslmode": "disable",
    "gssEncMode": "disable",
}
SERIALIZATION_FAILURE, DEADLOCK = "40001", "40P01"
LOCK_TIMEOUT, CANCELLED = "55P03", "57014"
# Microseconds that a commit waits for others, where a group is asked for: about what a disk needs for a sync.
GROUP_DELAY_US = 1_000


class PostgresqlInstance(ServerInstance):
    slug = discovery.SLUG
    server: Server
    dialect = Dialect(
        first="SELECT {select} LIMIT {n}",
        for_update=" FOR UPDATE",
        after_load_each=("VACUUM ANALYZE {table}",),
        after_load=("CHECKPOINT",),
    )
    retryable = Retryable(sqlstates=(SERIALIZATION_FAILURE, DEADLOCK))
    guest_settles = True
    log_names = LOG_NAMES
    tolerable = Retryable(sqlstates=(LOCK_TIMEOUT, CANCELLED), sqlstate_prefixes=(INTEGRITY_CLASS,))

    def __init__(self, server: Server, request: ProvisionRequest, given: Settings, class_path: Sequence[Path]) -> None:
        folders = server.folders
        super().__init__(server, request, class_path, folders.home)
        self._given = given
        self.effective_queries = settings.effective_queries(server.version, given)
        self.ignored_settings = settings.locked(given)
        method = settings.last(given, "wal_sync_method") or ""
        self.engine_counters = PostgresqlCounters(server.version, wal_sync_method=method)

    def connect(self) -> Connection:
        url = f"jdbc:postgresql://{HOST}:{self.server.port}/{DATABASE}"
        return Connection(url, None, {"user": USER, "password": self.server.password, **DRIVER_PROPERTIES})

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        self.ignored_settings += settings.ignored(self._given, rows)
        return settings.in_force(rows)

    def buffer_bytes(self) -> int | None:
        return buffer_in_force(self.slug, self._given, version=self.server.installation.version)

    def guest(self) -> Guest:
        """The agent itself looks for names in the system's schema only: in the public one a function could have been
        made that fits better than the system's, and would run as the superuser."""
        # No password stands in SQL, which may be logged.
        digest = hashlib.md5(f"{self.server.password}{GUEST}".encode(), usedforsecurity=False).hexdigest()
        grants = (
            f"CREATE ROLE {GUEST} LOGIN PASSWORD 'md5{digest}'",
            f"GRANT CREATE ON DATABASE {DATABASE} TO {GUEST}",
            f"GRANT CREATE ON SCHEMA public TO {GUEST}",
        )
        owner = self.connection_with(currentSchema="pg_catalog")
        return Guest(self.connection_with(user=GUEST), owner, () if self._request.restored else grants)

    def backup_methods(self) -> Sequence[BackupMethod]:
        return methods(self.server, self._request, self._given)


class PostgresqlAdapter(Adapter):
    slug = discovery.SLUG

    def discover(self, context: EngineContext) -> list[EngineFacts]:
        installations = discovery.all_installations(context.engines_dir)
        listed = ((installation.version, installation.problem, installation.bin_dir) for installation in installations)
        return servers(self.slug, context, "PostgreSQL has to run as", listed)

    def provision(self, request: ProvisionRequest) -> PostgresqlInstance:
        installation = discovery.installations(request.engines_dir).get(request.version)
        if installation is None:
            raise JobError(f"PostgreSQL {request.version} is no longer on this machine")
        given = checked_settings(request.settings, doors=settings.DOORS)
        class_path = jars(request.toolchain, self.slug)
        check_user(request.children, *request.folders.by_role().values(), installation.bin_dir)
        server = Server(request, installation, folders_of(request.folders))
        with stopped_on_failure(server):
            temp = server.folders.temp is not None
            lines = settings.configuration(server.version, given, connections=request.connections, temp=temp)
            if request.restored:
                server.open_copy(lines)
                request.log(f"opening the copy in {server.folders.data}")
            else:
                server.create(lines, settings.initdb_options(server.version, given))
                request.log(f"initdb done in {server.folders.data}")
            server.start()
        request.log(f"PostgreSQL {request.version} answers on port {server.port}")
        return PostgresqlInstance(server, request, given, class_path)

    def knob(self, name: str, value: str, version: str) -> Settings:
        """The nearest kin: n commits for one flush are a commit that waits while n - 1 others are at work."""
        if name == "group_commit":
            if value == "off":
                return [("commit_delay", "0")]
            return [("commit_delay", str(GROUP_DELAY_US)), ("commit_siblings", str(int(value) - 1))]
        if name == "background_maintenance":
            return [("autovacuum", value)]
        return super().knob(name, value, version)


ADAPTER = PostgresqlAdapter()
