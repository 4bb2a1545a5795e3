"""The PostgreSQL adapter: a private server for one job, its settings, what it tells, how it is backed up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchagent.catalog import Durability
from benchagent.configfiles.durability import of_effective
from benchagent.dbms.backup import BackupMethod
from benchagent.dbms.base import (
    Adapter,
    Connection,
    EngineContext,
    Instance,
    JobError,
    ProvisionRequest,
    Retryable,
    Settings,
    checked_settings,
)
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.embedded import jars
from benchagent.dbms.postgresql import cluster, discovery, settings
from benchagent.dbms.postgresql.backup import methods
from benchagent.dbms.postgresql.cluster import DATABASE, HOST, USER
from benchagent.dbms.postgresql.discovery import Installation
from benchagent.dbms.postgresql.server import Server
from benchagent.dbms.postgresql.statistics import PostgresqlStatistics
from benchagent.dbms.statistics import QueryRows
from benchagent.machine.devices import write_cache_words
from benchagent.machine.process import ProcessFailed
from benchagent.machine.users import ServiceUser, first_blocked
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
LOCK_TIMEOUT, CANCELLED, INTEGRITY_CLASS = "55P03", "57014", "23"
# Microseconds that a commit waits for others, where a group is asked for: about what a disk needs for a sync.
GROUP_DELAY_US = 1_000


class PostgresqlInstance(Instance):
    dialect = Dialect(
        first="SELECT {select} LIMIT {n}",
        for_update=" FOR UPDATE",
        after_load_each=("VACUUM ANALYZE {table}",),
        after_load=("CHECKPOINT",),
    )
    retryable = Retryable(sqlstates=(SERIALIZATION_FAILURE, DEADLOCK))
    log_names = cluster.LOG_NAMES
    tolerable = Retryable(sqlstates=(LOCK_TIMEOUT, CANCELLED), sqlstate_prefixes=(INTEGRITY_CLASS,))

    def __init__(
        self, server: Server, request: ProvisionRequest, given: Settings, password: str, class_path: Sequence[Path]
    ) -> None:
        self._server = server
        self._request = request
        self._given = given
        self._password = password
        driver_dir = request.job_dir / "driver"
        driver_dir.mkdir(exist_ok=True)
        super().__init__(
            connection=self._connection(),
            class_path=class_path,
            data_path=server.folders.home,
            driver_dir=driver_dir,
        )
        self.command_lines = server.command_lines
        self.ignored_settings = settings.locked(given)
        method = settings.last(given, "wal_sync_method") or ""
        self.statistics = PostgresqlStatistics(server.version, wal_sync_method=method)

    def _connection(self) -> Connection:
        url = f"jdbc:postgresql://{HOST}:{self._server.port}/{DATABASE}"
        return Connection(url, None, {"user": USER, "password": self._password, **DRIVER_PROPERTIES})

    def server_pids(self) -> list[int]:
        running = self._server.process
        return [running.pid] if running and running.poll() is None else []

    # Settings

    def effective_queries(self) -> Mapping[str, str]:
        return settings.effective_queries(self._server.version, self._given)

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        self.ignored_settings += settings.ignored(self._given, rows)
        return settings.in_force(rows)

    def durability(self, effective: Mapping[str, str]) -> tuple[Durability, str]:
        return of_effective(cluster.SLUG, effective, write_cache_words(self._server.folders.log or self.data_path))

    # Life

    def start(self) -> None:
        self._server.start()
        self.connection = self._connection()

    def shut_down(self) -> None:
        self._server.shut_down()

    def restart(self) -> None:
        self.shut_down()
        self.start()

    def stop(self) -> None:
        self._server.stop()

    def log_tail(self) -> str:
        return self._server.log_tail()

    # Files

    def own(self, folder: Path) -> None:
        cluster.hand_over([folder], self._server.user)

    def buffer_bytes(self) -> int | None:
        return settings.buffer_bytes(self._server.installation.version, self._given)

    def backup_methods(self) -> Sequence[BackupMethod]:
        return methods(self._server, self._request, self._given)


class PostgresqlAdapter(Adapter):
    slug = cluster.SLUG

    def discover(self, context: EngineContext) -> list[EngineFacts]:
        return discovery.discover(context)

    def provision(self, request: ProvisionRequest) -> PostgresqlInstance:
        installation = discovery.installations(request.engines_dir).get(request.version)
        if installation is None:
            raise JobError(f"PostgreSQL {request.version} is no longer on this machine")
        given = checked_settings(request.settings)
        class_path = jars(request.toolchain, self.slug)
        server = _server(request, installation)
        try:
            password = _opened(server, request, given) if request.restored else _created(server, request, given)
            server.start()
        except (ProcessFailed, OSError) as error:
            raise JobError(f"PostgreSQL: {error}") from error
        except BaseException:
            server.stop()
            raise
        request.log(f"PostgreSQL {request.version} answers on port {server.port}")
        return PostgresqlInstance(server, request, given, password, class_path)

    def knob(self, name: str, value: str, version: str) -> Settings:
        """The nearest kin: n commits for one flush are a commit that waits while n - 1 others are at work."""
        if name == "group_commit":
            if value == "off":
                return [("commit_delay", "0")]
            return [("commit_delay", str(GROUP_DELAY_US)), ("commit_siblings", str(int(value) - 1))]
        if name == "background_maintenance":
            return [("autovacuum", value)]
        return super().knob(name, value, version)


def _server(request: ProvisionRequest, installation: Installation) -> Server:
    """Its folders belong to the user that will run it. Raises `JobError`."""
    try:
        user = discovery.run_user()
    except LookupError as error:
        raise JobError(str(error)) from error
    placement = request.placement
    folders = [placement.data, placement.log, placement.temp, placement.backup]
    cluster.hand_over([*folders, request.job_dir / "tmp"], user)
    for folder in (*folders, installation.bin_dir):
        _check_entry(user, folder)
    return Server(request, installation, cluster.folders_of(placement), user)


def _check_entry(user: ServiceUser | None, folder: Path) -> None:
    blocked = first_blocked(user, folder) if user else None
    if user and blocked:
        raise JobError(f"user {user.name!r} may not enter {blocked}")


def _created(server: Server, request: ProvisionRequest, given: Settings) -> str:
    options = settings.initdb_options(server.version, given)
    password = server.create(_configuration(server, request, given), options)
    request.log(f"initdb done in {server.folders.data}")
    return password


def _opened(server: Server, request: ProvisionRequest, given: Settings) -> str:
    server.configure(_configuration(server, request, given))
    request.log(f"opening the copy in {server.folders.data}")
    return cluster.read_password(server.folders)


def _configuration(server: Server, request: ProvisionRequest, given: Settings) -> Settings:
    temp = server.folders.temp is not None
    return settings.configuration(server.version, given, connections=request.connections, temp=temp)
