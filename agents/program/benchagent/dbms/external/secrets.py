"""Host, user, password and URL of a connection, taken out of whatever a driver or a server says.

A JDBC URL names hosts, and the database or service there; each driver has a form of its own.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchagent.dbms.external.connections import ServerConnection
from benchagent.redaction import redact_text

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
# Of the URL's own language.
SCHEMES = frozenset(("jdbc", "thin", "oci", "tcp", "tcps", "ssl", "hsql", "hsqls", "http", "https", "mem", "file"))


def hosts_of(url: str) -> list[str]:
    """All hosts that it names, each once."""
    return list(dict.fromkeys(filter(None, _hosts(url))))


def _hosts(url: str) -> Iterator[str]:
    for match in AUTHORITY.finditer(url):
        yield from _listed(match[1]) if "(" not in match[1] else ()
    yield from NAMED_HOST.findall(url)
    for pattern in (CUBRID, JAYBIRD):
        yield from ((match[1] or "").strip("[]") for match in pattern.finditer(url))
    if url.lower().startswith("jdbc:oracle:"):
        yield from (match[1] for match in THIN.finditer(url))
    for match in HOST_OPTION.finditer(url):
        yield from _listed(match[1])


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
        whole = [connection.password, url, url.partition("//")[2] or url.partition("@")[2]]
        hosts = hosts_of(url)
        addresses = [address for host in hosts for address in addresses_of(host)]
        named = [connection.user, *databases_of(url), *(hosts or words_of(url)), *addresses]
        words = [word for word in named if not word.isdigit() and word.lower() not in VALUES]
        # Words alone: the user "a" is no letter of another word.
        alone = [rf"(?<!\w){re.escape(word)}(?!\w)" for word in _longest_first(words)]
        patterns = [*map(re.escape, _longest_first(whole)), *alone]
        self._pattern = re.compile("|".join(patterns), re.IGNORECASE)

    def text(self, text: str) -> str:
        return redact_text(self._pattern.sub(f"[{self._name}]", text))

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
