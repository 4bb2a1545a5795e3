"""Apache Derby's properties, after its Reference Manual and "Tuning Derby"."""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.engines.reading import at_commit, read_engine
from benchagent.configfiles.settings import Promise, Settings

DURABILITY = "derby.system.durability"


def _commit(settings: Settings) -> str | None:
    mode = settings.text(DURABILITY)
    return None if mode is None else "never" if mode == "test" else "each"


def durability(settings: Settings) -> Promise:
    mode = settings.text(DURABILITY)
    if mode == "test":
        return Promise(Durability.NONE, f"{DURABILITY}=test: Derby does not sync its log")
    if mode is None:
        return Promise(None, f"{settings.words(DURABILITY)}, and Derby's SQL does not tell it")
    words = "" if settings.is_set(DURABILITY) else f"{settings.words(DURABILITY)}: "
    return Promise(Durability.POWER_LOSS, f"{words}each commit syncs Derby's log")


ENGINE = read_engine("derby", durability, {"commit_flush": at_commit(_commit)}, simple=str.strip)
