"""Backups of the agent's own schema on a PostgreSQL server that somebody else runs, over the network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchagent.catalog import BACKUP_METHODS
from benchagent.dbms.backup import Action, BackupMethod, Options, ToolCommand
from benchagent.dbms.base import JobError
from benchagent.dbms.external.afar import CONNECT_TIMEOUT_S, Address, Afar
from benchagent.dbms.external.side import MARKER
from benchagent.dbms.postgresql import discovery
from benchagent.dbms.postgresql.backup import PARALLEL_DUMP_SINCE, PARALLEL_JOBS
from benchagent.dbms.postgresql.discovery import Installation
from benchagent.dbms.postgresql.version import numbers

TOOLS = ("pg_dump", "pg_restore", "psql")
PLAIN, CUSTOM, DIRECTORY = "p", "c", "d"
# From here on the first number alone is the release.
ONE_NUMBER_SINCE = 10
TLS_FILES = ("sslrootcert", "sslcert", "sslkey")


def methods(afar: Afar) -> list[BackupMethod]:
    """Raises `JobError` where this machine has no tools for the server's release."""
    client = _Client(afar, _installation(afar))
    dumps: list[BackupMethod] = [
        OwnDump(client, "pg_dump_plain", PLAIN),
        OwnDump(client, "pg_dump_custom", CUSTOM),
    ]
    parallel = numbers(afar.version) >= PARALLEL_DUMP_SINCE
    return [*dumps, *([ParallelDump(client)] if parallel else [])]


def _installation(afar: Afar) -> Installation:
    """Of the server's own release: what a newer one restores begins with settings that the server may not know."""
    found = [one for one in discovery.clients(afar.engines_dir) if all(one.has(tool) for tool in TOOLS)]
    fitting = [one for one in found if _release(one.version) == _release(afar.version)]
    if not fitting:
        known = ", ".join(dict.fromkeys(one.version for one in found)) or "none"
        raise JobError(
            f"this machine needs {', '.join(TOOLS)} of PostgreSQL {_release(afar.version)} for a backup of connection "
            f"{afar.connection.name}; there are: {known}"
        )
    return max(fitting, key=lambda one: numbers(one.version))


def _release(version: str) -> str:
    major, minor = numbers(version)
    return f"{major}" if major >= ONE_NUMBER_SINCE else f"{major}.{minor}"


class _Client:
    """Tools that find host, user and password in files: their arguments name the connection."""

    def __init__(self, afar: Afar, installation: Installation) -> None:
        connection, address = afar.connection, afar.address()
        self.afar = afar
        self._installation = installation
        self.login = f"service={connection.name}"
        service = {
            "host": address.host or "localhost",
            "port": address.port or "5432",
            "dbname": address.database or connection.user,
            "user": connection.user,
            "connect_timeout": str(CONNECT_TIMEOUT_S),
            **_encryption(address),
        }
        lines = "".join(f"{name}={_one_line(value)}\n" for name, value in service.items())
        password = _one_line(connection.password).replace("\\", "\\\\").replace(":", "\\:")
        self._environment = {
            "PGSERVICEFILE": str(afar.secret_file("pg_service.conf", f"[{connection.name}]\n{lines}")),
            "PGPASSFILE": str(afar.secret_file("pgpass", f"*:*:*:*:{password}\n")),
            "PGGSSENCMODE": "disable",
        }

    def command(self, name: str, *arguments: str | Path) -> ToolCommand:
        installation = self._installation
        argv = [installation.bin_dir / name, "-w", *arguments]
        return ToolCommand(argv, {**installation.environment, **self._environment})


def _encryption(address: Address) -> Mapping[str, str]:
    """What the driver makes of the URL, in the words of the tools."""
    given = address.options
    trusting = given.get("sslfactory", "").endswith("NonValidatingFactory")
    asked = given.get("ssl", "false").lower() in ("", "true")
    mode = given.get("sslmode") or ("require" if trusting else "verify-full" if asked else "")
    files = {name: given[name] for name in TLS_FILES if given.get(name)}
    return {**({"sslmode": mode} if mode else {}), **files}


def _one_line(value: str) -> str:
    if "\n" in value or "\r" in value:
        raise JobError("a line break in user, password or URL cannot be handed to PostgreSQL's tools")
    return value


class OwnDump(BackupMethod):
    """pg_dump of the tables of the agent's schema, restored in their place once they have been dropped."""

    options: Sequence[str] = ("verbose",)
    in_place = True

    def __init__(self, client: _Client, slug: str, form: str) -> None:
        self.slug, self.label = slug, f"{BACKUP_METHODS[slug]}, own schema"
        self._client, self._form = client, form

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        """By the names of tables: then the dump makes no schema, and the agent's mark stays out of it."""
        schema = self._client.afar.connection.schema
        own = ["-t", f"{schema}.*", "-T", f"{schema}.{MARKER}"]
        more = [*self._more(options), *(["-v"] if options.get("verbose") == "on" else [])]
        return [self._client.command("pg_dump", "-F", self._form, "-f", target, *own, *more, self._client.login)]

    def _more(self, options: Options) -> list[str]:
        return []

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        if self._form != PLAIN:
            return [self._client.command("pg_restore", "--exit-on-error", "-d", self._client.login, source)]
        quiet = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-o", "/dev/null"]
        return [self._client.command("psql", *quiet, "-d", self._client.login, "-f", source)]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return self._client.afar.connection.url


class ParallelDump(OwnDump):
    """The one format that several jobs can write at once."""

    options = ("verbose", "jobs")

    def __init__(self, client: _Client) -> None:
        super().__init__(client, "pg_dump_directory", DIRECTORY)

    def _more(self, options: Options) -> list[str]:
        return ["-j", str(options.get("jobs") or PARALLEL_JOBS)]
