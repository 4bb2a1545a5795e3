"""SQLite's PRAGMAs, after its documentation ("PRAGMA Statements")."""

from __future__ import annotations

from benchagent.catalog import Durability
from benchagent.configfiles.engines.reading import at_commit, read_engine
from benchagent.configfiles.settings import Promise, Settings, size_of
from benchagent.configfiles.units import KIB, Kind, Quantity

LEVELS = {"0": "OFF", "1": "NORMAL", "2": "FULL", "3": "EXTRA"}
COMMITTING = ("NORMAL", "FULL", "EXTRA")


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


# What makes a commit, by journal mode: a frame of the log, the removal of the journal, or its emptying.
WAL, REMOVED, EMPTIED = "WAL", "DELETE", ("TRUNCATE", "PERSIST")


def _commit(settings: Settings) -> str | tuple[str, str] | None:
    journal, level = (settings.text("journal_mode") or "").upper(), _level(settings)
    if level == "OFF":
        return "never"
    if level == "NORMAL" and journal == WAL:
        return "written", "written at each commit, synced at checkpoints"
    if level == "NORMAL" or (level == "FULL" and journal == REMOVED):
        return "written", "data synced at each commit, the end of the journal written"
    return "each" if level in ("FULL", "EXTRA") else None


def durability(settings: Settings) -> Promise:
    journal, level = (settings.text("journal_mode") or "unknown").upper(), _level(settings) or "unknown"
    given = f"journal_mode={journal}, synchronous={level}"
    if settings.facts.complete and not settings.is_set("synchronous"):
        given += " (the default)"
    synced = "each commit syncs the database"
    undone = "after a power loss it may be there again and undo the last commit"
    cases: tuple[tuple[bool, Durability | None, str], ...] = (
        (
            journal in ("MEMORY", "OFF"),
            Durability.NONE, "without a journal on disk a crash in a commit corrupts the database",
        ),
        (
            level == "OFF",
            Durability.DBMS_CRASH, "nothing is synced; a crash of the machine may corrupt the database",
        ),
        (level not in COMMITTING or journal not in (WAL, REMOVED, *EMPTIED), None, "not recognised"),
        (
            journal == WAL and level == "NORMAL",
            Durability.DBMS_CRASH, "the log is synced at checkpoints only, not at each commit",
        ),
        (journal == WAL, Durability.POWER_LOSS, "each commit is synced"),
        (
            journal == REMOVED and level != "EXTRA",
            Durability.DBMS_CRASH, f"{synced}, but not the folder from which it removes the journal; {undone}",
        ),
        (level == "NORMAL", Durability.DBMS_CRASH, f"{synced}, but not the journal that it empties; {undone}"),
        (journal == REMOVED, Durability.POWER_LOSS, f"{synced} and the folder from which it removes the journal"),
        (True, Durability.POWER_LOSS, f"{synced} and the journal that it empties"),
    )  # fmt: skip
    return next(Promise(durability, f"{given}: {reason}") for applies, durability, reason in cases if applies)


def _sync(settings: Settings, names: tuple[str, ...]) -> Quantity | None:
    """`fullfsync` is off wherever there is no F_FULLFSYNC, which does not mean that nothing is synced."""
    value = settings.value("fullfsync")
    if not isinstance(value, bool):
        return None
    return Quantity(Kind.TEXT, value, "F_FULLFSYNC" if value else "fsync", settings.words("fullfsync"))


READERS = {"buffer_pool": _cache, "commit_flush": at_commit(_commit), "sync_method": _sync}
ENGINE = read_engine("sqlite", durability, READERS)
