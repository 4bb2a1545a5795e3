"""Host, user, password and URL of a connection taken out of whatever a driver or a server says."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from benchagent.dbms.external.connections import ServerConnection
from benchagent.dbms.external.url import addresses_of, databases_of, hosts_of, words_of
from benchagent.redaction import redact_text

# Fields of events that hold words of a driver or of a server.
SPOKEN = frozenset(("message", "error", "reason"))
# A database or a user of such a name tells nothing about the server, and settings could not be read any more.
VALUES = frozenset(
    ("on", "off", "true", "false", "yes", "no", "all", "none", "default", "local", "wait", "nowait", "immediate",
     "batch")
)  # fmt: skip


class Scrubber:
    def __init__(self, connection: ServerConnection) -> None:
        self._name = connection.name
        url = connection.url
        place = url.partition("//")[2] or url.partition("@")[2]
        whole = [connection.password, url, place]
        hosts = hosts_of(url)
        addresses = [address for host in hosts for address in addresses_of(host)]
        found = [connection.user, *databases_of(url), *(hosts or words_of(url)), *addresses]
        words = [word for word in found if not word.isdigit() and word.lower() not in VALUES]
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
        if isinstance(value, list) and key == "dead_terminals":
            return [self._value(key, entry) if isinstance(entry, Mapping) else entry for entry in value]
        return value


def _longest_first(parts: Sequence[str]) -> list[str]:
    return sorted(filter(None, dict.fromkeys(parts)), key=len, reverse=True)
