"""Connections to servers that somebody else runs, by name, in one file that only its owner can read.

Host, user, password and URL stand here and go over the wire, nowhere else: the server, jobs, logs and process arguments
know the name only.
"""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchagent.catalog import DBMSS
from benchagent.errors import JobError
from benchagent.paths import name_problem, write_private

FILE_NAME = "connections.json"
SCHEMA = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}\Z")
OBSERVER = re.compile(r"[^/\s][^/\n]{0,199}/[A-Za-z0-9][A-Za-z0-9_.-]{0,39}\Z")
# As an option, as user:password@, as Oracle's user/password@, and as the last but one of CUBRID's parts.
PASSWORD_IN_URL = re.compile(
    r"password|pwd=|//[^/@]*:[^/@]*@|^jdbc:oracle:[^@(]*/[^@(]+@|^jdbc:cubrid[\w-]*:[^:]*:\d+:[^:]*:[^:]*:[^:?]",
    re.IGNORECASE,
)
# To them a name without quotes is one in small letters, and that is what their catalogues show.
FOLDING_TO_SMALL = frozenset(("postgresql",))
UNKNOWN_VERSION = "unknown"


class ConnectionsError(JobError):
    """The file or one of its entries cannot be used; the text says why and holds no secret."""


@dataclass(frozen=True)
class ServerConnection:
    """`schema`: schema or database that belongs to the agent alone. `version`: as last seen by `connections check`.

    `observed_by`: "agent/observation" that samples the server's machine, by the name on the agents page; or empty.
    `elsewhere`: an address of this machine leads to another one, or into a container: its folders are not here.
    """

    name: str
    dbms: str
    url: str
    user: str
    password: str
    schema: str
    version: str = UNKNOWN_VERSION
    observed_by: str = ""
    elsewhere: bool = False


class Connections:
    """The file below the agent's state folder, read each time: the command line may have changed it."""

    def __init__(self, root: Path) -> None:
        self._file = root / FILE_NAME

    def listed(self) -> list[ServerConnection]:
        """Raises `ConnectionsError` for a file that others can read, or that is broken."""
        try:
            mode = stat.S_IMODE(self._file.stat().st_mode)
            if mode & 0o077:
                raise ConnectionsError(f"{self._file} has mode {mode:04o}: it holds passwords and has to have 0600")
            content = json.loads(self._file.read_text(encoding="utf-8"))
            return [_checked(ServerConnection(**entry)) for entry in content["connections"]]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, KeyError, TypeError) as error:
            # The words of the error may hold a piece of the file.
            kind = type(error).__name__
            raise ConnectionsError(f"{self._file} cannot be read ({kind}): correct or remove it") from None

    def get(self, name: str) -> ServerConnection:
        for connection in self.listed():
            if connection.name == name:
                return connection
        raise ConnectionsError(f"this machine has no connection {name!r}")

    def add(self, connection: ServerConnection) -> None:
        listed = self.listed()
        if any(other.name == connection.name for other in listed):
            raise ConnectionsError(f"there is a connection {connection.name!r} already")
        self._save([*listed, _checked(connection)])

    def remove(self, name: str) -> None:
        self.get(name)
        self._save([connection for connection in self.listed() if connection.name != name])

    def note_version(self, name: str, version: str) -> None:
        self._change(name, version=version)

    def pair(self, name: str, observed_by: str) -> None:
        """Empty: nobody observes it any more."""
        self.get(name)
        self._change(name, observed_by=observed_by)

    def _change(self, name: str, **fields: str) -> None:
        listed = self.listed()
        self._save([replace(known, **fields) if known.name == name else known for known in listed])  # type: ignore[arg-type]

    def _save(self, connections: list[ServerConnection]) -> None:
        checked = [_checked(connection) for connection in connections]
        write_private(self._file, {"connections": [asdict(connection) for connection in checked]})


def from_answers(name: str, dbms: str, answers: Mapping[str, Any]) -> ServerConnection:
    """From what was asked or read. Raises `ConnectionsError` that names the field."""
    missing = [field for field in ("url", "user", "schema") if not str(answers.get(field) or "").strip()]
    if missing:
        raise ConnectionsError(f"{missing[0]} is missing")
    unknown = set(answers) - {"url", "user", "password", "schema"}
    if unknown:
        raise ConnectionsError(f"{min(unknown)} is not known; there are url, user, password and schema")
    url, user, schema = (str(answers[field]).strip() for field in ("url", "user", "schema"))
    return _checked(ServerConnection(name, dbms, url, user, str(answers.get("password") or ""), schema))


def _checked(connection: ServerConnection) -> ServerConnection:
    if problem := name_problem(connection.name, "a connection"):
        raise ConnectionsError(problem)
    if connection.dbms not in DBMSS:
        raise ConnectionsError(f"connection {connection.name}: no DBMS is called {connection.dbms!r}")
    if not connection.url.startswith("jdbc:"):
        raise ConnectionsError(f"connection {connection.name}: url has to be a JDBC URL, jdbc:…")
    if PASSWORD_IN_URL.search(connection.url):
        raise ConnectionsError(f"connection {connection.name}: the password has a field of its own, not the url")
    if not SCHEMA.match(connection.schema):
        raise ConnectionsError(
            f"connection {connection.name}: schema has to be a plain name of letters, digits and _, at most 63"
        )
    if connection.dbms in FOLDING_TO_SMALL:
        connection = replace(connection, schema=connection.schema.lower())
    if connection.observed_by and not OBSERVER.match(connection.observed_by):
        raise ConnectionsError(f"connection {connection.name}: {connection.observed_by!r} is not AGENT/OBSERVATION")
    return connection
