"""SQLite's PRAGMAs, after its documentation ("PRAGMA Statements")."""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.engines.reading import at_commit, read_engine
from benchagent.configfiles.settings import Promise, Settings, size_of
from benchagent.configfiles.units import KIB, Kind, Quantity

LEVELS = {"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}


def _cache(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
    """Positive is pages, negative KiB."""
    value = settings.value("cache_size")
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    if value < 0:
        return size_of(-value * KIB, f"{settings.words('cache_size')}: KiB")
    return settings.in_bytes(Quantity(Kind.PAGES, value, f"{value:,} pages"))


def _level(settings: Settings) -> str:
    given = (settings.text("synchronous") or "").upper()
    return LEVELS.get(given, given)


COMMITS: dict[str, str | tuple[str, str]] = {
    "FULL": "each",
    "EXTRA": "each",
    "NORMAL": ("written", "written at each commit, synced at checkpoints"),
    "OFF": "never",
}


def durability(settings: Settings, cache: str) -> Promise:
    journal, level = (settings.text("journal_mode") or "unknown").upper(), _level(settings) or "unknown"
    given = f"journal_mode={journal}, synchronous={level}"
    if settings.facts.complete and not settings.is_set("synchronous"):
        given += " (the default)"
    if journal in ("MEMORY", "OFF"):
        reason = f"{given}: without a journal on disk a crash in a commit corrupts the database"
        return Promise(Durability.NONE, reason)
    if level == "OFF":
        reason = f"{given}: nothing is synced; a crash of the machine may corrupt the database"
        return Promise(Durability.DBMS_CRASH, reason)
    if level == "NORMAL":
        return Promise(Durability.DBMS_CRASH, f"{given}: the log is synced at checkpoints only, not at each commit")
    if level in ("FULL", "EXTRA"):
        return Promise(Durability.POWER_LOSS, f"{given}: each commit is synced{cache}")
    return Promise(None, f"{given}: not recognised")


READERS = {"buffer_pool": _cache, "commit_flush": at_commit(lambda settings: COMMITS.get(_level(settings)))}
ENGINE = read_engine("sqlite", durability, READERS)
