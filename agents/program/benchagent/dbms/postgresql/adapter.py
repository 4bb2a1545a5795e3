"""The PostgreSQL adapter: settings, effective settings, durability."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchagent.catalog import Durability
from benchagent.configfiles.durability import of_effective
from benchagent.dbms.base import (
    Adapter,
    Connection,
    Dialect,
    EngineContext,
    Instance,
    JobError,
    ProvisionRequest,
    QueryRows,
    Retryable,
    checked_settings,
)
from benchagent.dbms.embedded import jars
from benchagent.dbms.postgresql import discovery
from benchagent.dbms.postgresql.server import DATABASE, HOST, USER, Server
from benchagent.process import ProcessFailed
from benchagent.protocol import EngineFacts
from benchagent.storage import write_cache_words

# The agent decides where the cluster lies and how it is reached.
LOCKED = (
    "port",
    "listen_addresses",
    "data_directory",
    "hba_file",
    "ident_file",
    "external_pid_file",
    "config_file",
    "unix_socket_directory",
    "unix_socket_directories",
    "include",
    "include_dir",
    "include_if_exists",
    "logging_collector",
    "ssl",
)
# Read back even where they have their default: durability and memory.
TELLING = (
    "fsync",
    "synchronous_commit",
    "full_page_writes",
    "wal_sync_method",
    "wal_writer_delay",
    "wal_level",
    "commit_delay",
    "commit_siblings",
    "shared_buffers",
    "work_mem",
    "maintenance_work_mem",
    "effective_cache_size",
    "max_connections",
    "max_wal_size",
    "checkpoint_timeout",
    "autovacuum",
    "wal_buffers",
    "data_checksums",
    "block_size",
    "server_version",
)
SPARE_CONNECTIONS = 10
DEFAULT_CONNECTIONS = 100
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


class PostgresqlInstance(Instance):
    retryable = Retryable(sqlstates=(SERIALIZATION_FAILURE, DEADLOCK))
    dialect = Dialect(after_load_each=("VACUUM ANALYZE {table}",), after_load=("CHECKPOINT",))

    def __init__(self, server: Server, class_path: Sequence[Path], driver_dir: Path, ignored: Sequence[str]) -> None:
        properties = {"user": USER, "password": server.password, **DRIVER_PROPERTIES}
        url = f"jdbc:postgresql://{HOST}:{server.port}/{DATABASE}"
        super().__init__(
            connection=Connection(url, None, properties),
            class_path=class_path,
            data_path=server.data_dir,
            driver_dir=driver_dir,
        )
        self._server = server
        self.command_lines = server.command_lines
        self.ignored_settings = list(ignored)

    def server_pids(self) -> list[int]:
        return [self._server.process.pid] if self._server.process else []

    def effective_queries(self) -> Mapping[str, str]:
        listed = ", ".join(f"'{name}'" for name in TELLING)
        hidden = ", ".join(f"'{name}'" for name in LOCKED)
        return {
            "settings": f"SELECT name, current_setting(name) FROM pg_settings WHERE name NOT IN ({hidden})"  # noqa: S608
            f" AND (source IN ('configuration file', 'command line') OR name IN ({listed})) ORDER BY name"
        }

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        return [(str(row[0]), str(row[1])) for row in rows.get("settings", [])]

    def durability(self, effective: Mapping[str, str]) -> tuple[Durability, str]:
        return of_effective("postgresql", effective, write_cache_words(self.data_path))

    def log_tail(self) -> str:
        return self._server.log_tail()

    def stop(self) -> None:
        self._server.stop()


class PostgresqlAdapter(Adapter):
    slug = "postgresql"

    def discover(self, context: EngineContext) -> list[EngineFacts]:
        return discovery.discover(context)

    def provision(self, request: ProvisionRequest) -> PostgresqlInstance:
        bin_dir = discovery.installations().get(request.version)
        if bin_dir is None:
            raise JobError(f"PostgreSQL {request.version} is no longer on this machine")
        given = checked_settings(request.settings)
        ignored = [f"{name}: set by the agent" for name, _ in given if name.lower() in LOCKED]
        server = self._server(request, bin_dir)
        driver_dir = request.job_dir / "driver"
        driver_dir.mkdir()
        try:
            class_path = jars(request.toolchain, self.slug)
            server.create(_configuration(request, given))
            request.log(f"initdb done in {server.data_dir}")
            server.start()
        except ProcessFailed as error:
            raise JobError(f"PostgreSQL: {error}") from error
        except BaseException:
            server.stop()
            raise
        request.log(f"PostgreSQL {request.version} answers on port {server.port}")
        return PostgresqlInstance(server, class_path, driver_dir, ignored)

    def _server(self, request: ProvisionRequest, bin_dir: Path) -> Server:
        try:
            user = discovery.service_user()
        except LookupError as error:
            raise JobError(str(error)) from error
        base_dir = request.job_dir / "postgresql"
        base_dir.mkdir(mode=0o700)
        tmp = request.job_dir / "tmp"
        if user:
            os.chown(base_dir, user.uid, user.gid)
            blocked = discovery.first_blocked(user, base_dir)
            if blocked:
                raise JobError(f"user {user.name!r} may not enter {blocked}")
            os.chown(tmp, user.uid, user.gid)
        major = float(re.match(r"\d+(\.\d+)?", request.version)[0])  # type: ignore[index]
        return Server(request, bin_dir=bin_dir, base_dir=base_dir, user=user, major=major)


def _configuration(request: ProvisionRequest, given: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Ours first, so that the user's win; then what only the agent may say."""
    version = tuple(int(part) for part in re.findall(r"\d+", request.version)[:2])
    connections = max(DEFAULT_CONNECTIONS, request.connections + SPARE_CONNECTIONS)
    first = [("max_connections", str(connections)), ("lc_messages", "C")]
    if version >= (9, 4):  # segments in /dev/shm would outlive a killed server
        first.append(("dynamic_shared_memory_type", "mmap"))
    socket_option = "unix_socket_directories" if version >= (9, 3) else "unix_socket_directory"
    last = [("listen_addresses", HOST), (socket_option, ""), ("logging_collector", "off")]
    return [*first, *((name, value) for name, value in given if name.lower() not in LOCKED), *last]
