"""DB2's database configuration parameters (`db2 get db cfg`), after its "Configuration parameters summary"."""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.engines.reading import at_commit, product, read_engine
from benchagent.configfiles.settings import Promise, Settings


def durability(settings: Settings) -> Promise:
    """DB2 has no setting that lets a commit return before its log is on disk."""
    group = f"; {settings.words('mincommit')}: commits may wait for each other" if settings.is_set("mincommit") else ""
    return Promise(Durability.POWER_LOSS, f"DB2 always writes the log to disk before a commit returns{group}")


READERS = {"commit_flush": at_commit(lambda settings: "each"), "log_capacity": product}
ENGINE = read_engine("db2", durability, READERS, package=__package__)
