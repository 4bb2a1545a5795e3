"""H2's settings in the database URL, after its documentation ("SQL Grammar", SET commands)."""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.engines.reading import IN_MEMORY, at_commit, read_engine
from benchagent.configfiles.settings import Promise, Settings
from benchagent.configfiles.units import time_words


def _commit(settings: Settings) -> tuple[str, str] | None:
    delay = settings.number("WRITE_DELAY")
    if delay is None:
        return None
    if delay:
        return "later", f"written every {time_words(delay)}, not synced"
    return "written", "written at each commit, not synced"


def durability(settings: Settings) -> Promise:
    if settings.low("STORAGE") == "memory":
        return IN_MEMORY
    delay = settings.text("WRITE_DELAY")
    if delay is None:
        return Promise(None, settings.words("WRITE_DELAY"))
    if delay == "0":
        return Promise(
            Durability.DBMS_CRASH, "WRITE_DELAY=0: each commit is written, but H2 does not sync it to the disk"
        )
    default = "" if settings.is_set("WRITE_DELAY") else ", the default"
    return Promise(
        Durability.BOUNDED_LOSS,
        f"WRITE_DELAY={delay} ms{default}: H2 writes commits in the background and does not sync each of them",
    )


ENGINE = read_engine("h2", durability, {"commit_flush": at_commit(_commit)}, simple=lambda name: name.strip().upper())
