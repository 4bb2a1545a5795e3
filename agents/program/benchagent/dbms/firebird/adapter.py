"""The Firebird adapter: a private server for one job, its settings, what it tells, how it is backed up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchagent.dbms.backup import Action, BackupMethod
from benchagent.dbms.base import (
    Adapter,
    Connection,
    EngineContext,
    JobError,
    ProvisionRequest,
    Settings,
    checked_settings,
)
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.embedded import jars
from benchagent.dbms.firebird import backup, discovery, settings
from benchagent.dbms.firebird.counters import NO_LOG, FirebirdCounters
from benchagent.dbms.firebird.dialect import BLOCK_DIALECT, DIALECT, DRIVER_PROPERTIES, RETRYABLE, TOLERABLE
from benchagent.dbms.firebird.root import SYSDBA
from benchagent.dbms.firebird.server import Server
from benchagent.dbms.private_server import ServerInstance, allowed_user, stopped_on_failure
from benchagent.machine.process import ProcessFailed
from benchagent.protocol import EngineFacts

PLAN_SCRIPT = "SET PLANONLY ON;\n{sql};\nSET EXPLAIN ON;\n{sql};\n"
MAINTENANCE = {
    "on": [("sweep_interval", "20000"), ("GCPolicy", "combined")],
    "off": [("sweep_interval", "0"), ("GCPolicy", "cooperative")],
}


class FirebirdInstance(ServerInstance):
    slug = discovery.SLUG
    server: Server
    retryable = RETRYABLE
    tolerable = TOLERABLE

    def __init__(
        self, server: Server, request: ProvisionRequest, given: settings.Split, class_path: Sequence[Path]
    ) -> None:
        super().__init__(server, request, class_path, server.data_dir, server.data_dir)
        self._request = request
        self._given = given
        self.dialect = DIALECT if server.home.knows_batches else BLOCK_DIALECT
        self.ignored_settings = list(given.ignored)
        self.engine_counters = FirebirdCounters(self._gstat, self._plan)

    def connect(self) -> Connection:
        properties = {"user": SYSDBA, "password": self.server.password, **DRIVER_PROPERTIES}
        return Connection(backup.url(self.server, self.server.database), None, properties)

    # Settings

    def effective_queries(self) -> Mapping[str, str]:
        return settings.effective_queries(self.server.home.major)

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        listener = next(iter(self.server.pids()), 0)
        in_force = settings.effective(rows, listener, self._given.server)
        self.ignored_settings += settings.differences(self._given, in_force)
        untold = settings.untold(self._given, in_force)
        if untold:
            self._request.log(f"given, but not told by this version of Firebird: {', '.join(untold)}")
        return in_force

    def buffer_bytes(self) -> int | None:
        """Of the database in Super, of each connection in the Classics."""
        words = self.server.query("SELECT 'bytes=' || (MON$PAGE_SIZE * MON$PAGE_BUFFERS) FROM MON$DATABASE")
        number = words.partition("bytes=")[2].split()
        return int(number[0]) if number else None

    # What it tells

    def _gstat(self) -> str:
        """By the server, as gstat -a -r: fbstat itself reads files of its own version only.

        Empty, with a line in the log, when it fails.
        """
        server = self.server
        asked: list[str | Path] = [
            "action_db_stats",
            "dbname",
            server.database,
            "sts_data_pages",
            "sts_idx_pages",
            "sts_record_versions",
        ]
        try:
            return server.run_tool([server.home.bin_dir / "fbsvcmgr", server.remote("service_mgr"), *asked])
        except ProcessFailed as error:
            self._request.log(f"no statistics of tables and indexes: {error}")
            return ""

    def _plan(self, sql: str) -> str:
        script = PLAN_SCRIPT.format(sql=sql.rstrip().rstrip(";"))
        try:
            return self.server.run_sql(script, self.server.remote(self.server.database)).strip()
        except ProcessFailed as error:
            return f"no plan: {error}"

    def make_dense(self) -> Sequence[Action]:
        """By one backup and restore, as the article did."""
        return backup.dense(self.server, self._request.folders.temp / "dense.fbk")

    def backup_methods(self) -> Sequence[BackupMethod]:
        return backup.methods(self.server, self._given.mode)


class FirebirdAdapter(Adapter):
    slug = discovery.SLUG
    service_users = discovery.SERVICE_USERS
    settings_beside_data = frozenset({"ServerMode", "DefaultDbCachePages"})
    # Background maintenance: sweeps, and in SuperServer the garbage collector's own thread.
    knobs = {"group_commit": {"off": ()}, "background_maintenance": MAINTENANCE}

    def discover(self, context: EngineContext) -> list[EngineFacts]:
        return discovery.discover(context)

    def provision(self, request: ProvisionRequest) -> FirebirdInstance:
        home = discovery.homes(request.engines_dir).get(request.version)
        if home is None:
            raise JobError(f"Firebird {request.version} is no longer on this machine")
        if request.folders.log_apart:
            raise JobError(f"the log cannot be put on a storage of its own: {NO_LOG}")
        given = settings.split(checked_settings(request.settings), home.engine)
        mode = given.mode
        class_path = jars(request.toolchain, self.slug)
        server = Server(request, home, allowed_user(discovery.SERVICE_USERS))
        allowed_user(discovery.SERVICE_USERS, server.root.folder)
        with stopped_on_failure(server):
            server.configure(settings.configuration(given, request.folders.temp, mixed=home.mixed))
            server.create_users()
            server.start()
            if not request.restored:
                server.run_sql(settings.create_database(server.remote(server.database), given), None)
            for options in settings.gfix_options(given):
                server.run_tool([home.bin_dir / "gfix", *options, server.remote(server.database)])
        request.log(f"Firebird {request.version} ({mode}) answers on port {server.port}")
        return FirebirdInstance(server, request, given, class_path)

    def knob(self, name: str, value: str, version: str) -> Settings:
        if name == "group_commit" and value != "off":
            raise JobError(f"Firebird cannot group commits: {NO_LOG}")
        return super().knob(name, value, version)


ADAPTER = FirebirdAdapter()
