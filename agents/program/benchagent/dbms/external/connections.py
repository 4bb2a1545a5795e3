"""Connections to servers that somebody else runs, by name, in one file that only its owner can read.

Host, user, password and URL stand here and go over the wire, nowhere else: the server, jobs, logs and process arguments
know the name only. `Scrubber` takes them out of whatever a driver or a server says. A JDBC URL names hosts, and the
database or service there; each driver has a form of its own.
"""

from __future__ import annotations

import re
import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

from benchagent.catalog import DBMSS
from benchagent.errors import JobError
from benchagent.paths import NamedFile, name_problem
from benchagent.redaction import redact_text

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
    `failure`: when and why the last look at it failed, empty where none was or it did not.
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
    failure: str = ""

    @property
    def unusable(self) -> str:
        """Why nothing can be planned on it; empty where its last look succeeded."""
        if self.failure:
            return f"check failed on {self.failure}"
        return "not checked yet" if self.version == UNKNOWN_VERSION else ""


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


class Connections(NamedFile[ServerConnection]):
    kind, key, error, is_secret = "a connection", "connections", ConnectionsError, True

    def __init__(self, root: Path) -> None:
        super().__init__(root / FILE_NAME)

    def item(self, entry: Mapping[str, Any]) -> ServerConnection:
        return _checked(ServerConnection(**entry))

    def note_version(self, name: str, version: str) -> None:
        self._change(name, version=version, failure="")

    def note_failure(self, name: str, words: str) -> None:
        """`words` hold no secret."""
        self._change(name, failure=f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC: {words}")

    def set_password(self, name: str, password: str) -> None:
        self.get(name)
        self._change(name, password=password, failure="")

    def pair(self, name: str, observed_by: str) -> None:
        """Empty: nobody observes it any more."""
        self.get(name)
        self._change(name, observed_by=observed_by)

    def _change(self, name: str, **fields: str) -> None:
        listed = self.listed()
        self.save([replace(known, **fields) if known.name == name else known for known in listed])  # type: ignore[arg-type]


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


CONNECT_TIMEOUT_S = 30
ONE_HOST = re.compile(
    r"jdbc:\w+:(?://(?P<host>\[[^\]]+\]|[^:/?,()\[\]]*)(?::(?P<port>\d+))?(?=[/?]|\Z)/?)?"
    r"(?P<database>[^:/?,()]*)(?:\?(?P<options>.*))?\Z"
)


@dataclass(frozen=True)
class Address:
    """Parts of a JDBC URL, empty where it does not state them. `options`: their names in lower case."""

    host: str
    port: str
    database: str
    options: Mapping[str, str]


@dataclass(frozen=True)
class ToolLogin:
    """What a tool of the engine needs to reach a server of others from the agent's own machine.

    `version`: what the server says of itself. `folder`: for logins, of the agent alone; gone with the job.
    """

    connection: ServerConnection
    version: str
    engines_dir: Path
    folder: Path

    def address(self) -> Address:
        """Raises `JobError` for an URL that a driver understands and a tool does not. It is not shown."""
        match = ONE_HOST.match(self.connection.url)
        if not match:
            words = "a backup needs a URL with one host, as jdbc:…://host:port/database"
            raise JobError(f"connection {self.connection.name}: {words}")
        options = {name.lower(): value for name, value in parse_qsl(match["options"] or "", keep_blank_values=True)}
        return Address((match["host"] or "").strip("[]"), match["port"] or "", unquote(match["database"]), options)

    def secret_file(self, name: str, text: str) -> Path:
        """That nobody else can read."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        path = self.folder / name
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8")
        return path

    def forget(self) -> None:
        """Remove what `secret_file` has written."""
        shutil.rmtree(self.folder, ignore_errors=True)


# //host:port,host:port/path?options, also with a user before an @, with (host=…), and Oracle's @tcps://…
AUTHORITY = re.compile(r"//(?:[^/?;@]*@)?((?:\[[^\]]*\]|\([^)]*\)|[^/?;\s])*)(?:/([^?;]*))?")
# (HOST=…) of Oracle's descriptions and of address=(host=…) of MySQL
NAMED_HOST = re.compile(r"\bhost\s*=\s*([^,()\s]+)", re.IGNORECASE)
NAMED_DATABASE = re.compile(r"\b(?:service_name|sid|instance_name)\s*=\s*([^,()\s]+)", re.IGNORECASE)
# @host:port:sid, @host:port/service, or @alias
THIN = re.compile(r"@(?!//|\w+://|\()([\w.-]+)(?:(?::\d+)?[:/]([\w.$#-]+))?")
# host:port:database:user:
CUBRID = re.compile(r"^jdbc:cubrid[\w-]*:([^:/?]+):\d+:([^:?]*)(?::([^:?]*))?")
# host/port:path, host:path, path
JAYBIRD = re.compile(
    r"^jdbc:(?:firebird(?:sql)?|interbase)(?::(?:native|local|embedded|oo|nio|java))?:(?!//)"
    r"(?:([\w.-]{2,}|\[[^\]]*\])(?:/\d+)?:)?([^?]+)"
)
# altHosts=a:1,b:2 and clientRerouteAlternateServerName=a,b
HOST_OPTION = re.compile(r"[?;&:]\w*(?:hosts?|servername)=([^;&)]*)", re.IGNORECASE)
PLAIN = re.compile(r"^jdbc:\w+:([^:/?;@()]+)(?:\?|$)")
IP_6 = re.compile(r"\[([0-9a-fA-F:.%]+)\]")
WORD = re.compile(r"[^\s/\\:,;?&=()@\[\]]+")
# Words of the URL's own language.
SCHEMES = frozenset(("jdbc", "thin", "oci", "tcp", "tcps", "ssl", "hsql", "hsqls", "http", "https", "mem", "file"))


def hosts_of(url: str) -> list[str]:
    """All hosts that it names, each once."""
    lists = [match[1] for match in AUTHORITY.finditer(url) if "(" not in match[1]]
    hosts = [host for listed in lists for host in _listed(listed)] + NAMED_HOST.findall(url)
    for pattern in (CUBRID, JAYBIRD):
        hosts += [(match[1] or "").strip("[]") for match in pattern.finditer(url)]
    if url.lower().startswith("jdbc:oracle:"):
        hosts += [match[1] for match in THIN.finditer(url)]
    hosts += [host for match in HOST_OPTION.finditer(url) for host in _listed(match[1])]
    return list(dict.fromkeys(filter(None, hosts)))


def _listed(hosts: str) -> Iterator[str]:
    """From ``a:1,[::1]:2``."""
    for part in hosts.split(","):
        six = IP_6.match(part)
        yield six[1] if six else part.partition(":")[0]


def databases_of(url: str) -> list[str]:
    """Path, name or service of the database, and its file's name alone; CUBRID's user, too."""
    named = [path[2] for path in AUTHORITY.finditer(url)]
    named += NAMED_DATABASE.findall(url) + PLAIN.findall(url)
    for pattern in (CUBRID, JAYBIRD):
        named += [group for names in pattern.finditer(url) for group in names.groups()[1:]]
    if url.lower().startswith("jdbc:oracle:"):
        named += [service[2] for service in THIN.finditer(url)]
    paths = [re.split(r":(?=\w+=)", path)[0].strip("/") for path in named if path]
    names = [path.replace("\\", "/").rpartition("/")[2] for path in paths]
    return list(dict.fromkeys(filter(None, [*paths, *names])))


def words_of(url: str) -> list[str]:
    """Everything in an URL of a form that nobody here knows."""
    return [word for word in WORD.findall(url)[2:] if not word.isdigit() and word.lower() not in SCHEMES]


def addresses_of(host: str) -> list[str]:
    """As drivers name them beside the host; empty where they cannot be found."""
    try:
        return sorted({str(entry[4][0]) for entry in socket.getaddrinfo(host, None)})
    except OSError:
        return []


def is_this_machine(url: str) -> bool:
    """Whether all its hosts are."""
    hosts = hosts_of(url)
    return bool(hosts) and all(any(map(_is_ours, addresses_of(host))) for host in hosts)


def _is_ours(address: str) -> bool:
    """Only to an address of this machine a socket can be bound."""
    if address.startswith("127.") or address == "::1":
        return True
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


# Fields of events that hold words of a driver or of a server.
SPOKEN = frozenset(("message", "error", "reason"))
SPOKEN_LISTS = ("dead_terminals", "retried")
# A database or a user of such a name tells nothing about the server, and settings could not be read any more.
VALUES = frozenset(
    ("on", "off", "true", "false", "yes", "no", "all", "none", "default", "local", "wait", "nowait", "immediate",
     "batch")
)  # fmt: skip


class Scrubber:
    def __init__(self, connection: ServerConnection) -> None:
        self._name = connection.name
        url = connection.url
        hosts = hosts_of(url)
        addresses = [address for host in hosts for address in addresses_of(host)]
        whole = [connection.password, url, url.partition("//")[2] or url.partition("@")[2]]
        named = {
            "user": [connection.user], "database": databases_of(url), "host": [*(hosts or words_of(url)), *addresses],
        }  # fmt: skip
        # Each of them in small letters, and what it is.
        self._kinds: dict[str, list[str]] = {}
        for kind, words in named.items():
            for word in dict.fromkeys(map(str.lower, words)):
                if not word.isdigit() and word not in VALUES:
                    self._kinds.setdefault(word, []).append(kind)
        # Words alone: the user "a" is no letter of another word.
        alone = [rf"(?<!\w){re.escape(word)}(?!\w)" for word in _longest_first([*self._kinds])]
        self._pattern = re.compile("|".join([*map(re.escape, _longest_first(whole)), *alone]), re.IGNORECASE)

    def text(self, text: str) -> str:
        return redact_text(self._pattern.sub(self._instead, text))

    def _instead(self, match: re.Match[str]) -> str:
        """`[user of shop]`, `[user or database of shop]`; password and URL are `[shop]`."""
        kinds = " or ".join(self._kinds.get(match[0].lower(), []))
        return f"[{kinds} of {self._name}]" if kinds else f"[{self._name}]"

    def event(self, event: Mapping[str, Any]) -> dict[str, Any]:
        """The same event, its words cleaned, also inside lists as that of the dead terminals."""
        return {key: self._value(key, value) for key, value in event.items()}

    def _value(self, key: str, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value) if key in SPOKEN else value
        if isinstance(value, Mapping):
            return self.event(value)
        if isinstance(value, list) and key in SPOKEN_LISTS:
            return [self._value(key, entry) if isinstance(entry, Mapping) else entry for entry in value]
        return value


def _longest_first(parts: Sequence[str]) -> list[str]:
    return sorted(filter(None, dict.fromkeys(parts)), key=len, reverse=True)
