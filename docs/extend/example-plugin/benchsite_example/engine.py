"""The adapter: how an agent makes an instance, and what it may know of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchagent.dbms.base import Connection, Guest, ProvisionRequest, Retryable, Settings
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.embedded import EmbeddedAdapter, EmbeddedInstance, in_url


class H2pgInstance(EmbeddedInstance):
    slug = "h2pg"
    dialect = Dialect(for_update=" FOR UPDATE", after_load_each=("ANALYZE TABLE {table}",))
    # A lock timeout, a row that was changed meanwhile, a deadlock: the transaction is tried again.
    retryable = Retryable(sqlstates=("40001",), codes=(50200, 90131))
    close_sql = ("SHUTDOWN",)
    effective_queries = {"settings": "SELECT SETTING_NAME, SETTING_VALUE FROM INFORMATION_SCHEMA.SETTINGS"}

    def __init__(self, request: ProvisionRequest, class_path: Sequence[Path], settings: Settings) -> None:
        given = "".join(f";{name}={value}" for name, value in settings)
        url = f"jdbc:h2:file:{in_url(request.folders.data / 'bench')};MODE=PostgreSQL{given}"
        super().__init__(request, class_path, Connection(url, None, {"user": "sa", "password": ""}), settings)

    def effective_settings(self, rows: QueryRows) -> list[tuple[str, str]]:
        named = [(str(name), str(value)) for name, value in rows.get("settings", [])]
        return self.noted([(name, value) for name, value in named if not name.startswith(("info.", "property."))])

    def guest(self) -> Guest:
        """Scripts of others need a user with fewer rights, which this example does not make."""
        return Guest(self.connection, self.connection, refused={r"\S+": "would run as the administrator"})


ADAPTER = EmbeddedAdapter(
    "h2pg",
    H2pgInstance,
    no_log_apart="H2 appends changed pages to its one file: there is no log beside the data",
    # What would run SQL or let others in as the database is opened.
    doors={r"(INIT|MODE|AUTO_SERVER\w*|USER|PASSWORD\w*|DATABASE_EVENT_LISTENER)\b": "is the agent's own"},
)
