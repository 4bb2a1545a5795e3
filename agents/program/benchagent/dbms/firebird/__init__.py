"""Firebird: a private server with a configuration, a security database and a database of its own.

Here are its SQL and its conflicts, its settings, what it tells, how it is backed up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchagent.dbms.backup import Action, BackupMethod
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
from benchagent.dbms.embedded import jars
from benchagent.dbms.firebird import backup, discovery, settings
from benchagent.dbms.firebird.counters import NO_LOG, FirebirdCounters
from benchagent.dbms.firebird.server import SYSDBA, Server
from benchagent.dbms.private_server import ServerInstance, check_user, stopped_on_failure
from benchagent.machine.process import ProcessFailed
from benchagent.protocol import EngineFacts

DEADLOCK, LOCK_CONFLICT, CONCURRENT_TRANSACTION = 335544336, 335544345, 335544878
UNIQUE_VIOLATION, DUPLICATE_KEY = 335544665, 335544349
SERIALIZATION = "40001"
# The driver's own READ COMMITTED, stated: an update waits for another's, then reports a conflict, and is tried again.
ISOLATION = "isc_tpb_read_committed,isc_tpb_rec_version,isc_tpb_write,isc_tpb_wait"
DRIVER_PROPERTIES = {
    "encoding": "UTF8",
    "processName": "benchagent",
    "defaultIsolation": "TRANSACTION_READ_COMMITTED",
    "TRANSACTION_READ_COMMITTED": ISOLATION,
}
RETRYABLE = Retryable(sqlstates=(SERIALIZATION,), codes=(DEADLOCK, LOCK_CONFLICT, CONCURRENT_TRANSACTION))
TOLERABLE = Retryable(sqlstate_prefixes=(INTEGRITY_CLASS,), codes=(UNIQUE_VIOLATION, DUPLICATE_KEY))

# A request has one message of parameters, each in the character set of the connection, UTF-8.
MESSAGE_BYTES = 65_535
BYTES_PER_CHARACTER = 4
# The largest value that is no text is a DECIMAL of 38 digits.
LARGEST_NUMBER_BYTES = 16
# The length before a VARCHAR, the null flag behind every value, and what alignment may leave between them.
EXTRA_BYTES = 2 + 2 + 6
# More gains next to nothing; from 256 on there are too many contexts.
MOST_ROWS = 32
TEXT_TYPE = re.compile(r"(?:VAR)?CHAR\((\d+)\)", re.IGNORECASE)

# Selectivities are kept in the index and computed when it is built, or so.
STATISTICS_OF_INDEXES = (
    "EXECUTE BLOCK AS DECLARE NAME VARCHAR(63); BEGIN FOR SELECT TRIM(RDB$INDEX_NAME) FROM RDB$INDICES"
    " WHERE RDB$RELATION_NAME = UPPER('{table}') INTO :NAME DO"
    " EXECUTE STATEMENT 'SET STATISTICS INDEX \"' || NAME || '\"'; END"
)
DIALECT = Dialect(
    first="SELECT FIRST {n} {select}",
    select_values="SELECT {expressions} FROM RDB$DATABASE",
    for_update=" FOR UPDATE WITH LOCK",
    descending_columns=False,
    after_load_each=(STATISTICS_OF_INDEXES,),
)


@dataclass(frozen=True)
class BlockDialect(Dialect):
    """Several rows go into a block of PSQL, whose parameters are those of all rows."""

    def insert_many(self, table: str, columns: Sequence[str], types: Sequence[str], rows: int) -> str:
        if rows > MOST_ROWS or rows * sum(map(_message_bytes, types)) > MESSAGE_BYTES:
            return ""
        names = [[f"p{row}_{column}" for column in range(len(types))] for row in range(rows)]
        given = [f"{name} {kind} = ?" for of_row in names for name, kind in zip(of_row, types, strict=True)]
        into = f"INSERT INTO {table} ({', '.join(columns)}) VALUES"
        inserts = [f"{into} ({', '.join(f':{name}' for name in of_row)});" for of_row in names]
        return f"EXECUTE BLOCK ({', '.join(given)}) AS BEGIN {' '.join(inserts)} END"


# What a guest may make: nothing of the whole database, such as shadows, files and triggers of connections.
MADE_BY_GUEST = ("TABLE", "VIEW", "PROCEDURE", "FUNCTION", "PACKAGE", "GENERATOR", "DOMAIN", "EXCEPTION", "ROLE")
GRANTS = tuple(f"GRANT CREATE {kind} TO USER {GUEST}" for kind in MADE_BY_GUEST)
# To a server of others no blocks are sent.
BLOCK_DIALECT = BlockDialect(**vars(DIALECT))


def _message_bytes(kind: str) -> int:
    """What a parameter of this type takes at most."""
    text = TEXT_TYPE.match(kind)
    return EXTRA_BYTES + (int(text[1]) * BYTES_PER_CHARACTER if text else LARGEST_NUMBER_BYTES)


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
    guest_settles = True

    def __init__(
        self, server: Server, request: ProvisionRequest, given: settings.Split, class_path: Sequence[Path]
    ) -> None:
        super().__init__(server, request, class_path, server.data_dir)
        self._given = given
        self.dialect = DIALECT if server.home.knows_batches else BLOCK_DIALECT
        self.effective_queries = settings.effective_queries(server.home.major)
        self.ignored_settings = list(given.ignored)
        self.engine_counters = FirebirdCounters(self._gstat, self._plan)

    def connect(self) -> Connection:
        properties = {"user": SYSDBA, "password": self.server.password, **DRIVER_PROPERTIES}
        return Connection(backup.url(self.server, self.server.database), None, properties)

    def guest(self) -> Guest:
        return Guest(self.connection_with(user=GUEST), self.connection, GRANTS)

    # Settings

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        listener = next(iter(self.server.pids()), 0)
        in_force = settings.effective(rows, listener, self._given.server)
        self.ignored_settings += settings.differences(self._given, in_force)
        untold = settings.untold(self._given, in_force)
        if untold:
            self._request.log(f"given, but not told by this version of Firebird: {', '.join(untold)}")
        return in_force

    def buffer_bytes(self) -> int | None:
        """The page cache of the database in Super, of each connection in the Classics."""
        words = self.server.query("SELECT 'bytes=' || (MON$PAGE_SIZE * MON$PAGE_BUFFERS) FROM MON$DATABASE")
        number = words.partition("bytes=")[2].split()
        return int(number[0]) if number else None

    # What it tells

    def _gstat(self) -> str:
        """What gstat -a -r tells, asked through the server: gstat itself reads files of its own version only.

        Empty, with a line in the log, when it fails.
        """
        server = self.server
        wanted = ("sts_data_pages", "sts_idx_pages", "sts_record_versions")
        manager = (server.home.bin_dir / "fbsvcmgr", server.remote("service_mgr"))
        try:
            return server.run_tool([*manager, "action_db_stats", "dbname", server.database, *wanted])
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
        """Make the database dense by one backup and restore, as the article did."""
        return backup.dense(self.server, self._request.folders.temp / "dense.fbk")

    def backup_methods(self) -> Sequence[BackupMethod]:
        return backup.methods(self.server, self._given.mode)


class FirebirdAdapter(Adapter):
    slug = discovery.SLUG
    settings_beside_data = frozenset({"ServerMode", "DefaultDbCachePages"})
    # Background maintenance: sweeps, and in SuperServer the garbage collector's own thread.
    knobs = {"group_commit": {"off": ()}, "background_maintenance": MAINTENANCE}

    def discover(self, context: EngineContext) -> list[EngineFacts]:
        homes = discovery.homes(context.engines_dir).values()
        listed = ((home.version, home.problem(), home.server) for home in homes)
        return servers(self.slug, context, "Firebird runs as", listed)

    def provision(self, request: ProvisionRequest) -> FirebirdInstance:
        home = discovery.homes(request.engines_dir).get(request.version)
        if home is None:
            raise JobError(f"Firebird {request.version} is no longer on this machine")
        if request.folders.log_apart:
            raise JobError(f"the log cannot be put on a storage of its own: {NO_LOG}")
        given = settings.split(checked_settings(request.settings, doors=settings.DOORS), home.engine)
        mode = given.mode
        class_path = jars(request.toolchain, self.slug)
        server = Server(request, home)
        check_user(request.children, server.root.folder)
        with stopped_on_failure(server):
            folders = request.folders
            reach = (server.root.folder, folders.data, folders.temp, folders.backup)
            server.configure(settings.configuration(given, folders.temp, reach, mixed=home.mixed))
            server.create_users()
            server.start()
            if not request.restored:
                size, characters = given.database[settings.PAGE_SIZE], given.database[settings.CHARACTER_SET]
                options = f"PAGE_SIZE {size} DEFAULT CHARACTER SET {characters}"
                server.run_sql(f"CREATE DATABASE '{server.remote(server.database)}' {options};\n", None)
            for key, (switch, words) in settings.GFIX.items():  # it does one thing at a time
                if value := given.database.get(key):
                    option = words.get(value, value)
                    server.run_tool([home.bin_dir / "gfix", switch, option, server.remote(server.database)])
        request.log(f"Firebird {request.version} ({mode}) answers on port {server.port}")
        return FirebirdInstance(server, request, given, class_path)

    def knob(self, name: str, value: str, version: str) -> Settings:
        if name == "group_commit" and value != "off":
            raise JobError(f"Firebird cannot group commits: {NO_LOG}")
        return super().knob(name, value, version)


ADAPTER = FirebirdAdapter()
