"""Backups of the agent's own database on a MySQL or MariaDB server that somebody else runs, over the network."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchagent.dbms.backup import Action, BackupMethod, Options, ToolCommand
from benchagent.dbms.base import JobError
from benchagent.dbms.external.afar import Address, Afar
from benchagent.dbms.external.side import MARKER
from benchagent.dbms.mysql import discovery
from benchagent.dbms.mysql.backup import CLIENTS, DUMPERS
from benchagent.dbms.mysql.product import MARIADB, MYSQL, Product

# The data, and nothing that would be set for the whole server or needs rights on it. Not every tool knows each.
OWN_ONLY = ("--no-tablespaces", "--loose-set-gtid-purged=OFF", "--loose-column-statistics=0")
OFF, PREFERRED, REQUIRED = "DISABLED", "PREFERRED", "REQUIRED"
AUTHORITY, VERIFIED = "VERIFY_CA", "VERIFY_IDENTITY"
# Of the URL's sslMode, for both drivers.
MODES = {"disable": OFF, "disabled": OFF, "preferred": PREFERRED, "trust": REQUIRED, "required": REQUIRED}
MODES |= dict.fromkeys(("verify-ca", "verify_ca"), AUTHORITY)


@dataclass(frozen=True)
class _Programs:
    dumper: Path
    client: Path
    environment: Mapping[str, str]


def methods(afar: Afar) -> list[BackupMethod]:
    """Raises `JobError` where this machine has no tools."""
    product = Product(afar.connection.dbms, afar.version)
    programs = next(_found(product, afar.engines_dir), None)
    if programs is None:
        raise JobError(
            f"this machine needs {' or '.join(DUMPERS)}, and {' or '.join(CLIENTS)}, for a backup of connection "
            f"{afar.connection.name}; it has none"
        )
    return [OwnDump(afar, programs)]


def _found(product: Product, engines_dir: Path) -> Iterator[_Programs]:
    """Of the server's product first, its release first, then the newest; the search path, then the other product."""
    other = MYSQL if product.slug == MARIADB else MARIADB
    for slug in (product.slug, "", other):
        if not slug:
            yield from _on_path()
            continue
        listed = discovery.installations(slug, engines_dir).values()
        for one in sorted(listed, key=lambda one: _nearness(one.product, product), reverse=True):
            dumper, client = one.program(*DUMPERS), one.program(*CLIENTS)
            if dumper and client:
                yield _Programs(dumper, client, one.environment)


def _nearness(tools: Product, server: Product) -> tuple[bool, tuple[int, ...]]:
    return tools.numbers[:2] == server.numbers[:2], tools.numbers


def _on_path() -> Iterator[_Programs]:
    """Clients alone, without a server beside them."""
    for dumper, client in zip(DUMPERS, CLIENTS, strict=True):
        there = shutil.which(dumper), shutil.which(client)
        if there[0] and there[1]:
            yield _Programs(Path(there[0]), Path(there[1]), {})


class OwnDump(BackupMethod):
    """All statements that make the tables anew, as one transaction saw them; restored in their place."""

    slug = "dump"
    options = ("verbose",)
    in_place = True

    def __init__(self, afar: Afar, programs: _Programs) -> None:
        self._afar, self._programs = afar, programs
        self.label = f"{programs.dumper.name} --single-transaction, own database"
        self._options = afar.secret_file("client.cnf", _client_options(afar))

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        schema = self._afar.connection.schema
        more = ["--verbose"] if options.get("verbose") == "on" else []
        wanted = ["--single-transaction", "--quick", *OWN_ONLY, f"--ignore-table={schema}.{MARKER}", *more, schema]
        return [self._command(self._programs.dumper, wanted, stdout=target)]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [self._command(self._programs.client, [self._afar.connection.schema], stdin=source)]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return self._afar.connection.url

    def _command(
        self, program: Path, arguments: Sequence[str], *, stdin: Path | None = None, stdout: Path | None = None
    ) -> ToolCommand:
        argv: list[str | Path] = [program, f"--defaults-file={self._options}", *arguments]
        return ToolCommand(argv, self._programs.environment, stdin=stdin, stdout=stdout)


def _client_options(afar: Afar) -> str:
    connection, address = afar.connection, afar.address()
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
    """What the driver makes of the URL, for tools of both products: each leaves out what only the other one knows."""
    given = address.options
    asked = given.get("sslmode", "").lower()
    mode = MODES.get(asked, VERIFIED) if asked else _unstated(dbms, given)
    authority = given.get("serversslcert", "")
    return [
        "loose-skip-ssl" if mode == OFF else "loose-ssl",
        "loose-ssl-verify-server-cert" if mode in (AUTHORITY, VERIFIED) else "loose-skip-ssl-verify-server-cert",
        *([f"loose-ssl-ca={_quoted(authority)}"] if authority else []),
        # Last, for it decides where a tool knows them all.
        f"loose-ssl-mode={mode}",
    ]


def _unstated(dbms: str, given: Mapping[str, str]) -> str:
    """Without sslMode, MariaDB's driver does not encrypt and MySQL's does where it can."""
    if "usessl" in given:
        return OFF if given["usessl"].lower() == "false" else REQUIRED
    return OFF if dbms == MARIADB else PREFERRED
