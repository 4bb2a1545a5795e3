"""SQLite's PRAGMAs, after its documentation ("PRAGMA Statements")."""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.settings import Engine, Meaning, Promise, Settings, one, survives
from benchagent.configfiles.units import (
    KIB,
    Kind,
    Quantity,
    changed,
    count,
    flag,
    pages,
    size,
    size_words,
    text,
    time,
)

SPECS = {
    "journal_mode": text("delete"),
    "synchronous": text("FULL"),
    "page_size": size(changed("1024", ("3.12", "4096"))),
    "cache_size": count(changed("2000", ("3.12", "-2000"))),
    "wal_autocheckpoint": pages("1000"),
    "busy_timeout": time("0", 0.001),
    "locking_mode": text("normal"),
    "temp_store": text(),
    "mmap_size": size(),
    "auto_vacuum": text("none"),
    "journal_size_limit": size(None, 1, minus_1="no limit"),
    "foreign_keys": flag(),
    "read_uncommitted": flag("off"),
    "checkpoint_fullfsync": flag("off"),
    "fullfsync": flag("off"),
    "secure_delete": text(),
    "threads": count("0"),
}
LEVELS = {"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}


def _cache(settings: Settings) -> Quantity | None:
    """Positive is pages, negative KiB."""
    value = settings.value("cache_size")
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    if value < 0:
        size_bytes = -value * KIB
        return Quantity(Kind.BYTES, size_bytes, size_words(size_bytes), f"{settings.words('cache_size')}: KiB")
    return settings.in_bytes(Quantity(Kind.PAGES, value, f"{value:,} pages"))


def _level(settings: Settings) -> str:
    given = (settings.text("synchronous") or "").upper()
    return LEVELS.get(given, given)


def _commit(settings: Settings) -> Quantity | None:
    level = _level(settings)
    found = {"FULL": ("each", "synced at each commit"), "EXTRA": ("each", "synced at each commit")}
    found |= {"NORMAL": ("written", "written at each commit, synced at checkpoints"), "OFF": ("never", "never synced")}
    return Quantity(Kind.TEXT, *found[level], settings.words("synchronous")) if level in found else None


MEANINGS = {
    "buffer_pool": Meaning(("cache_size",), _cache, "of each connection"),
    "page_size": one("page_size"),
    "commit_flush": Meaning(("synchronous",), _commit),
    "sync_method": one("fullfsync"),
    "log_capacity": one("wal_autocheckpoint"),
    "log_kind": one("journal_mode"),
    "lock_timeout": one("busy_timeout"),
    "garbage_collection": one("auto_vacuum"),
    "temp_storage": one("temp_store"),
}


def durability(settings: Settings, write_cache: str) -> Promise:
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
        return survives(f"{given}: each commit is synced", write_cache)
    return Promise(None, f"{given}: not recognised")


ENGINE = Engine(
    slug="sqlite",
    source="SQLite documentation, “PRAGMA Statements”",
    specs=SPECS,
    meanings=MEANINGS,
    durability=durability,
)
