"""Host, user, password and URL of a connection taken out of whatever a driver or a server says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from benchagent.connections import ServerConnection
from benchagent.dbms.external.space import addresses_of, host_of
from benchagent.redaction import redact_text

# Fields of events that hold words of a driver or of a server.
SPOKEN = frozenset(("message", "error", "reason"))


class Scrubber:
    def __init__(self, connection: ServerConnection) -> None:
        self._name = connection.name
        host = host_of(connection.url)
        place = connection.url.partition("//")[2] or connection.url.partition("@")[2]
        parts = [connection.password, connection.url, place, host, *addresses_of(connection.url)]
        # A word alone: the user "a" is no letter of another word.
        whole = [re.escape(part) for part in sorted(filter(None, parts), key=len, reverse=True)]
        words = [rf"(?<!\w){re.escape(connection.user)}(?!\w)"] if connection.user else []
        self._pattern = re.compile("|".join([*whole, *words]), re.IGNORECASE) if whole or words else None

    def text(self, text: str) -> str:
        cleaned = self._pattern.sub(f"[{self._name}]", text) if self._pattern else text
        return redact_text(cleaned)

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
