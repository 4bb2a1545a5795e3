"""An engine for Benchsite: H2 in its PostgreSQL mode. The server reads this entry, an agent also the adapter."""

from __future__ import annotations

from benchagent.catalog.model import DbmsEntry

H2PG = DbmsEntry(
    slug="h2pg",
    name="H2 in PostgreSQL mode",
    vendor="H2 Group",
    module="benchsite_example.engine",
    embedded=True,
    settings=(("WRITE_DELAY", "0"),),
    settings_help="settings of the database URL, one `name = value` a line",
)
