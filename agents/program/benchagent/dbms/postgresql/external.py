"""PostgreSQL servers that somebody else runs, and backups of the agent's own schema there, over the network."""

# ruff: noqa: S608 - constants only
from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchagent.catalog import BACKUP_METHODS
from benchagent.dbms.backup import Action, BackupMethod, Options, ToolCommand
from benchagent.dbms.base import JobError
from benchagent.dbms.external.connections import CONNECT_TIMEOUT_S, ToolLogin
from benchagent.dbms.external.server import MARKER, ExternalServer
from benchagent.dbms.postgresql import DRIVER_PROPERTIES, PostgresqlInstance, discovery, settings
from benchagent.dbms.postgresql.backup import FORMATS, PARALLEL_DUMP_SINCE, Dump
from benchagent.dbms.postgresql.counters import PostgresqlCounters
from benchagent.dbms.postgresql.discovery import Installation, numbers

# Without sequences of SERIAL and IDENTITY columns, which go with their tables.
RELATIONS = (
    "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = '{schema}' AND (c.relkind IN ('r', 'v', 'm', 'f', 'p', 'c') OR c.relkind = 'S' AND NOT EXISTS "
    "(SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid "
    "AND d.deptype IN ('a', 'i')))"
)
OTHERS = (
    "SELECT 'function ' || p.proname FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
    "WHERE n.nspname = '{schema}'",
    "SELECT 'type ' || t.typname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace "
    "WHERE n.nspname = '{schema}' AND t.typtype IN ('d', 'e', 'r')",
)
# In a folder of others the links of the log and of the tablespaces are not to be read, so the server tells the latter.
DATA = "(SELECT setting FROM pg_settings WHERE name = 'data_directory')"
LOG = "CASE WHEN current_setting('server_version_num')::integer >= 100000 THEN '/pg_wal' ELSE '/pg_xlog' END"
FOLDERS = (
    f"SELECT 'data_directory', {DATA} UNION ALL SELECT 'the log (pg_wal)', {DATA} || {LOG} "
    "UNION ALL SELECT 'tablespace ' || spcname, pg_tablespace_location(oid) FROM pg_tablespace "
    "WHERE spcname NOT IN ('pg_default', 'pg_global')"
)
TOOLS = ("pg_dump", "pg_restore", "psql")
# From here on the first number alone is the release.
ONE_NUMBER_SINCE = 10


def external_server(version: str, schema: str) -> ExternalServer:
    release = numbers(version)
    return ExternalServer(
        dbms="postgresql",
        dialect=PostgresqlInstance.dialect,
        objects=" UNION ALL ".join((RELATIONS, *OTHERS)),
        schemas="SELECT nspname FROM pg_namespace WHERE nspname = '{schema}'",
        create="CREATE SCHEMA {schema}",
        use=("SET search_path TO {schema}",),
        effective_queries=settings.effective_queries(release, [], superuser=False),
        in_force=settings.in_force,
        engine_counters=PostgresqlCounters(release, superuser=False),
        retryable=PostgresqlInstance.retryable,
        tolerable=PostgresqlInstance.tolerable,
        properties={key: value for key, value in DRIVER_PROPERTIES.items() if key != "sslmode"},
        version_query="SHOW server_version",
        folders=FOLDERS,
        backups=backup_methods,
    )


def backup_methods(login: ToolLogin) -> list[BackupMethod]:
    """Raises `JobError` where this machine has no tools for the server's release."""
    client = _Client(login, _installation(login))
    parallel = numbers(login.version) >= PARALLEL_DUMP_SINCE
    return [OwnDump(client, slug) for slug in FORMATS if parallel or slug != "pg_dump_directory"]


def _installation(login: ToolLogin) -> Installation:
    """The programs of the server's own release: a newer one begins a restore with settings that the server may not
    know.
    """
    complete = [
        installation for installation in discovery.clients(login.engines_dir) if all(map(installation.has, TOOLS))
    ]
    fitting = [installation for installation in complete if _release(installation.version) == _release(login.version)]
    if not fitting:
        versions = ", ".join(dict.fromkeys(installation.version for installation in complete)) or "none"
        raise JobError(
            f"this machine needs {', '.join(TOOLS)} of PostgreSQL {_release(login.version)} for a backup of connection "
            f"{login.connection.name}; there are: {versions}"
        )
    return max(fitting, key=lambda installation: numbers(installation.version))


def _release(version: str) -> str:
    major, minor = numbers(version)
    return f"{major}" if major >= ONE_NUMBER_SINCE else f"{major}.{minor}"


class _Client:
    """Tools that find host, user and password in files: their arguments name the connection."""

    def __init__(self, login: ToolLogin, installation: Installation) -> None:
        self.connection, address = login.connection, login.address()
        self.service = f"service={self.connection.name}"
        self._installation = installation
        # What the driver makes of the URL, in the words of the tools.
        given = address.options
        trusting = given.get("sslfactory", "").endswith("NonValidatingFactory")
        asked = given.get("ssl", "false").lower() in ("", "true")
        encrypted = {
            "sslmode": given.get("sslmode") or ("require" if trusting else "verify-full" if asked else ""),
            **{name: given.get(name, "") for name in ("sslrootcert", "sslcert", "sslkey")},
        }
        entries = {
            "host": address.host or "localhost",
            "port": address.port or "5432",
            "dbname": address.database or self.connection.user,
            "user": self.connection.user,
            "connect_timeout": str(CONNECT_TIMEOUT_S),
            **{name: value for name, value in encrypted.items() if value},
        }
        lines = "".join(f"{name}={_one_line(value)}\n" for name, value in entries.items())
        password = _one_line(self.connection.password).replace("\\", "\\\\").replace(":", "\\:")
        self._environment = {
            "PGSERVICEFILE": str(login.secret_file("pg_service.conf", f"[{self.connection.name}]\n{lines}")),
            "PGPASSFILE": str(login.secret_file("pgpass", f"*:*:*:*:{password}\n")),
            "PGGSSENCMODE": "disable",
        }

    def command(self, name: str, *arguments: str | Path) -> ToolCommand:
        argv = [self._installation.bin_dir / name, "-w", *arguments]
        return ToolCommand(argv, {**self._installation.environment, **self._environment})


def _one_line(value: str) -> str:
    if "\n" in value or "\r" in value:
        raise JobError("a line break in user, password or URL cannot be handed to PostgreSQL's tools")
    return value


class OwnDump(Dump):
    """A dump of the tables of the agent's schema; they are restored where they stood, once they have been dropped."""

    in_place = True

    def __init__(self, client: _Client, slug: str) -> None:
        super().__init__(slug, client.command, parallel=True)
        self.label = f"{BACKUP_METHODS[slug]}, own schema"
        self._client = client

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        """Dump the tables by their names: then the dump makes no schema, and the agent's mark stays out of it."""
        schema = self._client.connection.schema
        wanted = ("-t", f"{schema}.*", "-T", f"{schema}.{MARKER}")
        return [self.dump(self._client.service, target, options, *wanted)]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [self.bring_back(self._client.service, source, "--exit-on-error")]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return self._client.connection.url
