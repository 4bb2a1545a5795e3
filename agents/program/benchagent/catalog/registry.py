"""Every DBMS that an agent can run or connect to."""

from __future__ import annotations

from benchagent import plugins
from benchagent.catalog.model import DbmsEntry

DBMSS: dict[str, DbmsEntry] = {
    entry.slug: entry
    for entry in sorted(plugins.offered(plugins.ENGINES).values(), key=lambda entry: (entry.order, entry.slug))
}

# Ways to back up, by the slug that a run stores: as people read them, and which DBMS has which. An installation may
# lack the tools of one: its adapter says so before the run.
BACKUP_METHODS = {"": "the engine's first method"} | {
    slug: words for entry in DBMSS.values() for slug, words in entry.backup_methods.items()
}
ENGINE_METHODS = {dbms: tuple(entry.backup_methods) for dbms, entry in DBMSS.items() if entry.backup_methods}
# On servers that the agent did not start.
EXTERNAL_METHODS = {dbms: tuple(entry.external_methods) for dbms, entry in DBMSS.items() if entry.external_methods}
