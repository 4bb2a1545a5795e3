"""MySQL and MariaDB servers that somebody else runs: the schema of the agent's own is a database.

It is backed up over the network by the tools that this machine has.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchagent.dbms.backup import Action, BackupMethod, Options, ToolCommand
from benchagent.dbms.base import JobError
from benchagent.dbms.external.connections import Address, ToolLogin
from benchagent.dbms.external.server import MARKER, ExternalServer, Rows, folder_of
from benchagent.dbms.mysql import DRIVER_PROPERTIES, DRIVERS, MysqlFamilyInstance, discovery
from benchagent.dbms.mysql.backup import CLIENTS, DUMPERS, dump_options
from benchagent.dbms.mysql.counters import InnodbCounters
from benchagent.dbms.mysql.product import MARIADB, MYSQL, Product, dialect
from benchagent.dbms.mysql.settings import ENGINES_OF, in_force, table_engines, variables_of

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
# The data, and nothing that would be set for the whole server or needs rights on it. Not every tool knows each.
OWN_ONLY = ("--no-tablespaces", "--loose-set-gtid-purged=OFF", "--loose-column-statistics=0")
OFF, PREFERRED, REQUIRED = "DISABLED", "PREFERRED", "REQUIRED"
AUTHORITY, VERIFIED = "VERIFY_CA", "VERIFY_IDENTITY"
# The values of the URL's sslMode, for both drivers.
MODES = {"disable": OFF, "disabled": OFF, "preferred": PREFERRED, "trust": REQUIRED, "required": REQUIRED}
MODES |= dict.fromkeys(("verify-ca", "verify_ca"), AUTHORITY)


def server_of_family(slug: str, version: str, schema: str) -> ExternalServer:
    product = Product(slug, version)
    return ExternalServer(
        dbms=slug,
        dialect=dialect(product),
        objects=OBJECTS,
        schemas="SELECT schema_name FROM information_schema.schemata WHERE schema_name = '{schema}'",
        create="CREATE DATABASE {schema}",
        use=("USE {schema}",),
        effective_queries={"variables": "SHOW GLOBAL VARIABLES", "engines": ENGINES_OF.format(f"'{schema}'")},
        in_force=lambda rows: [*in_force([], variables_of(rows)), *table_engines(rows)],
        engine_counters=InnodbCounters(product, schema),
        retryable=MysqlFamilyInstance.retryable,
        tolerable=MysqlFamilyInstance.tolerable,
        # Whether the connection is encrypted is up to its URL.
        properties={
            name: value for name, value in DRIVER_PROPERTIES[slug].items() if name not in ("sslMode", "useSSL")
        },
        changes_lock=True,  # by next-key locks, with the isolation that a session begins with
        driver=DRIVERS[slug],
        version_query="SELECT VERSION()",
        folders=FOLDERS,
        read_folders=read_folders,
        backups=backup_methods,
    )


external_server = partial(server_of_family, MYSQL)


def read_folders(rows: Rows) -> list[tuple[str, str]]:
    """Paths that begin with no slash are relative to `datadir`."""
    variables = {str(name).lower(): str(value or "") for name, value in rows}
    folders = [("datadir", variables.get("datadir", "")), *((name, variables.get(name, "")) for name in NAMED)]
    folders += [(name, path) for name in LISTS for path in variables.get(name, "").split(":")]
    files = [(name, file.partition(":")[0]) for name in SYSTEM for file in variables.get(name, "").split(";")]
    folders += [(name, folder_of(str(Path(variables.get(HOME, ""), file)))) for name, file in files]
    folders.append((BINARY_LOG, folder_of(variables.get(BINARY_LOG, ""))))
    return [folders[0], *((name, path) for name, path in folders[1:] if path)]


# Backups


@dataclass(frozen=True)
class _Programs:
    dumper: Path
    client: Path
    environment: Mapping[str, str]


def backup_methods(login: ToolLogin) -> list[BackupMethod]:
    """Raises `JobError` where this machine has no tools."""
    programs = next(_programs(Product(login.connection.dbms, login.version), login.engines_dir), None)
    if programs is None:
        raise JobError(
            f"this machine needs {' or '.join(DUMPERS)}, and {' or '.join(CLIENTS)}, for a backup of connection "
            f"{login.connection.name}; it has none"
        )
    return [OwnDump(login, programs)]


def _programs(server: Product, engines_dir: Path) -> Iterator[_Programs]:
    """The programs to try: those of the server's product, its release first, then the newest; the search path; the
    other product.
    """
    yield from _installed_programs(server.slug, server, engines_dir)
    for dumper, client in zip(DUMPERS, CLIENTS, strict=True):  # clients alone, without a server beside them
        on_path = shutil.which(dumper), shutil.which(client)
        if on_path[0] and on_path[1]:
            yield _Programs(Path(on_path[0]), Path(on_path[1]), {})
    yield from _installed_programs(MYSQL if server.slug == MARIADB else MARIADB, server, engines_dir)


def _installed_programs(slug: str, server: Product, engines_dir: Path) -> Iterator[_Programs]:
    def nearness(installation: discovery.Installation) -> tuple[bool, tuple[int, ...]]:
        numbers = installation.product.numbers
        return numbers[:2] == server.numbers[:2], numbers

    for installation in sorted(discovery.installations(slug, engines_dir).values(), key=nearness, reverse=True):
        dumper, client = installation.program(*DUMPERS), installation.program(*CLIENTS)
        if dumper and client:
            yield _Programs(dumper, client, installation.environment)


class OwnDump(BackupMethod):
    """All statements that make the tables anew, as one transaction saw them; restored where they stood."""

    slug = "dump"
    options = ("verbose",)
    in_place = True

    def __init__(self, login: ToolLogin, programs: _Programs) -> None:
        self._connection, self._programs = login.connection, programs
        self.label = f"{programs.dumper.name} --single-transaction, own database"
        self._options = login.secret_file("client.cnf", _client_options(login))

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        schema = self._connection.schema
        wanted = [*dump_options(options), *OWN_ONLY, f"--ignore-table={schema}.{MARKER}", schema]
        argv: list[str | Path] = [self._programs.dumper, f"--defaults-file={self._options}", *wanted]
        return [ToolCommand(argv, self._programs.environment, stdout=target)]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        argv: list[str | Path] = [self._programs.client, f"--defaults-file={self._options}", self._connection.schema]
        return [ToolCommand(argv, self._programs.environment, stdin=source)]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return self._connection.url


def _client_options(login: ToolLogin) -> str:
    connection, address = login.connection, login.address()
    given = {
        "host": address.host or "localhost",
        "port": address.port or "3306",
        "protocol": "tcp",
        "user": connection.user,
        "password": connection.password,
    }
    lines = [f"{name}={_quoted(value)}" for name, value in given.items()]
    return "\n".join(["[client]", *lines, *_encryption(connection.dbms, address), ""])


def _quoted(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def _encryption(dbms: str, address: Address) -> list[str]:
    """What the driver makes of the URL, for tools of both products: each leaves out what only the other one knows.

    Without sslMode, MariaDB's driver does not encrypt and MySQL's does where it can.
    """
    given = address.options
    if asked := given.get("sslmode", "").lower():
        mode = MODES.get(asked, VERIFIED)
    elif "usessl" in given:
        mode = OFF if given["usessl"].lower() == "false" else REQUIRED
    else:
        mode = OFF if dbms == MARIADB else PREFERRED
    authority = given.get("serversslcert", "")
    return [
        "loose-skip-ssl" if mode == OFF else "loose-ssl",
        "loose-ssl-verify-server-cert" if mode in (AUTHORITY, VERIFIED) else "loose-skip-ssl-verify-server-cert",
        *([f"loose-ssl-ca={_quoted(authority)}"] if authority else []),
        # Last, for it decides where a tool knows them all.
        f"loose-ssl-mode={mode}",
    ]
